// What both panels show, as one picture: above each map its name and colour, below it the legend.

const [GAP, HEAD, LINE, INDENT] = [16, 30, 18, 6];
const FONT = { family: "system-ui, -apple-system, Segoe UI, Roboto, Helvetica, Arial, sans-serif", head: 14, text: 12 };
const [MOST_IN_PICTURE, WIDEST_IN_PICTURE] = [120, 300];

function connectSaving(data, state, colouring, panels) {
  const shown = () => SIDES.flatMap((side, place) => {
    const host = byId(side);
    if (host.clientWidth === 0) return [];
    const each = state.values.panels[place];
    const colours = colouring(each);
    const { preset, split } = state.values;
    const parts = [data.facts.maps[each.map].title];
    if (colours.name !== "") parts.push(`by ${colours.name}`);
    if (preset === "split") parts.push([`split by ${data.facts.columns[split].name}`, byId("split-note").textContent].filter(Boolean).join(", "));
    const title = parts.join(", ");
    return [{ panel: panels[place], width: host.clientWidth, height: host.clientHeight, title, colours }];
  });
  // Pictures are mostly for white paper, so the page is light while they are made.
  const taken = (make) => {
    const { look } = state.values;
    const isSeen = byId("save-theme").value === "seen" || !isDark();
    if (!isSeen) state.set({ look: { ...look, theme: "light" } });
    const picture = make(pageOf(data, shown()));
    if (!isSeen) state.set({ look });
    return picture;
  };
  on(byId("save-png"), "click", () => taken(asCanvas).toBlob((blob) => saveFile("maps.png", blob)));
  on(byId("save-svg"), "click", () => saveFile("maps.svg", new Blob([taken(asDrawing)], { type: "image/svg+xml" })));
}

// Where everything goes: panels, texts, swatches and scales, from the upper left corner.

function pageOf(data, shown) {
  const style = getComputedStyle(document.documentElement);
  const page = { ink: style.getPropertyValue("--ink").trim(), ground: style.getPropertyValue("--map").trim(), panels: [], marks: [] };
  const whole = shown.reduce((sum, { width }) => sum + width + GAP, -GAP);
  const below = HEAD + max(...shown.map(({ height }) => height)) + 8;
  const isShared = shown.length > 1 && legendKey(shown[0].colours) === legendKey(shown[1].colours);
  let [left, bottom] = [0, below];
  shown.forEach(({ panel, width, height, title, colours }, place) => {
    page.panels.push({ panel, left, top: HEAD, width, height });
    const [text] = shortened([title], width - 2 * INDENT, textWidths(FONT.head, 600));
    page.marks.push({ text, at: [left + INDENT, 20], size: FONT.head, weight: 600, color: page.ink });
    if (place === 0 || !isShared) bottom = max(bottom, addLegend(page, data, colours, left + INDENT, below, (isShared ? whole : width) - 2 * INDENT));
    left += width + GAP;
  });
  return { ...page, width: whole, height: bottom + 6 };
}

// Adds the legend of some colours in rows of a width, and returns where it ends.

function addLegend(page, data, colours, left, top, width) {
  if (colours.kind === "none") return top;
  const table = colorTable(data.facts, colours, isDark());
  const addText = (text, x, y, more = {}) => page.marks.push({ text, at: [x, y], color: page.ink, ...more });
  let y = top;
  if (colours.kind === "numbers") {
    const long = min(220, width);
    scaleColors(isDark(), 32).forEach((color, step) => page.marks.push({ box: [left + (step * long) / 32, y, long / 32 + 0.5, 10], color, isFull: true }));
    addText(colours.ends[0], left, y + 23);
    addText(colours.ends[1], left + long, y + 23, { anchor: "end" });
    y += 2 * LINE;
  }
  const entries = colours.kind === "numbers" ? [] : colours.labels.slice(0, MOST_IN_PICTURE).map((text, place) => [text, table[place + 1]]);
  if (colours.missing > 0) entries.push(["missing", table[0]]);
  if (colours.labels?.length > MOST_IN_PICTURE) entries.push([`and ${count(colours.labels.length - MOST_IN_PICTURE)} more`, null]);
  const widthOf = textWidths(FONT.text, 400);
  const texts = shortened(entries.map(([text]) => (text.trim() === "" ? "(empty)" : text)), min(WIDEST_IN_PICTURE, width - 16), widthOf);
  const column = min(width, max(0, ...texts.map(widthOf)) + 34);
  const across = max(1, floor(width / column));
  const down = ceil(entries.length / across);
  entries.forEach(([, color], place) => {
    const x = left + floor(place / down) * column;
    const row = y + (place % down) * LINE;
    if (color !== null) page.marks.push({ ring: [x + 5, row + 6], radius: 5, color, isFull: true });
    addText(texts[place], x + 15, row + 10);
  });
  return y + down * LINE;
}

function textWidths(size, weight) {
  const context = element("canvas").getContext("2d");
  context.font = `${weight} ${size}px ${FONT.family}`;
  return (text) => context.measureText(text).width;
}

function asCanvas({ width, height, ground, panels, marks }, ratio = 2) {
  const picture = element("canvas");
  [picture.width, picture.height] = [round(width * ratio), round(height * ratio)];
  const context = picture.getContext("2d");
  context.fillStyle = ground;
  context.fillRect(0, 0, picture.width, picture.height);
  context.scale(ratio, ratio);
  for (const each of panels) context.drawImage(each.panel.picture(ratio), each.left, each.top, each.width, each.height);
  for (const mark of marks) drawMark(context, mark);
  return picture;
}

function asDrawing({ width, height, ground, panels, marks }) {
  const lines = [`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`];
  lines.push(`<rect width="${width}" height="${height}" fill="${escaped(ground)}"/>`);
  for (const { panel, left, top } of panels) lines.push(panel.svg().replace("<svg ", `<svg x="${left}" y="${top}" `));
  return [...lines, ...marks.map(svgMark), "</svg>"].join("\n");
}
