"""``ctsne demo``: its maps, its table, its picture, and what is refused before any computing."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components
from sklearn.neighbors import kneighbors_graph

from ctsne import ConditionalTSNE
from ctsne.cli import demo
from ctsne.cli.main import main
from ctsne.cli.plot import save_picture, use_agg
from ctsne.datasets import Synthetic, make_synthetic
from ctsne.evaluate import adjusted_rnx, laplacian
from ctsne.evaluate.mixing import expected_laplacian


def made_up(data: Synthetic) -> Any:
    """Random maps and measures, to draw and print without computing any."""
    rng = np.random.default_rng(0)
    measures = {"mixing": 0.25, "adjusted_rnx": 0.5, "other_mixing": 0.125}
    return SimpleNamespace(
        maps=[
            SimpleNamespace(
                title=title, embedding=rng.normal(size=data.X[:, :2].shape), measures=measures
            )
            for title in demo.SETTINGS
        ]
    )


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Replace the computing by something quick and record how it was called."""
    seen: list[dict[str, Any]] = []

    def sweep_demo(data: Synthetic, **options: Any) -> Any:
        seen.append(options)
        return made_up(data)

    monkeypatch.setattr(demo, "sweep_demo", sweep_demo)
    return seen


def clusters(embedding: np.ndarray) -> int:
    """Count islands of the map: parts of its neighbour graph with 5 % of the points or more."""
    _, part = connected_components(kneighbors_graph(embedding, 10), directed=False)
    return int(np.sum(np.bincount(part) >= 0.05 * len(embedding)))


def test_settings_in_the_order_of_the_picture() -> None:
    methods = [(each["method"], each.get("bandwidth")) for each in demo.SETTINGS.values()]
    assert methods == [
        ("tsne", None),
        ("original", None),
        ("revised", "p"),
        ("revised", "r"),
        ("balanced", None),
        ("joint", None),
    ]
    original = demo.SETTINGS["original, random start"]
    assert original["init"] == "random" and original["beta"] == 1e-4
    assert [each.get("init") for each in demo.SETTINGS.values()].count("random") == 1


def test_maps_and_measures_are_those_of_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        demo, "SETTINGS", {name: {**each, "n_iter": 260} for name, each in demo.SETTINGS.items()}
    )
    data = make_synthetic(240, random_state=3)
    result = demo.sweep_demo(data, random_state=3, n_jobs=1)
    for swept, setting in zip(result.maps, demo.SETTINGS.values(), strict=True):
        embedding, measures = swept.embedding, swept.measures
        assert embedding is not None and embedding.shape == (240, 2)
        model = ConditionalTSNE(random_state=3, **setting).fit(data.X, labels=data.known)
        assert measures["kl_divergence"] == pytest.approx(model.kl_divergence_, rel=1e-6)
        kept = adjusted_rnx(embedding, data.X, data.known, k=30)
        assert measures["adjusted_rnx"] == pytest.approx(kept, abs=1e-9)
        for name, labels in (("mixing", data.known), ("other_mixing", data.hidden)):
            share = laplacian(embedding, labels, k=30) / expected_laplacian(labels)
            assert measures[name] == pytest.approx(share, abs=1e-9)


def test_ctrl_c_stops_the_demo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # A sweep that is interrupted returns the maps that are finished.
    monkeypatch.setattr("ctsne.sweep.sweep", lambda *_, **__: SimpleNamespace(maps=[None]))
    assert main(["demo", "-o", str(tmp_path / "maps.png")]) == 130
    out, err = capsys.readouterr()
    assert (out, err) == ("", "ctsne: interrupted\n") and not list(tmp_path.iterdir())


@pytest.mark.slow
def test_it_shows_what_figure_1_of_the_paper_shows() -> None:
    data = make_synthetic(1500, random_state=2)
    result = demo.sweep_demo(data, random_state=2)
    assert all(swept.embedding is not None for swept in result.maps)
    tsne, original, *conditioned = [(each.embedding, each.measures) for each in result.maps]
    assert clusters(tsne[0]) == 6
    assert tsne[1]["mixing"] < 0.02 and tsne[1]["other_mixing"] < 0.02
    # The original method merges clusters of different shapes.
    assert original[1]["other_mixing"] > 0.075
    for embedding, measures in conditioned:
        assert clusters(embedding) == 3
        assert measures["mixing"] > 0.85 and measures["other_mixing"] < 0.015


def test_demo_prints_a_table_and_writes_the_picture(
    calls: list[dict[str, Any]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["demo"]) == 0
    out, err = capsys.readouterr()
    assert (tmp_path / "ctsne-demo.png").read_bytes().startswith(b"\x89PNG")
    assert err == "" and out.isascii() and out.endswith("\n\npicture: ctsne-demo.png\n")
    head, rule, *rows = out.split("\n\n")[0].splitlines()
    assert max(map(len, (head, *rows))) <= len(rule) <= 80
    for word in ("mixing of colours", "neighbours kept", "mixing of shapes"):
        assert word in head
    for title, row in zip(demo.SETTINGS, rows, strict=True):
        assert row.startswith(title) and row.split()[-3:] == ["0.25", "0.50", "0.12"]
    assert calls == [{"random_state": 2, "n_jobs": -1, "progress": True}]


def test_demo_passes_its_options_on(calls: list[dict[str, Any]], tmp_path: Path) -> None:
    target = tmp_path / "maps.pdf"
    assert main(["demo", "--output", str(target), "--seed", "7", "--jobs", "2", "-q"]) == 0
    assert calls == [{"random_state": 7, "n_jobs": 2, "progress": False}]
    assert target.read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no/such/folder/maps.png", "there is no folder"),
        ("file.txt/maps.png", "there is no folder"),
        ("folder.png", "is a folder"),
        ("maps.doc", "must end in"),
        ("maps", "must end in"),
    ],
)
def test_a_picture_that_cannot_be_written_is_refused_before_any_computing(
    name: str,
    message: str,
    calls: list[dict[str, Any]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "file.txt").touch()
    (tmp_path / "folder.png").mkdir()
    assert main(["demo", "--output", str(tmp_path / name)]) == 1
    out, err = capsys.readouterr()
    assert out == "" and message in err and err.count("\n") == 1
    assert not calls and len(list(tmp_path.iterdir())) == 2


def test_missing_matplotlib_is_reported_before_any_computing(
    calls: list[dict[str, Any]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["demo", "--output", str(tmp_path / "maps.png")]) == 1
    out, err = capsys.readouterr()
    assert out == "" and 'pip install "ctsne[plot]"' in err and err.count("\n") == 1
    assert not calls


@pytest.fixture
def figure() -> Any:
    """The picture of made-up maps."""
    use_agg()
    data = make_synthetic(60, random_state=0)
    return demo.draw(made_up(data), data)


def test_picture_has_a_panel_per_map_and_one_legend(figure: Any) -> None:
    legends = [axes.get_legend() for axes in figure.axes if axes.get_legend() is not None]
    assert len(figure.axes) == 6 and len(legends) == 1
    assert [text.get_text() for text in legends[0].get_texts()] == [
        "known label",
        "blue",
        "orange",
        "hidden label",
        "circle",
        "square",
        "triangle",
    ]
    for axes, title in zip(figure.axes, demo.SETTINGS, strict=True):
        assert axes.get_title(loc="left") == title
        assert "kept 0.50   mixing: colours 0.25, shapes 0.12" in [
            text.get_text() for text in axes.texts
        ]
        assert axes.get_aspect() == 1
        assert sum(len(points.get_offsets()) for points in axes.collections) == 60


def test_colour_is_the_known_label_and_shape_the_hidden_one(figure: Any) -> None:
    from matplotlib.colors import to_hex
    from matplotlib.markers import MarkerStyle

    colours = {"blue": "#0072b2", "orange": "#e69f00"}
    markers = {"circle": "o", "triangle": "^", "square": "s"}
    data = make_synthetic(60, random_state=0)
    (points,) = figure.axes[0].collections
    drawn = np.asarray(points.get_offsets())
    for position, known, hidden in zip(
        made_up(data).maps[0].embedding, data.known, data.hidden, strict=True
    ):
        (place,) = np.flatnonzero((drawn == position).all(axis=1))
        assert to_hex(points.get_facecolors()[place]) == colours[known]
        style = MarkerStyle(markers[hidden])
        expected = style.get_path().transformed(style.get_transform())
        np.testing.assert_allclose(points.get_paths()[place].vertices, expected.vertices)


def test_the_text_above_a_panel_does_not_reach_the_next(figure: Any) -> None:
    figure.canvas.draw()
    for axes in figure.axes:
        panel = axes.get_window_extent()
        for text in (axes._left_title, *axes.texts):
            assert text.get_window_extent().x1 <= panel.x1 + 2
        assert axes._left_title.get_window_extent().y0 > axes.texts[0].get_window_extent().y0


def test_a_failed_drawing_keeps_the_old_picture(
    figure: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(file: Any, **options: object) -> None:
        file.write(b"half a pic")
        raise OSError("disk full")

    target = tmp_path / "maps.png"
    target.write_text("old")
    monkeypatch.setattr(figure, "savefig", fail)
    with pytest.raises(OSError, match="disk full"):
        save_picture(figure, target, "ctsne demo")
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["maps.png"]
