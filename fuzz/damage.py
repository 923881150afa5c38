"""One damage to one file: bytes, structure, or something else in its place."""

from __future__ import annotations

import contextlib
import gzip
import os
import re
import socket
import stat
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from damage_formats import hurt_npy_file, hurt_npz_file, hurt_parquet_file
from damage_hdf5 import hurt_hdf5_file
from damage_models import hurt_model_file
from damage_text import Rng, hurt_bytes, hurt_json_file, hurt_text_file, pick
from stores import hurt_store_file


def damage(rng: Rng, path: Path, *, outside: Path, others: Sequence[bytes]) -> str:
    """Damage a file, or put something else in its place, and say how in a few words.

    ``outside`` is a folder to which planted links lead, ``others`` are valid files to splice in.
    """
    draw = rng.random()
    if draw < 0.07:
        return hurt_place(rng, path, outside)
    content = path.read_bytes()
    own = _own_damage(path)
    if own is not None and draw < 0.55:
        try:
            return own(rng, path, outside)
        except Exception:  # some changes contradict each other; then its bytes are damaged
            path.write_bytes(content)
    ways = [hurt_bytes(rng, content, others)]
    if path.suffix == ".gz" and rng.random() < 0.5:
        how, inner = hurt_bytes(rng, gzip.decompress(content), others)
        ways = [(f"{how} inside", gzip.compress(inner, 1, mtime=0))]
    for _ in range(int(rng.integers(0, 3)) if rng.random() < 0.3 else 0):
        ways.append(hurt_bytes(rng, ways[-1][1], others))
    path.write_bytes(ways[-1][1])
    return ", ".join(how for how, _ in ways)


def _own_damage(path: Path) -> Callable[[Rng, Path, Path], str] | None:
    """Return the damage that knows the format of a file, if there is one."""
    if path.name in ("zarr.json", ".zarray"):
        return hurt_store_file
    if re.search(r"\.(csv|tsv|txt)(\.gz)?$", path.name):
        return hurt_text_file
    own: dict[str, Callable[[Rng, Path, Path], str]] = {
        ".h5ad": hurt_hdf5_file,
        ".npz": hurt_npz_file,
        ".npy": hurt_npy_file,
        ".parquet": hurt_parquet_file,
        ".json": hurt_json_file,
        ".ctsne": hurt_model_file,
    }
    return own.get(path.suffix)


def hurt_place(rng: Rng, path: Path, outside: Path) -> str:
    """Put a link, a folder, a pipe, a socket or a device in the place of a file."""
    path.unlink()
    targets = sorted(each for each in outside.iterdir() if each.is_file())
    alike = [each for each in targets if each.suffix == path.suffix] or targets
    ways: dict[str, Callable[[], Any]] = {
        "link to a file outside": lambda: path.symlink_to(pick(rng, alike)),
        "link to another file outside": lambda: path.symlink_to(pick(rng, targets)),
        "link to nothing": lambda: path.symlink_to(outside / "absent"),
        "link to itself": lambda: path.symlink_to(path),
        "link to a folder": lambda: path.symlink_to(outside),
        "hard link": lambda: os.link(pick(rng, alike), path),
        "endless device": lambda: _make_device(path, 5),
        "empty device": lambda: _make_device(path, 3),
        "folder": path.mkdir,
        "pipe": lambda: os.mkfifo(path),
        "socket": lambda: _make_socket(path),
        "empty file": path.touch,
        "nothing": lambda: None,
    }
    name = pick(rng, list(ways))
    ways[name]()
    return f"replaced by {name}"


def _make_device(path: Path, minor: int) -> None:
    """Make a device like /dev/null (3) or /dev/zero (5)."""
    if os.geteuid():
        path.symlink_to("/dev/zero" if minor == 5 else "/dev/null")
        return
    # Never a link for root: a fault that follows it would replace the device itself.
    with contextlib.suppress(OSError):  # where even root may not make devices
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, minor))


def _make_socket(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # a socket's name is at most 107 bytes long
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)
