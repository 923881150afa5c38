"""One shard: read, placed and written in blocks; runs on a worker."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from ctsne._core.files import replaced_file
from ctsne._core.guards import reason
from ctsne._core.messages import CtsneWarning, FarPointsWarning
from ctsne.distributed.blocks import Block, Choice, named, read_blocks
from ctsne.distributed.folder import Written, finished, mark
from ctsne.distributed.models import ModelFile, kept_model, place_block
from ctsne.io.dataset import storable
from ctsne.io.paths import load

KEY = "ctsne"


@dataclass(frozen=True)
class Task:
    """How to place a shard."""

    name: str
    target: str  # path of the file to write
    token: str
    choice: Choice
    labels: tuple[str, ...]
    model: ModelFile
    shifts: Mapping[str, list[float]]  # of labels that an aligned map does not have


@dataclass(frozen=True)
class Outcome:
    """A shard that was placed, or why it could not be."""

    written: Written | None
    error: str | None = None
    disk: bool = False  # whether the error is one of writing, which will meet all others too
    warnings: Mapping[str, type[Warning]] | None = None  # classes by text


def place_shard(content: Any, task: Task, model: bytes | None) -> Outcome:
    """Place the points of a shard and write them, whole or not at all."""
    target = Path(task.target)
    done = finished(target, task.token)  # by a worker that died right after
    if done is not None:
        return Outcome(done)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        warnings.simplefilter("ignore", FarPointsWarning)  # counted in the result
        try:
            with named(task.name):
                written = _write(content, task, model, target)
        except (ImportError, MemoryError, TypeError, ValueError) as error:
            return Outcome(None, _with_name(task.name, reason(error)))
        except OSError as error:
            return Outcome(None, reason(error), disk=True)
    ours = [each for each in caught if issubclass(each.category, CtsneWarning)]
    return Outcome(written, warnings={str(each.message): each.category for each in ours})


def _with_name(name: str, text: str) -> str:
    return text if name in text else f"{name}: {text}"


def _write(content: Any, task: Task, model: bytes | None, target: Path) -> Written:
    parquet = load("pyarrow.parquet")
    blocks = read_blocks(content, task.choice)
    first = next(blocks, None)
    if first is None:  # without rows there is no file
        return Written(0, 0)
    rows = far = 0
    writer = None
    with replaced_file(target) as part:
        try:
            for block in chain([first], blocks):
                table, count = _placed(block, task, model)
                if writer is None:
                    writer = parquet.ParquetWriter(part, table.schema)
                writer.write_table(table.cast(writer.schema))
                rows, far = rows + len(block), far + count
            mark(writer, task.token, far)
        finally:
            if writer is not None:
                writer.close()
    return Written(rows, far)


def _placed(block: Block, task: Task, model: bytes | None) -> tuple[Any, int]:
    """Return positions, diagnostics and columns of a block as a table, and how many are far."""
    placement = place_block(kept_model(task.model, model), block, task.labels, task.shifts)
    columns: dict[str, Any] = {
        f"{KEY}_{axis}": values for axis, values in enumerate(placement.embedding.T, start=1)
    }
    columns |= {f"{KEY}_{name}": values for name, values in placement.diagnostics().items()}
    # Columns of an earlier map are replaced.
    kept = {name: each for name, each in block.columns.items() if not name.startswith(f"{KEY}_")}
    return _table(columns | kept, block.names), int(np.count_nonzero(placement.far))


def _table(columns: Mapping[str, Any], names: Any) -> Any:
    """Return columns as an Arrow table whose types do not depend on the values of a block."""
    pandas, pyarrow = load("pandas"), load("pyarrow")
    frame = pandas.DataFrame({name: storable(column) for name, column in columns.items()})
    if names is not None:
        frame.index = names
    table = pyarrow.Table.from_pandas(frame, preserve_index=names is not None)
    for place, field in enumerate(table.schema):
        kind = field.type
        if pyarrow.types.is_dictionary(kind):
            kind = kind.value_type
        if pyarrow.types.is_null(kind):  # text that no row of the block has
            kind = pyarrow.string()
        if kind != field.type:
            values = table.column(place).cast(kind)
            table = table.set_column(place, pyarrow.field(field.name, kind), values)
    return table
