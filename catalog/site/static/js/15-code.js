// A button on each block of code copies it.
if (navigator.clipboard) {
  for (const code of document.querySelectorAll(".markdown pre")) {
    const box = document.createElement("div");
    const button = document.createElement("button");
    box.className = "snippet";
    button.type = "button";
    button.textContent = "Copy";
    button.setAttribute("aria-label", "Copy this code");
    button.dataset.copy = code.textContent;
    code.replaceWith(box);
    box.append(code, button);
  }
}
