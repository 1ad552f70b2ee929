// The theme: the system's, light or dark; a script in the head applies it before the first paint.
for (const select of document.querySelectorAll("select[data-theme-choice]")) {
  const root = document.documentElement;
  select.value = root.dataset.theme || "";
  select.closest("[hidden]").hidden = false;
  select.addEventListener("change", () => {
    if (select.value) root.dataset.theme = select.value;
    else delete root.dataset.theme;
    try {
      if (select.value) localStorage.setItem("theme", select.value);
      else localStorage.removeItem("theme");
    } catch { /* it holds for this page */ }
  });
}
