// Point size, opacity, names, contours and theme. They are kept in the address, so that a link or a reload
// brings them back.

const LOOKS = { names: ["auto", "always", "never"], contours: ["none", "all", "labels"], theme: ["auto", "light", "dark"] };

function connectLook(state) {
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const set = (changes) => state.set({ look: { ...state.values.look, ...changes } });
  set(lookInAddress());
  // The left end of both sliders is automatic.
  for (const key of ["size", "opacity"]) {
    byId(key).addEventListener("input", () => set({ [key]: Number(byId(key).value) || null }));
  }
  for (const key of Object.keys(LOOKS)) byId(key).addEventListener("change", () => set({ [key]: byId(key).value }));
  const dress = () => {
    const { theme } = state.values.look;
    document.documentElement.dataset.theme = theme === "auto" ? (system.matches ? "dark" : "light") : theme;
  };
  state.watch(["look"], ({ look }) => {
    dress();
    for (const key of ["size", "opacity"]) {
      byId(key).value = look[key] ?? 0;
      byId(`${key}-said`).textContent = look[key] === null ? "auto" : key === "size" ? `${look[key]} px` : look[key].toFixed(2);
      byId(key).setAttribute("aria-valuetext", byId(`${key}-said`).textContent);
    }
    for (const key of Object.keys(LOOKS)) byId(key).value = look[key];
    keepInAddress(look);
  });
  system.addEventListener("change", () => set({}));
}

function isDark() {
  return document.documentElement.dataset.theme === "dark";
}

function lookInAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  const look = {};
  for (const [key, most] of [["size", 12], ["opacity", 1]]) {
    const value = Number(given.get(key));
    if (value > 0 && value <= most) look[key] = value;
  }
  for (const [key, known] of Object.entries(LOOKS)) if (known.includes(given.get(key))) look[key] = given.get(key);
  return look;
}

function keepInAddress(look) {
  const kept = Object.entries(look).filter(([, value]) => ![null, "auto", "none"].includes(value));
  const hash = kept.length === 0 ? "" : `#${new URLSearchParams(kept)}`;
  if (hash === location.hash) return;
  try {
    history.replaceState(null, "", hash || location.pathname + location.search);
  } catch {
    // A page inside another one may not change its address.
  }
}
