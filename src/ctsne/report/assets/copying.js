// The command that makes the map on the right, for copying.

function connectCommand(data, state) {
  const [text, button] = [byId("command"), byId("copy")];
  let timer = null;
  const rest = () => {
    clearTimeout(timer);
    button.textContent = "Copy";
  };
  byId("command-where").textContent = data.provenance.command === undefined ? "To make the map on the right:" : "To make the map on the right, in this page's folder:";
  state.watch(["map"], ({ map }) => {
    text.textContent = data.commands[map];
    rest();
  });
  button.addEventListener("click", async () => {
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
