"""The structure of the package: imports between packages, private names and size."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[1]
# A longer file has more than one job.
MOST_LINES = 400


def _load() -> Any:
    path = ROOT / "docs" / "tools" / "import_graph.py"
    spec = spec_from_file_location("import_graph_for_tests", path)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


GRAPH = _load()
MODULES = GRAPH.read_modules()
IMPORTS = GRAPH.find_imports(MODULES)


def made_up(folder: Path, **files: str) -> tuple[Any, Any]:
    """Read a made-up package; two underscores in a module's name stand for a slash."""
    (folder / "__init__.py").touch()
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(exist_ok=True)
        (path.parent / "__init__.py").touch()
        path.write_text(text)
    modules = GRAPH.read_modules(folder)
    return modules, GRAPH.find_imports(modules)


# The package as it is


def test_packages_import_each_other_without_cycles() -> None:
    cycles = GRAPH.find_cycles(GRAPH.package_graph(IMPORTS))
    assert not cycles, "\n" + "\n".join(GRAPH.describe_cycle(each, IMPORTS) for each in cycles)


def test_no_package_uses_private_names_of_another() -> None:
    found = GRAPH.private_uses(MODULES, IMPORTS)
    assert not found, "\n" + "\n".join(found)


def test_files_stay_short() -> None:
    lengths = {
        name: len(each.path.read_text("utf-8").splitlines()) for name, each in MODULES.items()
    }
    assert not [name for name, length in lengths.items() if length > MOST_LINES]


def test_the_picture_shows_the_imports_of_today() -> None:
    picture = (ROOT / "docs" / "imports.svg").read_text("utf-8")
    command = "python docs/tools/import_graph.py docs/imports.svg"
    assert picture == GRAPH.draw(GRAPH.package_graph(IMPORTS)), f"draw it again: {command}"


def test_the_walk_sees_what_is_there() -> None:
    graph = GRAPH.package_graph(IMPORTS)
    assert {"neighbors", "affinity"} <= graph["_fit"]
    assert {"_native", "_core"} <= graph["layout"]  # compiled, and named by `from ctsne import`
    assert "estimator" in graph["ctsne"]


# The walk, on made-up packages


@pytest.mark.parametrize(
    "text",
    [
        "from ctsne.b import x",
        "from ctsne import b",
        "import ctsne.b.deep",
        "from .. import b",
        "from ..b import deep",
        "def f():\n    from ctsne.b.deep import x",
        "if TYPE_CHECKING:\n    from ctsne.b import X",
        "import_module('ctsne.b.deep')",
        "TABLE = {'x': 'ctsne.b'}",
        "import_module(f'ctsne.b.{name}')",
    ],
)
def test_every_kind_of_import_makes_a_cycle(tmp_path: Path, text: str) -> None:
    _, imports = made_up(tmp_path, a__one=text, b__deep="from ctsne.a.one import y")
    (cycle,) = GRAPH.find_cycles(GRAPH.package_graph(imports))
    assert cycle == ["a", "b", "a"]
    described = GRAPH.describe_cycle(cycle, imports).splitlines()
    assert described[0] == "a → b → a"
    assert "imports ctsne." in described[1]


@pytest.mark.parametrize(
    "text",
    [
        "from numpy import b",
        "from ctsne.a import two",
        "from . import two",
        '"""See ctsne.b."""',
        "def f():\n    'ctsne.b'",
        "print('ctsne.b is a module')",
    ],
)
def test_what_imports_nothing_from_elsewhere(tmp_path: Path, text: str) -> None:
    _, imports = made_up(tmp_path, a__one=text, a__two="", b__deep="from ctsne.a import one")
    graph = GRAPH.package_graph(imports)
    assert graph["a"] == set()
    assert GRAPH.layers(graph) == [["a"], ["b"]]


def test_long_cycles_are_found(tmp_path: Path) -> None:
    files = {"a": "import ctsne.b", "b": "import ctsne.c", "c": "import ctsne.d, ctsne.a", "d": ""}
    _, imports = made_up(tmp_path, **files)
    graph = GRAPH.package_graph(imports)
    assert GRAPH.find_cycles(graph) == [["a", "b", "c", "a"]]
    with pytest.raises(ValueError, match="a → b → c → a"):
        GRAPH.draw(graph)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("from ctsne.b._hidden import x", "ctsne.b._hidden"),
        ("from ctsne.b.open import _x", "_x"),
        ("from ctsne.b import _hidden", "ctsne.b._hidden"),
        ("def f(model):\n    return model._kept()", "model._kept"),
        ("def f(model):\n    return model.part._kept", "model.part._kept"),
        ("from ctsne.b.open import x", None),
        ("from ctsne._core.checks import x", None),
        ("from ctsne import _native", None),
        ("from ctsne import __version__", None),
        ("def f(self, other):\n    self._a = 1\n    return other._a", None),
        ("def f(self):\n    return self._inherited + super()._inherited", None),
        ("def f(row):\n    return row._fields, row.__doc__", None),
    ],
)
def test_private_names_of_others(tmp_path: Path, text: str, found: str | None) -> None:
    modules, imports = made_up(
        tmp_path, a__one=text, b___hidden="", b__open="class B:\n    def _kept(self): ..."
    )
    uses = GRAPH.private_uses(modules, imports)
    assert len(uses) == (0 if found is None else 1)
    assert found is None or (found in uses[0] and uses[0].startswith("ctsne.a.one:"))


def test_the_picture_shows_every_package_and_no_detour() -> None:
    graph = {"a": {"b", "c"}, "b": {"c"}, "c": set(), "_d": {"c"}}
    tree = ElementTree.fromstring(GRAPH.draw(graph))
    texts = ["".join(each.itertext()) for each in tree.iter("{http://www.w3.org/2000/svg}text")]
    assert texts[:-1] == ["_d", "a", "b", "c"]
    heights = {each.text: float(each.get("y", "")) for each in tree.iter() if each.text in graph}
    assert heights["a"] < heights["b"] == heights["_d"] < heights["c"]
    assert len(list(tree.iter("{http://www.w3.org/2000/svg}path"))) == 3  # a → c follows
