// Times in the reader's zone; the tooltip keeps UTC.
{
  const day = { year: "numeric", month: "short", day: "numeric" };
  const precise = new Intl.DateTimeFormat("en-GB", { ...day, hour: "2-digit", minute: "2-digit", timeZoneName: "short" });
  const short = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "medium" });
  const clock = new Intl.DateTimeFormat("sv-SE", { timeStyle: "medium" });
  const localise = () => {
    for (const time of document.querySelectorAll("time[datetime*=T]:not([data-local])")) {
      const at = new Date(time.dateTime);
      if (isNaN(at)) continue;
      const text = time.textContent.trim(), utc = `${at.toISOString().slice(0, 19).replace("T", " ")} UTC`;
      time.dataset.local = "";
      if (/^\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d$/.test(text)) time.textContent = short.format(at);
      else if (/^\d\d:\d\d:\d\d$/.test(text)) time.textContent = clock.format(at);
      time.title = `${precise.format(at)} (${utc})`;
    }
  };
  // Lists by day get the days of the reader, in place of those in UTC.
  const headings = [...document.querySelectorAll("h2.day:has(.utc)")].filter((heading) => heading.nextElementSibling?.matches("ol"));
  const rows = headings.flatMap((heading) => [...heading.nextElementSibling.children]);
  const named = new Intl.DateTimeFormat("en-GB", { weekday: "long", day: "numeric", month: "long", year: "numeric" });
  const moments = rows.map((row) => new Date(row.querySelector("time[datetime*=T]")?.dateTime));
  if (rows.length && !moments.some(isNaN)) {
    const place = document.createComment("");
    headings[0].before(place);
    let list, day;
    for (const [n, row] of rows.entries()) {
      const name = named.format(moments[n]).replace(/^(\p{L}+) /u, "$1, ");
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
