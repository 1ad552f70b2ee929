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
  localise();
  document.addEventListener("skilldrop:updated", localise);
}
