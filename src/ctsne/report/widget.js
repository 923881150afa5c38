// Shows a page in a frame that cannot reach the notebook, and keeps the rows that it says are selected.

function render({ model, el }) {
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", model.get("_sandbox"));
  frame.title = model.get("_title");
  Object.assign(frame.style, { width: "100%", height: `${model.get("_height")}px`, border: "0" });
  frame.srcdoc = model.get("_page");
  // Anybody may send a message to a window: only those of this page count.
  const hear = ({ source, data }) => {
    if (source !== frame.contentWindow || data?.ctsne !== model.get("_token") || !(data.rows instanceof Uint32Array)) return;
    model.set("_rows", new DataView(data.rows.slice().buffer));
    model.save_changes();
  };
  window.addEventListener("message", hear);
  el.append(frame);
  return () => window.removeEventListener("message", hear);
}

export default { render };
