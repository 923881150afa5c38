// How to make the map on the right, as text to take along.

function connectCommand(data, state) {
  const [text, button] = [byId("command"), byId("copy")];
  let timer = null;
  const rest = () => {
    clearTimeout(timer);
    button.textContent = "Copy";
  };
  byId("command-where").textContent = isCommandLine(data) ? "To make the map on the right, in this page's folder:" : "To make the map on the right:";
  state.watch(["map"], ({ map }) => {
    text.textContent = data.commands[map];
    rest();
  });
  button.addEventListener("click", async () => {
    const done = await copied(text);
    clearTimeout(timer);
    button.textContent = done ? "Copied" : "Press Ctrl+C";
    say(done ? "copied" : "the text is selected: copy it with Ctrl+C");
    timer = setTimeout(rest, 4000);
  });
}

// Not every browser lets a file use the clipboard. Then the text is selected, to be copied the old
// way or by hand.

async function copied(node) {
  try {
    await navigator.clipboard.writeText(node.textContent);
    return true;
  } catch {
    getSelection().selectAllChildren(node);
    return document.execCommand("copy");
  }
}

function isCommandLine(data) {
  return Object.hasOwn(data.provenance, "command");
}
