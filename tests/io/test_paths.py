from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ctsne.io import check_input, check_output, suffix_of

from .conftest import RECORD, refused

LOADED = "pandas anndata h5py pyarrow sklearn matplotlib"


def test_importing_loads_no_package_of_a_format() -> None:
    program = f"import sys, ctsne.io; print(*set('{LOADED}'.split()) & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-P", "-c", program],
        check=True,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.stdout.split() == []


@pytest.mark.parametrize(
    ("name", "suffix"),
    [("a.CSV", ".csv"), ("a.b.tsv.GZ", ".tsv.gz"), ("a.gz", ".gz"), ("a", ""), ("v1.2/a", "")],
)
def test_the_end_of_a_name(name: str, suffix: str) -> None:
    assert suffix_of(name) == suffix


def test_inputs_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "cells.csv").write_text("a\n1\n")
    (tmp_path / "cells.docx").write_text("")
    assert check_input(str(tmp_path / "cells.csv")) == tmp_path / "cells.csv"
    refused(r"no file .*cell.csv; did you mean .*cells.csv\?", check_input, tmp_path / "cell.csv")
    refused(r"is a folder, not a file; .* such as .*cells.csv", check_input, tmp_path)
    refused(r"the name must end in one of .csv, .*\.h5ad", check_input, tmp_path / "cells.docx")
    refused(r"there is no folder .*nowhere", check_input, tmp_path / "nowhere" / "cells.csv")
    for name in ("settings.json", "table.csv"):
        (tmp_path / name).touch()
    refused(r"is a sweep; its measures are in .*table.csv$", check_input, tmp_path)


@pytest.mark.parametrize("check", [check_input, check_output])
def test_names_that_would_break_the_line_of_a_message(check: Callable[[str], Path]) -> None:
    refused(r"control characters; got 'a\\nb\.csv'$", check, "a\nb.csv")


def test_outputs_that_cannot_be(tmp_path: Path) -> None:
    assert check_output(str(tmp_path / "map.csv.gz")) == tmp_path / "map.csv.gz"
    refused(r"must end in one of .csv, .*\.h5ad", check_output, tmp_path / "map.png")
    with pytest.raises(ValueError, match=r"there is no folder .*nowhere; create it first"):
        check_output(tmp_path / "nowhere" / "map.csv")
    refused("it is a folder", check_output, tmp_path)


@pytest.mark.parametrize(
    ("suffix", "module", "extra"),
    [(".parquet", "pyarrow", "cli"), (".h5ad", "anndata", "cli"), (".png", "matplotlib", "plot")],
)
def test_a_missing_package_is_named_before_the_work(
    suffix: str, module: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf'{module}.*pip install "ctsne\[{extra}\]"'):
        check_output(tmp_path / f"x{suffix}", (suffix,))


def test_a_file_of_others_beside_the_output(tmp_path: Path) -> None:
    for name in ("map.csv", "map.tsv.gz"):
        beside = tmp_path / f"{name}.json"
        for content in ('{"mine": 1}', "[1]", "no JSON", '{"ctsne provenance": 1}'):
            beside.write_text(content)
            with pytest.raises(
                ValueError, match=rf"{name}\.json, which exists and was not written"
            ):
                check_output(tmp_path / name)
        beside.write_text(json.dumps(RECORD))
        check_output(tmp_path / name)
    (tmp_path / "map.parquet.json").write_text("mine")
    check_output(tmp_path / "map.parquet")


def test_files_that_may_have_been_meant(tmp_path: Path) -> None:
    for name in ("one.csv", "cells.csv", "cells.h5ad"):
        (tmp_path / name).touch()
    for wrong, right in (
        ("cels.csv", "cells.csv"),
        ("cell.h5ad", "cells.h5ad"),
        ("cells.cvs", "cells.csv"),
    ):
        refused(f"did you mean .*{right}\\?", check_input, tmp_path / wrong)
    refused(r"nofile\.csv \(looked in", check_input, tmp_path / "nofile.csv")


def test_only_files_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe.csv")
    Path("link.npy").symlink_to("/dev/zero")
    refused(r"pipe\.csv is a pipe, not a file; save its content", check_input, "pipe.csv")
    refused(r"link\.npy is a device, not a file", check_input, "link.npy")
    refused("there is no file -; standard input is not read", check_input, "-")
    reader, writer = os.pipe()
    try:
        refused(f"/dev/fd/{reader} is a pipe, not a file", check_input, f"/dev/fd/{reader}")
    finally:
        os.close(reader)
        os.close(writer)


def test_settings_beside_an_output_may_be_anything(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv.json")
    (tmp_path / "deep.csv.json").write_text("[" * 10**5)
    for name in ("pipe.csv", "deep.csv"):
        refused(r"which exists and was not written by ctsne", check_output, tmp_path / name)
