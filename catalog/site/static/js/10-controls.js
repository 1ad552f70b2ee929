// All scripts are optional: the pages work without them.
// A button copies a value.
if (navigator.clipboard) {
  for (const button of document.querySelectorAll("button:is([data-copy], [data-copy-of])")) button.hidden = false;
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button:is([data-copy], [data-copy-of])");
    if (!button || button.dataset.done) return;
    const label = button.textContent;
    try {
      const { copy, copyOf } = button.dataset;
      await navigator.clipboard.writeText(copy ?? await (await fetch(copyOf)).text());
      button.dataset.done = "copied";
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = label; delete button.dataset.done; }, 1500);
    } catch { button.hidden = true; }
  });
}
