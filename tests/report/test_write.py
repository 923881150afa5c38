"""Pages of sweeps and models, in files and in notebooks, and what is refused."""

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

from ctsne import ConditionalTSNE, load
from ctsne._core.vocabulary import SUGGESTED_MIXING
from ctsne.datasets import make_synthetic
from ctsne.report import Page, show, write, write_report
from ctsne.sweep import SweepResult, sweep

from ..markup import HOSTILE
from .conftest import Running, made_up

DATA = make_synthetic(120, random_state=0)


def model(**options: Any) -> ConditionalTSNE:
    quick = {"perplexity": 8, "n_iter": 40, "early_exaggeration_iter": 20, "random_state": 0}
    return ConditionalTSNE(**{**quick, **options})


@pytest.fixture(scope="module")
def fitted() -> ConditionalTSNE:
    return model(strength=0.5).fit(DATA.X, labels=DATA.known)


@pytest.fixture(scope="module")
def swept() -> SweepResult:
    frame = pd.DataFrame({"batch": DATA.known, "kind": DATA.hidden})
    grid = {"strength": [0, 1]}
    return sweep(
        DATA.X, frame["batch"], grid, other=frame["kind"], estimator=model(), progress=False
    )


def facts_of(page: Page | Path | str) -> dict[str, Any]:
    if isinstance(page, Page):
        text = page.html
    else:
        text = page.read_text("utf-8") if isinstance(page, Path) else html.unescape(page)
    found = re.search(r'id="ctsne-facts">(.*?)</script>', text)
    assert found is not None
    facts: dict[str, Any] = json.loads(found[1])
    return facts


def test_maps_say_which_labels_stay_apart_and_what_stronger_ones_reach(tmp_path: Path) -> None:
    frame = pd.DataFrame({"batch": DATA.known, "kind": DATA.hidden})
    grid = [{"method": "tsne"}, {"strength": [0.0, 0.5, 1.0]}]
    estimator = model(n_iter=250, align="none")
    swept = sweep(DATA.X, frame[["batch"]], grid, estimator=estimator, progress=False)
    plain, weak, _, strong = facts_of(show(swept, columns=frame, other="kind"))["maps"]
    assert plain["advice"] == ""
    assert weak["advice"].startswith("Labels that stay apart: ")
    least = min(SUGGESTED_MIXING, swept.maps[3].measures["mixing"])
    reaching = next(each for each in swept.maps[2:] if each.measures["mixing"] >= least)
    value, reached = reaching.parameters["strength"], reaching.measures["mixing"]
    assert f"strength {value:g} would mix batch to about {reached:.2f}." in weak["advice"]
    assert "would mix" not in strong["advice"]
    # Nothing is apart by a lower target.
    assert "mixed to 0.1 of random" in facts_of(show(swept, mixing=0.1))["maps"][3]["advice"]
    alone = model(n_iter=250, align="none", strength=0.0).fit(DATA.X, labels=frame[["batch"]])
    (shown,) = facts_of(show(alone))["maps"]
    assert shown["advice"].startswith("Labels that stay apart: ")
    alone.save(tmp_path / "model.ctsne")
    (kept,) = facts_of(show(load(tmp_path / "model.ctsne")))["maps"]
    assert kept["advice"] == ""


def names_in(facts: dict[str, Any]) -> list[str]:
    return [column["name"] for column in facts["columns"]]


# Sweeps and models


def test_a_model_is_a_page_of_one_map(fitted: ConditionalTSNE) -> None:
    page = show(fitted, columns={"shape": DATA.hidden}, other="shape")
    facts = facts_of(page)
    assert facts["single"] and facts["targets"] == [] and len(facts["maps"]) == 1
    assert facts["maps"][0]["title"] == "joint, strength 0.5"
    assert names_in(facts) == ["label", "shape", "counterparts under other labels"]
    assert (
        facts["known"] == [0]
        and facts["other"] == [1]
        and page.title == "Map with label factored out"
    )
    assert 'ConditionalTSNE(method=\\"joint\\", strength=0.5' in page.html


def test_a_model_knows_its_labels_by_their_names() -> None:
    fitted = model().fit(DATA.X, labels=pd.Series(DATA.known, name="batch"))
    page = show(fitted)
    assert page.title == "Map with batch factored out" and names_in(facts_of(page))[0] == "batch"
    assert ">label batch</th>" in fitted._repr_html_()
    labels = {"donor": DATA.known, "plate": np.arange(120) % 3}
    facts = facts_of(show(model().fit(DATA.X, labels=labels)))
    assert [names_in(facts)[place] for place in facts["known"]] == ["donor", "plate"]
    facts = facts_of(show(model(method="tsne").fit(DATA.X)))
    assert facts["known"] == [] and facts["columns"] == [] and facts["title"] == "Map"


def test_labels_take_the_names_of_equal_columns(
    fitted: ConditionalTSNE, swept: SweepResult
) -> None:
    columns = {"size": np.linspace(0, 1, 120), "donor": DATA.known, "shape": DATA.hidden}
    page = show(fitted, columns=columns)
    assert page.title == "Map with donor factored out"
    assert names_in(facts_of(page)) == ["donor", "size", "shape", "counterparts under other labels"]
    facts = facts_of(show(swept, columns=columns))
    assert facts["title"] == "Maps with donor factored out"
    assert names_in(facts)[facts["other"][0]] == "shape"


@pytest.mark.parametrize(
    ("mixing", "measures"), [(0.25, {"mixing": 0.25}), ({"a": 0.25}, {"mixing (a)": 0.25})]
)
def test_a_mixing_that_was_asked_for_is_shown(
    fitted: ConditionalTSNE, monkeypatch: pytest.MonkeyPatch, mixing: Any, measures: Any
) -> None:
    monkeypatch.setattr(fitted, "mixing_", mixing)
    assert facts_of(show(fitted))["maps"][0]["measures"] == measures


def test_a_sweep_knows_its_labels_by_their_names(swept: SweepResult) -> None:
    assert swept.labels.names == ("batch",) and swept.other.names == ("kind",)
    facts = facts_of(show(swept))
    assert names_in(facts)[:2] == ["batch", "kind"]
    assert facts["title"] == "Maps with batch factored out" and not facts["single"]
    # Named columns replace them, or are added to them.
    assert len(facts_of(show(swept, columns={"depth": np.arange(120)}))["columns"]) == 4
    facts = facts_of(show(swept, columns={"own": DATA.known}, known="own"))
    assert names_in(facts)[0] == "own" and facts["other"] == []


def test_a_data_frame_of_columns_is_understood(tmp_path: Path) -> None:
    result, columns = made_up()
    pages = [tmp_path / name for name in ("mapping.html", "frame.html")]
    for page, given in zip(pages, (columns, pd.DataFrame(columns)), strict=True):
        write_report(result, page, columns=given, known="batch", other="kind", title="maps")
    assert pages[0].read_bytes() == pages[1].read_bytes()


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"result": 3}, TypeError, "result must be"),
        ({"columns": [1]}, TypeError, "columns"),
        ({"columns": {1: [0] * 60}}, TypeError, "names of columns"),
        ({"columns": {"batch": [0]}}, ValueError, "columns"),
        ({"known": "bacth"}, ValueError, "known must be one of .* did you mean 'batch'?"),
        ({"known": ["batch", "kidn"]}, ValueError, "known"),
        ({"known": None}, ValueError, "known"),
        ({"known": []}, ValueError, "known"),
        ({"result": ConditionalTSNE()}, ValueError, "not fitted"),
        ({"features": [1]}, TypeError, "features"),
        ({"features": {1: [0] * 60}}, TypeError, "names of features"),
        ({"features": {"g": [0]}}, ValueError, "features"),
        ({"other": "kin"}, ValueError, "other must be one of .* did you mean 'kind'?"),
        ({"mixing": 1.5}, ValueError, "mixing"),
        ({"mixing": "half"}, TypeError, "mixing"),
        ({"names": ["a"]}, ValueError, "names"),
        ({"names": "a"}, TypeError, "names"),
        ({"title": 3}, TypeError, "title"),
        ({"commands": "ctsne embed"}, TypeError, "commands"),
        ({"commands": [1] * 7}, TypeError, "commands"),
        ({"commands": ["a"]}, ValueError, "commands has 1 entries but result has 7 maps"),
        ({"provenance": [1]}, TypeError, "provenance"),
        ({"provenance": {"a": {1, 2}}}, TypeError, "provenance"),
        ({"provenance": {"a": float("nan")}}, TypeError, "provenance"),
        ({"result": made_up(9, dimensions=3).result}, ValueError, "n_components=2"),
        ({"result": made_up(9, failed=tuple(range(7))).result}, ValueError, "no finished map"),
    ],
)
def test_refuses(tmp_path: Path, change: dict[str, Any], error: Any, message: str) -> None:
    result, columns = made_up()
    path = tmp_path / "page.html"
    path.write_text("old")
    given = {"result": result, "columns": columns, "known": "batch", **change}
    with pytest.raises(error, match=message):
        write_report(given.pop("result"), path, **given)
    assert path.read_text() == "old" and len(list(tmp_path.iterdir())) == 1


def test_refuses_where_it_cannot_write(tmp_path: Path) -> None:
    result, columns = made_up()
    for path, message in ((tmp_path, "is a folder"), (tmp_path / "no" / "page.html", "not exist")):
        with pytest.raises(ValueError, match=message):
            write_report(result, path, columns=columns, known="batch")


# Notebooks


def test_only_so_many_points_are_stored_in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    result, columns = made_up(90)
    page = show(result, columns=columns, known="batch")
    assert re.fullmatch(r"Page\('Maps with batch factored out', [\d,]+ bytes\)", repr(page))
    assert page.note == "" and page._repr_html_().count("srcdoc") == 1
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
    features = {evil: np.arange(60)}
    names = [evil] * 60
    page = show(result, columns=columns, known=evil, features=features, title=evil, names=names)
    markup = page._repr_html_()
    markup.encode()  # a notebook is stored as UTF-8
    assert re.findall(r"<[/\w]+", markup) == ["<iframe", "</iframe"]
    assert 'sandbox="allow-scripts allow-downloads"' in markup
    assert names_in(facts_of(markup.split('"')[1]))[0] == evil


NO_PAGE = "import sys, ctsne.sweep; ctsne.ConditionalTSNE; print('ctsne.report' not in sys.modules)"
NO_PACKAGE = """
import sys

class Absent:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name in {"matplotlib", "pandas", "bokeh", "pyarrow", "anndata", "IPython"}:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Absent)
from ctsne import ConditionalTSNE
from ctsne.datasets import make_synthetic
data = make_synthetic(60, random_state=0)
model = ConditionalTSNE(perplexity=8, n_iter=20).fit(data.X, labels=data.known)
print("<iframe" in model._repr_mimebundle_()["text/html"])
"""


@pytest.mark.parametrize("program", [NO_PAGE, NO_PACKAGE], ids=["page", "package"])
def test_a_model_loads_no_page_and_a_page_no_other_package(program: str) -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-c", program],
        check=True,
        capture_output=True,
        text=True,
        timeout=600,
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
    assert frame.evaluate("document.documentElement.scrollWidth") <= width
    frame.click("#look-menu summary")
    frame.select_option("#theme", "dark")
    assert frame.evaluate("ctsnePage.state().look.theme") == "dark"
    frame.click("#legend-right button:has-text('b')")
    with page.expect_download() as download:
        frame.click("#download")
    assert download.value.suggested_filename == "selected-points.csv"
    assert [text for text in complaints if "GL Driver" not in text] == []
    page.close()
