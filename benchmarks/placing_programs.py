"""Programs that place new points in a finished map, measured and judged by the same code."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from child import Clock
from numpy.typing import NDArray
from placing import JUDGED

_FEW = 200
_NEAREST, _RANKED = 10, 30
# Up to this many points, the faster of two runs counts.
_REPEATED = 100_000

Place = Callable[[NDArray[np.float32], NDArray[np.int32]], NDArray[np.floating]]


def ctsne(
    clock: Clock,
    *,
    folder: str,
    sizes: list[int],
    chunk: int,
    perplexity: float,
    new_perplexity: float,
    jobs: int,
    method: str,
    iterations: int,
) -> dict[str, Any]:
    """Make a map and place points in it; the plain map is kept for the other program."""
    from ctsne import ConditionalTSNE

    data = _load(folder)
    model = ConditionalTSNE(
        method=method, perplexity=perplexity, n_iter=iterations, n_jobs=jobs, random_state=0
    )
    warnings.simplefilter("ignore")  # points without counterparts, and far ones
    labelled = method != "tsne"
    model.fit(data["X"], labels=data["labels"] if labelled else None)
    if not labelled:
        np.save(Path(folder) / "map.npy", model.embedding_)

    def place(X: NDArray[np.float32], labels: NDArray[np.int32]) -> NDArray[np.floating]:
        known = labels if labelled else None
        return model.transform(X, labels=known, perplexity=new_perplexity)

    return _measured(clock, data, model.embedding_, place, sizes, chunk)


def opentsne(
    clock: Clock,
    *,
    folder: str,
    sizes: list[int],
    chunk: int,
    perplexity: float,
    new_perplexity: float,
    jobs: int,
) -> dict[str, Any]:
    """Place points in the same plain map with openTSNE's defaults, except for the perplexity."""
    from openTSNE import TSNEEmbedding
    from openTSNE.affinity import PerplexityBasedNN

    data = _load(folder)
    positions = np.load(Path(folder) / "map.npy")
    similar = PerplexityBasedNN(data["X"], perplexity=perplexity, n_jobs=jobs, random_state=0)
    embedding = TSNEEmbedding(
        positions.astype(np.float64), similar, negative_gradient_method="fft", n_jobs=jobs
    )

    def place(X: NDArray[np.float32], labels: NDArray[np.int32]) -> NDArray[np.floating]:
        return np.asarray(embedding.transform(X, perplexity=new_perplexity))

    return _measured(clock, data, positions, place, sizes, chunk)


def _load(folder: str) -> dict[str, NDArray[Any]]:
    return {file.stem: np.load(file, mmap_mode="r") for file in Path(folder).glob("*.npy")}


def _measured(
    clock: Clock,
    data: dict[str, NDArray[Any]],
    positions: NDArray[np.floating],
    place: Place,
    sizes: Sequence[int],
    chunk: int,
) -> dict[str, Any]:
    new, labels = data["new_X"], data["new_labels"]
    clock.begin()
    place(new[:_FEW], labels[:_FEW])
    prepared = clock.seconds()
    placed = [
        min(
            (_timed(place, new, labels, size, chunk) for _ in range(1 + (size <= _REPEATED))),
            key=lambda row: row["seconds"],
        )
        for size in sizes
    ]
    clock.stop()
    count = min(JUDGED, max(sizes), len(new))
    quality = judge(data, positions, place(new[:count], labels[:count]))
    return {"prepared": prepared, "placed": placed, **quality}


def _timed(
    place: Place, new: NDArray[np.float32], labels: NDArray[np.int32], size: int, chunk: int
) -> dict[str, Any]:
    """Place some points in chunks, from the first again when all were placed."""
    begin, cpu = time.perf_counter(), time.process_time()
    done = 0
    while done < size:
        at = done % len(new)
        part = slice(at, min(at + chunk, at + size - done))
        done += len(place(new[part], labels[part]))
    seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    return {
        "points": size,
        "seconds": seconds,
        "per_second": size / seconds,
        "cpu_microseconds": 1e6 * cpu / size,
    }


def judge(
    data: dict[str, NDArray[Any]], positions: NDArray[np.floating], places: NDArray[np.floating]
) -> dict[str, float]:
    """Measure accuracy of the type and R_NX of new points, among the points of the reference."""
    from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

    new = data["new_X"][: len(places)]
    vote = KNeighborsClassifier(_NEAREST).fit(positions, data["types"])
    accuracy = float((vote.predict(places) == data["new_types"][: len(places)]).mean())
    n, k = len(positions), _RANKED
    in_map = NearestNeighbors(n_neighbors=k).fit(positions).kneighbors(places)[1]
    brute = NearestNeighbors(n_neighbors=k, algorithm="brute").fit(data["X"])
    in_data = brute.kneighbors(new)[1]
    kept = np.mean([np.isin(a, b).mean() for a, b in zip(in_map, in_data, strict=True)])
    return {"accuracy": accuracy, "rnx": float((n * kept - k) / (n - k))}
