"""Nearest-neighbour libraries behind one interface: build an index, then search it.

Each has a short list of values for the parameter that controls its recall, cheapest first. All of
them may use all threads.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float32]
Indices = NDArray[np.integer]


class Library(ABC):
    """An index of some points."""

    # Settings of the index; only libraries without search settings have more than one.
    builds: Sequence[Any]
    # Whether only the points of the index can be searched for.
    own_points_only = False

    @abstractmethod
    def searches(self, k: int) -> list[Any]:
        """Return settings of a search for k neighbours, cheapest first."""

    @abstractmethod
    def build(self, points: Points, k: int, setting: Any, jobs: int) -> None:
        """Build the index for searches of k neighbours."""

    @abstractmethod
    def search(self, queries: Points, k: int, setting: Any) -> Indices:
        """Return the indices of k points near each query, -1 where there are too few."""


class FaissFlat(Library):
    """Exact, all pairs."""

    builds = ("all pairs",)

    def searches(self, k: int) -> list[Any]:
        return ["exact"]

    def build(self, points: Points, k: int, setting: Any, jobs: int) -> None:
        import faiss

        faiss.omp_set_num_threads(jobs)
        self._index = faiss.IndexFlatL2(points.shape[1])
        self._index.add(points)

    def search(self, queries: Points, k: int, setting: Any) -> Indices:
        return np.asarray(self._index.search(queries, k)[1])


class FaissInverted(Library):
    """An inverted file of many cells, tuned by the number of cells searched."""

    builds: Sequence[Any] = ("4 √n cells",)
    _FACTOR = 4

    def searches(self, k: int) -> list[Any]:
        return [{"nprobe": number} for number in (1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 128)]

    def build(self, points: Points, k: int, setting: Any, jobs: int) -> None:
        import faiss

        faiss.omp_set_num_threads(jobs)
        n, d = points.shape
        # Training needs about 39 points per cell.
        cells = max(1, min(int(self._FACTOR * n**0.5), n // 39))
        self._quantizer = faiss.IndexFlatL2(d)
        self._index = faiss.IndexIVFFlat(self._quantizer, d, cells)
        self._index.train(points)
        self._index.add(points)

    def search(self, queries: Points, k: int, setting: Any) -> Indices:
        self._index.nprobe = setting["nprobe"]
        return np.asarray(self._index.search(queries, k)[1])


class FaissFewCells(FaissInverted):
    """An inverted file of fewer cells, which are found faster but take longer to search."""

    builds = ("√n cells",)
    _FACTOR = 1


class FaissGraph(Library):
    """A hierarchical navigable small world, tuned by the length of the candidate list."""

    builds = ("M = 32",)

    def searches(self, k: int) -> list[Any]:
        return [{"efSearch": factor * k} for factor in (1, 2, 4, 8)]

    def build(self, points: Points, k: int, setting: Any, jobs: int) -> None:
        import faiss

        faiss.omp_set_num_threads(jobs)
        self._index = faiss.IndexHNSWFlat(points.shape[1], 32)
        self._index.add(points)

    def search(self, queries: Points, k: int, setting: Any) -> Indices:
        self._index.hnsw.efSearch = setting["efSearch"]
        return np.asarray(self._index.search(queries, k)[1])


class Usearch(Library):
    """A hierarchical navigable small world, tuned by the length of the candidate list."""

    builds = ("defaults",)

    def searches(self, k: int) -> list[Any]:
        return [{"expansion_search": factor * k} for factor in (1, 2, 4, 8)]

    def build(self, points: Points, k: int, setting: Any, jobs: int) -> None:
        from usearch.index import Index

        self._jobs = jobs
        self._index = Index(ndim=points.shape[1], metric="l2sq", dtype="f32")
        self._index.add(np.arange(len(points), dtype=np.uint64), points, threads=jobs)

    def search(self, queries: Points, k: int, setting: Any) -> Indices:
        self._index.expansion_search = setting["expansion_search"]
        keys = self._index.search(queries, k, threads=self._jobs).keys
        return np.atleast_2d(np.asarray(keys)).astype(np.int64)


class Annoy(Library):
    """A forest, tuned by the number of nodes visited."""

    builds = ("20 trees",)
    _TREES = 20

    def searches(self, k: int) -> list[Any]:
        return [{"search_k": factor * k * self._TREES} for factor in (1, 2, 4, 8, 16)]

    def build(self, points: Points, k: int, setting: Any, jobs: int) -> None:
        from annoy import AnnoyIndex

        self._jobs = jobs
        self._index = AnnoyIndex(points.shape[1], "euclidean")
        self._index.set_seed(0)
        for number, point in enumerate(points):
            self._index.add_item(number, point)
        self._index.build(self._TREES, n_jobs=jobs)

    def search(self, queries: Points, k: int, setting: Any) -> Indices:
        found = np.full((len(queries), k), -1, np.int64)

        def some(rows: range) -> None:
            for row in rows:
                near = self._index.get_nns_by_vector(queries[row], k, setting["search_k"])
                found[row, : len(near)] = near

        with ThreadPoolExecutor(self._jobs) as pool:  # searching releases the interpreter lock
            list(pool.map(some, [range(at, len(queries), self._jobs) for at in range(self._jobs)]))
        return found


class Descent(Library):
    """Nearest-neighbour descent; its index *is* the list of neighbours."""

    builds = (
        {},
        {"delta": 1e-4, "n_iters": 20},
        {"delta": 1e-4, "n_iters": 20, "max_candidates": 100, "n_trees": 32},
    )
    own_points_only = True

    def searches(self, k: int) -> list[Any]:
        return ["its own points"]

    def build(self, points: Points, k: int, setting: Any, jobs: int) -> None:
        from pynndescent import NNDescent

        self._graph = NNDescent(
            points, n_neighbors=k, n_jobs=jobs, random_state=0, **setting
        ).neighbor_graph[0]

    def search(self, queries: Points, k: int, setting: Any) -> Indices:
        if len(queries) != len(self._graph):
            raise ValueError("only the points of the index can be searched for")
        return np.asarray(self._graph[:, :k])


LIBRARIES: dict[str, Callable[[], Library]] = {
    "faiss-flat": FaissFlat,
    "faiss-ivf": FaissInverted,
    "faiss-ivf-few": FaissFewCells,
    "faiss-hnsw": FaissGraph,
    "usearch": Usearch,
    "annoy": Annoy,
    "pynndescent": Descent,
}
