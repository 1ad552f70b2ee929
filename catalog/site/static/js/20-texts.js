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
// An address with the anchor of a heading as on GitHub leads to it, though its own has a prefix.
{
  const lead = () => {
    const name = decodeURIComponent(location.hash.slice(1));
    if (name && !document.getElementById(name)) document.getElementById(`md-${name}`)?.scrollIntoView();
  };
  lead();
  addEventListener("hashchange", lead);
}
// A click on a line number chooses the line, one with Shift all lines up to it; the address says
// which, as #L12 or #L12-L20, and can be copied.
{
  const code = document.querySelector(".code.numbered");
  const most = 5000;
  let first = 0, bar = null;
  const show = (text) => {
    if (!bar) {
      bar = document.createElement("p");
      bar.className = "line-bar";
      bar.innerHTML = '<span role="status"></span> <button type="button" data-copy="">Copy link</button>';
      document.querySelector("main").append(bar);
    }
    bar.hidden = !text;
    bar.firstChild.textContent = text;
    bar.lastChild.dataset.copy = location.href;
    bar.lastChild.hidden = !navigator.clipboard;
  };
  const mark = () => {
    for (const line of code.querySelectorAll(".line.chosen")) line.classList.remove("chosen");
    const match = location.hash.match(/^#L(\d+)(?:-L(\d+))?$/);
    if (!match) return show("");
    const from = Number(match[1]), to = Math.min(Number(match[2] || from), from + most);
    first = from;
    for (let n = from; n <= to; n++) document.getElementById(`L${n}`)?.classList.add("chosen");
    show(to > from ? `Lines ${from} to ${to}` : `Line ${from}`);
    return document.getElementById(`L${from}`);
  };
  if (code) {
    code.addEventListener("click", (event) => {
      const link = event.target.closest("a.no");
      if (!link || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      const line = Number(link.textContent), url = new URL(link.href);
      if (event.shiftKey && first && first !== line) {
        const [from, to] = [first, line].sort((a, b) => a - b);
        if (url.searchParams.has("line")) url.searchParams.set("line", from);
        url.hash = `L${from}-L${to}`;
      } else first = line;
      const start = first;
      history.replaceState(null, "", url);
      mark();
      first = start;
    });
    const follow = () => {
      code.classList.toggle("whole", location.hash.startsWith("#L"));
      mark()?.scrollIntoView({ block: "center" });
    };
    follow();
    addEventListener("hashchange", follow);
  }
}
// The list of files beside a file shows this file, also if it is long.
{
  const file = document.querySelector(".side .tree [aria-current]");
  const list = file?.closest(".tree");
  if (list) list.scrollTop = file.offsetTop - list.clientHeight / 2;
}
