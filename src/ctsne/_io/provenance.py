"""What an output was made from and how, so that it can be made again."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ctsne._io.data import Dataset

__all__ = ["InputRecord", "Provenance", "current_versions", "input_records"]

FORMAT = 1
_PACKAGES = ("ctsne", "numpy", "scipy", "scikit-learn")


@dataclass(frozen=True)
class InputRecord:
    """A file that an output was made from.

    Parameters
    ----------
    file : str
        Its path, relative to the folder of the output.
    sha256 : str or None
        Checksum of its bytes; None where the output is written into this file.
    data : str or None
        Checksum of what was read from it: matrix and labels, the same for any format; None for
        a file of labels.

    Examples
    --------
    >>> from ctsne._io import InputRecord
    >>> InputRecord("cells.csv", sha256=None, data="00ff").file
    'cells.csv'
    """

    file: str
    sha256: str | None = None
    data: str | None = None


@dataclass(frozen=True)
class Provenance:
    """Everything to make an output again; no time stamps, so equal work gives equal bytes.

    Parameters
    ----------
    command : str
        ``"embed"``, ``"sweep"``, ``"plot"`` or ``"report"``.
    settings : dict
        Every option as it was resolved; values that JSON can hold.
    inputs : list of InputRecord
        The files that were read.
    versions : dict
        Versions of the packages, and the instruction set.

    Examples
    --------
    >>> from ctsne._io import InputRecord, Provenance
    >>> made = Provenance("embed", {"seed": 0}, [InputRecord("cells.csv")], {"ctsne": "0.1.0"})
    >>> Provenance.from_json(made.to_json()) == made
    True
    """

    command: str
    settings: dict[str, Any]
    inputs: list[InputRecord] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, as JSON holds them."""
        return {"ctsne provenance": FORMAT, **asdict(self)}

    def to_json(self, *, indent: int | None = None) -> str:
        """Return it as JSON in ASCII, with keys in a fixed order."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Provenance:
        """Make it from plain values; refuse what was not made by `to_dict`."""
        try:
            if content["ctsne provenance"] != FORMAT:
                raise ValueError(
                    "these settings were stored by another version of ctsne (format "
                    f"{content['ctsne provenance']!r:.20}, this one reads {FORMAT}); upgrade ctsne"
                )
            return cls(
                command=str(content["command"]),
                settings=dict(content["settings"]),
                inputs=[InputRecord(**record) for record in content["inputs"]],
                versions=dict(content["versions"]),
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"these are no settings stored by ctsne (no {error})") from error

    @classmethod
    def from_json(cls, text: str) -> Provenance:
        """Make it from JSON; refuse text that is none of ours."""
        try:
            content = json.loads(text)
        except ValueError as error:
            raise ValueError(f"these are no settings stored by ctsne: {error}") from error
        if not isinstance(content, dict):
            raise ValueError("these are no settings stored by ctsne")
        return cls.from_dict(content)


def current_versions() -> dict[str, str]:
    """Return the versions that the result of a computation may depend on.

    Examples
    --------
    >>> from ctsne._io import current_versions
    >>> sorted(current_versions())
    ['ctsne', 'instruction set', 'numpy', 'python', 'scikit-learn', 'scipy']
    """
    from ctsne import _native

    return {
        **{package: version(package) for package in _PACKAGES},
        "python": platform.python_version(),
        "instruction set": _native.instruction_set(),
    }


def input_records(
    dataset: Dataset, output: str | os.PathLike[str], labels: Sequence[str] = ()
) -> list[InputRecord]:
    """Describe the files of a dataset for an output: the data, and the file of labels if any.

    Parameters
    ----------
    dataset : Dataset
        What was read.
    output : path
        The file or folder that will be written; paths are relative to the folder it is in.
    labels : sequence of str
        The label columns that were used.

    Returns
    -------
    list of InputRecord
        One or two records.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from ctsne._io import input_records, read_data
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/cells.npy", np.eye(4))
    ...     data = read_data(f"{folder}/cells.npy")
    ...     input_records(data, f"{folder}/map.csv")[0].file
    'cells.npy'
    """
    target = Path(output)
    into_input = target.exists() and os.path.samefile(target, dataset.path)
    records = [
        InputRecord(
            _relative(dataset.path, target),
            sha256=None if into_input else dataset.sha256,
            data=dataset.checksum(labels),
        )
    ]
    if dataset.label_path is not None:
        records.append(InputRecord(_relative(dataset.label_path, target), dataset.label_sha256))
    return records


def _relative(path: Path, output: Path) -> str:
    """Return the path as seen from the output's folder."""
    return Path(os.path.relpath(path.resolve(), output.resolve().parent)).as_posix()
