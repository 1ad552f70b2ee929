// An open page asks now and then whether it is old, and offers to load it again; the lists of the
// front page are replaced in place, unless somebody is in them. Nothing moves the focus.
{
  const { live, newest, health } = document.body.dataset;
  const often = 15_000, seldom = 300_000;
  let known = Number(newest), shown = health, wait = often, timer;
  const bar = document.createElement("div");
  bar.className = "live-bar";
  bar.setAttribute("aria-live", "polite");

  const say = (text) => {
    const note = Object.assign(document.createElement("span"), { className: "unseen-label", textContent: text });
    bar.replaceChildren(note);
  };
  const offer = () => {
    const text = Object.assign(document.createElement("span"), { textContent: "This page has changed." });
    const reload = Object.assign(document.createElement("button"), { type: "button", textContent: "Reload" });
    const close = Object.assign(document.createElement("button"), { type: "button", className: "link-button", textContent: "Not now" });
    reload.addEventListener("click", () => location.reload());
    close.addEventListener("click", () => bar.replaceChildren());
    bar.replaceChildren(text, reload, close);
  };
  const isUsed = (part) => part.contains(document.activeElement)
    || (!getSelection().isCollapsed && part.contains(getSelection().anchorNode));
  const replace = async () => {
    const part = document.querySelector("[data-in-place]");
    if (!part || isUsed(part)) return offer();
    const answer = await fetch(location.href, { cache: "no-cache" });
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("[data-in-place]");
    if (!answer.ok || !fresh || isUsed(part)) return offer();
    part.replaceChildren(...fresh.childNodes);
    document.dispatchEvent(new Event("skilldrop:updated"));
    say("The lists on this page were updated.");
  };
  const ask = async () => {
    clearTimeout(timer);
    if (document.hidden) return;
    try {
      const answer = await fetch(live, { cache: "no-cache" });
      if (!answer.ok) throw new Error(answer.status);
      const { newest_change: now, health: condition } = await answer.json();
      const isOther = health && condition !== shown;
      if (now > known || isOther) { await replace(); known = now; shown = condition; }
      wait = often;
    } catch { wait = Math.min(wait * 2, seldom); /* the site is away or busy */ }
    clearTimeout(timer);
    timer = setTimeout(ask, wait);
  };
  if (live) {
    document.body.append(bar);
    timer = setTimeout(ask, often);
    document.addEventListener("visibilitychange", ask);
    addEventListener("pageshow", (event) => { if (event.persisted) ask(); });
  }
}
