// Paper is light: maps become images as wide as their column, and collapsed parts are opened.

function connectPrinting(state, panels) {
  const taken = [];
  const folded = [byId("again-all"), byId("about-menu"), byId("why")];
  let before = null;
  on(window, "beforeprint", () => {
    before = { open: folded.map(({ open }) => open), look: state.values.look };
    document.body.classList.add("printing");
    folded.forEach((each) => (each.open = true));
    state.set({ look: { ...before.look, theme: "light" } });
    SIDES.forEach((side, place) => {
      if (byId(side).clientWidth === 0 || byId(side).clientHeight === 0) return;
      const picture = panels[place].picture(2);
      picture.className = "printed";
      byId(side).append(picture);
      taken.push(picture);
    });
  });
  on(window, "afterprint", () => {
    if (before === null) return;
    document.body.classList.remove("printing");
    folded.forEach((each, place) => (each.open = before.open[place]));
    for (const picture of taken.splice(0)) picture.remove();
    state.set({ look: before.look });
    before = null;
  });
}
