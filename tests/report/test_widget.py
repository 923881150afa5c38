"""A page as a widget: in Python, and its script in a real browser with a made-up notebook."""

from __future__ import annotations

import sys
from importlib import resources
from typing import Any

import numpy as np
import pytest

from ctsne.report import notebook, widget
from ctsne.report.write import SANDBOX, inline_page

from .conftest import Running, made_up

OPTIONS: dict[str, Any] = {"known": "batch", "other": "kind", "mixing": 0.5}
SCRIPT = (resources.files("ctsne.report") / "widget.js").read_text("utf-8")
# Stands in for the notebook: keeps what is set, as a list of rows.
NOTEBOOK = """async ([script, values]) => {
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const { default: { render } } = await import(url);
  window.saved = [];
  let rows = null;
  const model = {
    get: (name) => values[name],
    set: (name, view) => { rows = [name, Array.from(new Uint32Array(view.buffer))]; },
    save_changes: () => window.saved.push(rows),
  };
  window.stop = render({ model, el: document.body });
}"""


def test_without_anywidget_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anywidget", None)
    result, columns = made_up()
    with pytest.raises(ImportError, match=r'anywidget is needed.*pip install "ctsne\[widget\]"'):
        widget(result, columns=columns, **OPTIONS)


def test_selection_is_an_array_of_rows() -> None:
    pytest.importorskip("anywidget")
    result, columns = made_up()
    made = widget(result, columns=columns, **OPTIONS)
    other = widget(result, columns=columns, **OPTIONS)
    assert made.selection.tolist() == [] and made.selection.dtype == np.int64
    heard = []
    made.observe(lambda change: heard.append(change["new"].tolist()), "selection")
    made._rows = np.array([7, 3, 3], "<u4").tobytes()
    assert made.selection.tolist() == [3, 7] and heard == [[3, 7]]
    for sent in (np.array([1, 60], "<u4").tobytes(), b"\xff\xff\xff\xff\x00"):
        made._rows = sent
        assert made.selection.tolist() == [3, 7]  # not rows of the map
    made._rows = b""
    assert made.selection.tolist() == [] and other.selection.tolist() == []
    assert made._token != other._token and made._token in made._page
    with pytest.raises(Exception, match="read-only"):
        made.selection = [1]


def test_a_page_tells_its_widget_and_nobody_else(browser: Running) -> None:
    result, columns = made_up()
    page, n = inline_page(result, "a token", columns=columns, **OPTIONS)
    assert n == 60
    tab = browser.browser.new_context().new_page()
    values = {"_page": page.html, "_title": page.title, "_token": "a token", "_height": 640}
    tab.goto("about:blank")
    tab.evaluate(NOTEBOOK, [SCRIPT, {**values, "_sandbox": SANDBOX}])
    frame = tab.frame_locator("iframe")
    frame.locator("#legend-right button:has-text('beta')").click()
    tab.wait_for_function("saved.length > 1")
    name, rows = tab.evaluate("saved.at(-1)")
    assert name == "_rows" and sorted(rows) == list(range(1, 60, 3))
    count = tab.evaluate("saved.length")
    inside = tab.frames[1]
    for message in (
        "{ ctsne: 'another', rows: new Uint32Array([1]) }",
        "{ ctsne: 'a token', rows: [1] }",
        "{ ctsne: 'a token' }",
        "null",
    ):
        inside.evaluate(f"parent.postMessage({message}, '*')")
    tab.evaluate("postMessage({ ctsne: 'a token', rows: new Uint32Array([1]) }, '*')")
    tab.wait_for_timeout(100)
    assert tab.evaluate("saved.length") == count
    frame.locator("#clear").click()
    tab.wait_for_function("saved.at(-1)[1].length === 0")
    tab.evaluate("stop()")
    tab.context.close()


def test_a_page_without_a_widget_says_nothing(browser: Running) -> None:
    result, columns = made_up()
    page, _ = inline_page(result, None, columns=columns, **OPTIONS)
    assert '"token"' not in page.html and notebook.HEIGHT == 640
    tab = browser.browser.new_context().new_page()
    tab.goto("about:blank")
    tab.evaluate("() => { window.heard = 0; addEventListener('message', () => heard++); }")
    values = {"_page": page.html, "_title": "", "_token": "", "_height": 640, "_sandbox": SANDBOX}
    tab.evaluate(NOTEBOOK, [SCRIPT, values])
    tab.frame_locator("iframe").locator("#legend-right button:has-text('beta')").click()
    tab.wait_for_timeout(100)
    assert tab.evaluate("heard") == 0
    tab.context.close()
