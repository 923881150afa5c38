// Point size, opacity, names, contours and theme.

const LOOKS = { names: ["auto", "always", "never"], contours: ["none", "all", "labels"], theme: ["auto", "light", "dark"] };

function connectLook(state) {
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const set = (changes) => state.set({ look: { ...state.values.look, ...changes } });
  for (const [key, most] of [["size", 12], ["opacity", 1]]) {
    keepInAddress(key, () => String(state.values.look[key] ?? ""), (text) => {
      if (Number(text) > 0 && Number(text) <= most) set({ [key]: Number(text) });
    });
  }
  for (const [key, known] of Object.entries(LOOKS)) {
    keepInAddress(key, () => state.values.look[key], (text) => {
      if (known.includes(text)) set({ [key]: text });
    });
  }
  // The left end of both sliders is automatic.
  for (const key of ["size", "opacity"]) {
    on(byId(key), "input", () => set({ [key]: Number(byId(key).value) || null }));
  }
  for (const key of Object.keys(LOOKS)) on(byId(key), "change", () => set({ [key]: byId(key).value }));
  const dress = () => {
    const { theme } = state.values.look;
    document.documentElement.dataset.theme = theme === "auto" ? (system.matches ? "dark" : "light") : theme;
  };
  state.watch(["look"], ({ look }) => {
    dress();
    for (const key of ["size", "opacity"]) {
      byId(key).value = look[key] ?? 0;
      byId(`${key}-said`).textContent = look[key] === null ? "auto" : key === "size" ? `${look[key]} px` : look[key].toFixed(2);
      byId(key).ariaValueText = byId(`${key}-said`).textContent;
    }
    for (const key of Object.keys(LOOKS)) byId(key).value = look[key];
  });
  on(system, "change", () => set({}));
}

function isDark() {
  return document.documentElement.dataset.theme === "dark";
}
