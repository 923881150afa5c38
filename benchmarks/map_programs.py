"""Programs that make maps, each measured from the matrix to the finished map.

Each one is warmed up on a few points first, so that loading and just-in-time compilation do not
count. Each saves its map and reports the seconds of its stages and iterations, where available.
"""

from __future__ import annotations

import importlib
import itertools
import logging
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from child import Clock
from common import load_problem

EARLY_ITERATIONS = 250
# Iterations between time stamps; each time stamp costs an evaluation of the loss.
_EVERY = 250
_FEW = 1500

# Methods of ctsne, by their name in the tables.
METHODS: dict[str, dict[str, Any]] = {
    "tsne": {"method": "tsne"},
    "original": {"method": "original", "beta": 0.1},
    "revised-p": {"method": "revised", "bandwidth": "p", "beta": 1e-4},
    "revised-r": {"method": "revised", "bandwidth": "r", "beta": 1e-4},
    "balanced": {"method": "balanced", "strength": 1.0},
    "joint": {"method": "joint"},
}
# Other programs: the function in this module, and its options.
PEERS: dict[str, tuple[str, dict[str, Any]]] = {
    "openTSNE-FFT": ("opentsne", {"gradient": "fft"}),
    "openTSNE-BH": ("opentsne", {"gradient": "bh"}),
    "scikit-learn": ("scikit_learn", {"module": "sklearn.manifold"}),
    "intelex": ("scikit_learn", {"module": "sklearnex.manifold"}),
    "scranpy": ("scranpy", {}),
    "UMAP": ("umap", {}),
}

# Number of an iteration, and when it was done.
Mark = tuple[int, float]


class _Stages(logging.Handler):
    """Record when ctsne finishes each stage."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.at: dict[str, float] = {}

    def emit(self, record: logging.LogRecord) -> None:
        self.at[getattr(record, "stage", "")] = time.perf_counter()


def ctsne(
    clock: Clock,
    *,
    folder: str,
    output: str,
    perplexity: float,
    iterations: int,
    jobs: int,
    method: str,
) -> dict[str, Any]:
    from ctsne import ConditionalTSNE

    X, labels = load_problem(folder)
    stages, marks = _Stages(), list[Mark]()
    logger = logging.getLogger("ctsne")
    logger.setLevel(logging.INFO)
    logger.addHandler(stages)
    logger.propagate = False

    def model(n_iter: int, perplexity: float) -> Any:
        return ConditionalTSNE(
            perplexity=perplexity,
            n_iter=n_iter,
            early_exaggeration_iter=EARLY_ITERATIONS,
            callback=lambda iteration, *_: marks.append((iteration, time.perf_counter())),
            callback_every=_EVERY,
            n_jobs=jobs,
            random_state=0,
            verbose=1,
            **METHODS[method],
        )

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # there may be too few points for all labels
        model(20, 10).fit(X[:_FEW], labels=labels[:_FEW])
    fitted = model(iterations, perplexity)
    clock.begin()
    begin = time.perf_counter()
    fitted.fit(X, labels=labels)
    end = time.perf_counter()
    clock.stop()
    np.save(Path(output), fitted.embedding_)
    near, similar = stages.at["neighbours"], stages.at["similarities"]
    return {
        "seconds": end - begin,
        "stages": _stages(begin, near, similar, end),
        "own_kl": float(fitted.kl_divergence_),
        **_iteration_times([(0, similar), *marks, (iterations, end)]),
    }


def opentsne(
    clock: Clock,
    *,
    folder: str,
    output: str,
    perplexity: float,
    iterations: int,
    jobs: int,
    gradient: str,
    stop_after: int | None = None,
) -> dict[str, Any]:
    """Make a map with openTSNE's defaults; its learning rates equal those of ctsne.

    With ``stop_after``, later iterations are assumed to be as fast as the last measured ones. They
    tend to be slower, because the map still grows.
    """
    from openTSNE import TSNE
    from openTSNE.affinity import PerplexityBasedNN, get_knn_index

    X, _ = load_problem(folder)
    marks: list[Mark] = []

    def fit(points: Any, perplexity: float, n_iter: int) -> tuple[Any, float, float]:
        index = get_knn_index(
            points, "auto", int(3 * perplexity), "euclidean", n_jobs=jobs, random_state=0
        )
        build, found = index.build, []

        def timed_build() -> Any:
            lists = build()
            found.append(time.perf_counter())
            return lists

        index.build = timed_build
        affinities = PerplexityBasedNN(perplexity=perplexity, knn_index=index, n_jobs=jobs)
        similar = time.perf_counter()
        model = TSNE(
            early_exaggeration_iter=min(EARLY_ITERATIONS, n_iter),
            # openTSNE counts the iterations after early exaggeration, ctsne all of them.
            n_iter=max(0, n_iter - EARLY_ITERATIONS),
            negative_gradient_method=gradient,
            callbacks=lambda *_: marks.append((_EVERY * (len(marks) + 1), time.perf_counter())),
            callbacks_every_iters=_EVERY,
            n_jobs=jobs,
            random_state=0,
        )
        return model.fit(points, affinities=affinities), found[0], similar

    fit(X[:_FEW], 10, 20)
    marks.clear()
    done = min(iterations, stop_after or iterations)
    clock.begin()
    begin = time.perf_counter()
    embedding, near, similar = fit(X, perplexity, done)
    end = time.perf_counter()
    clock.stop()
    np.save(Path(output), np.asarray(embedding, np.float32))
    times = _iteration_times([(0, similar), *marks, (done, end)])
    rest = (iterations - done) * times["late_ms"] / 1e3
    return {
        "seconds": end - begin + rest,
        "extrapolated_from": done if done < iterations else None,
        "stages": _stages(begin, near, similar, end + rest),
        "own_kl": float(embedding.kl_divergence),
        **times,
    }


def scikit_learn(
    clock: Clock,
    *,
    folder: str,
    output: str,
    perplexity: float,
    iterations: int,
    jobs: int,
    module: str,
) -> dict[str, Any]:
    """Make a map with the ``TSNE`` of scikit-learn or of Intel's extension for it."""
    TSNE = importlib.import_module(module).TSNE

    X, _ = load_problem(folder)
    TSNE(perplexity=10, max_iter=EARLY_ITERATIONS, n_jobs=jobs).fit(X[:_FEW])
    # It may stop early; the others never do, so this is turned off.
    model = TSNE(
        perplexity=perplexity,
        max_iter=iterations,
        n_iter_without_progress=iterations,
        min_grad_norm=0.0,
        n_jobs=jobs,
        random_state=0,
    )
    clock.begin()
    model.fit(X)
    seconds = clock.seconds()
    clock.stop()
    np.save(Path(output), model.embedding_)
    return {"seconds": seconds, "own_kl": float(model.kl_divergence_)}


def scranpy(
    clock: Clock, *, folder: str, output: str, perplexity: float, iterations: int, jobs: int
) -> dict[str, Any]:
    """Make a map with scranpy's defaults, but as many iterations and threads as the others."""
    from scranpy import run_tsne

    X, _ = load_problem(folder)
    columns = np.asfortranarray(X.T, np.float64)  # it takes one column per point
    run_tsne(columns[:, :_FEW], perplexity=10, max_iterations=20, num_threads=jobs)
    clock.begin()
    found = run_tsne(columns, perplexity=perplexity, max_iterations=iterations, num_threads=jobs)
    seconds = clock.seconds()
    clock.stop()
    np.save(Path(output), found)
    return {"seconds": seconds}


def umap(
    clock: Clock, *, folder: str, output: str, perplexity: float, iterations: int, jobs: int
) -> dict[str, Any]:
    """Make a map with UMAP's defaults; it has neither perplexity nor t-SNE's iterations."""
    from umap import UMAP

    X, _ = load_problem(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # With 4096 points or fewer it uses other code, and would compile again later.
        UMAP(n_jobs=jobs, n_epochs=10).fit(X[:5000])
        model = UMAP(n_jobs=jobs)  # a seed would restrict it to one thread
        clock.begin()
        model.fit(X)
        seconds = clock.seconds()
    clock.stop()
    np.save(Path(output), model.embedding_)
    return {"seconds": seconds}


def _stages(begin: float, near: float, similar: float, end: float) -> dict[str, float]:
    return {"neighbours": near - begin, "similarities": similar - near, "layout": end - similar}


def _iteration_times(marks: list[Mark]) -> dict[str, float]:
    """Return mean milliseconds per iteration, between the first and between the last two marks."""
    pairs = itertools.pairwise(marks)
    means = [1e3 * (t1 - t0) / (i1 - i0) for (i0, t0), (i1, t1) in pairs if i1 > i0]
    return {"early_ms": means[0], "late_ms": means[-1]}
