// The command that makes the map of the panel in focus, for copying.

function connectCommand(data, state) {
  const [text, button] = [byId("command"), byId("copy")];
  let timer = null;
  const rest = () => {
    clearTimeout(timer);
    button.textContent = "Copy";
  };
  byId("command-where").textContent = data.provenance.command === undefined ? "To make this map:" : "To make this map, in this page's folder:";
  state.watch(["panels", "focus"], (values) => {
    const command = data.commands[focused(values).map];
    if (text.textContent === command) return;
    putText(text, command);
    rest();
  });
  on(button, "click", async () => {
    const done = await copied(text);
    clearTimeout(timer);
    button.textContent = done ? "Copied" : "Press Ctrl+C";
    say(done ? "Copied." : "The text is selected. Copy it with Ctrl+C.");
    timer = setTimeout(rest, 4000);
  });
}

// Not every browser lets a local file use the clipboard. Then the text is selected, and copied by the
// older interface or by hand.

async function copied(node) {
  try {
    await navigator.clipboard.writeText(node.textContent);
    return true;
  } catch {
    getSelection().selectAllChildren(node);
    return document.execCommand("copy");
  }
}
