// The time of the last visit stays in this browser; a visit ends half an hour after its last page.
try {
  const now = Date.now(), seen = Number(localStorage.getItem("seen"));
  if (seen && now - seen > 1800000) localStorage.setItem("last-visit", new Date(seen).toISOString());
  localStorage.setItem("seen", now);
  const visit = localStorage.getItem("last-visit");
  const offer = () => {
    for (const link of document.querySelectorAll("a[data-since]")) {
      const url = new URL(link.href);
      url.searchParams.set("since", visit);
      link.href = url;
      link.hidden = false;
      if (url.href === location.href) link.setAttribute("aria-current", "true");
    }
  };
  if (visit) { offer(); document.addEventListener("skilldrop:updated", offer); }
} catch { /* this browser stores nothing */ }
