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
