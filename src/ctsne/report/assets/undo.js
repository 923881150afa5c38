// Undo and redo of what is shown: maps, colours, the part seen, the selection and the point.

const UNDONE = ["panels", "preset", "focus", "view", "selected", "pressed", "pinned"];
const MOST_STEPS = 100;
const ONE_STEP_MS = 600; // steps of a wheel or a slider that follow each other faster are one
const GRADUAL = ["view", "panels"];

function connectUndo(state) {
  const [done, undone] = [[], []];
  const taken = () => Object.fromEntries(UNDONE.map((key) => [key, state.values[key]]));
  let now = taken();
  let last = { kind: "", time: -Infinity };
  let isBusy = false; // while a step is taken back
  const show = () => {
    byId("undo").disabled = done.length === 0;
    byId("redo").disabled = undone.length === 0;
  };
  state.watch(UNDONE, () => {
    const next = taken();
    const changed = UNDONE.filter((key) => !isUnchanged(key, next[key], now[key]));
    if (isBusy || changed.length === 0) return;
    const [kind, time] = [String(changed), performance.now()];
    const isPlaying = byId("play").getAttribute("aria-pressed") === "true";
    const isSame = kind === last.kind && GRADUAL.includes(kind) && (time - last.time < ONE_STEP_MS || isPlaying);
    // The panel in focus alone is no step, but it is kept with the next one.
    if (!isSame && kind !== "focus") {
      done.push(now);
      done.splice(0, done.length - MOST_STEPS);
    }
    if (kind !== "focus") {
      undone.length = 0;
      last = { kind, time };
    }
    now = next;
    show();
  });
  const go = (from, to, word) => {
    if (from.length === 0) return;
    to.push(now);
    now = from.pop();
    last = { kind: "", time: -Infinity };
    isBusy = true;
    state.set({ ...now, point: now.pinned });
    isBusy = false;
    show();
    say(word);
  };
  byId("undo").addEventListener("click", () => go(done, undone, "Undone"));
  byId("redo").addEventListener("click", () => go(undone, done, "Done again"));
  document.addEventListener("keydown", (event) => {
    const key = event.key.toLowerCase();
    const isText = event.target.matches("input:not([type=range])"); // it has an undo of its own
    if (isText || event.altKey || !(event.ctrlKey || event.metaKey) || !["y", "z"].includes(key)) return;
    event.preventDefault();
    byId(key === "y" || event.shiftKey ? "redo" : "undo").click();
  });
}

// Labels that are pressed change together with the selection.

function isUnchanged(key, after, before) {
  if (key === "pressed") return true;
  if (key === "selected") return after === before || after.length + before.length === 0;
  return JSON.stringify(after) === JSON.stringify(before);
}
