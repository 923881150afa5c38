// What both panels show, as one picture with the name of each map and its colour above it.

const [GAP, HEAD] = [16, 30];

function connectSaving(data, state, colouring, maps) {
  const shown = () => SIDES.flatMap((side, place) => {
    const host = byId(side);
    if (host.clientWidth === 0) return [];
    const each = state.values.panels[place];
    const { name } = colouring(each);
    const title = `${data.facts.maps[each.map].title}${name === "" ? "" : `, by ${name}`}`;
    return [{ panel: maps.panels[place], width: host.clientWidth, height: host.clientHeight, title }];
  });
  byId("save-png").addEventListener("click", () => bothAsCanvas(shown()).toBlob((blob) => saveFile("maps.png", blob)));
  byId("save-svg").addEventListener("click", () => saveFile("maps.svg", new Blob([bothAsDrawing(shown())], { type: "image/svg+xml" })));
}

function inkAndGround() {
  const style = getComputedStyle(document.documentElement);
  return [style.getPropertyValue("--ink").trim(), style.getPropertyValue("--map").trim()];
}

function placesOfPictures(shown) {
  let right = 0;
  const lefts = shown.map(({ width }) => {
    const left = right;
    right += width + GAP;
    return left;
  });
  return { lefts, width: right - GAP, height: HEAD + Math.max(...shown.map(({ height }) => height)) };
}

function bothAsCanvas(shown, ratio = 2) {
  const { lefts, width, height } = placesOfPictures(shown);
  const [ink, ground] = inkAndGround();
  const picture = element("canvas");
  [picture.width, picture.height] = [Math.round(width * ratio), Math.round(height * ratio)];
  const context = picture.getContext("2d");
  context.fillStyle = ground;
  context.fillRect(0, 0, picture.width, picture.height);
  context.scale(ratio, ratio);
  context.font = "600 14px system-ui, sans-serif";
  context.fillStyle = ink;
  shown.forEach(({ panel, title, width: own, height: high }, place) => {
    context.fillText(title, lefts[place] + 6, 20, own - 12);
    context.drawImage(panel.picture(ratio), lefts[place], HEAD, own, high);
  });
  return picture;
}

function bothAsDrawing(shown) {
  const { lefts, width, height } = placesOfPictures(shown);
  const [ink, ground] = inkAndGround();
  const parser = new DOMParser();
  const drawing = shape("svg", { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}` });
  drawing.append(shape("rect", { width, height, fill: ground }));
  shown.forEach(({ panel, title }, place) => {
    drawing.append(shape("text", { x: lefts[place] + 6, y: 20, fill: ink, "font-family": "system-ui, sans-serif", "font-size": 14, "font-weight": 600 }, title));
    const inner = document.importNode(parser.parseFromString(panel.svg(), "image/svg+xml").documentElement, true);
    inner.setAttribute("x", lefts[place]);
    inner.setAttribute("y", HEAD);
    drawing.append(inner);
  });
  return new XMLSerializer().serializeToString(drawing);
}
