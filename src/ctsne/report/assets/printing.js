// Paper is light: maps become images as wide as their column, and collapsed parts are opened.

function connectPrinting(state, maps) {
  const taken = [];
  const folded = [byId("again-all"), byId("about-menu"), byId("why")];
  let before = null;
  window.addEventListener("beforeprint", () => {
    before = { open: folded.map(({ open }) => open), theme: document.documentElement.dataset.theme };
    document.body.classList.add("printing");
    folded.forEach((each) => (each.open = true));
    document.documentElement.dataset.theme = "light";
    window.dispatchEvent(new Event("resize")); // panels that were hidden until now measure themselves
    maps.repaint();
    SIDES.forEach((side, place) => {
      if (byId(side).clientWidth === 0 || byId(side).clientHeight === 0) return;
      const picture = maps.panels[place].picture(2);
      picture.className = "printed";
      picture.removeAttribute("style");
      byId(side).append(picture);
      taken.push(picture);
    });
  });
  window.addEventListener("afterprint", () => {
    if (before === null) return;
    document.body.classList.remove("printing");
    folded.forEach((each, place) => (each.open = before.open[place]));
    document.documentElement.dataset.theme = before.theme;
    before = null;
    for (const picture of taken.splice(0)) picture.remove();
    maps.repaint();
    state.set({ look: state.values.look });
  });
}
