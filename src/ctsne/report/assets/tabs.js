// Sections that share one place, so that none pushes another away. A selection and a point bring up
// their own; without them, the section before returns.

function connectTabs(facts, state) {
  const tabs = [...byId("tabs").children].filter((tab) => !tab.hidden && !(facts.single && tab.classList.contains("swept")));
  const nameOf = (tab) => tab.getAttribute("aria-controls");
  let before = {}; // by the section brought up, the one that it replaced
  const choose = (tab) => {
    before = {};
    state.set({ tab: nameOf(tab) });
  };
  for (const tab of tabs) on(tab, "click", () => choose(tab));
  on(byId("tabs"), "keydown", ({ key, target }) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
    if (step === undefined) return;
    const next = tabs.at((tabs.indexOf(target) + step) % tabs.length);
    choose(next);
    next.focus();
  });
  choose(tabs[0]);
  state.watch(["tab"], (values) => {
    for (const tab of byId("tabs").children) {
      const isOpen = nameOf(tab) === values.tab;
      tab.ariaSelected = isOpen;
      tab.tabIndex = isOpen ? 0 : -1;
      byId(nameOf(tab)).classList.toggle("closed", !isOpen);
    }
  });
  const bringUp = (name, isThere) => {
    const { tab } = state.values;
    if (isThere && tab !== name) {
      before[name] = tab;
      state.set({ tab: name });
    } else if (!isThere) {
      if (tab === name && before[name] !== undefined) state.set({ tab: before[name] });
      delete before[name];
    }
  };
  // The point first, because it was brought up last where both are cleared.
  state.watch(["pinned"], ({ pinned }) => bringUp("point", pinned !== null));
  let had = false;
  state.watch(["selected"], ({ selected }) => {
    const has = selected.length > 0;
    byId("selection-number").textContent = has ? ` ${count(selected.length)}` : "";
    if (has !== had) bringUp("selection", has);
    had = has;
  });
}
