"""One map: positions, colours and shapes of its points, and input that is refused."""

from __future__ import annotations

import anndata
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars
import pytest
from matplotlib.colors import to_hex
from matplotlib.markers import MarkerStyle

from ctsne import ConditionalTSNE, Placement, pl
from ctsne.datasets import make_synthetic
from ctsne.pl.palette import MISSING, REFERENCE
from ctsne.pl.points import MOST_DOTS


def made_up(n: int = 40) -> np.ndarray:
    return np.random.default_rng(1).normal(size=(n, 2)) * [3, 1] + 100


def in_given_order(ax: plt.Axes, positions: np.ndarray) -> np.ndarray:
    """For every point, the place of its dot in the order they are drawn."""
    drawn = np.asarray(ax.collections[0].get_offsets())
    assert len(drawn) == len(positions)
    places = [np.flatnonzero((drawn == position).all(axis=1)) for position in positions]
    assert all(len(place) == 1 for place in places)
    return np.concatenate(places)


def colors_of(ax: plt.Axes, positions: np.ndarray) -> list[str]:
    faces = ax.collections[0].get_facecolors()
    return [to_hex(face).upper() for face in faces[in_given_order(ax, positions)]]


def legend_of(ax: plt.Axes) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_every_point_is_drawn_in_the_colour_of_its_label() -> None:
    positions = made_up()
    labels = ["b", "a", None, "c"] * 10
    ax = pl.embedding(positions, labels, title="a map")
    colors = pl.palette(labels)
    assert colors_of(ax, positions) == [colors[label] for label in labels]
    assert legend_of(ax) == ["a", "b", "c", "missing"]
    assert ax.get_title(loc="left") == "a map"
    assert ax.collections[0].get_rasterized()


def test_the_order_is_shuffled_and_fixed_with_missing_labels_below() -> None:
    positions = made_up(400)
    labels = [None] * 100 + ["a"] * 150 + ["b"] * 150
    places = in_given_order(pl.embedding(positions, labels), positions)
    assert set(places[:100]) == set(range(100))
    # Neither label lies on top: their mean places differ by little.
    assert abs(places[100:250].mean() - places[250:].mean()) < 40
    np.testing.assert_array_equal(
        places, in_given_order(pl.embedding(positions, labels), positions)
    )


@pytest.mark.parametrize(
    ("height", "shape"), [(3.0, 1.0), (1.0, 1.0), (0.8, 0.8), (0.2, 0.6), (0.0, 0.6)]
)
def test_a_frame_follows_a_wide_map_with_equal_units_and_no_ticks(
    height: float, shape: float
) -> None:
    positions = made_up()
    positions = (positions - positions.min(axis=0)) / np.ptp(positions, axis=0) * [1, height]
    ax = pl.embedding(positions)
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    assert (top - bottom) / (right - left) == pytest.approx(shape)
    assert left < positions[:, 0].min() and right > positions[:, 0].max()
    assert bottom < positions[:, 1].min() and top > positions[:, 1].max()
    assert ax.get_aspect() == 1 and not len(ax.get_xticks()) and not len(ax.get_yticks())
    assert ax.get_legend() is None
    ax.figure.canvas.draw()
    box = ax.get_window_extent()
    assert box.width == pytest.approx(480) and box.height == pytest.approx(480 * shape)


def test_given_axes_are_filled_as_far_as_the_map_allows() -> None:
    positions = made_up() * [2, 1]
    wide, low = plt.figure(figsize=(6, 9)).subplots(2, gridspec_kw={"height_ratios": [8, 1]})
    for ax in (wide, low):
        pl.embedding(positions, ax=ax)
        bottom, top = ax.get_ylim()
        assert bottom < positions[:, 1].min() and top > positions[:, 1].max()
        ax.figure.canvas.draw()
        box = ax.get_window_extent()
        units = box.width / np.ptp(ax.get_xlim()), box.height / np.ptp(ax.get_ylim())
        assert units[0] == pytest.approx(units[1])


def test_shapes_stand_for_the_second_label() -> None:
    positions = made_up()
    shape = ["u", "v", "w", None] * 10
    ax = pl.embedding(positions, ["a", "b"] * 20, shape=shape)
    paths = [ax.collections[0].get_paths()[i] for i in in_given_order(ax, positions)]
    marker = dict(zip(("u", "v", "w", None), "os^.", strict=True))
    for label, path in zip(shape, paths, strict=True):
        style = MarkerStyle(marker[label])
        expected = style.get_path().transformed(style.get_transform())
        np.testing.assert_allclose(path.vertices, expected.vertices)
    assert legend_of(ax) == ["a", "b", "u", "v", "w", "missing"]
    markers = [line.get_marker() for line in ax.get_legend().get_lines()]
    assert markers == ["o", "o", "o", "s", "^", "."]
    ax.figure.canvas.draw()


def test_legend_names_two_columns() -> None:
    positions = made_up(4)
    table = pd.DataFrame({"batch": list("abab"), "a $type$": list("uvuv"), "depth": [0.5] * 4})
    ax = pl.embedding(positions, table["batch"], shape=table["a $type$"])
    assert legend_of(ax) == ["batch", "a", "b", "a $type$", "u", "v"]
    weights = [text.get_fontweight() for text in ax.get_legend().get_texts()]
    assert weights == ["bold", "normal", "normal"] * 2
    unnamed = polars.Series(list("uvuv"))
    for color, shape in (
        (table["batch"], None),
        (table["batch"], table["batch"]),
        (table["batch"], unnamed),
    ):
        ax = pl.embedding(positions, color, shape=shape)
        assert "batch" not in legend_of(ax)
        assert (ax.get_title(loc="left") == "batch") == (shape is not table["batch"])
    for color in (table["depth"], list("abab")):
        assert "batch" in legend_of(pl.embedding(positions, color, shape=table["batch"]))


def test_a_picture_says_which_column_it_shows() -> None:
    positions = made_up(4)
    batch = pd.Series(list("abab"), name="batch $1$")
    ax = pl.embedding(positions, batch)
    assert ax.get_title(loc="left") == "batch $1$" and legend_of(ax) == ["a", "b"]
    ax = pl.embedding(positions, batch, title="A title")
    assert ax.get_title(loc="left") == "A title" and legend_of(ax) == ["batch $1$", "a", "b"]
    own = pl.embedding(positions, batch, ax=plt.figure().subplots())
    assert own.get_title(loc="left") == "" and legend_of(own) == ["batch $1$", "a", "b"]
    assert pl.embedding(positions, list("abab")).get_title(loc="left") == ""
    first, second = pl.embedding(positions, {"x": [0.5] * 4, "y": list("abab")}, title=["1", "2"])
    assert [first.get_title(loc="left"), second.get_title(loc="left")] == ["1", "2"]
    assert first.child_axes[0].get_ylabel() == "x" and legend_of(second) == ["y", "a", "b"]
    with pytest.raises(ValueError, match="title must hold one text per panel, 1, got 2"):
        pl.embedding(positions, batch, title=["1", "2"])


def test_a_colour_bar_has_the_name_of_its_column() -> None:
    name = "a long name of a column of numbers"
    for width in (None, "single"):
        ax = pl.embedding(made_up(4), {name: [0.5, 1.0, 2.0, 3.0]}, width=width)
        (bar,) = ax.child_axes
        assert bar.get_ylabel().replace("\n", " ") == name
        ax.figure.canvas.draw()
        box, figure = bar.yaxis.label.get_window_extent(), ax.figure.bbox
        assert box.x1 <= figure.x1 and box.height <= ax.get_window_extent().height
    assert pl.embedding(made_up(2), [0.5, 1.0]).child_axes[0].get_ylabel() == ""


def test_floats_have_a_colour_bar() -> None:
    positions = made_up(5)
    values = [0.0, 2.0, 4.0, float("nan"), 1.0]
    ax = pl.embedding(positions, values)
    viridis = plt.get_cmap("viridis")
    expected = [to_hex(viridis(value / 4)).upper() for value in (0.0, 2.0, 4.0)]
    assert colors_of(ax, positions)[:4] == [*expected, MISSING]
    (bar,) = ax.child_axes
    assert bar.get_ylim() == (0, 4)
    assert legend_of(ax) == ["missing"]


@pytest.mark.parametrize(
    "column",
    [
        np.array([0.5, 1.5, np.nan], np.float32),
        pd.Series([0.5, 1.5, None]),
        pd.Series([0.5, 1.5, None], dtype="Float64"),
        pd.DataFrame({"x": [0.5, 1.5, np.nan]}),
        polars.Series([0.5, 1.5, None]),
        [0.5, 1.5, float("nan")],
    ],
)
def test_any_column_of_floats_is_continuous(column: object) -> None:
    ax = pl.embedding(made_up(3), column)
    assert ax.child_axes[0].get_ylim() == (0.5, 1.5) and legend_of(ax) == ["missing"]


@pytest.mark.parametrize(
    "column",
    [[1, 2, 2], [True, False, True], pd.Categorical([1.5, 2.5, 1.5]), [1.5, "a", 1.5]],
)
def test_everything_else_is_labels(column: object) -> None:
    ax = pl.embedding(made_up(3), column)
    assert not ax.child_axes and len(legend_of(ax)) == 2


def test_one_number_everywhere_has_the_colour_the_bar_gives_it() -> None:
    positions = made_up(3)
    ax = pl.embedding(positions, np.full(3, 7.0))
    low, high = ax.child_axes[0].get_ylim()
    assert (low + high) / 2 == 7
    middle = to_hex(plt.get_cmap("viridis")(0.5)).upper()
    assert colors_of(ax, positions) == [middle] * 3


def test_a_map_of_one_dimension_is_a_strip() -> None:
    positions = made_up(30)[:, :1]
    ax = pl.embedding(positions, ["a", "b"] * 15)
    drawn = np.asarray(ax.collections[0].get_offsets())
    np.testing.assert_array_equal(np.sort(drawn[:, 0]), np.sort(positions[:, 0]))
    assert 0.1 < np.ptp(drawn[:, 1]) / np.ptp(drawn[:, 0]) <= 0.2
    again = pl.embedding(positions, ["a", "b"] * 15).collections[0].get_offsets()
    np.testing.assert_array_equal(drawn, again)


def test_dots_are_smaller_when_there_are_more_and_in_smaller_panels() -> None:
    def size(n: int, **options: object) -> float:
        return float(pl.embedding(made_up(n), **options).collections[0].get_sizes()[0])

    small = plt.figure(figsize=(2, 2)).subplots()
    assert size(4) > size(2000) > size(20_000) > 0.5
    assert size(2000, ax=small) < 0.3 * size(2000)
    assert size(2000, size=3.5) == 3.5


def test_four_points_and_points_in_one_place_can_be_drawn() -> None:
    for positions in (made_up(4), np.zeros((4, 2)), np.full((4, 2), 1e-20)):
        ax = pl.embedding(positions, ["a", "b", "c", None])
        ax.figure.canvas.draw()
        assert len(ax.collections[0].get_offsets()) == 4
        assert np.diff(ax.get_xlim())[0] > 0


def test_the_legend_can_be_left_out_and_the_axes_given() -> None:
    figure, axes = plt.subplots(1, 2)
    assert pl.embedding(made_up(), ["a", "b"] * 20, legend_loc=None, ax=axes[1]) is axes[1]
    assert axes[1].get_legend() is None and not axes[0].collections
    assert plt.get_fignums() == [figure.number]


def test_long_names_are_cut_in_the_middle_and_many_labels_are_counted() -> None:
    long = "a cell type with a name that goes on and on, and its number 17"
    (text,) = legend_of(pl.embedding(made_up(), [long] * 40))
    assert text.startswith("a cell type") and text.endswith("number 17") and "…" in text
    assert max(map(len, text.split("\n"))) <= 26 and len(text) < 50
    entries = legend_of(pl.embedding(made_up(200), range(200)))
    assert len(entries) == 101 and entries[-1] == "... and 100 more"


def test_a_given_size_asks_for_dots() -> None:
    ax = pl.embedding(np.zeros((MOST_DOTS + 1, 2)), size=1)
    assert not ax.images and len(ax.collections[0].get_offsets()) == MOST_DOTS + 1


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"positions": np.zeros((4, 3))}, ValueError, "positions must have 2 columns.*got 3"),
        ({"positions": [[0, np.nan], [1, 1]]}, ValueError, "positions contains 1 NaN"),
        ({"positions": [0, 1]}, ValueError, "positions must be a 2D array"),
        ({"positions": [["a", "b"], ["c", "d"]]}, TypeError, "positions must hold numbers"),
        ({"color": ["a"]}, ValueError, "color must have one entry for each of the 4 points"),
        ({"color": [0.5]}, ValueError, "color must have one entry for each of the 4 points"),
        ({"color": [0.5, 1, 2, np.inf]}, ValueError, "color holds 1 infinite"),
        ({"color": "cell_type"}, TypeError, "color must be a label column"),
        ({"shape": ["a"]}, ValueError, "shape must have one entry"),
        ({"size": 0}, ValueError, "size must be a number above 0"),
        ({"size": "big"}, TypeError, "size must be a number"),
        (
            {"positions": np.zeros((11, 2)), "shape": range(11)},
            ValueError,
            "shape can show at most 10 different labels, got 11 labels",
        ),
        (
            {"positions": np.zeros((MOST_DOTS + 1, 2)), "shape": np.zeros(MOST_DOTS + 1, int)},
            ValueError,
            "shape is not visible in a density.*draw a sample",
        ),
    ],
)
def test_bad_input_is_refused_before_anything_is_drawn(
    arguments: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        pl.embedding(**{"positions": np.zeros((4, 2)), **arguments})
    assert not plt.get_fignums()


# Points placed in a map


def placement(n: int = 6, far: int = 0) -> Placement:
    positions = made_up(n).astype(np.float32)
    values = np.linspace(0, 1, n, dtype=np.float32)
    return Placement(positions, values, np.arange(n) < far, 0.5, values, None, None, values)


def test_placed_points_lie_above_a_grey_reference() -> None:
    reference, placed = made_up(), placement()
    ax = pl.embedding(placed, list("aabbab"), reference=reference)
    below, above = ax.collections
    assert len(below.get_offsets()) == 40 and len(above.get_offsets()) == 6
    assert {to_hex(face) for face in below.get_facecolors()} == {REFERENCE.lower()}
    assert legend_of(ax) == ["a", "b", "reference"]
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    whole = np.concatenate([reference, placed.embedding])
    assert (whole > [left, bottom]).all() and (whole < [right, top]).all()


def test_a_reference_of_any_kind() -> None:
    data = make_synthetic(60, random_state=0)
    model = ConditionalTSNE(method="tsne", perplexity=5, n_iter=5).fit(data.X)
    adata = anndata.AnnData(data.X)
    adata.obsm["ctsne"] = model.embedding_
    for reference in (model, adata, model.embedding_):
        ax = pl.embedding(placement().embedding, reference=reference)
        assert len(ax.collections[0].get_offsets()) == 60
        assert legend_of(ax) == ["placed", "reference"]
    with pytest.raises(ValueError, match="not fitted"):
        pl.embedding(placement(), reference=ConditionalTSNE())
    with pytest.raises(ValueError, match="reference must have 2 columns"):
        pl.embedding(placement(), reference=np.zeros((4, 5)))


def test_far_points_have_their_own_marker() -> None:
    ax = pl.embedding(placement(far=2), reference=made_up())
    assert legend_of(ax) == ["near the reference", "far from the reference", "reference"]
    shapes = {path.vertices.shape for path in ax.collections[1].get_paths()}
    assert len(shapes) == 2


def test_one_placed_point_can_be_drawn() -> None:
    ax = pl.embedding(placement(1), reference=made_up())
    assert len(ax.collections[1].get_offsets()) == 1
    with pytest.raises(ValueError, match="sample"):
        pl.embedding(placement(1).embedding)


def test_points_are_faint_where_they_are_not_to_be_believed() -> None:
    positions = made_up(5)
    trust = np.array([0.0, 0.2, 0.3, 0.4, 1.0])
    ax = pl.embedding(positions, list("aabbb"), trust=trust)
    opacity = ax.collections[0].get_facecolors()[in_given_order(ax, positions), 3]
    np.testing.assert_allclose(opacity, [0.07, 0.07, 0.35, 0.7, 0.7])
    plain = pl.embedding(positions, list("aabbb"), trust=False)
    assert np.allclose(plain.collections[0].get_facecolors()[:, 3], 0.7)


def test_trust_of_an_anndata_object() -> None:
    adata = anndata.AnnData(np.zeros((5, 2), np.float32))
    adata.obsm["X_ctsne"] = made_up(5)
    with pytest.raises(ValueError, match=r"the map 'ctsne' has none; make it with ctsne.tl.ctsne"):
        pl.embedding(adata, trust=True)
    adata.obs["ctsne_trust"] = np.linspace(0, 1, 5, dtype=np.float32)
    for basis in ("ctsne", "X_ctsne"):
        ax = pl.embedding(adata, trust=True, basis=basis)
        opacity = ax.collections[0].get_facecolors()[in_given_order(ax, adata.obsm["X_ctsne"]), 3]
        np.testing.assert_allclose(opacity, [0.07, 0.175, 0.7, 0.7, 0.7], rtol=1e-5)


def test_trust_that_is_refused() -> None:
    positions = made_up(5)
    with pytest.raises(TypeError, match=r"trust=True is for AnnData objects; pass the values"):
        pl.embedding(positions, trust=True)
    for wrong in ([0.5] * 4 + [np.nan], [0.5] * 4 + [1.5]):
        with pytest.raises(ValueError, match="trust must hold numbers from 0 to 1"):
            pl.embedding(positions, trust=wrong)
    with pytest.raises(ValueError, match="trust must have one entry for each of the 5 points"):
        pl.embedding(positions, trust=[0.5] * 4)
    many = np.zeros((MOST_DOTS + 1, 2))
    with pytest.raises(ValueError, match="trust is not visible in a density"):
        pl.embedding(many, trust=np.ones(MOST_DOTS + 1))
