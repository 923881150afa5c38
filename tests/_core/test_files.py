from __future__ import annotations

from pathlib import Path

import pytest

from ctsne._core.files import replaced_file


def test_takes_the_place_of_the_target(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")
    with replaced_file(target) as temporary:
        temporary.write_text("new")
        assert target.read_text() == "old"
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


def test_an_error_leaves_the_target_alone(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")

    def write_half() -> None:
        with replaced_file(target) as temporary:
            temporary.write_text("half")
            raise OSError("full")

    with pytest.raises(OSError, match="full"):
        write_half()
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    target = tmp_path / "far" / "a.txt"
    target.write_text("old")
    link = tmp_path / "link.txt"
    link.symlink_to(target)
    with replaced_file(link) as temporary:
        temporary.write_text("new")
    assert link.is_symlink() and target.read_text() == "new"


@pytest.mark.parametrize("mode", [0o600, 0o664, 0o400])
def test_a_file_keeps_who_may_read_it(tmp_path: Path, mode: int) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")
    target.chmod(mode)
    with replaced_file(target) as temporary:
        assert temporary.stat().st_mode & 0o777 == mode | 0o200
        temporary.write_text("new")
    assert target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == mode
