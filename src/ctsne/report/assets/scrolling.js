// Lists that continue below their end fade out there, because some systems hide scroll bars.

function watchEnd(list, onChange = () => {}) {
  const look = () => {
    list.classList.toggle("goes-on", list.scrollHeight - list.scrollTop - list.clientHeight > 6);
    onChange();
  };
  on(list, "scroll", look);
  new ResizeObserver(look).observe(list);
  new MutationObserver(look).observe(list, { childList: true, subtree: true });
}
