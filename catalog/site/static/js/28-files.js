// The list of files beside a file shows this file, also if it is long.
{
  const file = document.querySelector(".side .tree [aria-current]");
  const list = file?.closest(".tree");
  if (list) list.scrollTop = file.offsetTop - list.clientHeight / 2;
}
