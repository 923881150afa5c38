// A map split by a column: one small map per label, the points of other labels grey. All of them
// show the same view, so the grey points are drawn once and copied.

const MOST_TILES = 24;
const [TILE_GAP, TILE_TITLE] = [8, 20];

// The parts of a panel that show the whole view: itself, or the tiles of its split, as large as
// they fit.

function framesOf(seen) {
  const { tiles, width, height } = seen;
  if (tiles === null) return [{ ...seen, left: 0, top: 0 }];
  const fits = tiles.map((_, place) => {
    const [across, down] = [place + 1, ceil(tiles.length / (place + 1))];
    return { across, width: (width - TILE_GAP * (across + 1)) / across, height: (height - TILE_GAP) / down - TILE_GAP - TILE_TITLE, down };
  });
  const side = (fit) => min(fit.width, fit.height);
  const best = fits.reduce((before, fit) => (side(fit) > side(before) ? fit : before), fits[0]);
  const wide = max(1, floor(best.width));
  const high = max(1, floor(min(best.height, 1.2 * wide)));
  const start = max(0, floor((height - best.down * (high + TILE_GAP + TILE_TITLE) - TILE_GAP) / 2));
  return tiles.map((_, place) => ({
    ...seen, width: wide, height: high,
    left: TILE_GAP + (place % best.across) * (wide + TILE_GAP),
    top: start + TILE_GAP + TILE_TITLE + floor(place / best.across) * (high + TILE_GAP + TILE_TITLE),
  }));
}

// The frame nearest to a place in the panel.

function tileAt(seen, [x, y]) {
  const apart = framesOf(seen).map(({ left, top, width, height }) => max(abs(x - left - width / 2) / width, abs(y - top - height / 2) / height));
  return apart.indexOf(min(...apart));
}

function drawTiles(sheet, renderer, seen, ratio, step) {
  const context = sheet.getContext("2d");
  [sheet.width, sheet.height] = [round(seen.width * ratio), round(seen.height * ratio)];
  const frames = framesOf(seen);
  const { layers, ...frame } = frameOf(frames[0], ratio, step);
  const put = ({ left, top }) => context.drawImage(renderer.canvas, round(left * ratio), round(top * ratio));
  const { diameter, alpha } = layers[0];
  renderer.draw({ ...frame, layers: [{ only: 0, part: BOTH, diameter, alpha: 0.6 * alpha, color: fadedColor(seen.look) }] });
  frames.forEach(put);
  const part = seen.points.mask === null ? BOTH : UPPER;
  frames.forEach((tile, place) => {
    const size = seen.look.size ?? automaticSize(seen.tiles[place].count, min(tile.width, tile.height), seen.view);
    const own = min(2 * diameter, max(diameter, size * ratio));
    renderer.draw({ ...frame, layers: [{ ...layers[1], part, only: FIRST_TILE + place, diameter: own }] });
    put(tile);
  });
}

// The borders of the tiles, and their titles.

function tileMarks(seen) {
  if (seen.tiles === null) return [];
  const { ink } = inks(seen.look);
  const measured = textWidths(FONT.text, 600);
  const frames = framesOf(seen);
  const counts = seen.tiles.map((tile) => count(tile.count));
  const room = frames[0].width - max(...counts.map(measured)) - 12;
  const texts = shortened(seen.tiles.map(({ text }) => (text.trim() === "" ? "(empty)" : text)), max(20, room), measured);
  return frames.flatMap(({ left, top, width, height }, place) => [
    { box: [left - 0.5, top - 0.5, width + 1, height + 1], color: hex(fadedColor(seen.look)) },
    { text: texts[place], at: [left + 1, top - 6], weight: 600, color: ink },
    { text: counts[place], at: [left + width - 1, top - 6], anchor: "end", color: ink },
  ]);
}

// The groups of all points, and the tiles of a column: its labels with the most points shown, in the
// order of the legend.

function tilesOf(data, column, shown) {
  const { labels } = data.facts.columns[column];
  const codes = data.codes(column);
  const counts = new Uint32Array(labels.length + 1);
  for (let i = 0; i < data.n; i++) if (shown === null || shown[i] === 1) counts[codes[i]]++;
  const order = Array.from(counts.keys()).filter((code) => counts[code] > 0).sort((a, b) => counts[b] - counts[a]);
  const kept = order.slice(0, MOST_TILES).sort((a, b) => (a || Infinity) - (b || Infinity));
  const groupOf = new Uint8Array(counts.length).fill(SHOWN);
  kept.forEach((code, place) => (groupOf[code] = FIRST_TILE + place));
  const group = Uint8Array.from(codes, (code, i) => (shown === null || shown[i] === 1 ? groupOf[code] : 0));
  return { group, all: order.length, tiles: kept.map((code) => ({ text: code === 0 ? "missing" : labels[code - 1], count: counts[code] })) };
}

// Which points the panels draw, and in which tile of a split.

function connectSplit(data, state, panels) {
  const { facts, n } = data;
  const menu = byId("split");
  facts.columns.forEach(({ name, kind, group }, place) => {
    if (kind === "labels" && group !== "kept") menu.append(element("option", name, { value: place }));
  });
  byId("presets").querySelector("[data-preset=split]").hidden = menu.options.length === 0;
  on(menu, "change", () => state.set({ split: Number(menu.value) }));
  const drawn = [];
  state.watch(["preset", "split", "shown"], ({ preset, split, shown }) => {
    const isSplit = preset === "split";
    byId("split-field").hidden = !isSplit;
    panels.forEach((panel, place) => {
      const column = isSplit && place === 1 ? split : null;
      if (drawn[place]?.shown === shown && drawn[place].column === column) return;
      drawn[place] = { shown, column };
      byId(SIDES[place]).removeAttribute("aria-description");
      if (column === null) return panel.regroup(shown ?? new Uint8Array(n).fill(SHOWN));
      const { group, tiles, all } = tilesOf(data, column, shown);
      menu.value = column;
      menu.title = facts.columns[column].name;
      byId(SIDES[place]).setAttribute("aria-description", `split by ${menu.title}: ${tiles.map((tile) => `${tile.text} ${count(tile.count)}`).join(", ")}`);
      byId("split-note").textContent = all > tiles.length ? `${tiles.length} largest of ${count(all)}` : "";
      return panel.regroup(group, tiles.length === 0 ? null : tiles);
    });
  });
}
