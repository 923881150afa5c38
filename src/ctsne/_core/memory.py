"""The memory that this process may still take."""

from collections.abc import Iterator
from pathlib import Path

_MIB, _GIB = 2**20, 2**30


def in_words(size: int) -> str:
    """Write a number of bytes: ``37 MiB``, ``3.6 GiB``."""
    return f"{size / _GIB:.1f} GiB" if size >= _GIB else f"{size / _MIB:.0f} MiB"


def free_memory() -> int | None:
    """Return the bytes that this process may still take; None where that is unknown."""
    return min(_free(Path("/proc"), Path("/sys/fs/cgroup")), default=None)


def _free(proc: Path, cgroup: Path) -> Iterator[int]:
    """Yield the free memory of the machine, of this process and of each control group it is in."""
    for line in _lines(proc / "meminfo"):
        if line.startswith("MemAvailable:"):
            yield int(line.split()[1]) * 1024
    size = [line.split()[1] for line in _lines(proc / "self/status") if line.startswith("VmSize:")]
    for line in _lines(proc / "self/limits"):
        most = line.removeprefix("Max address space").split()[:1]  # set by ulimit -v
        if line.startswith("Max address space") and size and most[0].isdigit():
            yield max(0, int(most[0]) - int(size[0]) * 1024)
    for line in _lines(proc / "self" / "cgroup"):
        _, kinds, path = line.split(":", 2)
        if kinds == "":  # version 2
            names, root = ("memory.max", "memory.current", ""), cgroup
        elif "memory" in kinds.split(","):
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_")
            root = cgroup / "memory"
        else:
            continue
        group = root / path.lstrip("/")
        for folder in (group, *group.parents):
            if folder == root.parent:
                break
            yield from _left(folder, *names)


def _left(folder: Path, limit: str, usage: str, prefix: str) -> Iterator[int]:
    most, used = (" ".join(_lines(folder / name)) for name in (limit, usage))
    if not most.isdigit() or not used.isdigit():  # no limit ("max"), or no such group
        return
    stat = dict(line.split(None, 1) for line in _lines(folder / "memory.stat"))
    # The content of files that is kept in memory is given up where memory is needed.
    cached = sum(int(stat.get(f"{prefix}{kind}_file", 0)) for kind in ("active", "inactive"))
    yield max(0, int(most) - int(used) + cached)


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text().splitlines()
    except OSError:
        return []
