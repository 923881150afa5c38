"""What a release relies on: versions that agree, workflows that hold, notices in the wheel."""

from __future__ import annotations

import json
import re
import tomllib
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def test_all_files_name_the_same_version() -> None:
    citation = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.M)
    changelog = re.search(r"^## \[(.+?)\] - ", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    assert citation is not None and changelog is not None
    assert citation[1] == changelog[1] == PROJECT["version"] == distribution("ctsne").version


def test_a_release_has_a_date_in_both_files() -> None:
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    newest = re.search(r"^## \[.+?\] - (.+)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    assert newest is not None
    released = re.search(r"^date-released: (.+)$", citation, re.M)
    assert newest[1] == (released[1].strip("\"'") if released else "unreleased")


def test_the_wheel_carries_the_notices_of_what_is_linked_into_it() -> None:
    files = {path.name: path for path in distribution("ctsne").files or []}
    text = {name: files[name].read_text() for name in ("LICENSE", "nanobind.txt", "robin-map.txt")}
    assert all("Copyright" in each for each in text.values())
    listed = json.loads(files["bundled.cdx.json"].read_text())["components"]
    assert [each["name"] for each in listed] == ["nanobind", "robin-map"]
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", each["version"]) for each in listed)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_have_limits_and_little_power(path: Path) -> None:
    workflow: dict[str, Any] = pytest.importorskip("yaml").safe_load(path.read_text("utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    assert workflow["concurrency"]["group"]
    for job in workflow["jobs"].values():
        assert job["timeout-minutes"] <= 120


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_make_what_the_makefile_has(path: Path) -> None:
    targets = re.findall(r"^([a-z0-9]+):", (ROOT / "Makefile").read_text("utf-8"), re.M)
    assert set(re.findall(r"run: make ([a-z0-9]+)", path.read_text("utf-8"))) <= set(targets)
