"""The container of models and sweeps: a tree of values as JSON, whose arrays are mapped files."""

import io
import json
import math
import mmap
import re
import struct
import zipfile
import zlib
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.files import check_space, reading, replaced_file
from ctsne._core.messages import quoted, shown
from ctsne.storage.schema import Number, check, strict_json

VERSION = 1
# Names of a million labels fit; reading more text than this is not worth the memory.
_MOST_TEXT = 2**26
_MOST_MEMBERS = 100_000
_NAME = re.compile(r"[a-z0-9_]+(/[a-z0-9_]+)*\.npy")
_ALIGNED = 64  # arrays begin at a multiple of this many bytes, as NumPy aligns its own files
# A field that programs for ZIP files skip: identifier and length, then the padding.
_PADDING = struct.Struct("<HH")
_PADDING_ID = 0xD935
# The fixed part of what precedes a member, and the sizes that zipfile adds with ``force_zip64``.
_LOCAL = struct.Struct("<4s5H3L2H")
_SIZES = 20
_BLOCK = 2**26  # bytes whose checksum is computed at a time, so that Ctrl-C is answered soon


def write_archive(target: Path, kind: str, tree: Mapping[str, Any]) -> None:
    """Write a file of this kind, whole or not at all; equal trees give equal bytes."""
    # Arrays of the tree are members of the file, named by their place in it. No link is followed: a
    # link with the name of the target is replaced.
    head = {"format": f"ctsne {kind}", "version": VERSION, "ctsne": version("ctsne")}
    arrays: dict[str, NDArray[Any]] = {}
    text = json.dumps({**head, **_without_arrays(tree, "", arrays)}, allow_nan=False).encode()
    if len(text) > _MOST_TEXT:
        sizes = f"{len(text)} bytes, at most {_MOST_TEXT} are possible"
        raise ValueError(f"the names of the labels and columns are too long for {target}: {sizes}")
    check_space(target, len(text) + sum(int(array.nbytes) + 1024 for array in arrays.values()))
    with (
        replaced_file(target) as temporary,
        temporary.open("wb") as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive,
    ):
        with archive.open(_new_member(f"{kind}.json", 0), "w", force_zip64=True) as member:
            member.write(text)
        for name, array in arrays.items():
            entry = _new_member(f"{name}.npy", file.tell())
            with archive.open(entry, "w", force_zip64=True) as member:
                # Block by block; the header takes a multiple of 64 bytes.
                whole = np.asarray(array, order="C")
                np.lib.format.write_array(member, whole, (1, 0), allow_pickle=False)


def _without_arrays(tree: Any, place: str, arrays: dict[str, NDArray[Any]]) -> Any:
    if isinstance(tree, list):
        return [_without_arrays(x, f"{place}{k}/", arrays) for k, x in enumerate(tree)]
    if not isinstance(tree, Mapping):
        return tree
    found = {name: x for name, x in tree.items() if isinstance(x, np.ndarray)}
    arrays |= {f"{place}{name}": array for name, array in found.items()}
    return {
        name: _without_arrays(x, f"{place}{name}/", arrays)
        for name, x in tree.items()
        if name not in found
    }


def _new_member(name: str, place: int) -> zipfile.ZipInfo:
    """Describe a member that begins at a multiple of 64 bytes if written at this place."""
    entry = zipfile.ZipInfo(name)  # with a fixed date
    begin = place + _LOCAL.size + len(name) + _SIZES + _PADDING.size
    padding = -begin % _ALIGNED
    entry.extra = _PADDING.pack(_PADDING_ID, padding) + bytes(padding)
    return entry


def read_archive(source: Path, kind: str) -> dict[str, Any]:
    """Return the tree of a file, checked in form, with mapped arrays; callers check content."""
    with reading(source, f"a valid ctsne {kind}"), source.open("rb") as file:
        if not zipfile.is_zipfile(file):
            raise ValueError("it is another kind of file, or its end is missing")
        text = f"{kind}.json"
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        places = _members(file, mapped, text)
        content = _parsed(mapped[slice(*places.pop(text))], kind)
        for name, place in places.items():
            _insert(content, name.removesuffix(".npy"), _array(mapped, *place, name))
    return content


def _insert(tree: Any, name: str, array: NDArray[Any]) -> None:
    *way, last = name.split("/")
    for step in way:
        tree = tree[int(step)] if isinstance(tree, list) else tree[step]
    if not isinstance(tree, dict) or last in tree:
        raise ValueError(f"its array {name} has no place")
    tree[last] = array


def _members(file: Any, mapped: mmap.mmap, text: str) -> dict[str, tuple[int, int]]:
    """Return where each member begins and ends; headers and checksums must agree, without gaps."""
    with zipfile.ZipFile(file) as archive:
        entries, last, comment = archive.infolist(), archive.start_dir, archive.comment
    names = [entry.filename for entry in entries]
    few = len(set(names)) == len(names) <= _MOST_MEMBERS
    if names[:1] != [text] or not few or comment or entries[0].header_offset != 0:
        raise ValueError(f"its members must be {text} and arrays, got {quoted(names, most=4)}")
    places = {}
    ends = [*(entry.header_offset for entry in entries[1:]), last]
    for entry, end in zip(entries, ends, strict=True):
        name, offset = entry.filename, entry.header_offset
        if name != text and not _NAME.fullmatch(name):
            raise ValueError(f"it has an unknown member {shown(name)}")
        if entry.compress_type != zipfile.ZIP_STORED or entry.flag_bits:
            raise ValueError(f"its member {shown(name)} is compressed or encrypted")
        start = offset + _LOCAL.size
        head = _LOCAL.unpack_from(mapped, offset) if start <= end <= len(mapped) else (b"",) * 11
        mark, flags, kind, name_length, extra_length = head[0], head[2], head[3], *head[-2:]
        if mark != b"PK\3\4" or flags or kind:
            raise ValueError(f"the header of its member {shown(name)} is damaged")
        begin = start + name_length + extra_length
        same = mapped[start : start + name_length] == name.encode()
        size = end - begin
        if not same or begin % _ALIGNED or not size == entry.file_size == entry.compress_size:
            raise ValueError(f"the header of its member {shown(name)} does not fit")
        found = 0
        with memoryview(mapped) as view:
            for place in range(begin, end, _BLOCK):
                found = zlib.crc32(view[place : min(end, place + _BLOCK)], found)
        if found != entry.CRC:
            raise ValueError(f"the checksum of {name} does not match, so the file is damaged")
        places[name] = (begin, end)
    return places


def _parsed(text: bytes, kind: str) -> dict[str, Any]:
    if len(text) > _MOST_TEXT:
        raise ValueError(f"{kind}.json has more than {_MOST_TEXT} bytes")
    content = strict_json(text.decode("ascii"))
    if not isinstance(content, dict) or content.pop("format", None) != f"ctsne {kind}":
        raise ValueError(f"{kind}.json does not describe a {kind}")
    stored, made = content.pop("version", None), content.pop("ctsne", None)
    check(stored, Number(1, whole=True), "version")
    if stored > VERSION:
        by = f"by ctsne {made:.20}" if isinstance(made, str) else "by a newer ctsne"
        what = f"it was written {by} in version {stored} of the format"
        reads = f"this ctsne ({version('ctsne')}) reads up to version {VERSION}"
        raise ValueError(f"{what}, and {reads}; update ctsne: pip install --upgrade ctsne")
    return content


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
