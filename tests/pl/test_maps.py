"""Several maps: one look and one legend for all."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

from ctsne import pl

LABELS = ["b", "a", None] * 10


def made_up(count: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {f"map {i}": rng.normal(size=(30, 2)) for i in range(count)}


@pytest.mark.parametrize(("count", "ncols", "rows"), [(1, 4, 1), (3, 2, 2), (5, 4, 2), (4, 4, 1)])
def test_a_panel_a_map_and_one_legend(count: int, ncols: int, rows: int) -> None:
    maps = made_up(count)
    axes = pl.maps(maps, LABELS, ncols=ncols)
    assert axes.shape == (count,)
    assert [ax.get_title(loc="left") for ax in axes] == list(maps)
    legends = [ax for ax in axes if ax.get_legend() is not None]
    assert legends == [axes[min(count, ncols) - 1]]
    texts = [text.get_text() for text in legends[0].get_legend().get_texts()]
    assert texts == ["a", "b", "missing"]
    axes[0].figure.canvas.draw()
    boxes = [ax.get_window_extent() for ax in axes]
    assert len({round(box.y0) for box in boxes}) == rows
    for box in boxes:
        assert box.width == pytest.approx(310) and box.height == pytest.approx(310)


def test_panels_show_their_map_in_the_same_colours_and_order() -> None:
    maps = made_up(2)
    first, second = pl.maps(maps, LABELS, palette={"a": "red", "b": "blue"})
    order = np.random.default_rng(0).permutation(30)
    order = np.concatenate([order[order % 3 == 2], order[order % 3 != 2]])
    for ax, positions in zip((first, second), maps.values(), strict=True):
        np.testing.assert_array_equal(ax.collections[0].get_offsets(), positions[order])
    faces = first.collections[0].get_facecolors()
    np.testing.assert_array_equal(faces, second.collections[0].get_facecolors())
    np.testing.assert_allclose(faces[order % 3 == 0][:, :3], [[0, 0, 1]] * 10)


def test_one_scale_for_numbers() -> None:
    axes = pl.maps(made_up(2), np.linspace(-1, 5, 30))
    assert [len(ax.child_axes) for ax in axes] == [0, 1]
    assert axes[1].child_axes[0].get_ylim() == (-1, 5)


def test_notes_lie_between_title_and_map() -> None:
    axes = pl.maps(made_up(2), LABELS, notes=["neighbours kept 0.54, mixing 0.98", "$x$"])
    axes[0].figure.canvas.draw()
    for ax, note in zip(axes, ("neighbours kept 0.54, mixing 0.98", "$x$"), strict=True):
        (text,) = ax.texts
        box, panel = text.get_window_extent(), ax.get_window_extent()
        assert text.get_text() == note and not text.get_parse_math()
        assert panel.y1 < box.y0 and box.y1 < ax._left_title.get_window_extent().y0
        assert box.x1 < panel.x1 and ax._left_title.get_window_extent().y1 <= ax.figure.bbox.y1


def test_columns_named_by_a_mapping_head_the_legend() -> None:
    axes = pl.maps(made_up(1), {"batch": LABELS}, shape={"type": ["x", "y"] * 15})
    texts = [text.get_text() for text in axes[0].get_legend().get_texts()]
    assert texts == ["batch", "a", "b", "missing", "type", "x", "y"]


def test_long_titles_stay_within_their_panel() -> None:
    maps = {f"{'a long title ' * 6}{i}": np.eye(4)[:, :2] for i in range(2)}
    axes = pl.maps(maps)
    axes[0].figure.canvas.draw()
    for ax in axes:
        title = ax._left_title.get_window_extent()
        assert title.x1 < ax.get_window_extent().x1
        assert title.y1 <= ax.figure.bbox.y1


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"embeddings": {}}, TypeError, "embeddings must be .* a mapping.*at least one"),
        (
            {"embeddings": [np.zeros((4, 2))]},
            TypeError,
            "embeddings must be .* a mapping.*got list",
        ),
        (
            {"embeddings": {"x": np.zeros((4, 3))}},
            ValueError,
            r"embeddings\['x'\] must have 2 columns",
        ),
        (
            {"embeddings": {"x": np.zeros((4, 2)), "y": np.zeros((5, 2))}},
            ValueError,
            "same points, got maps of 4, 5 points",
        ),
        ({"color": ["a"]}, ValueError, "color must have one entry for each of the 30"),
        ({"notes": ["one"]}, ValueError, "notes must hold one text for each of 2 maps"),
        ({"notes": "ab"}, ValueError, "notes must hold one text for each of 2 maps"),
        ({"ncols": 0}, ValueError, "ncols must be a whole number of at least 1"),
    ],
)
def test_bad_input_is_refused(
    arguments: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        pl.maps(**{"embeddings": made_up(2), **arguments})
    assert not plt.get_fignums()
