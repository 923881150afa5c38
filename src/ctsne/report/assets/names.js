// Names of labels on the map: where their points are, short enough, and none over another. A name
// that cannot be on its own points has a line that ends on one of them.

const MOST_NAMES = 300;
const CELL_GAP = 2; // cells from one point of a cluster to the next
const END_RING = 4.5; // around the point at which a line ends, in pixels
const TOUCHING = 6; // pixels between a name and points that it clearly belongs to
const RIGHT_TO_LEFT = /^[^\p{L}]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/u;
// Tries for a name that hits another one, in widths and heights of its box.
const SHIFTS = [
  [0, 0], [0, -0.6], [0, 0.6], [0, -1.1], [0, 1.1], [-0.35, 0], [0.35, 0],
  [-0.35, -0.9], [0.35, -0.9], [-0.35, 0.9], [0.35, 0.9],
];

// A place in the map for each label that has one, with the box of the cluster there: those that
// take part in a highlight first, then the most frequent. Only points that are seen count.

function nameAnchors({ to: { x, y }, group }, { codes, texts }, { view, width, height, unlit }) {
  const { scale, left, top } = camera(view, width, height);
  const [start, bottom] = [-left / scale, (top - height) / scale];
  const [wide, high] = [width / scale, height / scale];
  const across = max(8, min(96, floor(sqrt(4e6 / texts.length))));
  const area = across * across;
  const counts = new Uint32Array(area * texts.length);
  const all = new Uint32Array(area);
  const totals = new Uint32Array(texts.length);
  let labelled = 0;
  for (let i = 0; i < codes.length; i++) {
    if (codes[i] === 0 || group[i] === 0) continue;
    labelled++;
    totals[codes[i] - 1]++;
    const column = floor(((x[i] - start) / wide) * across);
    const row = floor(((y[i] - bottom) / high) * across);
    if (column < 0 || row < 0 || column >= across || row >= across) continue;
    counts[(codes[i] - 1) * area + row * across + column]++;
    all[row * across + column]++;
  }
  const allWithin = countsWithin(all, across);
  const seen = allWithin(0, 0, across);
  const anchors = [];
  texts.forEach((text, label) => {
    const own = counts.subarray(label * area, (label + 1) * area);
    const count = own.reduce((sum, value) => sum + value, 0);
    const isEnough = count > 0 && (count >= 0.2 * totals[label] || count >= 0.02 * seen);
    if (!isEnough || text.trim() === "") return;
    const within = countsWithin(own, across);
    const isHome = (place) => isAtHome(within, allWithin, place, across, count, totals[label] / labelled);
    const place = namePlaces(own, within, across, count).find(isHome);
    if (place === undefined) return;
    const cluster = clusterAt(own, all, place, across);
    // Points of others, beyond its own, under a box in pixels.
    const othersUnder = (box) => {
      const cell = [floor((box.x / width) * across), floor((1 - box.y / height) * across)];
      const reach = [floor((box.width / 2 / width) * across), floor((box.height / 2 / height) * across)];
      return allWithin(...cell, ...reach) - 2 * within(...cell, ...reach);
    };
    anchors.push({
      othersUnder, code: label + 1, text, count, isAlone: cluster.isAlone, x: start + (place.x / across) * wide, y: bottom + (place.y / across) * high,
      width: ((cluster.right - cluster.left) / across) * wide, height: ((cluster.high - cluster.low) / across) * high,
      middle: [start + ((cluster.left + cluster.right) / 2 / across) * wide, bottom + ((cluster.low + cluster.high) / 2 / across) * high],
    });
  });
  findEnds(anchors, { x, y }, codes, group);
  const isUnlit = ({ code }) => Number(unlit.has(code));
  return anchors.sort((a, b) => isUnlit(a) - isUnlit(b) || b.count - a.count).slice(0, MOST_NAMES);
}

// The own point that is nearest to the place of each name, where a line to it ends.

function findEnds(anchors, { x, y }, codes, group) {
  const byCode = [];
  for (const anchor of anchors) byCode[anchor.code] = Object.assign(anchor, { end: null, far: Infinity });
  for (let i = 0; i < codes.length; i++) {
    const anchor = byCode[codes[i]];
    if (anchor === undefined || group[i] === 0) continue;
    const far = (x[i] - anchor.x) ** 2 + (y[i] - anchor.y) ** 2;
    if (far < anchor.far) Object.assign(anchor, { far, end: [x[i], y[i]] });
  }
}

// Counts the points in the square around a cell of a grid, at once.

function countsWithin(counts, across) {
  const wide = across + 1;
  const sums = new Uint32Array(wide * wide); // of all cells below and to the left of a corner
  for (let row = 0; row < across; row++) {
    for (let column = 0, sum = 0; column < across; column++) {
      sum += counts[row * across + column];
      sums[(row + 1) * wide + column + 1] = sums[row * wide + column + 1] + sum;
    }
  }
  const low = (place, reach) => max(0, place - reach);
  const high = (place, reach) => min(across, place + reach + 1);
  return (column, row, reachX, reachY = reachX) => {
    const [above, below] = [wide * high(row, reachY), wide * low(row, reachY)];
    const [right, left] = [high(column, reachX), low(column, reachX)];
    return sums[above + right] - sums[below + right] - sums[above + left] + sums[below + left];
  };
}

// In cells: the median, unless few points are there, and where points are densest, in squares that
// would hold a dozen points if they were spread evenly, because less is chance.

function namePlaces(counts, within, across, count) {
  const reach = max(1, round(min(across / 16, (across * sqrt(12 / count) - 1) / 2)));
  const middle = (of) => {
    let [place, below] = [0, 0];
    while (below + of(place) < count / 2) below += of(place++);
    return place + (count / 2 - below) / of(place);
  };
  const x = middle((column) => within(column, 0, 0, across));
  const y = middle((row) => within(0, row, across, 0));
  let best = { value: 0, column: 0, row: 0 };
  for (let cell = 0; cell < counts.length; cell++) {
    if (counts[cell] === 0) continue;
    const [column, row] = [cell % across, floor(cell / across)];
    const value = within(column, row, reach);
    if (value > best.value) best = { value, column, row };
  }
  let [sumX, sumY] = [0, 0];
  for (let row = max(0, best.row - reach); row <= min(across - 1, best.row + reach); row++) {
    for (let column = max(0, best.column - reach); column <= min(across - 1, best.column + reach); column++) {
      sumX += (column + 0.5) * counts[row * across + column];
      sumY += (row + 0.5) * counts[row * across + column];
    }
  }
  const densest = { x: sumX / best.value, y: sumY / best.value };
  const isMiddleFull = within(floor(x), floor(y), reach) >= best.value / 2;
  return isMiddleFull ? [{ x, y }, densest] : [densest];
}

// Whether a label is more frequent at a place, in the square with a quarter of its points, than it is
// anywhere: a label that is spread over all points has no place for its name.

function isAtHome(within, allWithin, { x, y }, across, count, share) {
  const [column, row] = [floor(x), floor(y)];
  let reach = 0;
  while (reach < across && within(column, row, reach) < count / 4) reach++;
  const [own, all] = [within(column, row, reach), allWithin(column, row, reach)];
  const expected = share * all;
  const isMuch = own - expected >= 0.3 * (all - expected);
  return isMuch || (own >= 2.5 * expected && own - expected >= 5 * sqrt(expected)); // and not by chance
}

// The box around the cells with points that hang together at a place, and whether few others are
// in these cells.

function clusterAt(counts, all, { x, y }, across) {
  const box = { left: floor(x), right: floor(x), low: floor(y), high: floor(y) };
  const isMet = new Uint8Array(counts.length);
  const open = [[box.left, box.low]];
  let [own, others] = [0, 0];
  while (open.length > 0) {
    const [column, row] = open.pop();
    box.left = min(box.left, column);
    box.right = max(box.right, column);
    box.low = min(box.low, row);
    box.high = max(box.high, row);
    for (let j = max(0, row - CELL_GAP); j <= min(across - 1, row + CELL_GAP); j++) {
      for (let i = max(0, column - CELL_GAP); i <= min(across - 1, column + CELL_GAP); i++) {
        if (counts[j * across + i] === 0 || isMet[j * across + i] === 1) continue;
        isMet[j * across + i] = 1;
        own += counts[j * across + i];
        others += all[j * across + i] - counts[j * across + i];
        open.push([i, j]);
      }
    }
  }
  return { ...box, right: box.right + 1, high: box.high + 1, isAlone: own > others };
}

function nameFont(host, side, number) {
  const size = round(min(number > 30 ? 12 : 14, max(10, side / 42)));
  return { size, css: `600 ${size}px ${getComputedStyle(host).fontFamily}` };
}

// The names that can be seen, each with a shift from its place that keeps it free of larger ones,
// and off clusters that it would cover if there is room elsewhere.

function placeNames(context, anchors, { view, width, height }, host) {
  const font = nameFont(host, min(width, height), anchors.length);
  context.font = font.css;
  const measured = (text) => context.measureText(text).width;
  const shorts = shortened(anchors.map(({ text }) => text), max(70, 0.32 * width), measured);
  const { scale, left, top } = camera(view, width, height);
  const boxes = anchors.map((anchor, place) => {
    const box = { width: measured(shorts[place]) + 6, height: 1.2 * font.size };
    const cluster = {
      x: left + anchor.middle[0] * scale, y: top - anchor.middle[1] * scale,
      width: anchor.width * scale, height: anchor.height * scale,
    };
    return { box, cluster, isSmall: cluster.height < 2.6 * box.height && cluster.width < box.width };
  });
  // Boxes may touch, also after rounding.
  const hit = (a) => (b) =>
    abs(a.x - b.x) < (a.width + b.width) / 2 - 1e-6 && abs(a.y - b.y) < (a.height + b.height) / 2 - 1e-6;
  // Cells are larger than what they hold.
  const smallClusters = boxes.filter(({ isSmall }, place) => isSmall && anchors[place].isAlone).map(({ cluster }) => ({
    ...cluster, width: max(2, cluster.width - 5), height: max(2, cluster.height - 5),
  }));
  const placed = [];
  anchors.forEach((anchor, place) => {
    const { box, cluster, isSmall } = boxes[place];
    const [x, y] = [left + anchor.x * scale, top - anchor.y * scale];
    const limited = (value, half, most) => min(most - half - 2, max(half + 2, value));
    const moved = (toX, toY) => ({
      ...box, x: limited(toX, box.width / 2, width), y: limited(toY, box.height / 2, height),
    });
    const [aside, apart] = [(cluster.width + box.width) / 2, (cluster.height + box.height) / 2];
    const tries = SHIFTS.map(([across, down]) => moved(x + across * box.width, y + down * box.height));
    if (isSmall) {
      const tilts = [-0.25, 0.25, -0.5, 0.5].map((share) => cluster.x + share * box.width);
      tries.unshift(
        moved(cluster.x, cluster.y - apart), moved(cluster.x, cluster.y + apart),
        moved(cluster.x + aside, cluster.y), moved(cluster.x - aside, cluster.y),
        ...tilts.flatMap((at) => [moved(at, cluster.y - apart), moved(at, cluster.y + apart)]),
        moved(cluster.x, cluster.y - apart - 0.8 * box.height), moved(cluster.x, cluster.y + apart + 0.8 * box.height),
      );
    }
    const free = tries.filter((each) => !placed.some(hit(each)));
    if (free.length === 0) return;
    const covered = free.map((each) => smallClusters.filter(hit(each)).length);
    const found = free[covered.indexOf(min(...covered))];
    const reach = { ...cluster, width: cluster.width + 2 * TOUCHING, height: cluster.height + 2 * TOUCHING };
    const hasLine = anchor.othersUnder(found) > 0 || !hit(reach)(found);
    placed.push({ ...found, anchor, text: shorts[place], font, hasLine, shift: [found.x - x, found.y - y] });
  });
  return placed;
}

// The same names in a view that has changed.

function movedNames(placed, { view, width, height }) {
  const { scale, left, top } = camera(view, width, height);
  return placed.map((name) => {
    const [x, y] = [left + name.anchor.x * scale + name.shift[0], top - name.anchor.y * scale + name.shift[1]];
    const [toX, toY] = [left + name.anchor.end[0] * scale, top - name.anchor.end[1] * scale];
    const [fromX, fromY] = [intervalEnd(toX, x, name.width), intervalEnd(toY, y, name.height)];
    const isCovered = fromX === toX && fromY === toY; // by its own name
    return { ...name, x, y, line: name.hasLine && !isCovered ? [fromX, fromY, toX, toY] : null };
  });
}

// The place of an interval that is nearest to a value.

function intervalEnd(value, middle, size) {
  return min(middle + size / 2, max(middle - size / 2, value));
}

// From a name to its point, with a ring around it.

function linePath([fromX, fromY, toX, toY]) {
  const far = hypot(toX - fromX, toY - fromY);
  const at = (...place) => place.map((value) => value.toFixed(1)).join(" ");
  const share = max(0, 1 - END_RING / far);
  const [x, y] = [fromX + share * (toX - fromX), fromY + share * (toY - fromY)];
  return `M${at(fromX, fromY)}L${at(x, y)}M${at(toX - END_RING, toY)}a${END_RING} ${END_RING} 0 1 0 ${2 * END_RING} 0a${END_RING} ${END_RING} 0 1 0 ${-2 * END_RING} 0`;
}

// With a halo, to be read on any colour. Names that hardly take part in a highlight step back.

function drawNames(context, named, { ink, paper }, unlit) {
  context.textAlign = "center";
  context.textBaseline = "alphabetic";
  context.lineJoin = "round";
  for (const { line, anchor } of named) {
    if (line === null) continue;
    context.globalAlpha = unlit.has(anchor.code) ? 0.35 : 1;
    for (const [color, wide] of [[paper, 3.5], [ink, 1.2]]) {
      Object.assign(context, { strokeStyle: color, lineWidth: wide });
      context.stroke(new Path2D(linePath(line)));
    }
  }
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

// Codes that hardly take part in what is highlighted, if anything is.

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
