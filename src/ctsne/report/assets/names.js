// Names of labels on the map: where their points are, short enough, and none over another.

const MOST_NAMES = 300;
const RIGHT_TO_LEFT = /^[^\p{L}]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/u;
// Tries for a name that hits another one, in widths and heights of its box.
const SHIFTS = [
  [0, 0], [0, -0.6], [0, 0.6], [0, -1.1], [0, 1.1], [-0.35, 0], [0.35, 0],
  [-0.35, -0.9], [0.35, -0.9], [-0.35, 0.9], [0.35, 0.9],
];

// A place in the map for each label that has points, the most frequent first: the median, or where
// its points are densest if the median lies where it has few.

function nameAnchors({ x, y }, { codes, texts }) {
  const across = Math.max(8, Math.min(48, Math.floor(Math.sqrt(4e6 / texts.length))));
  const area = across * across;
  const counts = new Uint32Array(area * texts.length);
  const cell = (value) => Math.min(across - 1, Math.max(0, Math.floor(value * across)));
  for (let i = 0; i < codes.length; i++) {
    if (codes[i] > 0) counts[(codes[i] - 1) * area + cell(y[i]) * across + cell(x[i])]++;
  }
  const anchors = [];
  texts.forEach((text, label) => {
    const own = counts.subarray(label * area, (label + 1) * area);
    const count = own.reduce((sum, value) => sum + value, 0);
    if (count > 0 && text.trim() !== "") anchors.push({ code: label + 1, text, count, ...anchorOf(own, across, count) });
  });
  return anchors.sort((a, b) => b.count - a.count).slice(0, MOST_NAMES);
}

function anchorOf(counts, across, count) {
  const at = (column, row) =>
    column < 0 || row < 0 || column >= across || row >= across ? 0 : counts[row * across + column];
  const eachNear = (column, row, run) => {
    for (let j = row - 1; j <= row + 1; j++) for (let i = column - 1; i <= column + 1; i++) run(i, j, at(i, j));
  };
  const around = (column, row) => {
    let sum = 0;
    eachNear(column, row, (i, j, value) => (sum += value));
    return sum;
  };
  const [columns, rows] = [new Float64Array(across), new Float64Array(across)];
  let best = { value: 0, column: 0, row: 0 };
  for (let row = 0; row < across; row++) {
    for (let column = 0; column < across; column++) {
      columns[column] += at(column, row);
      rows[row] += at(column, row);
      if (at(column, row) === 0) continue;
      const value = around(column, row);
      if (value > best.value) best = { value, column, row };
    }
  }
  const middle = (sums) => {
    let below = 0;
    let place = 0;
    while (below + sums[place] < count / 2) below += sums[place++];
    return place + (count / 2 - below) / sums[place];
  };
  const [x, y] = [middle(columns), middle(rows)];
  const isDense = around(Math.floor(x), Math.floor(y)) >= best.value / 2;
  if (isDense) return { x: x / across, y: y / across };
  let [sumX, sumY] = [0, 0];
  eachNear(best.column, best.row, (i, j, value) => {
    sumX += (i + 0.5) * value;
    sumY += (j + 0.5) * value;
  });
  return { x: sumX / best.value / across, y: sumY / best.value / across };
}

function nameFont(host, { width, height }, number) {
  const most = number > 30 ? 12 : 14;
  const size = Math.round(Math.min(most, Math.max(10, Math.min(width, height) / 42)));
  return { size, css: `600 ${size}px ${getComputedStyle(host).fontFamily}` };
}

// The names that can be seen, each with a shift from its place that keeps it free of larger ones.

function placeNames(context, anchors, { view, width, height }, font) {
  context.font = font.css;
  const measured = (text) => context.measureText(text).width;
  const shorts = shortened(anchors.map(({ text }) => text), Math.max(70, 0.32 * width), measured);
  const { scale, left, top } = camera(view, width, height);
  const placed = [];
  anchors.forEach((anchor, place) => {
    const [x, y] = [left + anchor.x * scale, top - anchor.y * scale];
    if (x < 0 || y < 0 || x > width || y > height) return;
    const text = shorts[place];
    const box = { width: measured(text) + 6, height: 1.3 * font.size };
    const limited = (value, half, most) => Math.min(most - half - 2, Math.max(half + 2, value));
    for (const [across, down] of SHIFTS) {
      const centre = {
        x: limited(x + across * box.width, box.width / 2, width),
        y: limited(y + down * box.height, box.height / 2, height),
      };
      const isFree = placed.every((other) =>
        Math.abs(other.x - centre.x) >= (other.width + box.width) / 2 ||
        Math.abs(other.y - centre.y) >= (other.height + box.height) / 2);
      if (!isFree) continue;
      placed.push({ ...box, ...centre, anchor, text, font, shift: [centre.x - x, centre.y - y] });
      return;
    }
  });
  return placed;
}

// The same names in a view that has changed.

function movedNames(placed, { view, width, height }) {
  const { scale, left, top } = camera(view, width, height);
  return placed.map((name) => ({
    ...name,
    x: left + name.anchor.x * scale + name.shift[0],
    y: top - name.anchor.y * scale + name.shift[1],
  }));
}

// Texts no wider than a limit, cut in the middle because long names often differ at the end. Texts
// that would look the same are cut before their first difference, and not at all if that is not
// enough.

function shortened(texts, limit, measured) {
  const cut = (text, parts) => {
    const letters = Array.from(text);
    if (measured(text) <= limit) return text;
    let room = Math.floor((letters.length * limit) / measured(text));
    let short = text;
    do short = parts(letters, Math.max(2, room--)); while (measured(short) > limit && room >= 2);
    return short;
  };
  const shorts = texts.map((text) =>
    cut(text, (letters, room) => {
      const tail = Math.ceil(room / 2);
      return `${letters.slice(0, room - tail).join("")}…${letters.slice(-tail).join("")}`;
    }));
  const alike = new Map();
  shorts.forEach((short, place) => alike.set(short, [...(alike.get(short) ?? []), place]));
  for (const places of alike.values()) {
    if (places.length === 1) continue;
    const all = places.map((place) => Array.from(texts[place]));
    const differs = all[0].findIndex((letter, at) => all.some((letters) => letters[at] !== letter));
    const cuts = places.map((place) =>
      cut(texts[place], (letters, room) => {
        const end = Math.max(differs, 0) + room - 3;
        return `${letters.slice(0, 3).join("")}…${letters.slice(Math.max(differs, 0), end).join("")}${end < letters.length ? "…" : ""}`;
      }));
    const isTold = new Set(cuts).size === cuts.length;
    places.forEach((place, at) => (shorts[place] = isTold ? cuts[at] : texts[place]));
  }
  return shorts;
}

// With a halo, to be read on any colour. Names that hardly take part in a highlight step back.

function drawNames(context, named, { ink, paper }, unlit) {
  context.textAlign = "center";
  context.textBaseline = "alphabetic";
  context.lineJoin = "round";
  for (const { text, x, y, font, anchor } of named) {
    context.font = font.css;
    context.direction = RIGHT_TO_LEFT.test(text) ? "rtl" : "ltr";
    context.globalAlpha = unlit.has(anchor.code) ? 0.35 : 1;
    const base = y + 0.35 * font.size;
    context.strokeStyle = paper;
    context.lineWidth = 3.5;
    context.strokeText(text, x, base);
    context.fillStyle = ink;
    context.fillText(text, x, base);
  }
  context.globalAlpha = 1;
}

// Codes that hardly take part in what is highlighted, if anything is: by their points, and by the
// highlighted ones.

function unlitCodes(names, mask, raised) {
  if (names === null || mask === null) return new Set();
  const { codes, texts } = names;
  const [all, lit] = [new Uint32Array(texts.length + 1), new Uint32Array(texts.length + 1)];
  for (let i = 0; i < codes.length; i++) {
    all[codes[i]]++;
    lit[codes[i]] += mask[i];
  }
  const isUnlit = (code) => lit[code] < 0.1 * all[code] && lit[code] < 0.05 * raised;
  return new Set(texts.map((_, label) => label + 1).filter(isUnlit));
}
