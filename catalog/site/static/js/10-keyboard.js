// Keys: "/" searches, "j" and "k" go through a list, "?" explains. All scripts are optional: the
// pages work without them.
{
  const help = document.getElementById("keys");
  const choice = document.getElementById("single-keys");
  const items = "main :is(.cards, .rows, .versions, .tree, .near) > li";
  const isOff = () => { try { return localStorage.getItem("keys") === "off"; } catch { return false; } };
  const move = (step) => {
    const links = [...document.querySelectorAll(items)]
      .map((item) => item.querySelector(":is(h2, h3) a, a"))
      .filter((link) => link?.checkVisibility());
    if (!links.length) return;
    const now = document.activeElement.closest(items)?.querySelector(":is(h2, h3) a, a");
    let next = links.indexOf(now) + step;
    if (!now) next = Math.max(0, links.findIndex((link) => link.getBoundingClientRect().top > 60));
    links[Math.min(Math.max(next, 0), links.length - 1)].focus();
  };
  const show = () => { choice.checked = !isOff(); help.showModal(); };

  for (const button of document.querySelectorAll("button[data-keys]")) {
    button.hidden = false;
    button.addEventListener("click", show);
  }
  choice?.addEventListener("change", () => {
    try { localStorage.setItem("keys", choice.checked ? "on" : "off"); } catch { /* not kept */ }
  });
  help?.addEventListener("click", (event) => { if (event.target === help) help.close(); });
  document.addEventListener("keydown", (event) => {
    const at = document.activeElement;
    const isTyping = at.isContentEditable || (/^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName) && !/^(checkbox|radio|submit)$/.test(at.type));
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey || help?.open || isOff()) return;
    if (event.key === "/") {
      const search = document.querySelector("input[type=search][name=q]");
      if (search) { event.preventDefault(); search.focus(); search.select(); }
    } else if (event.key === "?" && help) show();
    else if (event.key === "j") move(1);
    else if (event.key === "k") move(-1);
  });
}
