"""How much memory a map will take, and how much is free: checked before any work."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from ctsne._core.checks import is_sparse
from ctsne._core.components import n_reduced
from ctsne._fit.settings import Settings
from ctsne.layout.mesh import MOST_NODES, SPACING

__all__ = [
    "MapMemory",
    "check_memory",
    "free_memory",
    "in_words",
    "map_memory",
    "require_memory",
]

_MIB, _GIB = 2**20, 2**30

# Any fit: threads, libraries loaded on the way, blocks of rows in principal components, and freed
# memory that the allocator keeps.
ANY_FIT = 64 * _MIB
# Per point: diagnostics, bandwidths, positions, gains, forces, orders.
POINT = 250
# Per neighbour: index and distance.
NEIGHBOR = 8
# Per stored similarity: the matrix, and what it is made of (rows, lists cut to length, transpose).
ENTRY = 8
MAKING_ENTRY = 16
# Further bytes per similarity in the layout: packed; pair weights, computed for a block of them at
# a time; a spectral start.
PACKED_ENTRY = 14
WEIGHED_ENTRY = 34
WEIGHED_AT_ONCE = 4_000_000
SPECTRAL_ENTRY = 36
# Stored similarities per neighbour: between one (all neighbours mutual) and two (none).
SYMMETRY = 1.5
# Per node of the doubled mesh, and for each large label that has a grid of its own.
MESH_NODE = 20
LABEL_NODE = 1
LARGE_LABEL = 1000
# A map of n points in d dimensions is this wide, times the d-th root of n.
MAP_WIDTH = {1: 1.0, 2: 0.8, 3: 2.0}


@dataclass(frozen=True)
class MapMemory:
    """Peak bytes of a map in each stage, excluding the input.

    Attributes
    ----------
    search : int
        Neighbour search, including the reduction of features.
    similarities : int
        Similarities and their symmetric matrix, with the lists of neighbours still there.
    layout : int
        The map from the similarities on.
    lists : int
        What the search leaves: reduced features and lists of neighbours.
    """

    search: int
    similarities: int
    layout: int
    lists: int

    @property
    def peak(self) -> int:
        """The largest of all stages."""
        return max(self.search, self.similarities, self.layout)


def map_memory(shape: tuple[int, int], settings: Settings, *, sparse: bool = False) -> MapMemory:
    """Estimate the memory of a map, from above.

    Every stage takes ``fixed + features + lists + bytes per entry × entries``, the search copies of
    the features instead of entries, the layout a mesh on top.
    """
    (n, columns), method = shape, settings.method
    below = settings.labels is not None and (
        method.beta_low is not None or settings.beta_low is not None
    )
    list_length, row_length = (
        min(ceil(length * settings.perplexity), n - 1)
        for length in (method.list_length, method.row_length)
    )
    entries = SYMMETRY * n * row_length
    lists = NEIGHBOR * n * list_length
    copies, features = 0, 0
    if settings.metric != "precomputed":
        reduced = n_reduced(shape, settings.pca)
        columns = reduced or columns
        features = 8 * n * columns if reduced or sparse else 0
        aligned = not isinstance(settings.align, str) or settings.align != "none"
        # In single precision: prepared, ordered and twice packed; unit rows; aligned points.
        copies = 4 + 4 * (settings.metric == "cosine") + 5 * aligned
    fixed = ANY_FIT + POINT * n + features
    making = max(
        PACKED_ENTRY * entries,
        WEIGHED_ENTRY * min(entries, WEIGHED_AT_ONCE) if below else 0,
        SPECTRAL_ENTRY * entries
        if isinstance(settings.init, str) and settings.init == "spectral"
        else 0,
    )
    kept = 0 if settings.mixing is None else lists  # for a correction of the mixing
    return MapMemory(
        search=int(fixed + lists + 4 * copies * n * columns),
        similarities=int(fixed + lists + (ENTRY + MAKING_ENTRY) * entries),
        layout=int(fixed + kept + ENTRY * entries + making + _mesh(n, settings, below=below)),
        lists=int(features + lists),
    )


def _mesh(n: int, settings: Settings, *, below: bool) -> float:
    dims = settings.n_components
    width = MAP_WIDTH[dims] * n ** (1 / dims)
    nodes = min(MOST_NODES, max(64.0, 2 * width / SPACING) ** dims)
    large = 0
    if below and settings.labels is not None:
        large = int(np.count_nonzero(settings.labels.counts > LARGE_LABEL))
    return float((MESH_NODE + LABEL_NODE * large) * nodes)


def check_memory(matrix: Any, settings: Settings) -> str:
    """Refuse a map that does not fit in the free memory; return both numbers as text."""
    estimate = map_memory(matrix.shape, settings, sparse=is_sparse(matrix))
    advice = "a smaller perplexity (memory grows with points times perplexity) or fewer points"
    if estimate.search == estimate.peak:
        advice = (
            f"fewer columns (50 principal components instead of {matrix.shape[1]}) or fewer points"
        )
    return require_memory(estimate.peak, advice)


def require_memory(needed: int, advice: str) -> str:
    """Refuse work that needs more memory than is free; return both numbers as text."""
    free = free_memory()
    about = f"about {in_words(needed)}"
    if free is None:
        return about
    if needed > free:
        raise MemoryError(
            f"this needs {about} of memory, but only {in_words(free)} are free; use {advice}"
        )
    return f"{about} of {in_words(free)} free"


def in_words(size: int) -> str:
    """Write a number of bytes: ``37 MiB``, ``3.6 GiB``."""
    return f"{size / _GIB:.1f} GiB" if size >= _GIB else f"{size / _MIB:.0f} MiB"


def free_memory() -> int | None:
    """Return the bytes that this process may still take; None where that is unknown."""
    return min(_free(Path("/proc"), Path("/sys/fs/cgroup")), default=None)


def _free(proc: Path, cgroup: Path) -> Iterator[int]:
    """Yield the free memory of the machine, and of each control group this process is in."""
    for line in _lines(proc / "meminfo"):
        if line.startswith("MemAvailable:"):
            yield int(line.split()[1]) * 1024
    for line in _lines(proc / "self" / "cgroup"):
        _, kinds, path = line.split(":", 2)
        if kinds == "":  # version 2
            names, root = ("memory.max", "memory.current", "inactive_file"), cgroup
        elif "memory" in kinds.split(","):
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
            root = cgroup / "memory"
        else:
            continue
        group = root / path.lstrip("/")
        for folder in (group, *group.parents):
            if folder == root.parent:
                break
            yield from _left(folder, *names)


def _left(folder: Path, limit: str, usage: str, reclaimable: str) -> Iterator[int]:
    most, used = (" ".join(_lines(folder / name)) for name in (limit, usage))
    if not most.isdigit() or not used.isdigit():  # no limit ("max"), or no such group
        return
    stat = dict(line.split(None, 1) for line in _lines(folder / "memory.stat"))
    yield max(0, int(most) - int(used) + int(stat.get(reclaimable, 0)))


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text().splitlines()
    except OSError:
        return []
