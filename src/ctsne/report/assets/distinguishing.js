// What distinguishes the selected points from all others: features and numbers by their effect sizes.

const [GRADES, MOST_APART, SLICE] = [256, 30, 12]; // steps of a scale, entries of the list, milliseconds

// How many points have each step of a scale; missing ones have none.

function countSteps(codes, points) {
  const counts = new Uint32Array(GRADES);
  const shift = codes.BYTES_PER_ELEMENT === 2 ? 8 : 0;
  if (points === null) for (const code of codes) counts[(code - 1) >> shift] += code > 0 ? 1 : 0;
  else for (const point of points) if (codes[point] > 0) counts[(codes[point] - 1) >> shift]++;
  return counts;
}

// The standardised difference of the means, and the probability that a selected point has the
// larger value (AUC), both from the steps; null if one side has fewer than two values.

function effectSize(inside, all) {
  const moments = [[0, 0, 0], [0, 0, 0]];
  let [wins, below] = [0, 0];
  for (let step = 0; step < GRADES; step++) {
    const sides = [inside[step], all[step] - inside[step]];
    sides.forEach((points, side) => {
      moments[side][0] += points;
      moments[side][1] += points * step;
      moments[side][2] += points * step * step;
    });
    wins += sides[0] * (below + sides[1] / 2);
    below += sides[1];
  }
  const [[n, , ], [m, , ]] = moments;
  if (n < 2 || m < 2) return null;
  const within = moments.reduce((sum, [points, first, second]) => sum + second - (first * first) / points, 0);
  const apart = moments[0][1] / n - moments[1][1] / m;
  const spread = sqrt(within / (n + m - 2));
  return { difference: apart === 0 ? 0 : Math.sign(apart) * min(99, abs(apart) / (spread || 1e-9)), auc: wins / (n * m) };
}

function comparedColumns({ columns }) {
  return columns.flatMap(({ kind, group }, column) => (kind === "numbers" && group !== "diagnostic" ? [column] : []));
}

function connectDistinguishing(data, state) {
  const { facts } = data;
  const compared = comparedColumns(facts);
  const [list, about] = [byId("apart-list"), byId("apart-about")];
  const totals = new Map();
  const totalOf = (column) => {
    if (!totals.has(column)) totals.set(column, countSteps(data.codes(column), null));
    return totals.get(column);
  };
  let [run, chosen, listed, before] = [0, null, [], null];
  const redraw = makeChart(byId("apart-chart"), (chart, width, height) => {
    if (chosen !== null) drawSides(chart, facts.columns[chosen], countSteps(data.codes(chosen), state.values.selected), totalOf(chosen), width, height);
  });
  const describe = (ranked) => {
    const { column } = focused(state.values);
    chosen = ranked.some((each) => each.column === column) ? column : (ranked[0]?.column ?? null);
    byId("apart-chart").hidden = chosen === null;
    redraw();
    if (chosen === null) return;
    const { name } = facts.columns[chosen];
    const { auc, difference } = ranked.find((each) => each.column === chosen);
    const words = `${name}: difference ${signed(difference)}, AUC ${auc.toFixed(2)}`;
    about.textContent = words;
    about.title = `${words}. Difference of the means in standard deviations; AUC: how likely a selected point has a higher value than another.`;
    byId("apart-chart").ariaLabel = `Selected points and all others, ${words}`;
    for (const button of list.querySelectorAll("button")) button.ariaPressed = Number(button.dataset.column) === column;
  };
  // A few features at a time, so that the page stays responsive.
  const compare = (selected) => {
    const own = ++run;
    const ranked = [];
    let next = 0;
    about.textContent = "comparing …";
    const go = () => {
      if (own !== run) return;
      const end = performance.now() + SLICE;
      for (; next < compared.length && performance.now() < end; next++) {
        const found = effectSize(countSteps(data.codes(compared[next]), selected), totalOf(compared[next]));
        if (found !== null) ranked.push({ column: compared[next], ...found });
      }
      if (next < compared.length) {
        setTimeout(go);
        return;
      }
      ranked.sort((a, b) => abs(b.difference) - abs(a.difference));
      drawRanked(facts, state, list, ranked);
      if (ranked.length === 0) about.textContent = "Select at least two points, and leave two others.";
      describe(ranked);
      listed = ranked;
    };
    go();
  };
  state.watch(["selected", "panels", "focus", "facet"], ({ selected }) => {
    if (byId("apart").hidden) return;
    if (selected !== before) compare(selected);
    else describe(listed);
    before = selected;
  });
  watchEnd(list);
}

function signed(value) {
  return `${value < 0 ? "−" : "+"}${abs(value).toFixed(2)}`;
}

function drawRanked(facts, state, list, ranked) {
  const largest = abs(ranked[0]?.difference ?? 0) || 1;
  const nameOf = longNames(ranked.map(({ column }) => facts.columns[column].name));
  list.scrollTop = 0;
  list.replaceChildren(...ranked.slice(0, MOST_APART).map(({ column, difference, auc }) => {
    const { name } = facts.columns[column];
    const words = `${name}: difference ${signed(difference)}, AUC ${auc.toFixed(2)}`;
    const button = element("button", "", { title: words, "data-column": column });
    const bar = element("span", "", { class: difference < 0 ? "bar lower" : "bar" });
    bar.style.width = `${round((60 * abs(difference)) / largest)}px`;
    const track = element("span", "", { class: "track" });
    track.append(bar);
    button.append(nameOf(name), track, element("span", signed(difference), { class: "count" }));
    on(button, "click", () => showColumn(state, column, state.values.focus));
    return listItem(button);
  }));
}

// Shares of the selected points and of all others along the scale, one above and one below a line.

function drawSides(chart, { low, high, top, cut }, inside, all, width, height) {
  const last = all.findLastIndex((points) => points > 0);
  const first = all.findIndex((points) => points > 0);
  const bars = min(40, last - first + 1);
  const sides = [new Float64Array(bars), new Float64Array(bars)];
  for (let step = first; step <= last; step++) {
    const bar = floor(((step - first) * bars) / (last - first + 1));
    sides[0][bar] += inside[step];
    sides[1][bar] += all[step] - inside[step];
  }
  const middle = (height - 14) / 2;
  const across = width / bars;
  sides.forEach((counts, side) => {
    const most = max(...counts) || 1;
    counts.forEach((points, bar) => {
      const tall = (points / most) * (middle - 2);
      chart.append(shape("rect", { x: bar * across, y: side === 0 ? middle - tall : middle, width: max(1, across - 0.5), height: tall, class: side === 0 ? "inside" : "others" }));
    });
  });
  const at = (step) => withMinus(number(low + ((high - low) * step) / (top === 255 ? 254 : 255)));
  chart.append(shape("text", { x: width, y: 10, "text-anchor": "end" }, "selected"), shape("text", { x: width, y: height - 17, "text-anchor": "end" }, "others"),
    shape("text", { x: 0, y: height - 2 }, `${cut[0] ? "≤ " : ""}${at(first)}`), shape("text", { x: width, y: height - 2, "text-anchor": "end" }, `${cut[1] ? "≥ " : ""}${at(last)}`));
}
