// A search answers as one types: the arrow keys choose, Enter opens, Escape closes.
for (const form of document.querySelectorAll("form[data-suggest]")) {
  const input = form.querySelector("input[name=q]");
  const list = document.createElement("ul");
  const said = document.createElement("p");
  let timer, request, chosen = -1, asked = "";
  Object.assign(list, { id: `${input.id}-suggestions`, className: "suggestions", hidden: true });
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Skills found");
  Object.assign(said, { className: "unseen-label" });
  said.setAttribute("role", "status");
  form.append(list, said);
  for (const [name, value] of Object.entries({
    role: "combobox", "aria-expanded": "false", "aria-controls": list.id, "aria-autocomplete": "list",
  })) input.setAttribute(name, value);

  const close = () => {
    clearTimeout(timer);
    request?.abort();
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    choose(-1);
  };
  const choose = (number) => {
    const options = list.children;
    chosen = options.length ? (number + 1 + options.length + 1) % (options.length + 1) - 1 : -1;
    [...options].forEach((each, i) => each.setAttribute("aria-selected", String(i === chosen)));
    if (chosen < 0) input.removeAttribute("aria-activedescendant");
    else {
      input.setAttribute("aria-activedescendant", options[chosen].id);
      options[chosen].scrollIntoView({ block: "nearest" });
    }
  };
  const option = (url, title, text, kind) => {
    const item = document.createElement("li");
    item.id = `${list.id}-${list.children.length}`;
    item.className = kind;
    item.dataset.url = url;
    item.setAttribute("role", "option");
    const name = document.createElement(text ? "b" : "span");
    name.textContent = title;
    item.append(name);
    if (text) item.append(Object.assign(document.createElement("span"), { textContent: text }));
    list.append(item);
  };
  const asForm = (words) => {  // with the filters of the form
    const query = new URLSearchParams(new FormData(form));
    query.set("q", words);
    return query;
  };
  const show = (hits, words) => {
    const url = list.children[chosen]?.dataset.url;
    list.replaceChildren();
    for (const hit of hits) option(hit.url, hit.name, hit.description || hit.status, "");
    option(`${form.action}?${asForm(words)}`, hits.length ? `All results for “${words}”` : `No skill found yet; search for “${words}”`, "", "all");
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    said.textContent = hits.length ? `${hits.length} skills shown; use the arrow keys.` : "No skill found.";
    choose([...list.children].findIndex((each) => each.dataset.url === url));
  };
  const ask = async () => {
    const words = input.value.trim();
    if (words === asked && !list.hidden) return;
    asked = words;
    if (words.length < 2) return close();
    request?.abort();
    request = new AbortController();
    try {
      const query = asForm(input.value.trimStart());
      query.set("typing", "1");
      query.set("limit", "7");
      const answer = await fetch(`${form.dataset.suggest}?${query}`, { signal: request.signal });
      if (answer.ok && input.value.trim() === words) show(await answer.json(), words);
    } catch { /* another letter was typed, or the site is away: the form still works */ }
  };
  input.addEventListener("input", () => {
    choose(-1);
    clearTimeout(timer);
    timer = setTimeout(ask, 120);
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (list.hidden) { asked = ""; ask(); } else choose(chosen + (event.key === "ArrowDown" ? 1 : -1));
      event.preventDefault();
    } else if (event.key === "Enter" && chosen >= 0) {
      event.preventDefault();
      location.assign(list.children[chosen].dataset.url);
    } else if (event.key === "Escape" && !list.hidden) {
      event.preventDefault();
      close();
    }
  });
  list.addEventListener("pointerdown", (event) => {
    const item = event.target.closest("li");
    if (item) { event.preventDefault(); location.assign(item.dataset.url); }
  });
  form.addEventListener("focusout", (event) => { if (!form.contains(event.relatedTarget)) close(); });
}
