// "/" focuses the search. All scripts are optional: the pages work without them.
document.addEventListener("keydown", (event) => {
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName);
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    const search = document.querySelector("input[type=search][name=q]");
    if (search) { event.preventDefault(); search.focus(); search.select(); }
  }
});
