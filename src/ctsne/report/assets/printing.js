// On paper, drawings are pictures as wide as their column.

function connectPrinting(views) {
  const taken = [];
  window.addEventListener("beforeprint", () => {
    for (const [id, view] of views) {
      const picture = view.export("png", true).canvas;
      picture.className = "printed";
      picture.removeAttribute("style");
      byId(id).append(picture);
      taken.push(picture);
    }
  });
  window.addEventListener("afterprint", () => {
    for (const picture of taken.splice(0)) picture.remove();
  });
}
