"""Folders of sweeps: whose they are, and what stays in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctsne.cli.sweep import check_folder, read_folder
from ctsne.storage.record import Record

KEPT_MAP = f"map-joint-strength-0.4-{'0' * 16}.npz"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("table.csv", "mine"),
        ("settings.json", '{"theme": "dark"}'),
        ("settings.json", Record("ctsne embed", {}).to_json()),
        ("columns.parquet", ""),
        ("sweep.npz", ""),
        ("map-of-town.npz", ""),
        ("notes.txt", ""),
    ],
)
def test_folders_of_others_are_refused(name: str, content: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(ValueError, match=f"holds other files .{name}"):
        check_folder(tmp_path)


@pytest.mark.parametrize(
    ("name", "content"), [("settings.json", Record("ctsne sweep", {}).to_json()), (KEPT_MAP, "")]
)
def test_a_folder_of_ours_may_hold_other_files(name: str, content: str, tmp_path: Path) -> None:
    for other in ("page.html", "table.csv"):
        (tmp_path / other).touch()
    (tmp_path / name).write_text(content)
    check_folder(tmp_path)


def test_empty_folders_are_free(tmp_path: Path) -> None:
    (tmp_path / ".hidden").touch()
    check_folder(tmp_path)
    check_folder(tmp_path / "new")


def test_what_is_not_finished_is_told_apart(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="holds no finished sweep; make one"):
        read_folder(tmp_path)
    (tmp_path / KEPT_MAP).touch()
    with pytest.raises(ValueError, match=r"or was made in Python.*ctsne\.report\.write_report"):
        read_folder(tmp_path)
    (tmp_path / "settings.json").write_text(Record("ctsne sweep", {}).to_json())
    with pytest.raises(ValueError, match=r"is not finished; ctsne rerun .* shows how to continue"):
        read_folder(tmp_path)


@pytest.mark.parametrize("name", ["table.csv", "sweep.npz", "columns.parquet"])
def test_what_cannot_be_replaced_is_refused_first(name: str, tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text(Record("ctsne sweep", {}).to_json())
    (tmp_path / name).mkdir()
    with pytest.raises(ValueError, match=f"cannot write .*{name}: it is a folder"):
        check_folder(tmp_path)
