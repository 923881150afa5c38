"""The memory that is free."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ctsne._core import memory as _memory
from ctsne._core.memory import free_memory

GIB = 2**30


def write(folder: Path, files: dict[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)


@pytest.mark.parametrize(
    ("line", "folder", "names"),
    [
        ("0::/job", ".", ("memory.max", "memory.current", "")),
        (
            "4:cpu,memory:/job",
            "memory",
            ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_"),
        ),
    ],
)
def test_free_is_the_least_of_all_limits(
    tmp_path: Path, line: str, folder: str, names: tuple[str, str, str]
) -> None:
    proc, cgroup = tmp_path / "proc", tmp_path / "cgroup"
    group = cgroup / folder
    write(proc, {"meminfo": f"MemTotal: 9 kB\nMemAvailable: {8 * 2**20} kB\n"})
    assert list(_memory._free(proc, cgroup)) == [8 * GIB]
    write(proc / "self", {"cgroup": f"1:name=systemd:/\n{line}\n"})
    assert list(_memory._free(proc, cgroup)) == [8 * GIB]
    limit, usage, prefix = names
    write(group, {limit: f"{6 * GIB}\n", usage: f"{5 * GIB}\n"})
    write(group / "job", {limit: f"{4 * GIB}\n", usage: f"{3 * GIB}\n"})
    cached = f"{prefix}inactive_file {GIB // 4}\n{prefix}active_file {GIB // 4 * 3}\n"
    write(group / "job", {"memory.stat": f"anon 1\n{cached}"})
    assert sorted(_memory._free(proc, cgroup)) == [GIB, 2 * GIB, 8 * GIB]
    write(group / "job", {limit: "max\n"})
    assert sorted(_memory._free(proc, cgroup)) == [GIB, 8 * GIB]


def test_free_memory_of_this_machine() -> None:
    free = free_memory()
    assert free is None or 0 < free < 2**60
    assert free is not None or sys.platform != "linux"


def test_nothing_is_known_elsewhere(tmp_path: Path) -> None:
    assert list(_memory._free(tmp_path, tmp_path)) == []
