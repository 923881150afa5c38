// Lines of equal density, computed once for a map on a coarse grid and drawn in any view.

const ACROSS = 160; // cells along each side of the grid
const BEYOND = 0.06; // of the map around it, so that lines close
const [MOST_CONTOURED, LEAST_CONTOURED] = [60, 20]; // labels, and points of a label
const [SHARES_OF_ALL, SHARES_OF_LABEL] = [[0.25, 0.5, 0.75, 0.95], [0.5, 0.85]]; // of the points, inside

// Lines as { code, path, shape } in the map, for SVG and for a canvas: of each label, or of all
// points with the code 0. Hidden points do not count.

function contoursOf({ to: { x, y }, codes, group }, byLabel) {
  const cell = (1 + 2 * BEYOND) / ACROSS;
  const along = (value) => floor((value + BEYOND) / cell);
  const totals = new Map();
  for (let i = 0; i < x.length; i++) {
    const code = byLabel ? codes[i] : 0;
    if (group[i] > 0 && (code > 0 || !byLabel)) totals.set(code, (totals.get(code) ?? 0) + 1);
  }
  const largest = [...totals].filter(([, points]) => points >= LEAST_CONTOURED).sort((a, b) => b[1] - a[1]).slice(0, MOST_CONTOURED);
  const fields = new Map(largest.map(([code]) => [code, new Float32Array(ACROSS * ACROSS)]));
  for (let i = 0; i < x.length; i++) {
    const counts = fields.get(byLabel ? codes[i] : 0);
    if (counts !== undefined && group[i] > 0) counts[along(y[i]) * ACROSS + along(x[i])]++;
  }
  // Fewer points need more smoothing; three passes come close to a bell curve.
  const reach = max(2, round(12 * x.length ** (-1 / 6)));
  return largest.flatMap(([code, points]) => {
    const counts = fields.get(code);
    const density = counts.slice();
    for (let pass = 0; pass < 3; pass++) smooth(density, reach);
    const cells = Array.from(counts.keys()).filter((at) => counts[at] > 0).sort((a, b) => density[b] - density[a]);
    let [place, inside] = [0, 0];
    return (code === 0 ? SHARES_OF_ALL : SHARES_OF_LABEL).map((share) => {
      while (inside + counts[cells[place]] < share * points) inside += counts[cells[place++]];
      const lines = levelLines(density, density[cells[place]]).map((value) => ((value + 0.5) * cell - BEYOND).toFixed(4));
      const path = lines.map((value, at) => "M L "[at % 4] + value).join("");
      return { code, path, shape: new Path2D(path) };
    });
  });
}

// Replaces each value by the mean within reach, along rows and along columns.

function smooth(field, reach) {
  const line = new Float32Array(ACROSS);
  for (const [step, stride] of [[1, ACROSS], [ACROSS, 1]]) {
    for (let start = 0; start < ACROSS; start++) {
      for (let place = 0; place < ACROSS; place++) line[place] = field[start * stride + place * step];
      let sum = 0;
      for (let place = -reach; place < ACROSS; place++) {
        sum += (line[place + reach] ?? 0) - (line[place - reach - 1] ?? 0);
        if (place >= 0) field[start * stride + place * step] = sum / (2 * reach + 1);
      }
    }
  }
}

// The lines at a level, by marching squares: pieces within the squares between four cells.

function levelLines(field, level) {
  const lines = [];
  for (let at = 0; at < ACROSS * (ACROSS - 1); at++) {
    const number = (field[at] >= level) + (field[at + 1] >= level) + (field[at + ACROSS] >= level) + (field[at + ACROSS + 1] >= level);
    const [column, row] = [at % ACROSS, floor(at / ACROSS)];
    if (number % 4 === 0 || column === ACROSS - 1) continue;
    const corners = [field[at], field[at + 1], field[at + ACROSS + 1], field[at + ACROSS]];
    const above = corners.map((value) => value >= level);
    const cuts = []; // where the line crosses the edges
    corners.forEach((value, corner) => {
      const next = (corner + 1) % 4;
      if (above[corner] === above[next]) return;
      const share = (level - value) / (corners[next] - value);
      const [right, up] = [[share, 0], [1, share], [1 - share, 1], [0, 1 - share]][corner];
      cuts.push([column + right, row + up]);
    });
    lines.push(...cuts.flat());
  }
  return lines;
}

// Each line twice, as a halo and in its colour.

function contourStrokes({ contours, points, look }) {
  const { ink, paper } = inks(look);
  return contours.flatMap(({ code, ...line }) => [{ ...line, color: paper, width: 3 }, { ...line, color: code === 0 ? ink : hex(points.table[code]), width: 1.25 }]);
}

function drawContours(context, seen) {
  const { scale, left, top } = camera(seen.view, seen.width, seen.height);
  context.save();
  context.translate(left, top);
  context.scale(scale, -scale);
  for (const { shape, color, width } of contourStrokes(seen)) {
    Object.assign(context, { lineCap: "round", strokeStyle: color, lineWidth: width / scale });
    context.stroke(shape);
  }
  context.restore();
}

function svgContours(seen) {
  const { scale, left, top } = camera(seen.view, seen.width, seen.height);
  return contourStrokes(seen).map(({ path, color, width }) =>
    `<path transform="translate(${left} ${top}) scale(${scale} ${-scale})" d="${path}" fill="none" stroke="${color}" stroke-width="${width / scale}" stroke-linecap="round"/>`).join("\n");
}
