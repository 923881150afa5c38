"""Rules of the source that no other tool checks. ``lint-imports`` checks the order of packages."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

THIS = Path(__file__)
ROOT = THIS.parents[1]
SOURCE = ROOT / "src" / "ctsne"
FOLDERS = ("src", "tests", "benchmarks", "experiments", "fuzz", "docs", "tools")
FILES = sorted(
    path
    for folder in FOLDERS
    for path in (ROOT / folder).rglob("*.py")
    if not {"_build", "_generated"} & set(path.parts)
)
MOST_LINES = 600
# It has the documentation of every public method of the estimator.
LONGER = {"src/ctsne/estimator.py"}
# Names of other libraries that are private in name only, or have no public counterpart.
FOREIGN = {
    "_Hash",
    "_SubParsersAction",
    "_actions",
    "_asdict",
    "_fields",
    "_getframe",
    "_replace",
}


def package_of(path: Path) -> str:
    """Return the package of a source file; a module directly below ``ctsne`` is one too."""
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


TREES = {path: ast.parse(path.read_text("utf-8")) for path in FILES if SOURCE in path.parents}


def private_uses(path: Path, tree: ast.Module, own: set[str]) -> Iterator[str]:
    """Yield the private names of other packages that a module uses, with their line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            steps = (node.module or "").split(".")
            if steps[0] != "ctsne" or steps[1:2] == [package_of(path)]:
                continue
            # ctsne._core and ctsne._native are private to the library, but shared inside it.
            names = [*steps[2:], *(alias.name for alias in node.names if len(steps) > 1)]
        elif isinstance(node, ast.Attribute):
            called = node.value.func if isinstance(node.value, ast.Call) else node.value
            if getattr(called, "id", None) in ("self", "cls", "mcs", "super", "type", "ctsne"):
                continue
            names = [] if node.attr in own | FOREIGN else [node.attr]
        else:
            continue
        yield from (f"{path.name}:{node.lineno} {name}" for name in names if is_private(name))


def names_defined(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def test_no_package_uses_private_names_of_another() -> None:
    own: dict[str, set[str]] = {}
    for path, tree in TREES.items():
        own.setdefault(package_of(path), set()).update(names_defined(tree))
    uses = [
        u for path, tree in TREES.items() for u in private_uses(path, tree, own[package_of(path)])
    ]
    assert not uses, "\n".join(uses)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("from ctsne.b._hidden import x", "_hidden"),
        ("def f():\n    from ctsne.b.open import _x", "_x"),
        ("from ctsne.b import _hidden", "_hidden"),
        ("model._kept()", "_kept"),
        ("model.part._kept", "_kept"),
        ("from ctsne.b.open import x", None),
        ("from ctsne._core.checks import x", None),
        ("from ctsne.a.other import _x", None),
        ("from ctsne import _native", None),
        ("other._own", None),
        ("self._inherited + super()._inherited", None),
        ("row._fields, row.__doc__", None),
    ],
)
def test_private_names_are_found(text: str, name: str | None) -> None:
    uses = private_uses(SOURCE / "a" / "one.py", ast.parse(text), {"_own"})
    assert [use.split()[1] for use in uses] == ([name] if name else [])


def test_only_packages_and_the_native_module_come_from_the_root() -> None:
    """Anything else hides from the check of layers where it really comes from."""
    packages = {package_of(path) for path in TREES} | {"_native", "__version__"}
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                assert not node.level, path
                if node.module == "ctsne":
                    assert {alias.name for alias in node.names} <= packages, path


def test_the_picture_of_layers_shows_the_contract() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    (contract,) = settings["tool"]["importlinter"]["contracts"]
    layers = [re.findall(r"\w+", layer) for layer in contract["layers"]]
    picture = re.search(r"```\nsrc/ctsne/\n(.+?)```", (ROOT / "CONTRIBUTING.md").read_text(), re.S)
    assert picture is not None
    shown = [re.findall(r"\w+", line[:24]) for line in picture[1].splitlines()]
    assert shown == [*layers[:-1], [*layers[-1], "_native"]]


def test_labels_are_told_apart_by_the_encoder_only() -> None:
    asked = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path, tree in TREES.items()
        if package_of(path) != "labels"
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", None) == "isinstance"
        and re.search(r"\b(Labels|Column)\b", ast.unparse(node.args[1]))
    ]
    assert not asked, "\n".join(asked)


def test_files_stay_short() -> None:
    lengths = {path: len(path.read_text("utf-8").splitlines()) for path in FILES}
    long = {str(path.relative_to(ROOT)) for path, n in lengths.items() if n > MOST_LINES}
    assert long <= LONGER


def test_only_tables_of_data_are_kept_from_the_formatter() -> None:
    for path in FILES:
        text = path.read_text("utf-8")
        tables = re.findall(r"^# fmt: off\n(.*?)^# fmt: on$", text, re.M | re.S)
        assert len(re.findall("fmt: (?:skip|off)", text)) == len(tables) or path == THIS, path
        for table in tables:
            (statement,) = ast.parse(table).body
            assert isinstance(statement, ast.Assign), path
            assert isinstance(statement.value, ast.Tuple | ast.List | ast.Dict), path


@pytest.mark.parametrize("folder", ["tests", "fuzz"])
def test_every_wait_for_a_process_has_a_limit(folder: str) -> None:
    for path in (file for file in FILES if file.is_relative_to(ROOT / folder)):
        for node in ast.walk(ast.parse(path.read_text())):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            call = ast.unparse(node.func)
            if call == "subprocess.run" or call.endswith((".communicate", ".wait")):
                limited = any(keyword.arg == "timeout" for keyword in node.keywords)
                limited |= call.endswith(".wait") and bool(node.args)
                assert limited, f"{path}:{node.lineno}: {call} without a timeout"
