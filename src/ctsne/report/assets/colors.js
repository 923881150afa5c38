// From columns and diagnostics to colours, on light and on dark ground.

// From dark blue through green to yellow, with even steps in lightness.
const SCALE = ["#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725"];
const SCALE_STEPS = 256;

function scaleColor(share) {
  const place = share * (SCALE.length - 1);
  const below = min(SCALE.length - 2, floor(place));
  const [a, b] = [parts(SCALE[below]), parts(SCALE[below + 1])];
  return hex(a.map((value, at) => value + (place - below) * (b[at] - value)));
}

function parts(color) {
  return [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
}

function hex(values) {
  return `#${values.map((value) => round(min(255, max(0, value))).toString(16).padStart(2, "0")).join("")}`;
}

// Changes the lightness of a colour (from 0 to 1, in OKLab) and keeps its hue.

function relight(color, change) {
  const linear = parts(color).map((value) => (value <= 10 ? value / 3294.6 : ((value / 255 + 0.055) / 1.055) ** 2.4));
  const [r, g, b] = linear;
  const [l, m, s] = [
    0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b,
    0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b,
    0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b,
  ].map(Math.cbrt);
  const lightness = 0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s;
  const a = 1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s;
  const c = 0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s;
  const wanted = change(lightness, hypot(a, c));
  const [p, q, t] = [
    wanted + 0.3963377774 * a + 0.2158037573 * c,
    wanted - 0.1055613458 * a - 0.0638541728 * c,
    wanted - 0.0894841775 * a - 1.291485548 * c,
  ].map((value) => value ** 3);
  return hex([
    4.0767416621 * p - 3.3077115913 * q + 0.2309699292 * t,
    -1.2684380046 * p + 2.6097574011 * q - 0.3413193965 * t,
    -0.0041960863 * p - 0.7034186147 * q + 1.707614701 * t,
  ].map((value) => 255 * (value <= 0.0031308 ? 12.92 * value : 1.055 * max(0, value) ** (1 / 2.4) - 0.055)));
}

// Black becomes white; other dark colours become lighter by half of what they lack.

function onDark(color) {
  return relight(color, (light, chroma) => (chroma < 0.03 && light < 0.4 ? 0.94 - 0.3 * light : light < 0.68 ? light + 0.6 * (0.68 - light) : light));
}

function scaleOnDark(color) {
  return relight(color, (light) => 0.38 + 0.6 * light);
}

const MISSING_ON_DARK = "#565b63";

// What a panel is coloured by: codes of the points from 1 (0 is missing), and for labels their
// texts, colours and counts, for numbers the ends of the scale.

function makeColouring(data) {
  const { facts, n } = data;
  const kept = new Map();
  const keep = (key, make) => {
    if (!kept.has(key)) kept.set(key, { key, ...make() });
    return kept.get(key);
  };
  const ofColumn = (column) => {
    const { name, kind, group, labels, colors, counts, missing, low, high, top, cut, all, about } = facts.columns[column];
    const isKnown = facts.known.includes(column);
    const codes = data.codes(column);
    if (kind === "labels") return { kind, name, codes, labels, colors, counts, missing, all, isKnown, column };
    const [first, last] = group === "diagnostic" ? [1, top] : usefulRange(codes, top);
    const steps = new Uint16Array(n);
    for (let i = 0; i < n; i++) {
      const share = min(1, max(0, (codes[i] - first) / (last - first || 1)));
      steps[i] = codes[i] === 0 ? 0 : 1 + round(share * (SCALE_STEPS - 1));
    }
    const at = (code) => low * (1 - (code - 1) / (top - 1)) + high * ((code - 1) / (top - 1));
    const ends = [`${first > 1 || cut[0] ? "≤ " : ""}${withMinus(number(at(first)))}`, `${last < top || cut[1] ? "≥ " : ""}${withMinus(number(at(last)))}`];
    return { kind: "numbers", name, codes: steps, ends, missing, column, note: about, valueAt: (share) => at(first + share * (last - first)) };
  };
  // On one scale for all maps, so that they can be compared.
  const ofDiagnostic = (map, key) => {
    const { name, about } = facts.diagnostics.find((each) => each.key === key);
    const high = max(...facts.maps.map(({ highest }) => highest?.[key] ?? 0));
    const found = data.steps(map, key);
    const codes = new Uint16Array(n);
    const factor = found === null ? 0 : ((found.highest / found.top) * (SCALE_STEPS - 1)) / high;
    const constant = ((facts.maps[map].constant?.[key] ?? 0) * (SCALE_STEPS - 1)) / high;
    for (let i = 0; i < n; i++) codes[i] = 1 + round(found === null ? constant : found.steps[i] * factor);
    return { kind: "numbers", name, codes, ends: ["0", number(high)], missing: 0, column: key, note: about, valueAt: (share) => share * high };
  };
  return ({ map, column }) => {
    if (column === null) return keep("none", () => ({ kind: "none", name: "", codes: new Uint8Array(n).fill(1), column, missing: 0 }));
    if (typeof column === "number") return keep(`column ${column} ${facts.columns[column].version ?? ""}`, () => ofColumn(column));
    const { highest, constant } = facts.maps[map];
    if (highest?.[column] !== undefined || constant?.[column] !== undefined) return keep(`map ${map} ${column}`, () => ofDiagnostic(map, column));
    const { name } = facts.diagnostics.find(({ key }) => key === column);
    return keep(`no ${column}`, () => ({ kind: "none", name: `${name}, which this map lacks`, codes: new Uint8Array(n), column, missing: 0 }));
  };
}

// The codes between which the colours change. A few extreme values would leave one colour for all
// others, so a range more than twice as wide as that of the middle 98 % is cut down to it.

function usefulRange(codes, top) {
  const counts = new Uint32Array(top + 1);
  for (const code of codes) counts[code]++;
  const total = codes.length - counts[0];
  const quantile = (share) => {
    let [code, passed] = [1, counts[1]];
    while (code < top && passed < share * total) passed += counts[++code];
    return code;
  };
  const [first, last] = [quantile(0.01), quantile(0.99)];
  return last > first && last - first < (top - 1) / 2 ? [first, last] : [1, top];
}

// The colour of each code.

function colorTable(facts, colouring, dark) {
  const missing = dark ? MISSING_ON_DARK : facts.missingColor;
  if (colouring.kind === "labels") return [missing, ...colouring.colors.map((color) => (dark ? onDark(color) : color))];
  if (colouring.kind === "none") return [missing, dark ? "#7fb2e5" : "#3b6ea5"];
  return [missing, ...scaleColors(dark, SCALE_STEPS)];
}

function scaleColors(dark, steps) {
  return Array.from({ length: steps }, (_, step) => {
    const color = scaleColor(step / (steps - 1));
    return dark ? scaleOnDark(color) : color;
  });
}
