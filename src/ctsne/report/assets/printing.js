// For printing, drawings become images as wide as their column, and collapsed parts are opened.

function connectPrinting(views) {
  const taken = [];
  const folded = byId("again-all");
  let wasOpen = false;
  window.addEventListener("beforeprint", () => {
    wasOpen = folded.open;
    folded.open = true;
    for (const [id, view] of views) {
      const picture = view.export("png", true).canvas;
      picture.className = "printed";
      picture.removeAttribute("style");
      byId(id).append(picture);
      taken.push(picture);
    }
  });
  window.addEventListener("afterprint", () => {
    folded.open = wasOpen;
    for (const picture of taken.splice(0)) picture.remove();
  });
}
