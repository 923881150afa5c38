"""Names on a map lie on their points or have a line to one, and settings are beside their dots."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.lines import Line2D
from matplotlib.text import Text

from ctsne import ConditionalTSNE, pl
from ctsne.pl.names import spread
from ctsne.pl.trade_off import draw_curves

from .conftest import curves_of


def groups(n_labels: int, *, n: int = 40, scale: float = 0.2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    centres = rng.uniform(-5, 5, size=(n_labels, 2))
    labels = np.repeat(np.arange(n_labels), n)
    positions = centres[labels] + scale * rng.normal(size=(len(labels), 2))
    return positions, np.array([f"type {i:02d}" for i in range(n_labels)])[labels]


def names_on(ax: plt.Axes) -> dict[str, Any]:
    """The boxes of the names that are drawn on the map."""
    ax.figure.canvas.draw()
    texts = [text for artist in ax.artists for text in artist.findobj(Text)]
    return {each.get_text(): each.get_window_extent() for each in texts if each.get_visible()}


def assert_apart(boxes: dict[str, Any]) -> None:
    found = list(boxes.items())
    for place, (name, box) in enumerate(found):
        for other, against in found[place + 1 :]:
            assert not box.overlaps(against), (name, other)


def misplaced(ax: plt.Axes, positions: Any, labels: np.ndarray) -> set[str]:
    """The names that lie on points of others, without a line that ends on a point of theirs."""
    boxes, points = names_on(ax), ax.transData.transform(positions)
    wrong = set(boxes)
    (artist,) = ax.artists
    for text, line in zip(artist.texts, artist.lines, strict=True):
        name = text.get_text()
        if line.get_visible() and name in boxes:
            end = line.get_xydata()[0]
            away = np.linalg.norm(points - end, axis=1)
            if away.min() < 0.01 and labels[away.argmin()] == name:
                wrong.remove(name)
        elif name in boxes:
            (x0, y0), (x1, y1) = boxes[name].get_points()
            inside = (points >= (x0, y0)).all(axis=1) & (points <= (x1, y1)).all(axis=1)
            if inside.any() and (labels[inside] == name).mean() > 0.5:
                wrong.remove(name)
    return wrong


@pytest.mark.parametrize("place", ["on data", "both"])
@pytest.mark.parametrize("scale", [0.05, 0.3, 1.0])
def test_a_name_lies_on_its_points_or_has_a_line_to_one(scale: float, place: str) -> None:
    positions, labels = groups(25, scale=scale)
    ax = pl.embedding(positions, labels, legend_loc=place)
    assert not misplaced(ax, positions, labels) and len(names_on(ax)) > 12


@pytest.mark.parametrize(
    ("name", "column"),
    [("pancreas3", "known"), ("pancreas3", "hidden"), ("isolet", "known"), ("isolet", "hidden")],
)
def test_names_on_maps_of_real_data(name: str, column: str, real_data: Any) -> None:
    data = real_data(name)
    model = ConditionalTSNE(method="tsne", n_iter=400, random_state=0)
    positions, labels = model.fit_transform(data.X), getattr(data, column)
    ax = pl.embedding(positions, labels, legend_loc="on data")
    assert not misplaced(ax, positions, labels)
    assert len(names_on(ax)) > 0.7 * len(set(labels))


def test_labels_all_over_a_mixed_cloud_have_lines_to_where_they_are_dense() -> None:
    rng = np.random.default_rng(0)
    positions = rng.normal(size=(3000, 2))
    labels = np.array(["a", "b", "c"])[rng.integers(3, size=3000)]
    corner = np.linalg.norm(positions - [1.0, 1.0], axis=1) < 0.4
    labels[corner & (rng.random(3000) < 0.6)] = "c"
    ax = pl.embedding(positions, labels, legend_loc="on data")
    assert set(names_on(ax)) == {"a", "b", "c"} and not misplaced(ax, positions, labels)
    (artist,) = ax.artists
    lines = {text.get_text(): line for text, line in zip(artist.texts, artist.lines, strict=True)}
    assert isinstance(lines["a"], Line2D) and lines["a"].get_visible()
    # The one that is dense somewhere is named there, with or without a line.
    ax.figure.canvas.draw()
    box = names_on(ax)["c"]
    end = lines["c"].get_xydata()[0] if lines["c"].get_visible() else box.get_points().mean(axis=0)
    assert np.linalg.norm(ax.transData.inverted().transform(end) - [1.0, 1.0]) < 0.5


def test_lines_avoid_other_names_where_they_can() -> None:
    positions, labels = groups(60, scale=0.02)
    ax = pl.embedding(positions, labels, legend_loc="on data")
    boxes, crossed = names_on(ax), 0
    (artist,) = ax.artists
    lined = [line.get_xydata() for line in artist.lines if line.get_visible()]
    for end, edge in lined:
        way = end + np.linspace(0, 0.95, 50)[:, None] * (edge - end)
        crossed += sum(any(box.contains(*point) for point in way) for box in boxes.values())
    assert len(lined) > 10 and crossed <= len(lined) / 10


@pytest.mark.parametrize("n_labels", [5, 27, 60])
@pytest.mark.parametrize("place", ["on data", "both"])
def test_names_do_not_overlap_and_stay_in_the_map(n_labels: int, place: str) -> None:
    positions, labels = groups(n_labels)
    ax = pl.embedding(positions, labels, legend_loc=place)
    boxes = names_on(ax)
    assert_apart(boxes)
    assert len(boxes) > 0.6 * n_labels
    frame = ax.get_window_extent()
    for box in boxes.values():
        assert frame.x0 <= box.x0 and box.x1 <= frame.x1
        assert frame.y0 <= box.y0 and box.y1 <= frame.y1
    assert (ax.get_legend() is None) == (place == "on data")


def test_a_name_is_next_to_its_points() -> None:
    positions, labels = groups(8, scale=0.1)
    ax = pl.embedding(positions, labels, legend_loc="on data")
    for name, box in names_on(ax).items():
        middle = ax.transData.transform(np.median(positions[labels == name], axis=0))
        centre = (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2
        assert np.linalg.norm(middle - centre) < 5 * box.height
        # Small groups are not covered by their own name.
        assert not box.contains(*middle)


def test_names_follow_the_size_of_the_figure() -> None:
    positions, labels = groups(27)
    ax = pl.embedding(positions, labels, legend_loc="on data")
    many = len(names_on(ax))
    ax.figure.set_size_inches(1.5, 1.5)
    boxes = names_on(ax)
    assert_apart(boxes)
    assert len(boxes) < many


def test_many_labels_are_named_on_the_map_by_default() -> None:
    for n_labels, named in ((20, False), (21, True)):
        positions, labels = groups(n_labels)
        ax = pl.embedding(positions, labels)
        assert ax.get_legend() is not None and bool(names_on(ax)) == named
    # Labels that lie all over the map have no place on it.
    mixed = np.random.default_rng(0).permutation(labels)
    assert not names_on(pl.embedding(positions, mixed))


def test_without_labels_there_is_nothing_to_name() -> None:
    positions, labels = groups(5)
    assert not names_on(pl.embedding(positions, legend_loc="on data"))
    assert not names_on(pl.embedding(positions, positions[:, 0], legend_loc="on data"))
    assert not names_on(pl.embedding(positions, [None] * len(labels), legend_loc="on data"))
    ax = pl.embedding(positions, labels, legend_loc=None)
    assert ax.get_legend() is None and not names_on(ax)


def test_the_legend_keeps_what_the_map_does_not_say() -> None:
    positions, labels = groups(4)
    column = np.where(np.arange(len(labels)) % 9 == 0, None, labels)
    shape = np.array(["u", "v"])[np.arange(len(labels)) % 2]
    ax = pl.embedding(positions, column, shape=shape, legend_loc="on data")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["missing", "u", "v"]
    assert len(names_on(ax)) == 4


def test_an_unknown_place_is_refused() -> None:
    with pytest.raises(ValueError, match="legend_loc must be one of 'auto', 'right margin'"):
        pl.embedding([[0, 0], [1, 1]], ["a", "b"], legend_loc="margin")
    assert not plt.get_fignums()


def test_boxes_take_the_nearest_free_place() -> None:
    frame = np.array([[0.0, 0.0], [100.0, 100.0]])
    anchors, sizes = np.full((6, 2), 50.0), np.full((6, 2), [20.0, 8.0])
    centres, kept = spread(anchors, sizes, frame)
    assert kept.all() and centres[0].tolist() == [50, 50]
    apart = np.abs(centres[:, None] - centres)
    overlap = (apart[..., 0] < 20) & (apart[..., 1] < 8)
    assert overlap.sum() == 6  # each with itself
    assert np.linalg.norm(centres - 50, axis=1).max() < 30
    # At the edge, they are moved inside; where there is no room, they are left out.
    centres, kept = spread(np.array([[0.0, 0.0]]), sizes[:1], frame)
    assert kept.all() and centres.tolist() == [[10, 4]]
    assert not spread(anchors, np.full((6, 2), 200.0), frame)[1].any()
    assert spread(anchors, sizes, frame, farthest=1.0)[1].tolist() == [True] + [False] * 5


def test_settings_stand_at_the_dots_of_a_trade_off() -> None:
    x = {"joint": np.linspace(0.1, 0.9, 6), "revised": np.linspace(0.1, 0.8, 6)}
    y = {"joint": 0.6 - 0.3 * x["joint"] ** 2, "revised": 0.5 - 0.3 * x["revised"]}
    strengths = ["0", "0.2", "0.4", "0.6", "0.8", "1"]
    betas = ["1", "0.1", "1e-3", "1e-5", "1e-8", "1e-20"]
    ax = draw_curves(curves_of(x, y, joint=strengths, revised=betas), "x", "y")
    boxes = names_on(ax)
    assert {"0.2", "0.4", "0.6", "0.8", "0.1", "1e-3", "1e-5", "1e-8", "1e-20"} <= boxes.keys()
    assert_apart(boxes)
    dots = {name: ax.transData.transform(np.column_stack([x[name], y[name]])) for name in x}
    every = np.concatenate(list(dots.values()))
    for note in ("1e-3", "1e-5", "1e-20"):
        low, high = boxes[note].get_points()
        gaps = np.linalg.norm(np.maximum(low - every, 0) + np.maximum(every - high, 0), axis=1)
        own = dots["revised"][betas.index(note)]
        assert gaps.min() > 0  # it covers no dot, and is nearest to its own
        assert every[gaps.argmin()].tolist() == own.tolist()


def test_texts_stay_texts_and_points_an_image(tmp_path: Path) -> None:
    positions, labels = groups(25)
    figure = pl.embedding(positions, labels, title="Types").figure
    with plt.rc_context({"svg.fonttype": "none", "pdf.fonttype": 42}):
        figure.savefig(tmp_path / "map.svg")
        figure.savefig(tmp_path / "map.pdf")
    svg = (tmp_path / "map.svg").read_text()
    written = re.findall(r">([^<>]+)</text>", svg)
    assert {"Types", "type 03", "type 24"} <= set(written)
    assert written.count("type 03") == 2  # in the legend and on the map
    assert svg.count("<image") == 1  # all points
    assert b"/Subtype /Image" in (tmp_path / "map.pdf").read_bytes()
    assert b"/CIDFontType2" in (tmp_path / "map.pdf").read_bytes()
