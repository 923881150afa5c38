"""The provenance that an output of any kind carries."""

from __future__ import annotations

import os
from pathlib import Path

from ctsne._io.arrays import read_arrays
from ctsne._io.h5ad import opened
from ctsne._io.h5ad_maps import made_in_python, stored_provenance
from ctsne._io.paths import (
    MAP_SUFFIXES,
    PICTURE_SUFFIXES,
    check_input,
    load,
    sidecar_of,
    suffix_of,
)
from ctsne._io.pictures import PICTURE_READERS
from ctsne._io.provenance import Provenance

__all__ = ["SCHEMA_KEY", "read_provenance", "schema_metadata", "sidecar_of"]

SCHEMA_KEY = b"ctsne"
SETTINGS = "settings.json"


def schema_metadata(path: Path) -> dict[bytes, bytes]:
    """Return what a parquet or feather file says about itself."""
    try:
        if suffix_of(path) == ".parquet":
            schema = load("pyarrow.parquet").read_schema(path)
        else:
            with load("pyarrow").OSFile(str(path)) as file:
                schema = load("pyarrow.ipc").open_file(file).schema
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} cannot be read as {suffix_of(path)[1:]}: {error}") from error
    return dict(schema.metadata or {})


def read_provenance(path: str | os.PathLike[str], *, key: str = "ctsne") -> Provenance:
    """Read how an output was made: a map, a picture, a page, or the folder of a sweep.

    Parameters
    ----------
    path : path
        The output.
    key : str, default="ctsne"
        What the map in an .h5ad is called.

    Returns
    -------
    Provenance
        Settings, inputs and versions.

    Raises
    ------
    ValueError
        If it does not say how it was made.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from ctsne._io import Provenance, read_provenance
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = Provenance("sweep", {"seed": 0})
    ...     _ = pathlib.Path(folder, "settings.json").write_text(made.to_json())
    ...     read_provenance(folder) == made
    True
    """
    target = Path(path)
    if target.is_dir():
        if not (target / SETTINGS).is_file():
            raise ValueError(f"{target} is not the folder of a sweep: it has no {SETTINGS}")
        return Provenance.from_json((target / SETTINGS).read_text(encoding="utf-8"))
    source = check_input(target, (*MAP_SUFFIXES, *PICTURE_SUFFIXES, ".html", ".json"))
    text = _stored_text(source, key)
    if text is None:
        raise ValueError(f"{source} does not say how it was made; was it written by ctsne?")
    return Provenance.from_json(text)


def _stored_text(source: Path, key: str) -> str | None:
    suffix = suffix_of(source)
    if suffix == ".json":
        return source.read_text(encoding="utf-8")
    if suffix == ".h5ad":
        with opened(source) as file:
            text = stored_provenance(file, key)
            params = made_in_python(file, key) if text is None else None
        if params is not None:
            raise ValueError(
                f"the map {key!r:.60} in {source} was made in Python, by ctsne.tl.ctsne with "
                f"{params}: make it again there, and measure it with ctsne.tl.evaluate"
            )
        return text
    if suffix == ".npz":
        arrays, _ = read_arrays(source)
        return str(arrays["provenance"]) if "provenance" in arrays else None
    if suffix in (".parquet", ".feather"):
        stored = schema_metadata(source).get(SCHEMA_KEY)
        return None if stored is None else stored.decode()
    if suffix in PICTURE_READERS:
        return PICTURE_READERS[suffix](source.read_bytes())
    beside = sidecar_of(source)
    if not beside.exists():
        raise ValueError(
            f"{source} does not say how it was made: that stands in {beside.name} beside it, "
            "which is not there"
        )
    return beside.read_text(encoding="utf-8")
