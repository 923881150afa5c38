"""Model files: an archive of plain arrays and one JSON text; the arrays are mapped, not read."""

from __future__ import annotations

import contextlib
import io
import json
import math
import mmap
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.files import check_space, reading, replaced_file
from ctsne._core.messages import listed, shown
from ctsne.io.paths import MODEL_SUFFIX, check_input, check_output

FORMAT, VERSION = "ctsne model", 1
WHAT = "a valid ctsne model"
_TEXT = "model.json"
# Names of a million labels fit; reading more text than this is not worth the memory.
_MOST_TEXT = 2**26
_MOST_MEMBERS = 1000
_NAME = re.compile(r"[a-z0-9_]+(/[a-z0-9_]+)*")
# Arrays begin at a multiple of this many bytes, as NumPy aligns its own files.
_ALIGNED = 64
# A field that programs for ZIP files skip: identifier and length, then the padding.
_PADDING = struct.Struct("<HH")
_PADDING_ID = 0xD935
# The fixed part of what precedes a member, and the sizes that zipfile adds with ``force_zip64``.
_LOCAL = struct.Struct("<4s5H3L2H")
_SIZES = 20
# Bytes whose checksum is computed at a time, so that Ctrl-C is answered soon.
_BLOCK = 2**26


@dataclass(frozen=True, eq=False)
class ModelFile:
    """What a model file holds, with read-only arrays that stay in the file."""

    content: dict[str, Any]
    arrays: dict[str, NDArray[Any]]


def check_model_output(path: str | Path) -> Path:
    """Return the path of a model file that can be written, or raise an error."""
    with _in_one_line():
        return check_output(path, (MODEL_SUFFIX,))


def check_model_input(path: str | Path) -> Path:
    """Return the path of a model file that exists, or raise an error."""
    with _in_one_line():
        return check_input(path, (MODEL_SUFFIX,))


@contextlib.contextmanager
def _in_one_line() -> Iterator[None]:
    """Turn a message about a path with line breaks into a message of one line."""
    try:
        yield
    except ValueError as error:
        raise ValueError(" ".join(str(error).split())) from None


def write_model(path: Path, content: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write a model file, whole or not at all; equal models give equal bytes."""
    target = check_model_output(path)
    head = {"format": FORMAT, "version": VERSION, "ctsne": version("ctsne")}
    text = json.dumps({**head, **content}, allow_nan=False).encode("ascii")
    if len(text) > _MOST_TEXT:
        sizes = f"{len(text)} bytes, at most {_MOST_TEXT} are possible"
        raise ValueError(f"the names of the labels and columns are too long for {target}: {sizes}")
    check_space(target, len(text) + sum(int(each.nbytes) + 1024 for each in arrays.values()))
    with (
        replaced_file(target) as temporary,
        temporary.open("wb") as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive,
    ):
        with archive.open(_new_member(_TEXT, 0), "w", force_zip64=True) as member:
            member.write(text)
        for name, array in arrays.items():
            entry = _new_member(f"{name}.npy", file.tell())
            with archive.open(entry, "w", force_zip64=True) as member:
                # Block by block; the header takes a multiple of 64 bytes.
                whole = np.asarray(array, order="C")
                np.lib.format.write_array(member, whole, (1, 0), allow_pickle=False)


def _new_member(name: str, place: int) -> zipfile.ZipInfo:
    """Describe a member that begins at a multiple of 64 bytes if written at this place."""
    entry = zipfile.ZipInfo(name)  # with a fixed date
    begin = place + _LOCAL.size + len(name) + _SIZES + _PADDING.size
    padding = -begin % _ALIGNED
    entry.extra = _PADDING.pack(_PADDING_ID, padding) + bytes(padding)
    return entry


def read_model(path: Path) -> ModelFile:
    """Open a model file; its structure and all checksums are checked, what it means is not."""
    source = check_model_input(path)
    with reading(source, WHAT), source.open("rb") as file:
        if not zipfile.is_zipfile(file):
            raise ValueError("it is another kind of file, or its end is missing")
        places = _members(file)
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        data = {name: (_begin(mapped, entry, end), end) for name, (entry, end) in places.items()}
        for name, (begin, end) in data.items():
            _check_sum(mapped, begin, end, places[name][0])
        content = _parsed(mapped[slice(*data.pop(_TEXT))])
        arrays = {
            name.removesuffix(".npy"): _array(mapped, *place, name) for name, place in data.items()
        }
    return ModelFile(content, arrays)


def _members(file: Any) -> dict[str, tuple[zipfile.ZipInfo, int]]:
    """Return the members, which must follow each other without gaps, and where each ends."""
    with zipfile.ZipFile(file) as archive:
        entries, end = archive.infolist(), archive.start_dir
        if archive.comment:
            raise ValueError("it has a comment, which models do not have")
    if len(entries) > _MOST_MEMBERS:
        raise ValueError(f"it has {len(entries)} members")
    names = [entry.filename for entry in entries]
    if names[:1] != [_TEXT] or len(set(names)) < len(names):
        raise ValueError(f"its members must be {_TEXT} and arrays, got {listed(names, most=4)}")
    for entry in entries:
        name = entry.filename.removesuffix(".npy")
        if entry.filename != _TEXT and (name == entry.filename or not _NAME.fullmatch(name)):
            raise ValueError(f"it has a member {shown(entry.filename)}, which models do not have")
        plain = entry.compress_type == zipfile.ZIP_STORED and not entry.flag_bits
        if not plain or entry.file_size != entry.compress_size:
            raise ValueError(f"its member {shown(entry.filename)} is compressed or encrypted")
    begins = [entry.header_offset for entry in entries]
    ends = [*begins[1:], end]
    if begins[0] != 0 or any(a >= b for a, b in zip(begins, ends, strict=True)):
        raise ValueError("its members overlap or are not in order")
    return {name: (entry, stop) for name, entry, stop in zip(names, entries, ends, strict=True)}


def _begin(mapped: mmap.mmap, entry: zipfile.ZipInfo, end: int) -> int:
    """Return where the data of a member begin; its own header must agree with the directory."""
    what = f"the header of its member {shown(entry.filename)} is damaged"
    start = entry.header_offset + _LOCAL.size
    if start > end:
        raise ValueError(what)
    head = _LOCAL.unpack_from(mapped, entry.header_offset)
    mark, flags, kind, name_length, extra_length = head[0], head[2], head[3], head[-2], head[-1]
    name = mapped[start : start + name_length]
    begin = start + name_length + extra_length
    if mark != b"PK\3\4" or flags or kind or name != entry.filename.encode():
        raise ValueError(what)
    if begin + entry.file_size != end or begin % _ALIGNED:
        raise ValueError(f"{what}: its size does not fit")
    return int(begin)


def _check_sum(mapped: mmap.mmap, begin: int, end: int, entry: zipfile.ZipInfo) -> None:
    found = 0
    with memoryview(mapped) as view:
        for start in range(begin, end, _BLOCK):
            found = zlib.crc32(view[start : min(end, start + _BLOCK)], found)
    if found != entry.CRC:
        raise ValueError(f"the checksum of {entry.filename} does not match, so the file is damaged")


def _parsed(text: bytes) -> dict[str, Any]:
    """Return the JSON text as a mapping of this format and version."""
    if len(text) > _MOST_TEXT:
        raise ValueError(f"{_TEXT} has more than {_MOST_TEXT} bytes")
    content = json.loads(text.decode("ascii"), parse_constant=_refuse_constant)
    if not isinstance(content, dict) or content.pop("format", None) != FORMAT:
        raise ValueError(f"{_TEXT} does not describe a model")
    stored, made = content.pop("version", None), content.pop("ctsne", None)
    if type(stored) is not int or stored < 1:
        raise ValueError(f"its version must be a positive whole number, got {shown(stored)}")
    if stored > VERSION:
        by = f"by ctsne {made:.20}" if isinstance(made, str) else "by a newer ctsne"
        raise ValueError(
            f"it was written {by} in version {stored} of the format, and this ctsne "
            f"({version('ctsne')}) reads up to version {VERSION}; update ctsne: "
            "pip install --upgrade ctsne"
        )
    return content


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number")


def _array(mapped: mmap.mmap, begin: int, end: int, name: str) -> NDArray[Any]:
    """Return an array that stays in the file, after checking its header."""
    head = io.BytesIO(mapped[begin : min(end, begin + 2**16)])
    if np.lib.format.read_magic(head) != (1, 0):
        raise ValueError(f"the header of {name} is of another version")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(head)
    number = dtype.kind in "biuf" and dtype.itemsize <= 8 and dtype.isnative
    if not number or dtype.subdtype or fortran:
        raise ValueError(f"{name} must hold plain numbers, got {dtype} of shape {shown(shape)}")
    size = math.prod(shape) * dtype.itemsize
    place = begin + head.tell()
    if min(shape, default=0) < 0 or place + size != end or place % _ALIGNED:
        raise ValueError(f"{name} declares {dtype} of shape {shown(shape)}, which does not fit")
    if size == 0:
        return np.empty(shape, dtype)
    flat = np.frombuffer(mapped, dtype, math.prod(shape), place)
    if dtype.kind == "b" and flat.view(np.uint8).max() > 1:
        raise ValueError(f"{name} holds values that are neither true nor false")
    return flat.reshape(shape)
