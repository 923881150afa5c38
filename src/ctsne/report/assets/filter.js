// Labels that are hidden, by column: their points are neither drawn nor found nor selected.

function connectFilter(data, state) {
  state.watch(["hidden"], ({ hidden }) => state.set({ shown: shownPoints(data, hidden) }));
  state.watch(["selected", "shown"], ({ selected, shown }) => {
    if (shown === null) return;
    const kept = Uint32Array.from(selected).filter((point) => shown[point] === 1);
    if (kept.length < selected.length) state.set({ selected: kept, pressed: NOTHING_PRESSED });
  });
  state.watch(["shown"], ({ shown, pinned }) => {
    if (shown !== null && shown[pinned] === 0) state.set({ pinned: null });
    state.set({ point: state.values.pinned });
    byId("filter").hidden = shown === null;
    if (shown === null) return;
    const number = shown.reduce((sum, value) => sum + value, 0);
    byId("filter-count").textContent = `${count(number)} of ${counted(data.n, "point")} shown`;
    say(byId("filter-count").textContent);
  });
  on(byId("show-all"), "click", () => {
    state.set({ hidden: new Map() });
    say("All points are shown.");
  });
}

// A point is shown if none of its labels is hidden; null if none is.

function shownPoints(data, hidden) {
  if (hidden.size === 0) return null;
  const shown = new Uint8Array(data.n).fill(1);
  for (const [column, codes] of hidden) {
    data.codes(column).forEach((code, point) => {
      if (codes.has(code)) shown[point] = 0;
    });
  }
  return shown;
}

function hideOnly(state, column, codes) {
  const hidden = new Map(state.values.hidden);
  if (codes.size === 0) hidden.delete(column);
  else hidden.set(column, codes);
  state.set({ hidden });
}

// Hides a label, or shows it again.

function toggleLabel(state, column, code) {
  const codes = new Set(state.values.hidden.get(column));
  if (!codes.delete(code)) codes.add(code);
  hideOnly(state, column, codes);
}

// Hides all other labels of a column; if they are hidden, shows them again.

function showOnly(data, state, column, code) {
  const others = new Set(Array.from({ length: data.facts.columns[column].labels.length + 1 }, (_, each) => each));
  others.delete(code);
  const before = state.values.hidden.get(column) ?? new Set();
  const isAlone = before.size === others.size && !before.has(code);
  hideOnly(state, column, isAlone ? new Set() : others);
}
