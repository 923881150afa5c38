"""How much memory a map will take, and how much there is: checked before any work."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

from ctsne._core.checks import is_sparse
from ctsne._core.components import n_reduced
from ctsne._fit.settings import Settings
from ctsne.layout.descent import PACKED_FROM
from ctsne.layout.mesh import MOST_NODES, SPACING
from ctsne.neighbors.search import is_approximate

__all__ = [
    "MapMemory",
    "check_memory",
    "free_memory",
    "in_words",
    "map_memory",
    "require_memory",
]

# Bytes for each number of the data in single precision: centred and scaled, in the order of the
# search, and packed; and a second pair of the last two where points are searched by cells.
PREPARED_NUMBER = 4 + 4 + 4
SEARCHED_NUMBER = 4 + 4
CELLS_NUMBER = 4 + 4 + 4 + 4
UNIT_NUMBER = 8  # a further copy for cosine distances
# Bytes for each neighbour: its index and distance, then its similarity.
LIST_ENTRY = 4 + 4
ROW_ENTRY = 4
# Bytes for each stored similarity, and how many are stored for each neighbour: between one (all
# neighbours mutual) and two (none).
STORED_ENTRY = 4 + 4
STORED_PER_NEIGHBOR = 1.5
# Many of them are packed for the map, in 4.5 bytes or somewhat more; when points are put in another
# order, the old and the new are there for a moment, and what the new is made of.
# Fewer are brought into the order of the labels, and kept so, where the map is conditioned.
PACKED_ENTRY = 14
REORDERED_ENTRY = 8
REORDERING_ENTRY = 16
# Where a spectral start is made of them. The weights of pairs are taken for some at a time.
SPECTRAL_ENTRY = 36
WEIGHED_ENTRY = 34
WEIGHED_AT_ONCE = 4_000_000
# A range of rows while symmetrising; blocks of rows in the principal components.
SYMMETRIZED_AT_ONCE = 64 * 2**20
START_SPACE = 32 * 2**20
# Bytes for each point beside: diagnostics, bandwidths, positions, gains, forces, orders.
POINT = 250
# Bytes for each node of the doubled mesh, and the width of a map of n points: so much times the
# root of n with as many roots as dimensions.
MESH_NODE = 20
MAP_WIDTH = {1: 1.0, 2: 0.8, 3: 2.0}
# What any fit takes: threads, libraries loaded on the way.
ANY_FIT = 10 * 2**20

_MIB, _GIB = 2**20, 2**30


@dataclass(frozen=True)
class MapMemory:
    """Bytes that a map takes beside the data given, at the most, in each of its stages.

    Attributes
    ----------
    search : int
        Finding the neighbours, reduction of sparse features included.
    similarities : int
        Similarities and their symmetric matrix, the neighbours' lists still there.
    layout : int
        Making the map from the similarities.
    lists : int
        What the search leaves: the features it was made on and the neighbours' lists.
    """

    search: int
    similarities: int
    layout: int
    lists: int

    @property
    def peak(self) -> int:
        """The most of all stages."""
        return max(self.search, self.similarities, self.layout)


def map_memory(shape: tuple[int, int], settings: Settings, *, sparse: bool = False) -> MapMemory:
    """Estimate what a map of so much data takes.

    Parameters
    ----------
    shape : tuple of two int
        Points and columns.
    settings : Settings
    sparse : bool
        Whether the data is sparse: it is reduced first.

    Returns
    -------
    MapMemory
    """
    n, columns = shape
    stored_length = min(ceil(settings.method.row_length * settings.perplexity), n - 1)
    neighbors = n * stored_length
    stored = STORED_PER_NEIGHBOR * neighbors
    any_fit = ANY_FIT + POINT * n
    lists = LIST_ENTRY * n * min(ceil(settings.method.list_length * settings.perplexity), n - 1)
    matrix = STORED_ENTRY * stored
    features = 0
    reduced = None if settings.metric == "precomputed" else n_reduced(shape, settings.pca)
    if reduced is not None or (sparse and settings.metric != "precomputed"):
        columns = reduced or columns
        features = 8 * n * columns
    ordered = settings.labels is not None and (
        settings.method.beta_low is not None or settings.beta_low is not None
    )
    kept = 0 if settings.mixing is None else lists  # for the correction of the mixing
    spectral = isinstance(settings.init, str) and settings.init == "spectral"
    making = SPECTRAL_ENTRY * stored if spectral else START_SPACE
    running = _mesh(n, settings.n_components)
    if ordered:
        making = max(making, WEIGHED_ENTRY * min(stored, WEIGHED_AT_ONCE))
    if stored >= PACKED_FROM:
        running += PACKED_ENTRY * stored
    elif ordered:
        making = max(making, REORDERING_ENTRY * stored)
        running += REORDERED_ENTRY * stored
    transposed = min(SYMMETRIZED_AT_ONCE, LIST_ENTRY * neighbors)
    selected = (
        LIST_ENTRY * neighbors if settings.method.list_length > settings.method.row_length else 0
    )
    return MapMemory(
        search=int(any_fit + features + _search(n, columns, lists, settings)),
        similarities=int(
            any_fit + features + lists + selected + ROW_ENTRY * neighbors + matrix + transposed
        ),
        layout=int(any_fit + features + kept + matrix + max(making, running)),
        lists=int(features + lists),
    )


def _search(n: int, columns: int, lists: int, settings: Settings) -> int:
    """Bytes of the copies made of the data, and of the lists to be filled."""
    if settings.metric == "precomputed":
        return lists
    numbers = n * columns
    unit = UNIT_NUMBER * numbers if settings.metric == "cosine" else 0
    if not (isinstance(settings.align, str) and settings.align == "none"):
        unit += (UNIT_NUMBER + SEARCHED_NUMBER) * numbers  # the aligned points
    by_cells = is_approximate(n, settings.recall)
    searched = CELLS_NUMBER if by_cells else SEARCHED_NUMBER
    return unit + max(PREPARED_NUMBER * numbers, searched * numbers + lists)


def _mesh(n: int, dims: int) -> float:
    width = MAP_WIDTH[dims] * n ** (1 / dims)
    return float(MESH_NODE * min(MOST_NODES, max(64.0, 2 * width / SPACING) ** dims))


def check_memory(matrix: Any, settings: Settings) -> str:
    """Refuse a map that does not fit in what is free; return both numbers in words."""
    estimate = map_memory(matrix.shape, settings, sparse=is_sparse(matrix))
    return require_memory(estimate.peak, _advice(estimate, matrix.shape))


def require_memory(needed: int, advice: str) -> str:
    """Refuse work that needs more memory than is free; return both numbers in words."""
    free = free_memory()
    about = f"about {in_words(needed)}"
    if free is None:
        return about
    if needed > free:
        raise MemoryError(
            f"this needs {about} of memory, and {in_words(free)} are free. What helps: {advice}"
        )
    return f"{about} of {in_words(free)} free"


def in_words(size: int) -> str:
    """Write a number of bytes: ``37 MiB``, ``3.6 GiB``."""
    return f"{size / _GIB:.1f} GiB" if size >= _GIB else f"{size / _MIB:.0f} MiB"


def _advice(estimate: MapMemory, shape: tuple[int, int]) -> str:
    if estimate.search == estimate.peak:
        return f"fewer columns (50 principal components instead of {shape[1]}), fewer points"
    return "a smaller perplexity (memory grows with points times perplexity), fewer points"


def free_memory() -> int | None:
    """Return the bytes of memory that this process may still take; None where nobody knows."""
    return min(_free(Path("/proc"), Path("/sys/fs/cgroup")), default=None)


def _free(proc: Path, cgroup: Path) -> Iterator[int]:
    """Yield what the machine has left, and what each control group that we are in may take."""
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
