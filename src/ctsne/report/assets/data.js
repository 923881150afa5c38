// The content of the file: facts as JSON, and packed arrays that are unpacked when first used.

const { abs, ceil, floor, hypot, max, min, round, sqrt } = Math;

function readData() {
  const text = (id) => document.getElementById(`ctsne-${id}`).textContent;
  const facts = JSON.parse(text("facts"));
  const bytes = (id) => {
    const characters = atob(text(id));
    const array = new Uint8Array(characters.length);
    for (let i = 0; i < array.length; i++) array[i] = characters.charCodeAt(i);
    return array;
  };
  const rows = new Uint32Array(bytes("rows").buffer);
  const n = rows.length;
  const kept = new Map();
  const keep = (id, make) => {
    if (!kept.has(id)) kept.set(id, make(bytes(id)));
    return kept.get(id);
  };
  const whole = (array) => {
    const width = array.length / n;
    return width === 1 ? array : width === 2 ? new Uint16Array(array.buffer) : new Uint32Array(array.buffer);
  };
  // Every map fills the square from 0 to 1.
  const unpacked = (array) => {
    const steps = new Uint16Array(array.buffer);
    const x = new Float32Array(n);
    const y = new Float32Array(n);
    for (let i = 0; i < n; i++) {
      x[i] = steps[2 * i] / 65535;
      y[i] = steps[2 * i + 1] / 65535;
    }
    return { x, y };
  };
  let pointOf = null;
  return {
    facts,
    commands: JSON.parse(text("commands")),
    provenance: JSON.parse(text("provenance")),
    n,
    rows,
    positions: (map) => keep(`map-${map}-positions`, unpacked),
    // Codes of labels or steps of a scale, from 1; 0 is missing.
    codes: (column) => keep(`column-${column}`, whole),
    // A diagnostic of a map: steps of a scale that ends at `highest`, or null if the map lacks it.
    steps(map, key) {
      const highest = facts.maps[map].highest?.[key];
      if (highest === undefined) return null;
      const steps = keep(`map-${map}-${key}`, whole);
      return { steps, top: steps.BYTES_PER_ELEMENT === 2 ? 65535 : 255, highest };
    },
    diagnostic(map, key, point) {
      const constant = facts.maps[map].constant?.[key];
      if (constant !== undefined) return constant;
      const found = this.steps(map, key);
      return found === null ? null : (found.steps[point] / found.top) * found.highest;
    },
    // The nearest points in the data of each point, or null: `k` places each, the nearest first, and
    // 0xFFFFFFFF for one that is not shown.
    neighbors: () => (facts.neighbors === 0 ? null : { k: facts.neighbors, rows: keep("neighbors", (array) => new Uint32Array(array.buffer)) }),
    nameOf: (point) => (facts.names === null ? `row ${rows[point]}` : facts.names[point]),
    // The shown point of a row, or undefined if it is not shown.
    pointOf(row) {
      if (pointOf === null) pointOf = new Map(Array.from(rows, (of, point) => [of, point]));
      return pointOf.get(row);
    },
    // The text of a point in a column, or null where it is missing.
    valueOf(column, point) {
      const { kind, labels, low, high, top, cut } = facts.columns[column];
      const code = this.codes(column)[point];
      if (code === 0) return null;
      if (kind !== "numbers") return labels[code - 1];
      const share = (code - 1) / (top - 1);
      const end = code === 1 && cut[0] ? "≤ " : code === top && cut[1] ? "≥ " : "";
      return end + number(low * (1 - share) + high * share, top === 255 ? 3 : 4);
    },
    labelOf(column, point) {
      return this.valueOf(column, point) ?? "missing";
    },
  };
}

// Numbers in a readable form.

function number(value, digits = 3) {
  return abs(value) >= 1e6 || (value !== 0 && abs(value) < 1e-3)
    ? value.toExponential(digits - 1)
    : String(Number(value.toPrecision(max(digits, ceil(Math.log10(abs(value) + 1))))));
}

// A value on a scale, rounded to what can be told apart on it.

function roundTo(value, range) {
  const step = 10 ** floor(Math.log10(range / 200 || 1));
  return number(round(value / step) * step);
}

// With the minus of typography, for texts that are read and not computed with.

function withMinus(text) {
  return text.replace(/(^|\s|e)-/, "$1−");
}

function count(value) {
  return value.toLocaleString("en");
}

function counted(value, thing) {
  return `${count(value)} ${thing}${value === 1 ? "" : "s"}`;
}

function percent(share) {
  return share > 0 && share < 0.001 ? "< 0.1 %" : `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %`;
}

function measured(map, measure) {
  const value = map.measures[measure.key];
  return value === undefined ? "–" : value.toFixed(measure.digits);
}

// All text from the data enters the page here, as text and never as HTML.

function element(name, text = "", attributes = {}) {
  const made = document.createElement(name);
  made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function listItem(...parts) {
  const item = element("li");
  item.append(...parts);
  return item;
}

function shape(name, attributes = {}, text = "") {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function byId(id) {
  return document.getElementById(id);
}

// A text that may be cut, with the whole of it for who hovers.

function putText(host, text) {
  host.textContent = host.title = text;
}

function on(target, kind, run, how) {
  target.addEventListener(kind, run, how);
}
