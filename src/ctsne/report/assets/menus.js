// Sheets that open below a button, one at a time; Escape and a click elsewhere close them.

function connectSheets() {
  const menus = [...document.querySelectorAll("details.menu")];
  for (const menu of menus) {
    on(menu, "toggle", () => {
      if (!menu.open || document.body.classList.contains("printing")) return;
      for (const other of menus) if (other !== menu) other.open = false;
    });
    // Before it opens: towards the side with more room.
    on(menu.querySelector("summary"), "click", () => {
      const { left, right } = menu.getBoundingClientRect();
      menu.querySelector(".sheet").classList.toggle("to-left", left + right > document.documentElement.clientWidth);
    });
  }
  on(document, "pointerdown", ({ target }) => {
    for (const menu of menus) if (!menu.contains(target)) menu.open = false;
  });
}

// Whether a sheet was open, and is closed now.

function closeSheet() {
  const open = document.querySelector("details.menu[open]");
  if (open === null) return false;
  open.open = false;
  open.querySelector("summary").focus();
  return true;
}
