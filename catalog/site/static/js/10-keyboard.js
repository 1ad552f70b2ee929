// "/" moves to the search. All scripts are optional: the pages work without them.
document.addEventListener("keydown", (event) => {
  const at = document.activeElement;
  const isTyping = at.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName);
  const search = document.querySelector("input[type=search][name=q]");
  if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey || !search) return;
  event.preventDefault();
  search.focus();
  search.select();
});
