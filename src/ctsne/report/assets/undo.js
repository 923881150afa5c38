// Undo and redo of what is shown.

const UNDONE = ["panels", "preset", "split", "focus", "view", "selected", "pressed", "brushed", "pinned", "hidden", "colours", "kept"];
const SLID = ["view", "panels", "colours", "selected,brushed"]; // changes that come in many small steps
const MOST_STEPS = 100;
const ONE_STEP_MS = 600; // turns of a wheel or a slider that follow each other faster are one step

function connectUndo(state) {
  const [done, undone] = [[], []];
  const taken = () => Object.fromEntries(UNDONE.map((key) => [key, state.values[key]]));
  let now = taken();
  let last = { kind: "", time: 0 };
  const show = () => {
    byId("undo").disabled = done.length === 0;
    byId("redo").disabled = undone.length === 0;
  };
  state.watch(UNDONE, () => {
    const next = taken();
    const kind = UNDONE.filter((key) => !isUnchanged(key, next[key], now[key])).join();
    if (kind !== "" && kind !== "focus") {
      const time = performance.now();
      const goesOn = kind === last.kind && SLID.includes(kind) && time - last.time < ONE_STEP_MS;
      if (!goesOn) done.push(now);
      done.splice(0, done.length - MOST_STEPS);
      undone.length = 0;
      last = { kind, time };
    }
    now = next;
    show();
  });
  const go = (from, to, word) => {
    to.push(now);
    now = from.pop();
    last.kind = "";
    state.set({ ...now, point: now.pinned });
    say(word);
  };
  on(byId("undo"), "click", () => go(done, undone, "Undone"));
  on(byId("redo"), "click", () => go(undone, done, "Done again"));
  on(document, "keydown", (event) => {
    const isRedo = event.key.toLowerCase() === "y" || event.shiftKey;
    const isText = event.target.matches("input:not([type=range])"); // which has an undo of its own
    if (isText || event.altKey || !(event.ctrlKey || event.metaKey) || !/^[yz]$/i.test(event.key)) return;
    event.preventDefault();
    byId(isRedo ? "redo" : "undo").click();
  });
}

// Labels that are pressed change together with the selection.

function isUnchanged(key, after, before) {
  if (key === "pressed" || after === before) return true;
  if (key === "selected") return after.length + before.length === 0;
  if (["hidden", "kept", "brushed"].includes(key)) return false; // which are replaced when they change
  return JSON.stringify(after) === JSON.stringify(before);
}
