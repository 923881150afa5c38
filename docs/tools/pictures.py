"""Draw the pictures of the site from made-up data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib
import numpy as np
import reference as formulas  # of the tests
from numpy.typing import NDArray

from ctsne import ConditionalTSNE, pl
from ctsne.datasets import make_synthetic
from ctsne.evaluate import laplacian
from ctsne.labels import encode_labels
from ctsne.neighbors import find_neighbors, paper_lengths
from ctsne.sweep import sweep
from experiments.similarity_profile import similarity_profile

matplotlib.use("Agg")
from matplotlib import pyplot as plt

DPI = 110
GREY, GRID, INK = "#c8c8c8", "#d8d8d8", "#222222"
SEED = 0
PERPLEXITY = 20
# Distance between the batches in the pictures of the stages.
HEIGHT = 2.5


class Cells(NamedTuple):
    """Made-up cells with a known batch and a type that the map should show."""

    X: NDArray[np.float64]
    batch: NDArray[np.str_]
    type: NDArray[np.str_]


def style_chart(ax: Any, title: str) -> None:
    """Give a chart its title, a pale grid and no frame."""
    ax.set_title(title, loc="left", fontsize="medium", fontweight="bold")
    ax.grid(color=GRID, linewidth=0.7)
    ax.set_axisbelow(True)
    ax.tick_params(length=0, labelsize="small")
    ax.spines[["top", "right"]].set_visible(False)


def write(folder: Path) -> None:
    """Draw every picture and save it to a folder."""
    for name, draw in PICTURES.items():
        figure = draw()
        figure.savefig(folder / f"{name}.png", dpi=DPI, metadata={"Software": None})
        plt.close(figure)


def made_up(
    centres: Mapping[str, tuple[float, ...]],
    shifts: Mapping[str, tuple[float, ...]],
    *,
    n: int = 100,
    spread: float | tuple[float, ...] = 0.55,
    without: tuple[str, str] | None = None,
) -> Cells:
    """Draw n cells of every type and batch, shifted by the batch; leave out ``without``."""
    rng = np.random.default_rng(SEED)
    X, batch, kind = [], [], []
    for which, shift in shifts.items():
        for name, centre in centres.items():
            if (which, name) != without:
                X.append(
                    np.add(centre, shift) + np.multiply(spread, rng.normal(size=(n, len(centre))))
                )
                batch += [which] * n
                kind += [name] * n
    return Cells(np.vstack(X), np.array(batch), np.array(kind))


def sheets() -> Cells:
    """Make data with three features: two for the types, and a step in the third for the batch."""
    return made_up(
        {"T cell": (0.0, 0.0, 0.0), "B cell": (4.0, 0.5, 0.0), "monocyte": (1.5, 4.0, 0.0)},
        {"batch 1": (0.0, 0.0, 0.0), "batch 2": (0.0, 0.0, HEIGHT)},
        spread=(0.7, 0.7, 0.06),
    )


def near() -> Any:
    """Draw the neighbours of one point, as t-SNE finds them and as two lists."""
    cells = sheets()
    point = _middle(cells)
    lengths = paper_lengths((0, 1), PERPLEXITY)
    lists = {
        "The data": None,
        "t-SNE: one list, the nearest": find_neighbors(cells.X, lengths=lengths.sum()),
        "ctsne: two lists": find_neighbors(cells.X, cells.batch, lengths=lengths),
    }
    figure, axes = plt.subplots(1, len(lists), figsize=(9, 3.6), layout="constrained")
    seen, colors = _from_the_side(cells.X), pl.palette(cells.batch)
    for ax, (title, found) in zip(axes, lists.items(), strict=True):
        _draw_sheets(ax)
        chosen = np.arange(len(seen)) if found is None else found.indices[point]
        ax.scatter(*seen.T, s=5, color=GREY, linewidths=0)
        drawn = [colors[name] for name in cells.batch[chosen]]
        ax.scatter(*seen[chosen].T, s=9, c=drawn, linewidths=0)
        ax.set_title(title, loc="left", fontsize="medium", fontweight="bold")
        if found is not None:
            ax.scatter(*seen[point], s=90, marker="*", color=INK, zorder=3)
    for name, color in colors.items():
        axes[0].scatter([], [], s=20, color=color, label=name)
    axes[0].legend(frameon=False, loc="upper left", fontsize="small")
    return figure


def _middle(cells: Cells) -> int:
    """Return the point whose neighbours are shown, in the middle of the B cells of one batch."""
    mine = np.flatnonzero((cells.batch == "batch 1") & (cells.type == "B cell"))
    centre = cells.X[mine].mean(axis=0)
    return int(mine[np.linalg.norm(cells.X[mine] - centre, axis=1).argmin()])


def _from_the_side(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Project three features as seen obliquely from above."""
    return np.column_stack([X[:, 0] + 0.45 * X[:, 1], 0.42 * X[:, 1] + 1.9 * X[:, 2]])


def _draw_sheets(ax: Any) -> None:
    corners = np.array([(-2.2, -2.4), (6.2, -2.4), (6.2, 6.2), (-2.2, 6.2), (-2.2, -2.4)])
    for height in (0.0, HEIGHT):
        edge = _from_the_side(np.column_stack([corners, np.full(len(corners), height)]))
        ax.plot(*edge.T, color=GREY, linewidth=0.8)
    ax.set_axis_off()


def pull() -> Any:
    """Draw how much the neighbours of one point pull, before and after conditioning."""
    cells = sheets()
    point = _middle(cells)
    labels = encode_labels(cells.batch)
    found = find_neighbors(cells.X, labels, lengths=paper_lengths((0, 1), PERPLEXITY))
    lists = (
        formulas.squared_distances(cells.X),
        formulas.Lists(found.indices, found.lengths, found.patterns),
    )
    conditioned = (*lists, labels.codes, PERPLEXITY)
    rows = {
        "before": formulas.tsne_rows(*lists, PERPLEXITY),
        "revised, beta 1e-20": formulas.revised_rows(*conditioned, [1e-20], scale=found.scale),
        "balanced, strength 1": formulas.balanced_rows(*conditioned, [1.0]),
    }
    near = found.indices[point]
    figure, axes = plt.subplots(1, len(rows), figsize=(9, 3.2), sharey=True, layout="constrained")
    for ax, (title, row) in zip(axes, rows.items(), strict=True):
        similarity_profile(found.distances[point], row[point, near], cells.batch[near], ax=ax)
        ax.set_title(title, loc="left", fontsize="medium", pad=40)
        if ax is not axes[-1]:
            ax.get_legend().remove()
        if ax is not axes[0]:
            ax.set_ylabel("")
    axes[0].set_ylim(0, 1.05 * max(row[point].max() for row in rows.values()))
    return figure


def place() -> Any:
    """Draw the finished maps."""
    cells = sheets()
    maps = _maps(
        cells,
        {
            "t-SNE": {"method": "tsne"},
            "revised, beta 1e-20": {"method": "revised", "beta": 1e-20},
            "joint, strength 0.7": {"method": "joint"},
            "balanced, strength 1": {"method": "balanced"},
        },
    )
    return pl.maps(maps, cells.batch, shape=cells.type, ncols=2)[0].figure


def swept() -> Any:
    """Draw the maps of a sweep over strengths, with their measures as titles."""
    data = make_synthetic(900, random_state=SEED)
    strengths = [0, 0.2, 0.4, 0.6, 0.8, 1]
    result = sweep(
        data.X,
        data.known,
        {"method": "joint", "strength": strengths},
        other=data.hidden,
        estimator=ConditionalTSNE(random_state=SEED),
        progress=False,
    )
    axes = pl.maps(
        {
            f"{swept.parameters['strength']:g}: mixed {swept.measures['mixing']:.2f}, "
            f"kept {swept.measures['adjusted_rnx']:.2f}": swept.embedding
            for swept in result.maps
        },
        data.known,
        shape=data.hidden,
        palette={"blue": "#0072B2", "orange": "#E69F00"},
        ncols=3,
    )
    return axes[0].figure


def one_batch() -> Any:
    """Draw the fate of a type that only one batch has."""
    cells = made_up(
        {
            "T cell": (0.0, 0.0, 0.0, 0.0),
            "B cell": (4.0, 0.5, 0.0, 0.0),
            "monocyte": (1.5, 4.0, 0.0, 0.0),
            "plasma cell": (4.0, 0.5, 0.0, 2.0),
        },
        {"batch 1": (0.0, 0.0, 0.0, 0.0), "batch 2": (0.0, 0.0, HEIGHT, 0.0)},
        spread=(0.7, 0.7, 0.06, 0.06),
        without=("batch 2", "plasma cell"),
    )
    lonely = cells.type == "plasma cell"
    maps = {}
    for title, embedding in _maps(
        cells,
        {
            "t-SNE": {"method": "tsne"},
            "joint 0.4": {"method": "joint", "strength": 0.4},
            "joint 1": {"method": "joint", "strength": 1.0},
            "balanced 1": {"method": "balanced"},
        },
    ).items():
        wrong = laplacian(embedding, cells.type, pointwise=True)[lonely].mean()
        maps[f"{title}: {wrong:.2f} wrong"] = embedding
    return pl.maps(maps, cells.type, shape=cells.batch, ncols=2)[0].figure


def _maps(
    cells: Cells, settings: Mapping[str, Mapping[str, Any]]
) -> dict[str, NDArray[np.float32]]:
    return {
        title: ConditionalTSNE(
            perplexity=PERPLEXITY, random_state=SEED, **parameters
        ).fit_transform(cells.X, labels=cells.batch)
        for title, parameters in settings.items()
    }


PICTURES: dict[str, Callable[[], Any]] = {
    "near": near,
    "pull": pull,
    "place": place,
    "swept": swept,
    "one_batch": one_batch,
}
