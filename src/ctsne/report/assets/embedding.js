// A page inside a widget of a notebook tells it which points are selected, by their rows. Others
// never hear of it: only such a page has a token.

function connectWidget(data, state) {
  const { token } = data.facts;
  if (token === undefined || window.parent === window) return;
  state.watch(["selected"], ({ selected }) => window.parent.postMessage({ ctsne: token, rows: Uint32Array.from(selected, (point) => data.rows[point]) }, "*"));
}
