// An address with the anchor of a heading as on GitHub leads to it, though its own has a prefix.
{
  const lead = () => {
    const name = decodeURIComponent(location.hash.slice(1));
    if (name && !document.getElementById(name)) document.getElementById(`md-${name}`)?.scrollIntoView();
  };
  lead();
  addEventListener("hashchange", lead);
}
