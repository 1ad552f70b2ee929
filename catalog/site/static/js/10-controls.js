// All scripts are optional: the pages work without them.
// A button copies a value.
if (navigator.clipboard) {
  for (const button of document.querySelectorAll("button[data-copy]")) button.hidden = false;
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button[data-copy]");
    if (!button || button.dataset.done) return;
    const label = button.textContent;
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.dataset.done = "copied";
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = label; delete button.dataset.done; }, 1500);
    } catch { button.hidden = true; }
  });
}
