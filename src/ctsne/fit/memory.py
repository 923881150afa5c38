"""How much memory a map will take: compared with what is free before any work."""

from collections.abc import Iterator
from concurrent.futures.thread import BrokenThreadPool
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil
from threading import Thread
from traceback import walk_tb
from typing import Any

import numpy as np

from ctsne._core.checks import is_sparse
from ctsne._core.components import n_reduced
from ctsne._core.memory import free_memory, in_words
from ctsne.layout.mesh import MOST_NODES, SPACING
from ctsne.layout.repulsion import LARGE_LABEL
from ctsne.settings import Settings

# Any fit: threads, libraries loaded on the way, blocks of rows, freed memory that is not returned.
ANY_FIT = 64 * 2**20
POINT = 250  # positions, gains, forces, diagnostics, orders
NEIGHBOR = ENTRY = 8  # index and distance, or similarity
# With several label columns: weights and shares per point and list, and copies of the points that
# are divided into cells twice.
LISTED, QUERY_COPIES = 80, 4
# On top, per stored similarity: while the matrix is made, in the layout, where pair weights are
# computed for a block of similarities at a time, and for a spectral start.
MAKING_ENTRY, PACKED_ENTRY, SPECTRAL_ENTRY = 16, 14, 36
WEIGHED_ENTRY, WEIGHED_AT_ONCE = 34, 4_000_000
# Stored similarities per neighbour: between one (all neighbours mutual) and two (none).
SYMMETRY = 1.5
# Per node of the doubled mesh; large labels have a grid of their own.
MESH_NODE = 20
LABEL_NODE = 1
# A map of n points in d dimensions is this wide, times the d-th root of n.
MAP_WIDTH = {1: 1.0, 2: 0.8, 3: 2.0}


@dataclass(frozen=True)
class MapMemory:
    """Peak bytes per stage, excluding the input, and those of the lists that the search leaves."""

    search: int
    similarities: int
    layout: int
    lists: int

    @property
    def peak(self) -> int:
        """The largest of all stages."""
        return max(self.search, self.similarities, self.layout)


def map_memory(shape: tuple[int, int], settings: Settings, *, sparse: bool = False) -> MapMemory:
    """Estimate the memory of a map, from above."""
    (n, columns), method, labels = shape, settings.method, settings.labels
    searched, stored, per_point, copied = method.list_length, method.row_length, POINT, 0
    if labels is not None and method.splits_neighbors:
        patterns = 2**labels.n_columns
        if method.name == "joint":  # lists as long as a row for four patterns, or eight by half
            searched = stored * min(patterns, 4)
        if method.name == "revised":
            searched = stored = stored * patterns / 2
        per_point += LISTED * patterns
        copied = QUERY_COPIES if labels.n_columns > 1 else 0
    lists = NEIGHBOR * n * min(ceil(searched * settings.perplexity), n - 1)
    entries = SYMMETRY * n * min(ceil(stored * settings.perplexity), n - 1)
    copies, features = 0, 0
    if settings.metric != "precomputed":
        reduced = n_reduced(shape, settings.pca)
        columns = reduced or columns
        features = 8 * n * columns if reduced or sparse else 0
        # In single precision: prepared, ordered and twice packed; unit rows; aligned points.
        aligned = not np.array_equal(settings.align, "none")
        copies = 4 + copied + 4 * (settings.metric == "cosine") + 5 * aligned
    working, node = PACKED_ENTRY * entries, MESH_NODE
    if labels is not None and (method.conditions_map or settings.beta_low is not None):
        working = max(working, WEIGHED_ENTRY * min(entries, WEIGHED_AT_ONCE))
        channels = {id(column): column for column in (*labels.columns, labels.combined)}.values()
        node += LABEL_NODE * sum(int((column.counts > LARGE_LABEL).sum()) for column in channels)
    if np.array_equal(settings.init, "spectral"):
        working = max(working, SPECTRAL_ENTRY * entries)
    dims = settings.n_components
    width = MAP_WIDTH[dims] * n ** (1 / dims)
    mesh = node * min(MOST_NODES, max(64.0, 2 * width / SPACING) ** dims)
    kept = 0 if settings.mixing is None else lists  # for a correction of the mixing
    fixed = ANY_FIT + per_point * n + features
    return MapMemory(
        search=int(fixed + lists + 4 * copies * n * columns),
        similarities=int(fixed + lists + (ENTRY + MAKING_ENTRY) * entries),
        layout=int(fixed + kept + ENTRY * entries + working + mesh),
        lists=int(features + lists),
    )


@contextmanager
def explained_memory(needed: int | None, advice: str) -> Iterator[None]:
    """Say what some work needs, if known, and what to change where memory or threads run out."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        called = [frame.f_code for frame, _ in walk_tb(error.__traceback__)]
        lacking = isinstance(error, MemoryError | BrokenThreadPool)  # or a thread did not start
        if not lacking and Thread.start.__code__ not in called:
            raise
        need = "" if needed is None else f"this needs about {in_words(needed)} beside the data; "
        raise MemoryError(f"memory ran out: {need}use {advice}") from error


def map_need(matrix: Any, settings: Settings) -> tuple[int, str]:
    """Return the peak bytes of a map, and what would lower them."""
    estimate = map_memory(matrix.shape, settings, sparse=is_sparse(matrix))
    advice = "a smaller perplexity (memory grows with points times perplexity) or fewer points"
    if estimate.search == estimate.peak:
        columns = f"fewer columns (50 principal components instead of {matrix.shape[1]})"
        advice = f"{columns} or fewer points"
    return estimate.peak, advice


def require_memory(needed: int, advice: str) -> str:
    """Refuse work that needs more memory than is free; return both numbers as text."""
    free = free_memory()
    about = f"about {in_words(needed)}"
    if free is None:
        return about
    if needed > free:
        what = f"this needs {about} of memory, but only {in_words(free)} is free"
        raise MemoryError(f"{what}; use {advice}")
    return f"{about} of {in_words(free)} free"
