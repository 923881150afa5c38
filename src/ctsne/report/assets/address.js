// What is seen, in the address, for reloads and links. It may come from a stranger, so each part is
// checked where it is read, and never becomes HTML.

const LONGEST_PART = 4000;
const inAddress = new Map();
let addressTimer = null;

// Keeps a part of the view under a name: `read` returns it as text, `write` sets it from a text and
// ignores one that does not fit. What is as it was when the page was opened is not written.

function keepInAddress(name, read, write) {
  const part = { read, write, start: read() };
  inAddress.set(name, part);
  applyPart(name, part);
}

function applyPart(name, { write }) {
  const text = new URLSearchParams(location.hash.slice(1)).get(name);
  if (text !== null && text.length <= LONGEST_PART) write(text);
}

function addressChanged() {
  clearTimeout(addressTimer);
  addressTimer = setTimeout(writeAddress, 200);
}

function writeAddress() {
  const parts = [...inAddress].map(([name, { read, start }]) => [name, read(), start]);
  const changed = parts.filter(([, text, start]) => text !== start && text !== null && text.length <= LONGEST_PART);
  const hash = changed.length === 0 ? "" : `#${new URLSearchParams(changed.map(([name, text]) => [name, text]))}`;
  if (hash === location.hash) return;
  try {
    history.replaceState(null, "", hash || location.pathname + location.search);
  } catch {
    // A page inside another one may not change its address.
  }
}

// Writes the address after every change, once all parts are known.

function connectAddress(state) {
  state.watch(Object.keys(state.values), addressChanged);
  on(window, "hashchange", () => inAddress.forEach((part, name) => applyPart(name, part)));
}

// Maps, colours, zoom, targets and modes, before they are drawn for the first time.

function keepView(data, state) {
  const { facts } = data;
  const { values } = state;
  const oneOf = (key, known) => keepInAddress(key, () => String(values[key]), (text) => {
    const found = known.find((each) => String(each) === text);
    if (found !== undefined) state.set({ [key]: found });
  });
  const labels = [...facts.columns.keys()].filter((column) => facts.columns[column].kind === "labels" && facts.columns[column].group !== "kept");
  const presets = ["one", "colours", ...(facts.single ? [] : ["maps", "free"]), ...(labels.length > 0 ? ["split"] : [])];
  const choices = { preset: presets, split: labels, focus: [0, 1], drag: ["select", "move"], facet: ["labels", "features", "kept"] };
  for (const [key, known] of Object.entries(choices)) oneOf(key, known);
  const maps = facts.lines.flatMap((line) => line.maps);
  keepInAddress("panels", () => values.panels.map(({ map, column }) => `${map}.${column ?? ""}`).join("-"), (text) => {
    const panels = text.split("-").map((panel) => {
      const [map, key, ...more] = panel.split(".");
      const column = maps.map(String).includes(map) ? coloursOf(facts, Number(map)).find((each) => String(each) === key) : undefined;
      return column === undefined || more.length > 0 ? null : { map: Number(map), column };
    });
    if (panels.length === 2 && !panels.includes(null)) state.set({ panels });
  });
  const numbers = (key, read, fits, write) => keepInAddress(key, () => read().map((value) => String(Number(value.toFixed(4)))).join("_"), (text) => {
    const found = text.split("_").map((part) => (/^-?\d{1,3}(\.\d{1,6})?$/.test(part) ? Number(part) : NaN));
    if (found.length === read().length && found.every(fits)) write(found);
  });
  numbers("view", () => [values.view.x, values.view.y, values.view.side], (value, place) => (place < 2 ? abs(value) <= 3 : value >= 1e-4 && value <= 3),
    ([x, y, side]) => state.set({ view: { x, y, side } }));
  numbers("targets", () => values.targets, (value) => value >= 0 && value <= 1, (targets) => {
    const { map: suggested, reason } = suggest(facts, targets);
    state.set({ targets, suggested, reason });
  });
  numbers("least", () => [values.least], (value) => value >= 0 && value <= 1, ([least]) => state.set({ least }));
  keepPoints(data, state);
}

// Labels as the number of their column and their codes, or null if the page has none like this.

function labelsIn({ columns }, text) {
  const [column, ...codes] = text.split(".").map((part) => (/^\d{1,6}$/.test(part) ? Number(part) : NaN));
  const known = columns[column]?.kind === "numbers" ? 0 : (columns[column]?.labels?.length ?? -1);
  return codes.length > 0 && codes.every((code) => code <= known) ? [column, new Set(codes)] : null;
}

// Hidden labels, and the selection: labels of the legend, other points if they are few or lie together.

function keepPoints(data, state) {
  const { values } = state;
  keepInAddress("hidden", () => [...values.hidden].map(([column, codes]) => [column, ...codes].join(".")).join("-"), (text) => {
    const hidden = text.split("-").map((part) => labelsIn(data.facts, part));
    if (!hidden.includes(null)) state.set({ hidden: new Map(hidden) });
  });
  keepInAddress("labels", () => {
    const { column, codes } = values.pressed;
    return typeof column === "number" && codes.size > 0 ? [column, ...codes].join(".") : "";
  }, (text) => {
    const found = labelsIn(data.facts, text);
    if (found === null) return;
    const [column, codes] = found;
    state.set({ pressed: { column, codes }, selected: pointsWhere(data.codes(column), (code) => codes.has(code)) });
  });
  keepInAddress("points", () => (values.pressed.codes.size > 0 || values.selected.length === 0 ? "" : packPoints(data, values.selected)), (text) => {
    const selected = unpackPoints(data, text);
    if (selected !== null) state.set({ selected, pressed: NOTHING_PRESSED });
  });
}

// Points ordered so that those together in the map follow each other: a region is a few runs.

function placeOrder(data) {
  if (data.order !== undefined) return data.order;
  const { x, y } = data.positions(data.facts.reference);
  const spread = Uint32Array.from({ length: 1024 }, (_, value) => Array.from({ length: 10 }, (_, bit) => ((value >> bit) & 1) << (2 * bit)).reduce((a, b) => a | b));
  const keys = Float64Array.from(x, (_, point) => (spread[round(x[point] * 1023)] + 2 * spread[round(y[point] * 1023)]) * 2 ** 20 + point);
  data.order = Uint32Array.from(keys.sort(), (key) => key % 2 ** 20);
  return data.order;
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

// Lengths of runs of points that are not, are, are not … selected, with five bits per character;
// null if they are too many for an address.

const packed = new WeakMap(); // selections change as a whole

function packPoints(data, points) {
  if (!packed.has(points)) packed.set(points, runsOf(data, points));
  return packed.get(points);
}

function runsOf(data, points) {
  const order = placeOrder(data);
  const mask = new Uint8Array(data.n);
  for (const point of points) mask[point] = 1;
  let [text, wanted, run] = ["", 0, 0];
  const add = () => {
    for (; run > 31; run >>>= 5) text += DIGITS[32 + (run & 31)];
    text += DIGITS[run];
  };
  for (const point of order) {
    if (mask[point] !== wanted) {
      add();
      [wanted, run] = [mask[point], 0];
      if (text.length > LONGEST_PART) return null;
    }
    run++;
  }
  if (wanted === 1) add();
  return text;
}

function unpackPoints(data, text) {
  const order = placeOrder(data);
  const points = [];
  let [place, wanted, run, power] = [0, false, 0, 1];
  for (const character of text) {
    const digit = DIGITS.indexOf(character);
    run += (digit & 31) * power;
    power *= 32;
    if (digit < 0 || place + run > data.n) return null;
    if (digit > 31) continue;
    if (wanted) for (let at = place; at < place + run; at++) points.push(order[at]);
    [place, wanted, run, power] = [place + run, !wanted, 0, 1];
  }
  return power > 1 || points.length === 0 ? null : Uint32Array.from(points).sort();
}
