"""The model on the workers: sent or read once per process, then kept."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ctsne._core.checksums import file_checksum
from ctsne._core.messages import label_text
from ctsne.distributed.cluster import load_dask
from ctsne.labels import Column, Labels, combine_columns, encode_column

if TYPE_CHECKING:
    from ctsne.distributed.blocks import Block
    from ctsne.estimator import ConditionalTSNE
    from ctsne.placing.place import Placement

# The last model that this process used, by the checksum of its file.
_kept: dict[str, ConditionalTSNE] = {}
_lock = threading.Lock()


@dataclass(frozen=True)
class ModelFile:
    """A stored model, wherever the process that reads it may run."""

    path: str
    sha256: str

    def reachable(self) -> bool:
        """Tell whether this process sees the same file."""
        path = Path(self.path)
        return path.is_file() and file_checksum(path) == self.sha256


def content_for(client: Any, file: ModelFile) -> Any:
    """Return the file as bytes kept on the cluster, if a worker cannot read it; else None."""
    if all(client.run(file.reachable).values()):
        return None
    # To all workers: a single copy would be lost with the worker that holds it.
    return client.scatter(Path(file.path).read_bytes(), hash=False, broadcast=True)


def kept_model(file: ModelFile, content: bytes | None) -> ConditionalTSNE:
    """Return the model, read at the first call in this process; runs on a worker."""
    from ctsne.stored import load

    with _lock:  # tasks in other threads wait instead of reading it again
        if file.sha256 not in _kept:
            _kept.clear()
            if file.reachable():
                model = load(file.path)
            elif content is None:
                how = "name a folder that all workers share"
                raise ValueError(f"a worker cannot read the model {file.path}; {how}")
            else:
                model = load(_stored(file, content))
            model.n_jobs = -1  # the threads of this worker, whatever the model was fitted with
            _kept[file.sha256] = model
        return _kept[file.sha256]


def place_block(
    model: ConditionalTSNE,
    block: Block,
    labels: Sequence[str],
    shifts: Mapping[str, list[float]] | None = None,
) -> Placement:
    """Place some rows; new labels of an aligned map move by ``shifts``, named by their text."""
    from ctsne.placing.new_labels import in_order
    from ctsne.placing.new_points import place_in

    if isinstance(model.labels_, Labels):
        labels = in_order(labels, model.labels_.names)
    X, known = block.X, labels_for(model, [block.columns[name] for name in labels])
    if hasattr(X, "iloc") and not hasattr(model, "feature_names_in_"):
        X = X.to_numpy()  # scikit-learn warns of names that a model does not know
    if not shifts:
        return model.place(X, labels=known)
    own = {
        name: np.array(shifts[label_text(name)])
        for name in encode_column(known).names
        if label_text(name) in shifts
    }
    return place_in(model, X, known, shifts=own)


def labels_for(model: ConditionalTSNE, columns: Sequence[Any]) -> Any:
    """Return label columns as the model takes them; several may be one that was combined."""
    if not columns:
        return None
    if model.labels_ is None or isinstance(model.labels_, Column):
        return columns[0] if len(columns) == 1 else combine_columns(columns)
    if len(columns) != model.labels_.n_columns:
        count = f"{model.labels_.n_columns} label columns ({', '.join(model.labels_.names)})"
        raise ValueError(f"labels: the model has {count}, got {len(columns)}")
    return dict(zip(model.labels_.names, columns, strict=True))


def _stored(file: ModelFile, content: bytes) -> Path:
    """Write the model to the folder of the worker, which goes with it: it is mapped from there."""
    folder = load_dask("distributed").get_worker().local_directory
    descriptor, name = tempfile.mkstemp(suffix=".ctsne", dir=folder)
    with os.fdopen(descriptor, "wb") as target:
        target.write(content)
    return Path(name)
