"""The sweep itself: checks, one search, maps in parallel."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
from joblib.parallel import get_active_backend
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from ctsne._core.checks import check_jobs, check_matrix, check_same_rows, check_workers, is_sparse
from ctsne._core.messages import warn
from ctsne._core.progress import Progress
from ctsne._fit.memory import map_memory, require_memory
from ctsne._fit.pipeline import features_of
from ctsne._fit.settings import DEFAULTS, Settings, check_settings
from ctsne.evaluate._inputs import check_k, sample_points
from ctsne.evaluate.mixing import MEASURED_POINTS, NEIGHBORHOOD
from ctsne.labels import Labels, encode_labels
from ctsne.layout import start_positions
from ctsne.neighbors.search import is_approximate
from ctsne.sweep.graph import measured_lists, shared_lengths, shared_neighbors
from ctsne.sweep.grid import Grid, GridPoint, default_grid, expand_grid, weakest_first
from ctsne.sweep.result import SweepResult, collect
from ctsne.sweep.store import data_checksum, open_store, setting_key
from ctsne.sweep.work import Material, Outcome, Step, Watch, run_line

if TYPE_CHECKING:
    from ctsne.estimator import ConditionalTSNE

__all__ = ["sweep"]

# Several maps at once on one thread each are faster than one map on all of them, as long as their
# similarities fit in memory together.
_POINTS_AT_ONCE = 200_000


def sweep(
    X: ArrayLike,
    labels: object,
    grid: Grid | None = None,
    *,
    other: object = None,
    estimator: ConditionalTSNE | None = None,
    path: bool = False,
    k: int | None = None,
    sample: float | None = MEASURED_POINTS,
    folder: str | os.PathLike[str] | None = None,
    progress: bool = True,
    n_jobs: int | None = -1,
) -> SweepResult:
    """Compute and measure the maps of many settings on one search of neighbours.

    Parameters
    ----------
    X : array-like or sparse matrix, shape (n, d)
        Features; with ``metric="precomputed"`` a full matrix of distances.
    labels : array-like of length n
        What to factor out.
    grid : mapping or list of mappings, optional
        For every parameter of the estimator to be varied, its values; a single value stands for a
        list of one. All combinations are computed, for several mappings those of each. By default
        t-SNE, ``"joint"`` and the paper's ``"revised"`` from weak to strong.
    other : array-like of length n, optional
        The label that should be seen in the maps, to be measured too.
    estimator : ConditionalTSNE, optional
        All parameters that the grid does not name; by default ``random_state=0`` and else the
        estimator's own defaults.
    path : bool, default=False
        Let each strength start from the map of the next weaker one, with about a fifth of the
        iterations. That is several times cheaper, and what stays the same stays in its place. It
        changes what is compared: a map then depends on those before it, not on its setting alone,
        and a single one cannot be repeated by itself. Measures of thousands of points differ from
        those of separate runs by less than .01 for ``"revised"`` and .02 for ``"balanced"``; for
        few points and for methods that condition the map they can differ by .1 in mixing. So use
        it to look, and make the map that you take by itself.
    k : int, optional
        Size of the neighbourhoods measured; 30, or two less than there are points.
    sample : int, float or None, default=5000
        Measure this many points at most, or this share of them; None measures all.
    folder : path-like, optional
        Where finished maps are kept. A sweep with the same data and folder takes from there what it
        finds, so one that was interrupted goes on.
    progress : bool, default=True
        Show a bar with the time left, on standard error.
    n_jobs : int, default=-1
        Workers; -1 uses all cores. The maps do not depend on it. Work goes through joblib, so
        ``joblib.parallel_config`` moves it elsewhere, to Dask for instance.

    Returns
    -------
    SweepResult
        Maps, measures, and the choice of one. A setting that failed is reported there and in a
        warning. Ctrl-C ends the sweep with what is finished.

    Examples
    --------
    >>> from ctsne import ConditionalTSNE
    >>> from ctsne.datasets import make_synthetic
    >>> from ctsne.sweep import sweep
    >>> data = make_synthetic(300, random_state=0)
    >>> result = sweep(
    ...     data.X, data.known, {"method": "joint", "strength": [0, 1]}, progress=False,
    ...     estimator=ConditionalTSNE(perplexity=20, n_iter=300, random_state=0),
    ... )
    >>> result.suggest(mixing=0.5).map.parameters
    {'method': 'joint', 'strength': 1}
    """
    matrix = check_matrix(X)
    check_same_rows(X, labels)
    check_same_rows(X, other, argument="other")
    base = _base(estimator, n_jobs, repeatable=folder is not None)
    known, hidden = _labels(labels, other, matrix.shape[0])
    points = expand_grid(default_grid() if grid is None else grid, base)
    settings = check_points(points, base, matrix, known)
    for message in dict.fromkeys(text for each in settings for text in each.warnings):
        warn(message)
    return run_sweep(
        matrix, known, points, settings, base, hidden=hidden, path=path, k=k, sample=sample,
        folder=folder, progress=progress,
    )  # fmt: skip


def run_sweep(
    matrix: Any,
    known: Labels,
    points: list[GridPoint],
    settings: list[Settings],
    base: Mapping[str, Any],
    *,
    hidden: Labels | None,
    path: bool,
    k: int | None,
    sample: float | None,
    folder: str | os.PathLike[str] | None,
    progress: bool,
) -> SweepResult:
    """Sweep over checked input."""
    n = matrix.shape[0]
    k = check_k(min(NEIGHBORHOOD, n - 2) if k is None else k, n=n)
    measured = sample_points(n, min(sample, n) if isinstance(sample, int) else sample, 0)
    lines = _lines(points, path=path)
    workers = 1 if n > _POINTS_AT_ONCE else min(check_workers(base["n_jobs"]), len(lines))
    _check_memory(matrix, settings, workers)
    keys = {}
    if folder is not None:
        searched = shared_lengths(n, settings, k=k) if is_approximate(n, settings[0].recall) else ()
        keys = _keys(points, base, matrix, known, searched)
    store = open_store(folder)
    features = features_of(matrix, settings[0])
    places = matrix if features is None else features
    neighbors = shared_neighbors(places, known, settings, k=k)
    data = measured_lists(neighbors, places, known, measured, k, settings[0])
    material = Material(features, neighbors, data, known, hidden, k, store)
    settings = _with_starts(settings, features)
    threads = max(1, check_jobs(base["n_jobs"]) // workers)
    jobs = [
        [Step(index, replace(settings[index], n_jobs=threads), keys.get(index)) for index in line]
        for line in lines
    ]
    bar = Progress(len(points), "sweep", shown=progress)
    watch = Watch(bar)
    try:
        _run(material, jobs, workers, watch)
    finally:
        bar.close()
    outcomes = watch.outcomes.values()
    unsaved = [outcome.unsaved for outcome in outcomes if outcome.unsaved is not None]
    if unsaved:
        warn(f"{len(unsaved)} maps could not be kept in the folder: {unsaved[0]}")
    if len(outcomes) < len(points):
        kept = "" if store is None else "; run it again with the same folder to go on"
        warn(f"interrupted: {len(outcomes)} of {len(points)} maps are finished{kept}")
    return collect(points, _lines(points, path=True), outcomes, base)


def _base(
    estimator: ConditionalTSNE | None, n_jobs: int | None, *, repeatable: bool
) -> dict[str, Any]:
    """Return all parameters that the grid does not name."""
    given = {**DEFAULTS, "random_state": 0}
    if estimator is not None:
        if not hasattr(estimator, "get_params") or set(estimator.get_params(False)) != set(given):
            raise TypeError(f"estimator must be a ConditionalTSNE, got {type(estimator).__name__}")
        given = estimator.get_params(deep=False)
    if given["mixing"] is not None:
        raise ValueError(
            f"the estimator has mixing={given['mixing']!r:.60}, but a sweep goes through settings "
            "of its own; leave it out, and ask the result: suggest(mixing=...)"
        )
    seed = given["random_state"]
    if seed is None or isinstance(seed, np.random.RandomState):
        if repeatable:
            raise ValueError(
                "random_state must be a whole number for a sweep with a folder, or it could not be "
                f"resumed; got {seed!r:.60}"
            )
        seed = int(check_random_state(seed).randint(2**31 - 1))  # one start for all settings
    return {**given, "n_jobs": n_jobs, "callback": None, "verbose": 0, "random_state": seed}


def _labels(labels: object, other: object, n: int) -> tuple[Labels, Labels | None]:
    if labels is None:
        raise ValueError("labels must name what is to be factored out; a sweep measures its mixing")
    known = encode_labels(labels, n=n)
    return known, None if other is None else encode_labels(other, n=n, argument="other")


def check_points(
    points: list[GridPoint], base: Mapping[str, Any], matrix: Any, known: Labels
) -> list[Settings]:
    """Check every setting against the data before any of them is computed."""
    if base["metric"] == "precomputed" and is_sparse(matrix):
        raise ValueError(
            "a sweep needs features or a full matrix of distances: a sparse graph does not hold "
            "the neighbourhoods that R_NX is measured on"
        )
    settings = []
    for point in points:
        try:
            settings.append(check_settings({**base, **point.parameters}, matrix, known))
        except (TypeError, ValueError) as error:
            raise type(error)(f"{error} (setting {point.parameters})") from error
    return settings


def _check_memory(matrix: Any, settings: list[Settings], workers: int) -> None:
    """Refuse a sweep whose maps, as many as are made at once, do not fit in memory."""
    largest = max(
        (map_memory(matrix.shape, each, sparse=is_sparse(matrix)) for each in settings),
        key=lambda each: each.peak,
    )
    backend, _ = get_active_backend(prefer="threads")
    shared = getattr(backend, "supports_sharedmem", False)  # Dask's does not say
    at_once = workers if shared else 1  # the others are in other processes
    maps = at_once * (max(largest.similarities, largest.layout) - largest.lists)
    require_memory(
        max(largest.search, 2 * largest.lists + maps),  # its lists serve measures too
        "a smaller perplexity, fewer points, or fewer maps at once (n_jobs)",
    )


def _with_starts(settings: list[Settings], features: NDArray[np.floating] | None) -> list[Settings]:
    """Make the PCA here, once for all settings."""
    starts: dict[str, NDArray[np.float64]] = {}
    started = []
    for each in settings:
        if isinstance(each.init, str) and each.init == "pca" and features is not None:
            seed = repr(each.rng.bit_generator.state)
            if seed not in starts:
                starts[seed] = start_positions(
                    "pca", each.n_components, X=features, matrix=None, rng=each.rng,
                    n_jobs=each.n_jobs,
                )  # fmt: skip
            each = replace(each, init=starts[seed])
        started.append(each)
    return started


def _lines(points: list[GridPoint], *, path: bool) -> list[list[int]]:
    """List which maps are made one after the other, each list by itself."""
    if not path:
        return [[index] for index in range(len(points))]
    lines: dict[str, list[int]] = {}
    for index, point in enumerate(points):
        lines.setdefault(point.line, []).append(index)
    return [weakest_first(points, line) for line in lines.values()]


def _keys(
    points: list[GridPoint],
    base: Mapping[str, Any],
    matrix: Any,
    known: Labels,
    searched: tuple[int, ...],
) -> dict[int, str]:
    """Name what each map depends on; an approximate search finds by the lengths of its lists."""
    from ctsne import __version__

    checksum = data_checksum(matrix, known)
    found = {"searched": list(searched)} if searched else {}
    return {
        index: setting_key(checksum, {**base, **point.parameters, **found}, version=__version__)
        for index, point in enumerate(points)
    }


def _run(material: Material, jobs: list[list[Step]], workers: int, watch: Watch) -> None:
    try:
        for line in _parallel(material, jobs, workers, watch):
            for outcome in line:  # from another process they have not been added yet
                watch.add(outcome)
    except KeyboardInterrupt:
        pass  # what is finished is the result
    except Exception as error:  # a worker process was killed, for want of memory perhaps
        if not watch.outcomes:
            raise
        for step in (step for steps in jobs for step in steps):
            if step.index not in watch.outcomes:
                watch.add(Outcome(step.index, None, {}, f"{type(error).__name__}: {error}"))
    finally:
        watch.stop()


def _parallel(
    material: Material,
    jobs: list[list[Step]],
    workers: int,
    watch: Watch,
) -> Iterator[list[Outcome]]:
    calls = (joblib.delayed(run_line)(material, steps, watch) for steps in jobs)
    try:
        parallel = joblib.Parallel(workers, prefer="threads", return_as="generator_unordered")
    except ValueError:  # not every backend can hand over results as they come
        parallel = joblib.Parallel(workers, prefer="threads")
    yield from parallel(calls)
