// The way that somebody chose to get a skill is chosen on the pages of all others, too.
for (const form of document.querySelectorAll("form.get")) {
  const ways = [...form.elements.way.length ? form.elements.way : [form.elements.way]];
  try {
    for (const way of ways) way.checked ||= way.value === localStorage.getItem("way");
    form.addEventListener("change", (event) => localStorage.setItem("way", event.target.value));
  } catch { /* this browser stores nothing */ }
}
