// Times in the reader's zone; the tooltip keeps UTC.
{
  // A format takes long to make, and few pages need all of them.
  const formatted = (locale, options, made) => (at) => (made ??= new Intl.DateTimeFormat(locale, options)).format(at);
  const day = { year: "numeric", month: "short", day: "numeric" };
  const precise = formatted("en-GB", { ...day, hour: "2-digit", minute: "2-digit", timeZoneName: "short" });
  const short = formatted("sv-SE", { dateStyle: "short", timeStyle: "medium" });
  const clock = formatted("sv-SE", { timeStyle: "medium" });
  const localise = () => {
    for (const time of document.querySelectorAll("time[datetime*=T]:not([data-local])")) {
      const at = new Date(time.dateTime);
      if (isNaN(at)) continue;
      const text = time.textContent.trim(), utc = `${at.toISOString().slice(0, 19).replace("T", " ")} UTC`;
      time.dataset.local = "";
      if (/^\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d$/.test(text)) time.textContent = short(at);
      else if (/^\d\d:\d\d:\d\d$/.test(text)) time.textContent = clock(at);
      time.title = `${precise(at)} (${utc})`;
    }
  };
  // Lists by day get the days of the reader, in place of those in UTC.
  const headings = [...document.querySelectorAll("h2.day:has(.utc)")].filter((heading) => heading.nextElementSibling?.matches("ol"));
  const named = formatted("en-GB", { weekday: "long", day: "numeric", month: "long", year: "numeric" });
  const momentOf = (row) => new Date(row.querySelector("time[datetime*=T]")?.dateTime);
  // A row with changes of two days of the reader becomes two rows.
  const split = (row) => {
    const changes = [...row.querySelectorAll(".inner > li")].map((change) => named(momentOf(change)));
    const days = [...new Set(changes)];
    return days.length < 2 ? [row] : days.map((day) => {
      const part = row.cloneNode(true);
      [...part.querySelectorAll(".inner > li")].forEach((change, n) => { if (changes[n] !== day) change.remove(); });
      part.querySelector(".row-head .figure")?.replaceChildren(part.querySelector(".inner time").cloneNode(true));
      part.querySelector(".row-head .small")?.remove();
      return part;
    });
  };
  const all = headings.flatMap((heading) => [...heading.nextElementSibling.children]);
  const rows = all.some((row) => isNaN(momentOf(row))) ? all : all.flatMap(split)
    .sort((one, other) => momentOf(other).setHours(0, 0, 0, 0) - momentOf(one).setHours(0, 0, 0, 0));
  const moments = rows.map(momentOf);
  if (rows.length && !moments.some(isNaN)) {
    const place = document.createComment("");
    headings[0].before(place);
    let list, day;
    for (const [n, row] of rows.entries()) {
      const name = named(moments[n]).replace(/^(\p{L}+) /u, "$1, ");
      if (name !== day) {
        const heading = headings[0].cloneNode();
        list = headings[0].nextElementSibling.cloneNode();
        heading.textContent = day = name;
        place.before(heading, list);
      }
      list.append(row);
    }
    for (const heading of headings) { heading.nextElementSibling.remove(); heading.remove(); }
  }
  for (const mark of document.querySelectorAll("time[datetime*=T] + .utc")) mark.remove();
  localise();
  document.addEventListener("skilldrop:updated", localise);
}
