"""``place``: all points of a collection, placed in the map of a model by a cluster."""

import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ctsne._core.checks import is_sparse
from ctsne._core.files import WriteError, file_checksum, sole_writer
from ctsne._core.messages import label_text, load, quoted, shown, warn
from ctsne._core.progress import Progress
from ctsne.distributed import folder as folders
from ctsne.distributed.cluster import opened_client, run_tasks, why_failed
from ctsne.distributed.collection import Collection, are_files, open_collection
from ctsne.distributed.folder import Outcome
from ctsne.distributed.sample import read_strata, take_sample, with_names
from ctsne.distributed.worker import Task, place_block, place_shard
from ctsne.estimator import ConditionalTSNE, new_label_shifts
from ctsne.estimator import load as load_model
from ctsne.storage.record import record_of

# Points that the shifts of new labels are estimated from: for each label, and in all.
_PER_LABEL, _MOST = 5000, 50_000
# Shards that failed whose reasons are given in the error.
_REASONS = 3
# Seconds to wait for a file that a worker has written on a disk that is shared.
_PATIENCE = 60


@dataclass(frozen=True)
class PlacedShards:
    """The files of placed points that :func:`place` wrote."""

    folder: Path
    files: tuple[Path, ...]  # in the order of the collection
    n_points: int
    n_far: int  # points far from everything that the model was fitted to
    n_found: int  # files that an earlier run had finished


def place(
    model: ConditionalTSNE | str | os.PathLike[str],
    collection: Any,
    out: str | os.PathLike[str],
    *,
    labels: Any = None,
    use_rep: str | None = None,
    client: Any = None,
    progress: bool = True,
) -> PlacedShards:
    """Place all points of a collection in the map of a fitted model.

    Every shard (a partition or a file) is placed by a worker with
    :meth:`ctsne.ConditionalTSNE.place` and written to a Parquet file of its own, with the same bits
    as in one process: positions (``ctsne_1``, ``ctsne_2``), diagnostics (``ctsne_distance``,
    ``ctsne_far``, ...), the labels, and all columns that are not features. A file is complete or
    absent. A run that ended early continues where it stopped if it is started again with the same
    model, collection and folder; a different model or collection is refused.

    Parameters
    ----------
    model : ConditionalTSNE, or path
        A fitted model, or the file it was saved to with ``model.save``, which all workers must see.
    collection, labels, use_rep
        As in :func:`fit_sample`. If the model was fitted to a table, its features are found by
        name.
    out : path
        Folder for the files, which is made if it does not exist. All workers must see it.
    client : distributed.Client or str, optional
        A client, or the address of a scheduler. By default the current client of Dask if there is
        one, else a local cluster with one worker process per core, closed at the end.
    progress : bool, default=True
        Show a progress bar on standard error.

    Returns
    -------
    PlacedShards

    Notes
    -----
    A shard whose worker dies is placed again by another one; without any worker for 60 s, the call
    ends with a ConnectionError. A shard with bad data, such as missing values, is reported by name
    after all others are finished; if the map is aligned, all labels are read first, so that a
    damaged file is reported at once. Shards are read in blocks, so that a worker needs memory for
    the model and some blocks, or for two partitions per thread of a Dask array or data frame. In a
    script, call this under ``if __name__ == "__main__":``, because worker processes of a local
    cluster import the script.

    Examples
    --------
    >>> import dask.array
    >>> from ctsne.distributed import place
    >>> data = make_synthetic(2000, random_state=0)
    >>> model = ConditionalTSNE(n_iter=100).fit(data.X[:500], labels=data.known[:500])
    >>> X = dask.array.from_array(data.X, chunks=(500, -1))
    >>> placed = place(model, X, "maps", labels=data.known)  # doctest: +SKIP
    """
    folder = Path(out)
    fitted, path = _fitted(model)
    folders.check_folder(folder)
    with ExitStack() as stack:
        connect = cache(lambda: stack.enter_context(opened_client(client)))
        at_once = client is not None or not are_files(collection)  # else only if work is left
        found = open_collection(
            collection,
            connect() if at_once else None,
            labels=labels,
            use_rep=use_rep,
            others=True,
            features=_feature_names(fitted),
        )
        # One row shows whether the data suit the model, before there is a folder.
        _check_suits(fitted, found)
        made = not folder.exists()
        folder.mkdir(exist_ok=True)
        unsaved = folder / f".{folders.MODEL}"
        try:
            with sole_writer(folder, "run of place"):
                for part in folder.glob(".*.part"):  # of a process that was killed
                    part.unlink(missing_ok=True)
                if path is None:
                    fitted.save(unsaved)
                record = _record(file_checksum(path or unsaved), found)
                shifts = folders.check_same(folder, record)
                if shifts is None:
                    shifts = _new_label_shifts(fitted, found, connect())
                where = unsaved.replace(folder / folders.MODEL) if path is None else path
                record["shifts"] = shifts
                folders.write_record(folder, record)
                return _run(found, record, where, folder, connect, progress)
        finally:
            unsaved.unlink(missing_ok=True)
            if made and not any(folder.iterdir()):
                folder.rmdir()


def _fitted(model: Any) -> tuple[ConditionalTSNE, Path | None]:
    if isinstance(model, str | os.PathLike):
        return load_model(model), Path(model)
    if not isinstance(model, ConditionalTSNE):
        wanted = "a fitted ConditionalTSNE or the path of one that was saved"
        raise TypeError(f"model must be {wanted}, got {shown(model)}")
    check_is_fitted(model)
    return model, None


def _feature_names(model: ConditionalTSNE) -> list[str] | None:
    """Return the names of the columns that a model was made from, if it knows them."""
    names = getattr(model, "feature_names_in_", record_of(model).features)
    return None if names is None or model.metric == "precomputed" else [*map(str, names)]


def _check_suits(model: ConditionalTSNE, found: Collection) -> None:
    """Refuse a collection that the model cannot place, before any work starts."""
    if not isinstance(model.align, str | None):
        how = "use model.place(..., aligned=...) for each part of the collection"
        raise ValueError(f"the model compares labels in an array given as align; {how}")
    X, wanted = found.head.X, model.n_features_in_
    if X.shape[1] != wanted:
        named = found.choice.features
        which = "" if named is None else f" ({quoted(named)})"
        what = f"the collection has {X.shape[1]} features{which}"
        raise ValueError(f"{what}, but the model was fitted to {wanted}")
    values = np.asarray(X.todense() if is_sparse(X) else X)
    if values.dtype.kind in "biuf":  # bad values are reported with their shard
        row = found.head.take(np.flatnonzero(np.isfinite(values).all(axis=1))[:1])
        if row.X.shape[0]:
            with warnings.catch_warnings():  # the shards give them too
                warnings.simplefilter("ignore")
                place_block(model, row, found.labels)


def _new_label_shifts(
    model: ConditionalTSNE, found: Collection, client: Any
) -> dict[str, list[float]]:
    """Estimate the shift of every label that an aligned map does not have, once for all shards."""
    if not found.labels or model.diagnostics_.alignment in ("none", "array"):
        return {}
    if model.labels_ is None or model.labels_.n_columns > 1 or len(found.labels) > 1:
        warn(
            "the map is aligned and has several label columns: combinations that it does not have "
            "are aligned by the points of each part of a shard, so their places depend on the parts"
        )
        return {}
    known = {label_text(name) for name in model.labels_.combined.names}
    strata = read_strata(found, found.labels, client)
    new = {key for keys, _ in strata for key in keys if key[0] not in {None, *known}}
    if not new:
        return {}
    n = min(_MOST, _PER_LABEL * len(new))
    sample = take_sample(found, strata, n, 0, client, only=new)
    X = with_names(sample) if hasattr(model, "feature_names_in_") else sample.X
    shifts = new_label_shifts(model, X, sample.columns[found.labels[0]])
    return {label_text(name): shift.tolist() for name, shift in shifts.items()}


def _record(model: str, found: Collection) -> dict[str, Any]:
    features = found.choice.features
    return {
        "model": model,
        "collection": found.state,
        "labels": list(found.labels),
        "features": None if features is None else list(features),
        "use_rep": found.choice.use_rep,
        "shards": {f"{shard.output}{folders.SUFFIX}": shard.name for shard in found.shards},
    }


def _run(
    found: Collection,
    record: Mapping[str, Any],
    model: Path,
    folder: Path,
    connect: Callable[[], Any],
    progress: bool,
) -> PlacedShards:
    tasks = [
        Task(
            shard.name,
            str((folder / output).absolute()),
            folders.token_of(record, output, shard.state),
            found.choice,
            found.labels,
            (str(model.absolute()), record["model"]),
            record["shifts"],
        )
        for shard, output in zip(found.shards, record["shards"], strict=True)
    ]
    done = {
        number: written
        for number, task in enumerate(tasks)
        if (written := folders.find_finished(Path(task.target), task.token)) is not None
    }
    n_found = len(done)
    left = [number for number in range(len(tasks)) if number not in done]
    failed: list[str] = []
    bar = Progress(len(tasks), "place", shown=progress and bool(left))
    for _ in done:
        bar.step(worked=False)
    try:
        for number, outcome in _outcomes(found, tasks, left, connect):
            bar.step()
            if outcome.error is not None:
                failed.append(outcome.error)
                if outcome.disk:
                    raise WriteError(f"{outcome.error}; {_state(tasks)}")
                continue
            if outcome.rows and len(done) == n_found:
                _check_shared(Path(tasks[number].target))
            done[number] = outcome
    except KeyboardInterrupt as stop:
        raise type(stop)(_state(tasks)) from None
    finally:
        bar.close()
    if failed:
        several = f"{len(failed)} of {len(tasks)} shards could not be placed"
        reasons = "; ".join(failed[:_REASONS])
        more = f"; and {len(failed) - _REASONS} more" if len(failed) > _REASONS else ""
        raise ValueError(f"{several}, all others are finished: {reasons}{more}")
    rows = sum(written.rows for written in done.values())
    far = sum(written.far for written in done.values())
    files = tuple(Path(folder, name) for n, name in enumerate(record["shards"]) if done[n].rows)
    return PlacedShards(folder, files, rows, far, n_found)


def _outcomes(
    found: Collection, tasks: list[Task], left: list[int], connect: Callable[[], Any]
) -> Iterator[tuple[int, Outcome]]:
    """Run the tasks that are left; yield outcomes as they end, and pass on each warning once."""
    if not left:
        return
    client = connect()
    work = load("dask", extra="dask").delayed(place_shard, pure=False)
    calls = (work(found.shards[number].content, tasks[number]) for number in left)
    known: set[str] = set()
    for place, outcome in run_tasks(client, calls):
        number = left[place]
        if isinstance(outcome, Exception):
            outcome = Outcome(error=f"{tasks[number].name}: {why_failed(outcome)}")
        for text, category in outcome.warnings.items():
            if text not in known:
                warn(text, category)
        known.update(outcome.warnings)
        yield number, outcome


def _state(tasks: list[Task]) -> str:
    done = sum(folders.find_finished(Path(task.target), task.token) is not None for task in tasks)
    how = "run it again with the same folder to continue"
    return f"{done} of {len(tasks)} shards are finished; {how}"


def _check_shared(target: Path) -> None:
    """Refuse workers that write to a disk of their own; network disks may show files late."""
    for _ in range(_PATIENCE):
        if target.name in os.listdir(target.parent):
            return
        time.sleep(1)
    what = f"a worker has written {target}, but this process does not see it"
    raise ValueError(f"{what}; name a folder that this process and all workers share")
