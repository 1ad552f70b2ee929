// Optional shortcuts; the pages work without them. "/" focuses the search; a button copies a value.
document.addEventListener("keydown", (event) => {
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName);
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    const search = document.querySelector("input[type=search][name=q]");
    if (search) { event.preventDefault(); search.focus(); search.select(); }
  }
});
for (const button of document.querySelectorAll("button[data-copy]")) {
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.dataset.done = "copied";
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; delete button.dataset.done; }, 1500);
    } catch { button.hidden = true; }
  });
}
