"""The sweep: checks, one neighbour search, maps in parallel."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
from joblib.parallel import get_active_backend
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from ctsne._core.arrays import content_checksum
from ctsne._core.checks import check_data, check_jobs, check_same_rows, check_workers, is_sparse
from ctsne._core.files import WriteError, check_space, sole_writer
from ctsne._core.messages import InterruptedWarning, shown, value_text, warn
from ctsne._core.progress import Progress
from ctsne._core.vocabulary import MEASURED_POINTS, NEIGHBORHOOD
from ctsne.affinity.result import KEPT_DIAGNOSTICS
from ctsne.evaluate import DataNeighbors
from ctsne.evaluate.neighbors import read_labels
from ctsne.evaluate.sampling import check_k, sample_points
from ctsne.fit.memory import explained_memory, map_memory, require_memory
from ctsne.fit.pipeline import features_of
from ctsne.labels import Labels, add_numbers, encode_labels
from ctsne.labels.columns import given_columns
from ctsne.layout import start_positions
from ctsne.methods import METHODS
from ctsne.neighbors.search import is_approximate
from ctsne.settings import DEFAULTS, Settings, check_settings, unused_warnings
from ctsne.storage.sweep import map_file, open_folder
from ctsne.sweep import worker
from ctsne.sweep.grid import Grid, GridPoint, default_grid, expand_grid, identity
from ctsne.sweep.result import SweepResult, aligned_maps

if TYPE_CHECKING:
    from ctsne.estimator import ConditionalTSNE

# Several maps at once on one thread each are faster than one map on all threads, as long as their
# similarities fit in memory together.
_POINTS_AT_ONCE = 200_000
_BYTES_PER_NUMBER = 4  # a stored map has positions and diagnostics in single precision


def sweep(
    X: ArrayLike,
    labels: object,
    grid: Grid | None = None,
    *,
    numbers: object = None,
    other: object = None,
    estimator: ConditionalTSNE | None = None,
    k: int | None = None,
    sample: float | None = MEASURED_POINTS,
    folder: str | os.PathLike[str] | None = None,
    progress: bool = True,
    n_jobs: int | None = -1,
) -> SweepResult:
    """Compute and measure maps for many settings on one neighbour search.

    Parameters
    ----------
    X : array-like or sparse matrix, shape (n, d)
        Features; with ``metric="precomputed"`` a full matrix of distances.
    labels : array-like of shape (n,) or (n, c), mapping of name to column, or None
        The label to factor out, or up to three columns; the mixing of each is measured.
    numbers : array-like of shape (n,) or (n, c), mapping of name to column, optional
        Numbers to factor out, as in :meth:`ctsne.ConditionalTSNE.fit`.
    grid : mapping or list of mappings, optional
        For every parameter of the estimator to vary, its values or a single one. All combinations
        are computed; of several mappings, those of each. By default t-SNE, ``"joint"`` and the
        paper's ``"revised"`` from weak to strong. With several label columns, a number is for all
        of them, and ``{"strength": {"donor": [0.3, 0.6], "batch": [0.5, 1]}}`` makes the maps of
        all four combinations.
    other, k, sample
        As in :func:`ctsne.evaluate.evaluate`; ``k`` is less than 30 if there are few points.
    estimator : ConditionalTSNE, optional
        All parameters that the grid does not name; by default those of the estimator with
        ``random_state=0``.
    folder : path-like, optional
        Where finished maps are stored, so that a sweep can be interrupted and resumed.
        :func:`ctsne.sweep.load_sweep` reads the folder of a finished sweep.
    progress : bool, default=True
        Show a progress bar on standard error.
    n_jobs : int, default=-1
        Number of workers; -1 uses all cores. ``joblib.parallel_config`` can send the work
        elsewhere, for example to Dask.

    Returns
    -------
    SweepResult
        Maps, measures, and the choice of one. A setting that fails is reported there and in a
        warning. Ctrl-C ends the sweep with the maps finished by then.

    Examples
    --------
    >>> from ctsne.sweep import sweep
    >>> small = ConditionalTSNE(perplexity=20, n_iter=300, random_state=0)
    >>> result = sweep(data.X, data.known, {"strength": [0, 1]}, estimator=small, progress=False)
    >>> result.suggest(mixing=0.5).map.parameters
    {'strength': 1}
    """
    matrix = check_data(X)
    for argument, given in (("labels", labels), ("numbers", numbers), ("other", other)):
        for column in given_columns(given):
            check_same_rows(X, column, argument=argument)
    base = _base(estimator, n_jobs, folder is not None)
    n = matrix.shape[0]
    known = add_numbers(labels, numbers, n=n, period=base["numbers_period"])
    if known is None:
        raise ValueError("labels must be the labels to factor out; a sweep measures their mixing")
    known.refuse_identifiers()
    hidden = None if other is None else _other_label(other, n, known)
    points = expand_grid(default_grid() if grid is None else grid, base)
    settings = _check_points(points, base, matrix, known)
    for message in _warnings(points, settings, base):
        warn(message)
    k = check_k(min(NEIGHBORHOOD, n - 2) if k is None else k, n=n)
    measured = sample_points(n, sample)
    workers = 1 if n > _POINTS_AT_ONCE else min(check_workers(n_jobs), len(points))
    need = _need(matrix, settings, workers)
    require_memory(*need)
    files: Sequence[Path | None] = [None] * len(points)
    with contextlib.ExitStack() as writer, explained_memory(*need):
        if folder is not None:
            place = open_folder(folder)
            writer.enter_context(sole_writer(place))
            approximate = is_approximate(n, settings[0].recall)
            searched = worker.shared_lengths(settings, n, k) if approximate else []
            files = _map_files(place, points, base, matrix, known, searched)
            new = sum(not file.exists() for file in files)
            numbers = base["n_components"] + len(KEPT_DIAGNOSTICS)
            check_space(place, new * n * numbers * _BYTES_PER_NUMBER)
        features, _ = features_of(matrix, settings[0])
        places = matrix if features is None else features
        adjusted, columns = read_labels(known, n)
        data = DataNeighbors(
            measured, n, adjusted, k, metric=base["metric"], features=places, columns=columns
        )
        look: dict[str, Any] = {"every": None, "then": "then the maps", "kept": False}
        with contextlib.closing(Progress(1, "neighbours", shown=progress, **look)) as bar:
            lists = worker.shared_neighbors(settings, data, bar.inside)
        settings = _with_starts(settings, features, max(1, check_jobs(n_jobs) // workers))
        steps = [
            worker.Step(index, point.parameters, own, features, lists[index], hidden, file, need)
            for index, (point, own, file) in enumerate(zip(points, settings, files, strict=True))
        ]
        with contextlib.closing(Progress(len(points), "sweep", shown=progress)) as bar:
            watch = worker.Watch(bar)
            _run(steps, workers, watch)
        done = [watch.outcomes[index] for index in sorted(watch.outcomes)]
        _check_stored(done, len(points))
        maps = [outcome.swept for outcome in done]
        chosen = tuple(points[outcome.index] for outcome in done)
        result = SweepResult(
            aligned_maps(maps, chosen, range(len(maps))), chosen, base, labels=known, other=hidden
        )
        failed = [swept for swept in maps if swept.error is not None]
        if failed:
            first = f"{value_text(failed[0].parameters)}, with {failed[0].error}"
            warn(f"{len(failed)} of {len(points)} settings failed; the first, {first}")
        if len(maps) < len(points):
            resume = "" if folder is None else "; run it again with the same folder to resume"
            state = f"{len(maps)} of {len(points)} maps are finished"
            warn(f"interrupted: {state}{resume}", InterruptedWarning)
        elif folder is not None:
            result.save(folder)
        return result


def _map_files(
    folder: Path,
    points: list[GridPoint],
    base: Mapping[str, Any],
    matrix: Any,
    labels: Labels,
    searched: list[list[int]],
) -> list[Path]:
    """Name the file of each map by everything it depends on, such as the length of lists."""
    names = [(name, column.names) for name, column in labels.by_name.items()]
    ranks = [column.ranks for column in labels.columns if column.numbers is not None]
    checksum = content_checksum(matrix, labels.codes, repr(names), *ranks)
    common = [version("ctsne"), checksum, searched]
    files = []
    for point in points:
        whole = {**base, **point.parameters}
        # From all parameters, because two grids may name the same setting differently.
        knob = METHODS[whole["method"]].knob
        strength = "" if knob is None else f"{knob} {value_text(whole[knob])}"
        title = f"{whole['method']} {strength}"
        files.append(map_file(folder, title, [*common, identity(whole)]))
    return files


def _other_label(other: object, n: int, known: Labels) -> Labels:
    """Return the labels to look for, by names that no label to factor out has."""
    labels = encode_labels(other, n=n, argument="other")
    taken = (f"other {name}" if name in known.names else name for name in labels.names)
    return replace(labels, names=tuple(taken))


def _warnings(
    points: list[GridPoint], settings: list[Settings], base: Mapping[str, Any]
) -> dict[str, None]:
    """Return every warning once, without those of what some settings ignore and others use."""
    ignored = [set(unused_warnings({**base, **point.parameters})) for point in points]
    some = ignored[0].union(*ignored[1:]) - ignored[0].intersection(*ignored[1:])
    found = [text for own in settings for text in own.warnings]
    return dict.fromkeys(text for text in found if text not in some)


def _check_stored(done: list[worker.Outcome], total: int) -> None:
    """Raise the error that stopped the sweep, if a map could not be stored."""
    unsaved = [outcome.unsaved for outcome in done if outcome.unsaved is not None]
    if unsaved:
        kept = sum(outcome.unsaved is None and outcome.swept.error is None for outcome in done)
        advice = "run it again with the same folder to continue"
        raise WriteError(f"{unsaved[0]}; {kept} of {total} maps are stored, {advice}")


def _base(estimator: ConditionalTSNE | None, n_jobs: Any, repeatable: bool) -> dict[str, Any]:
    given = {**DEFAULTS, "random_state": 0}
    if estimator is not None:
        if not hasattr(estimator, "get_params") or set(estimator.get_params(False)) != set(given):
            raise TypeError(f"estimator must be a ConditionalTSNE, got {type(estimator).__name__}")
        given = estimator.get_params(deep=False)
    if given["mixing"] is not None:
        what = f"the estimator has mixing={shown(given['mixing'])}; leave it out"
        raise ValueError(f"{what}, and call suggest(mixing=...) on the result of the sweep")
    seed = given["random_state"]
    if seed is None or isinstance(seed, np.random.RandomState):
        if repeatable:
            what = "random_state must be a whole number to resume from a folder"
            raise ValueError(f"{what}, got {shown(seed)}")
        seed = int(check_random_state(seed).randint(2**31 - 1))  # one start for all settings
    return {**given, "n_jobs": n_jobs, "callback": None, "verbose": 0, "random_state": seed}


def _check_points(
    points: list[GridPoint], base: Mapping[str, Any], matrix: Any, known: Labels
) -> list[Settings]:
    """Check every setting against the data before any of them is computed."""
    if base["metric"] == "precomputed" and is_sparse(matrix):
        what = "a sweep needs features or a full matrix of distances"
        raise ValueError(f"{what}: neighbours kept cannot be measured on a sparse graph")
    settings = []
    for point in points:
        try:
            settings.append(check_settings({**base, **point.parameters}, matrix, known))
        except (TypeError, ValueError) as error:
            raise type(error)(f"{error} (setting {value_text(point.parameters)})") from error
    return settings


def _need(matrix: Any, settings: list[Settings], workers: int) -> tuple[int, str]:
    """Return the peak bytes of a sweep, with the maps computed at once, and what lowers them."""
    needed = [map_memory(matrix.shape, own, sparse=is_sparse(matrix)) for own in settings]
    largest = max(needed, key=lambda memory: memory.peak)
    backend, _ = get_active_backend(prefer="threads")
    shared = getattr(backend, "supports_sharedmem", False)  # Dask's has no such attribute
    at_once = workers if shared else 1  # other processes have their own memory
    maps = at_once * (max(largest.similarities, largest.layout) - largest.lists)
    hint = "a smaller perplexity, fewer points, or fewer maps at once (n_jobs)"
    return max(largest.search, 2 * largest.lists + maps), hint  # measures have lists too


def _with_starts(settings: list[Settings], features: Any, n_jobs: int) -> list[Settings]:
    """Compute the PCA start once for all settings, and give each map its threads."""
    starts: dict[str, NDArray[np.float64]] = {}
    started = []
    for own in settings:
        init, size, rng = own.init, own.n_components, own.rng
        if isinstance(init, str) and init == "pca" and features is not None:
            seed = repr(rng.bit_generator.state)
            if seed not in starts:
                starts[seed] = start_positions(
                    "pca", size, X=features, matrix=None, rng=rng, n_jobs=own.n_jobs
                )
            init = starts[seed]
        started.append(replace(own, init=init, n_jobs=n_jobs))
    return started


def _run(steps: list[worker.Step], workers: int, watch: worker.Watch) -> None:
    try:
        for outcome in _parallel(steps, workers, watch):
            if outcome is not None:  # those of other processes are not added yet
                watch.add(outcome)
    except KeyboardInterrupt:
        pass  # the finished maps are the result
    except Exception as error:  # a worker process was killed, perhaps out of memory
        if not watch.outcomes:
            raise
        for step in steps:
            if step.index not in watch.outcomes:
                watch.add(step.failed(error))
    finally:
        watch.stop()


def _parallel(steps: list[worker.Step], workers: int, watch: worker.Watch) -> Any:
    calls = (joblib.delayed(worker.run_step)(step, watch) for step in steps)
    try:
        parallel = joblib.Parallel(workers, prefer="threads", return_as="generator_unordered")
    except ValueError:  # not every backend supports this
        parallel = joblib.Parallel(workers, prefer="threads")
    yield from parallel(calls)
