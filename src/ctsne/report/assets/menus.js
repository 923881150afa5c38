// Sheets that open below a button, one at a time; Escape and a click elsewhere close them.

function connectSheets() {
  const menus = [...document.querySelectorAll("details.menu")];
  for (const menu of menus) {
    menu.addEventListener("toggle", () => {
      if (!menu.open) return;
      for (const other of menus) if (other !== menu) other.open = false;
      const sheet = menu.querySelector(".sheet");
      sheet.classList.remove("to-left");
      if (sheet.getBoundingClientRect().right > document.documentElement.clientWidth - 4) sheet.classList.add("to-left");
    });
  }
  document.addEventListener("pointerdown", ({ target }) => {
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
