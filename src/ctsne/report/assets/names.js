// Names of labels on the map: where their points are, short enough, and none over another.

const MOST_NAMES = 300;
const RIGHT_TO_LEFT = /^[^\p{L}]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/u;
// Tries for a name that hits another one, in widths and heights of its box.
const SHIFTS = [
  [0, 0], [0, -0.6], [0, 0.6], [0, -1.1], [0, 1.1], [-0.35, 0], [0.35, 0],
  [-0.35, -0.9], [0.35, -0.9], [-0.35, 0.9], [0.35, 0.9],
];

// A place in the map for each label of which enough is seen, the most frequent first: the median of
// the points that are seen, or where they are densest if there are few at the median.

function nameAnchors({ x, y }, { codes, texts }, { view, width, height }) {
  const { scale, left, top } = camera(view, width, height);
  const [start, bottom] = [-left / scale, (top - height) / scale];
  const [wide, high] = [width / scale, height / scale];
  const across = Math.max(8, Math.min(48, Math.floor(Math.sqrt(4e6 / texts.length))));
  const area = across * across;
  const counts = new Uint32Array(area * texts.length);
  const totals = new Uint32Array(texts.length);
  let seen = 0;
  for (let i = 0; i < codes.length; i++) {
    if (codes[i] === 0) continue;
    totals[codes[i] - 1]++;
    const column = Math.floor(((x[i] - start) / wide) * across);
    const row = Math.floor(((y[i] - bottom) / high) * across);
    if (column < 0 || row < 0 || column >= across || row >= across) continue;
    counts[(codes[i] - 1) * area + row * across + column]++;
    seen++;
  }
  const anchors = [];
  texts.forEach((text, label) => {
    const own = counts.subarray(label * area, (label + 1) * area);
    const count = own.reduce((sum, value) => sum + value, 0);
    const isEnough = count > 0 && (count >= 0.2 * totals[label] || count >= 0.02 * seen);
    if (!isEnough || text.trim() === "") return;
    const place = anchorOf(own, across, count);
    anchors.push({ code: label + 1, text, count, x: start + place.x * wide, y: bottom + place.y * high });
  });
  return anchors.sort((a, b) => b.count - a.count).slice(0, MOST_NAMES);
}

// As a share of the grid. Density is counted in squares that would hold a dozen points if they were
// spread evenly, because a smaller number is chance.

function anchorOf(counts, across, count) {
  const reach = Math.max(1, Math.round((across * Math.sqrt(12 / count) - 1) / 2));
  // Number of points below and to the left of each corner, from which those in a square follow.
  const wide = across + 1;
  const sums = new Uint32Array(wide * wide);
  for (let row = 0; row < across; row++) {
    for (let column = 0, sum = 0; column < across; column++) {
      sum += counts[row * across + column];
      sums[(row + 1) * wide + column + 1] = sums[row * wide + column + 1] + sum;
    }
  }
  const limits = (place) => [Math.max(0, place - reach), Math.min(across, place + reach + 1)];
  const around = (column, row) => {
    const [[left, right], [low, high]] = [limits(column), limits(row)];
    return sums[high * wide + right] - sums[low * wide + right] - sums[high * wide + left] + sums[low * wide + left];
  };
  const middle = (below) => {
    let place = 0;
    while (below(place + 1) < count / 2) place++;
    return place + (count / 2 - below(place)) / (below(place + 1) - below(place));
  };
  const x = middle((column) => sums[across * wide + column]);
  const y = middle((row) => sums[row * wide + across]);
  let best = { value: 0, column: 0, row: 0 };
  for (let cell = 0; cell < counts.length; cell++) {
    if (counts[cell] === 0) continue;
    const [column, row] = [cell % across, Math.floor(cell / across)];
    const value = around(column, row);
    if (value > best.value) best = { value, column, row };
  }
  if (around(Math.floor(x), Math.floor(y)) >= best.value / 2) return { x: x / across, y: y / across };
  const [[left, right], [low, high]] = [limits(best.column), limits(best.row)];
  let [sumX, sumY] = [0, 0];
  for (let row = low; row < high; row++) {
    for (let column = left; column < right; column++) {
      sumX += (column + 0.5) * counts[row * across + column];
      sumY += (row + 0.5) * counts[row * across + column];
    }
  }
  return { x: sumX / best.value / across, y: sumY / best.value / across };
}

function nameFont(host, side, number) {
  const size = Math.round(Math.min(number > 30 ? 12 : 14, Math.max(10, side / 42)));
  return { size, css: `600 ${size}px ${getComputedStyle(host).fontFamily}` };
}

// The names that can be seen, each with a shift from its place that keeps it free of larger ones.

function placeNames(context, anchors, { view, width, height }, host) {
  const font = nameFont(host, Math.min(width, height), anchors.length);
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
