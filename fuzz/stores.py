"""Zarr stores, read through Dask as ``ctsne.distributed`` reads them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from damage_text import Rng, hurt_json_file, pick
from harness import Finding

METADATA = ("zarr.json", ".zarray", ".zattrs", ".zgroup")
# Dask lists all chunks before ctsne sees the array.
_MOST_CHUNKS = 20_000
_SIZES = (0, 1, 39, 41, 60, 10**5, 10**7, 10**13, 2**62, 2**70, -1, 2.5, "40", None)


def store_files(folder: Path, X: Any) -> Iterator[tuple[str, dict[str, bytes]]]:
    """Yield stores of both formats, compressed or not, with shards or not: names and files."""
    import zarr

    more: dict[str, dict[str, Any]] = {
        "plain2.zarr": {"zarr_format": 2, "compressors": None},
        "packed2.zarr": {"zarr_format": 2},
        "plain3.zarr": {"zarr_format": 3, "compressors": None},
        "packed3.zarr": {"zarr_format": 3},
        "sharded.zarr": {"zarr_format": 3, "shards": (20, X.shape[1])},
    }
    for name, options in more.items():
        root = folder / name
        shutil.rmtree(root, ignore_errors=True)
        given = {"shape": X.shape, "chunks": (10, X.shape[1]), "dtype": X.dtype, **options}
        zarr.create_array(root, **given)[:] = X
        paths = sorted(path for path in root.rglob("*") if path.is_file())
        yield name, {f"{name}/{path.relative_to(root)}": path.read_bytes() for path in paths}


def hurt_store_file(rng: Rng, path: Path, outside: Path) -> str:
    """Change what a store says about itself: often the rows that it or a chunk has."""
    if rng.random() < 0.4:
        return hurt_json_file(rng, path, outside)
    content = json.loads(path.read_text("utf-8"))
    grid = content.get("chunk_grid")
    sizes = {"shape": content["shape"]}
    sizes["chunks"] = content["chunks"] if grid is None else grid["configuration"]["chunk_shape"]
    size, names = pick(rng, _SIZES), pick(rng, (("shape",), ("chunks",), ("shape", "chunks")))
    for name in names:
        sizes[name][0] = size
    path.write_text(json.dumps(content), "utf-8")
    return f"{' and '.join(names)} of {size!r} rows"


def read_store(path: Path, files: dict[str, bytes], rng: Rng) -> list[Any]:
    """Return the parts of a store as workers read them; what Zarr and Dask refuse is not ours."""
    import dask.array as da
    import zarr

    from ctsne.distributed.collection import open_collection

    inlined = bool(rng.random() < 0.2)
    try:
        for name in files:  # Zarr would wait for a pipe
            if Path(name).name in METADATA and not (path.parent / name).is_file():
                raise ValueError("not a file")
        array = zarr.open_array(path, mode="r")
        pairs = zip(array.shape, array.chunks, strict=True)  # of shards too
        if prod(-(-n // size) for n, size in pairs) > _MOST_CHUNKS:
            raise ValueError("too many chunks")
        found = da.from_zarr(path, inline_array=inlined)
        # Dask makes a task of every part, before ctsne sees the array.
        parted = found.rechunk((15, -1)) if found.shape[0] <= 15 * _MOST_CHUNKS else found
        found = pick(rng, (found, found, found[5:], parted, found * 2))
    except Exception as error:
        raise ValueError(f"{path.name}: refused by {type(error).__name__}") from None
    try:
        opened = open_collection(found, None)
        parts = [shard.content.compute(scheduler="synchronous") for shard in opened.shards]
    except Exception as error:
        if not inlined:
            raise
        # Tasks with the store inside read it themselves, so only their partition is known.
        raise ValueError(f"{path.name}: {type(error).__name__} in a partition") from None
    chunks = [path.parent / name for name in files if Path(name).name not in METADATA]
    if array.shape[0] == 40 and not all(file.is_file() for file in chunks):
        raise Finding("a store is read in spite of chunks that are not files")
    if any(file.is_symlink() for file in chunks):
        raise Finding("a store is read in spite of chunks that are links")
    rows = sum(part.X.shape[0] for part in parts)
    if rows != found.shape[0] or any(not np.isrealobj(part.X) for part in parts):
        raise Finding(f"a store of {found.shape} gives {rows} rows")
    return parts
