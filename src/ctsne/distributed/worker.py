"""What runs on a worker: the model, kept once per process, and shards that are placed with it."""

import contextlib
import threading
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ctsne._core.files import file_checksum, reason, replaced_file
from ctsne._core.messages import CtsneWarning, FarPointsWarning, label_text, load
from ctsne.distributed.collection import Choice, name_errors, shard_blocks
from ctsne.distributed.folder import Outcome, find_finished, mark_finished
from ctsne.distributed.sample import with_names
from ctsne.estimator import ConditionalTSNE, place_in
from ctsne.estimator import load as load_file
from ctsne.io import Dataset
from ctsne.io.dataset import storable
from ctsne.labels import encode_column
from ctsne.placing.place import Placement
from ctsne.placing.request import in_order, labels_for

KEY = "ctsne"
# The last model that this process used, by the checksum of its file.
_models: dict[str, ConditionalTSNE] = {}
_lock = threading.Lock()


def load_model(path: str, sha256: str) -> ConditionalTSNE:
    """Return the model with this checksum, read at the first call in this process."""
    with _lock:  # tasks in other threads wait instead of reading it again
        if sha256 not in _models:
            if not Path(path).is_file() or file_checksum(Path(path)) != sha256:
                how = "name a folder that all workers share"
                raise ValueError(f"a worker cannot read the model {path}; {how}")
            _models.clear()
            _models[sha256] = load_file(path)
            _models[sha256].n_jobs = -1  # the threads of this worker, whatever fitted the model
        return _models[sha256]


def place_block(
    model: ConditionalTSNE,
    block: Dataset,
    labels: Sequence[str],
    shifts: Mapping[str, list[float]] | None = None,
) -> Placement:
    """Place some rows; new labels of an aligned map move by ``shifts``, named by their text."""
    X = with_names(block) if hasattr(model, "feature_names_in_") else block.X
    known = None
    if labels and model.labels_ is not None:  # several columns may be one that was combined
        columns = [block.columns[name] for name in in_order(labels, model.labels_.names)]
        known = labels_for(model.labels_, columns)
    own = {}
    if known and shifts:
        texts = {name: label_text(name) for name in encode_column(next(iter(known.values()))).names}
        own = {name: np.array(shifts[text]) for name, text in texts.items() if text in shifts}
    return place_in(model, X, known, shifts=own)


@dataclass(frozen=True)
class Task:
    """How to place a shard."""

    name: str
    target: str  # path of the file to write
    token: str
    choice: Choice
    labels: tuple[str, ...]
    model: tuple[str, str]  # path and checksum
    shifts: Mapping[str, list[float]]  # of labels that an aligned map does not have


def place_shard(content: Any, task: Task) -> Outcome:
    """Place the points of a shard and write them, whole or not at all."""
    done = find_finished(Path(task.target), task.token)  # by a worker that died right after
    if done is not None:
        return done
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        warnings.simplefilter("ignore", FarPointsWarning)  # counted in the result
        try:
            with name_errors(task.name):
                rows, far = _write(content, task)
        except (ImportError, MemoryError, TypeError, ValueError) as error:
            text = reason(error)
            return Outcome(error=text if task.name in text else f"{task.name}: {text}")
        except OSError as error:
            return Outcome(error=reason(error), disk=True)
    ours = [warning for warning in caught if issubclass(warning.category, CtsneWarning)]
    return Outcome(rows, far, warnings={str(each.message): each.category for each in ours})


def _write(content: Any, task: Task) -> tuple[int, int]:
    """Write the points of a shard; return how many there are, and how many are far."""
    rows = far = 0
    writer = None
    with contextlib.ExitStack() as stack:
        for block in shard_blocks(content, task.choice):
            table, count = _placed_table(block, task)
            if writer is None:  # without rows there is no file
                part = stack.enter_context(replaced_file(Path(task.target)))
                writer = load("pyarrow.parquet").ParquetWriter(part, table.schema)
                stack.callback(writer.close)
            writer.write_table(table.cast(writer.schema))
            rows, far = rows + len(table), far + count
        if writer is not None:
            mark_finished(writer, task.token, far)
    return rows, far


def _placed_table(block: Dataset, task: Task) -> tuple[Any, int]:
    """Return positions, diagnostics and columns of a block as a table, and how many are far."""
    placement = place_block(load_model(*task.model), block, task.labels, task.shifts)
    columns: dict[str, Any] = {
        f"{KEY}_{axis}": values for axis, values in enumerate(placement.embedding.T, start=1)
    }
    columns |= {f"{KEY}_{name}": values for name, values in placement.diagnostics().items()}
    # Columns of an earlier map are replaced.
    columns |= {
        name: column for name, column in block.columns.items() if not name.startswith(f"{KEY}_")
    }
    return _table(columns, block), int(np.count_nonzero(placement.far))


def _table(columns: Mapping[str, Any], block: Dataset) -> Any:
    """Return columns as an Arrow table whose types do not depend on the values of a block."""
    pandas, pyarrow = load("pandas"), load("pyarrow")
    frame = pandas.DataFrame({name: storable(column) for name, column in columns.items()})
    if block.names is not None:
        frame.index = pandas.Index(block.names, name=block.called)
    table = pyarrow.Table.from_pandas(frame, preserve_index=block.names is not None)
    for place, part in enumerate(table.schema):
        kind = part.type
        if pyarrow.types.is_dictionary(kind):
            kind = kind.value_type
        if pyarrow.types.is_null(kind):  # text that no row of the block has
            kind = pyarrow.string()
        if kind != part.type:
            values = table.column(place).cast(kind)
            table = table.set_column(place, pyarrow.field(part.name, kind), values)
    return table
