// A button copies a value.
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
