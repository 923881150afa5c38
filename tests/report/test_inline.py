"""Pages in notebooks: the same page inside a frame that cannot reach the notebook."""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ctsne import ConditionalTSNE
from ctsne.datasets import make_synthetic
from ctsne.report import Page, show, write
from ctsne.sweep import sweep

from ..markup import HOSTILE
from .conftest import Running, made_up

DATA = make_synthetic(120, random_state=0)
QUICK = {"perplexity": 8, "n_iter": 40, "early_exaggeration_iter": 20, "random_state": 0}


def model(**options: Any) -> ConditionalTSNE:
    return ConditionalTSNE(**QUICK, **options)


def facts_of(page: Page | str) -> dict[str, Any]:
    text = page.html if isinstance(page, Page) else html.unescape(page.split('"')[1])
    found = re.search(r'id="ctsne-facts">(.*?)</script>', text)
    assert found is not None
    facts: dict[str, Any] = json.loads(found[1])
    return facts


def test_a_model_is_a_page_of_one_map() -> None:
    fitted = model(strength=0.5).fit(DATA.X, labels=DATA.known)
    page = show(fitted, columns={"shape": DATA.hidden}, other="shape")
    facts = facts_of(page)
    assert facts["single"] and facts["targets"] == [] and len(facts["maps"]) == 1
    assert facts["maps"][0]["title"] == "joint, strength 0.5"
    names = [each["name"] for each in facts["columns"]]
    assert names == ["label", "shape", "counterparts under other labels"]
    assert facts["known"] == [0] and facts["other"] == 1 and page.title == "Map without label"
    assert 'ConditionalTSNE(method=\\"joint\\", strength=0.5' in page.html


def test_a_model_knows_its_label_by_its_name() -> None:
    fitted = model().fit(DATA.X, labels=pd.Series(DATA.known, name="batch"))
    page = show(fitted)
    assert page.title == "Map without batch" and facts_of(page)["columns"][0]["name"] == "batch"
    assert ">label batch</th>" in fitted._repr_html_()


def test_labels_take_the_names_of_equal_columns() -> None:
    columns = {"size": np.linspace(0, 1, 120), "batch": DATA.known, "shape": DATA.hidden}
    page = show(model().fit(DATA.X, labels=DATA.known), columns=columns)
    assert page.title == "Map without batch"
    names = [each["name"] for each in facts_of(page)["columns"]]
    assert names == ["batch", "size", "shape", "counterparts under other labels"]
    result = sweep(
        DATA.X,
        DATA.known,
        {"strength": [0, 1]},
        other=DATA.hidden,
        estimator=model(),
        progress=False,
    )
    facts = facts_of(show(result, columns=columns))
    assert facts["title"] == "Maps without batch"
    assert facts["columns"][facts["other"]]["name"] == "shape"


def test_a_model_of_several_columns_or_of_none() -> None:
    labels = {"donor": DATA.known, "plate": np.arange(120) % 3}
    facts = facts_of(show(model().fit(DATA.X, labels=labels)))
    assert [facts["columns"][place]["name"] for place in facts["known"]] == ["donor", "plate"]
    facts = facts_of(show(model(method="tsne").fit(DATA.X)))
    assert facts["known"] == [] and facts["columns"] == [] and facts["title"] == "Map"


def test_a_mixing_that_was_asked_for_is_shown() -> None:
    fitted = model(strength=0.5).fit(DATA.X, labels=DATA.known)
    fitted.mixing_ = 0.25
    assert facts_of(show(fitted))["maps"][0]["measures"] == {"mixing": 0.25}
    fitted.mixing_ = {"a": 0.25}
    assert facts_of(show(fitted))["maps"][0]["measures"] == {"mixing (a)": 0.25}


def test_a_sweep_knows_its_labels_by_their_names() -> None:
    frame = pd.DataFrame({"batch": DATA.known, "kind": DATA.hidden})
    grid = {"strength": [0, 1]}
    result = sweep(
        DATA.X, frame["batch"], grid, other=frame["kind"], estimator=model(), progress=False
    )
    assert result.known == ("batch",) and result.other == "kind"
    other = {"cell type": DATA.hidden}
    same = sweep(DATA.X, frame["batch"], grid, other=other, estimator=model(), progress=False)
    assert same.other == "cell type" and same.maps[1].measures == result.maps[1].measures
    facts = facts_of(show(result))
    assert [each["name"] for each in facts["columns"]][:2] == ["batch", "kind"]
    assert facts["title"] == "Maps without batch" and not facts["single"]
    # Named columns replace them, or are added to them.
    assert len(facts_of(show(result, columns={"depth": np.arange(120)}))["columns"]) == 4
    facts = facts_of(show(result, columns={"own": DATA.known}, known="own"))
    assert facts["columns"][0]["name"] == "own" and facts["other"] is None


def test_only_so_many_points_are_stored_in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    result, columns = made_up(90)
    assert show(result, columns=columns, known="batch").note == ""
    monkeypatch.setattr(write, "MOST_INLINE", 50)
    page = show(result, columns=columns, known="batch")
    assert facts_of(page)["notShown"] == 40
    assert "50 of 90 points" in page.note and "50 of 90 points" in page._repr_html_()
    monkeypatch.setattr(write, "_MOST_BYTES", 12 * 7 * 40)  # there are seven maps
    assert facts_of(show(result, columns=columns, known="batch"))["notShown"] == 50


def test_no_text_leaves_its_frame() -> None:
    evil = '"></iframe><script>alert(1)</script>\ud800\u202e' + "".join(map(str, HOSTILE))
    result, columns = made_up()
    columns = {evil: columns["batch"], "kind": [evil, "b"] * 30}
    page = show(
        result,
        columns=columns,
        known=evil,
        features={evil: np.arange(60)},
        title=evil,
        names=[evil] * 60,
    )
    markup = page._repr_html_()
    markup.encode()  # a notebook is stored as UTF-8
    assert re.findall(r"<[/\w]+", markup) == ["<iframe", "</iframe"]
    assert 'sandbox="allow-scripts allow-downloads"' in markup
    assert facts_of(markup)["columns"][0]["name"] == evil


def test_a_page_says_what_it_is() -> None:
    result, columns = made_up()
    page = show(result, columns=columns, known="batch")
    assert re.fullmatch(r"Page\('Maps without batch', [\d,]+ bytes\)", repr(page))
    assert page._repr_html_().count("srcdoc") == 1


def test_importing_a_model_does_not_load_pages() -> None:
    program = "import sys, ctsne.sweep; ctsne.ConditionalTSNE; print('ctsne.report' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], check=True, capture_output=True, text=True
    )
    assert done.stdout.strip() == "False"


def test_pages_need_no_other_package() -> None:
    program = (
        "import sys\n"
        "for name in ('matplotlib', 'pandas', 'bokeh', 'pyarrow', 'anndata', 'IPython'):\n"
        "    sys.modules[name] = None\n"
        "from ctsne import ConditionalTSNE\n"
        "from ctsne.datasets import make_synthetic\n"
        "data = make_synthetic(60, random_state=0)\n"
        "model = ConditionalTSNE(perplexity=8, n_iter=20).fit(data.X, labels=data.known)\n"
        "print('<iframe' in model._repr_mimebundle_()['text/html'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], check=True, capture_output=True, text=True
    )
    assert done.stdout.strip() == "True"


def test_the_page_runs_inside_its_frame(browser: Running, tmp_path: Path) -> None:
    evil = '"></iframe><script>top.document.title = "reached"</script>'
    result, columns = made_up()
    columns = {evil: columns["batch"], "kind": [evil, "b", "c"] * 20}
    shown = show(result, columns=columns, known=evil, other="kind", title=evil, names=[evil] * 60)
    path = tmp_path / "notebook.html"
    path.write_text(f"<!doctype html><title>notebook</title>{shown._repr_html_()}", "utf-8")
    page = browser.browser.new_page(viewport={"width": 1000, "height": 800})
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(path.as_uri())
    (frame,) = page.frames[1:]
    frame.wait_for_selector("#left canvas")
    assert frame.evaluate("() => ctsnePage.drawn('left')") in (0, 60)
    assert frame.inner_text("#title") == evil
    with pytest.raises(Exception, match=r"cross-origin frame|SecurityError"):
        frame.evaluate("() => top.document.title")
    assert page.title() == "notebook" and page.evaluate("() => frames.length") == 1
    height, width = frame.evaluate("() => [innerHeight, innerWidth]")
    assert height == 640 and width > 950
    assert [text for text in complaints if "GL Driver" not in text] == []
    page.close()
