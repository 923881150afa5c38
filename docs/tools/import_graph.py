"""Draw which package of ctsne imports which: ``python docs/tools/import_graph.py OUT.svg``.

A module directly below ``src/ctsne`` counts as a package. All imports count, including imports
inside functions, for type checkers only and by name (``import_module("ctsne.pl")``). The tests use
this module to reject cycles and the use of private names of other packages.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

SOURCE = Path(__file__).parents[2] / "src" / "ctsne"
EXTENSION = "_native"
"""The compiled module, which has no Python source."""

# Names of the standard library that are private in name only, or have no public counterpart.
FOREIGN = {
    "_Hash",
    "_SubParsersAction",
    "_actions",
    "_asdict",
    "_fields",
    "_getframe",
    "_replace",
}
_MODULE_NAME = re.compile(r"ctsne(\.\w+)+")

Graph = dict[str, set[str]]


class Module(NamedTuple):
    """A module and its syntax tree."""

    name: str
    path: Path
    tree: ast.Module

    @property
    def package(self) -> str:
        """Name of the package: the first part below ``ctsne``, or ``ctsne`` itself."""
        return package_of(self.name)

    def at(self, node: ast.AST) -> str:
        """Return file and line of a node."""
        return f"{self.name}:{getattr(node, 'lineno', 1)}"


class Import(NamedTuple):
    """One module imports another, or names of it."""

    module: Module
    node: ast.AST
    target: str
    names: tuple[str, ...] = ()


def package_of(name: str) -> str:
    """Return the package that a module belongs to."""
    parts = name.split(".")
    return parts[1] if len(parts) > 1 else parts[0]


def read_modules(source: Path = SOURCE) -> dict[str, Module]:
    """Parse all modules below a folder, which is the package ``ctsne``."""
    modules = {}
    for path in sorted(source.rglob("*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        name = ".".join(["ctsne", *(part for part in parts if part != "__init__")])
        modules[name] = Module(name, path, ast.parse(path.read_text(encoding="utf-8")))
    return modules


def find_imports(modules: Mapping[str, Module]) -> list[Import]:
    """List all imports of modules of ctsne by modules of ctsne."""
    return [each for module in modules.values() for each in _imports_of(module, modules)]


def _imports_of(module: Module, modules: Mapping[str, Module]) -> Iterator[Import]:
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "ctsne":
                    yield Import(module, node, alias.name)
        elif isinstance(node, ast.ImportFrom):
            source = _absolute(module, node)
            if source.split(".")[0] != "ctsne":
                continue
            for alias in node.names:
                whole = f"{source}.{alias.name}"
                if whole in modules or whole == f"ctsne.{EXTENSION}":
                    yield Import(module, node, whole)
                else:
                    yield Import(module, node, source, (alias.name,))
        elif isinstance(node, ast.Constant) and id(node) not in docstrings:
            # A name for import_module, possibly stored in a table.
            if isinstance(node.value, str) and _MODULE_NAME.fullmatch(node.value):
                known = next((n for n in _with_parents(node.value) if n in modules), "ctsne")
                if known != "ctsne":
                    yield Import(module, node, known)
        elif isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
            start = str(node.values[0].value).rpartition(".")[0]
            if start in modules and start != "ctsne":
                yield Import(module, node, start)


def _with_parents(name: str) -> Iterator[str]:
    while name:
        yield name
        name = name.rpartition(".")[0]


def _absolute(module: Module, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    base = module.name.split(".")
    if module.path.stem != "__init__":
        base = base[:-1]
    base = base[: len(base) - node.level + 1]
    return ".".join([*base, *([node.module] if node.module else [])])


def package_graph(imports: list[Import]) -> Graph:
    """Return for each package the set of packages that it imports."""
    graph: Graph = {}
    for each in imports:
        used = package_of(each.target)
        graph.setdefault(used, set())
        graph.setdefault(each.module.package, set()).update({used} - {each.module.package})
    return graph


def find_cycles(graph: Graph) -> list[list[str]]:
    """Return the shortest cycle through each package, each cycle once, the shortest first."""
    cycles = {}
    for start in graph:
        paths, seen = [[start]], set[str]()
        while paths:
            path = paths.pop(0)
            if start in graph[path[-1]]:
                first = path.index(min(path))
                cycle = path[first:] + path[:first]
                cycles[tuple(cycle)] = [*cycle, cycle[0]]
                break
            paths += [[*path, name] for name in sorted(graph[path[-1]] - seen)]
            seen |= graph[path[-1]]
    return sorted(cycles.values(), key=lambda cycle: (len(cycle), cycle))


def describe_cycle(cycle: list[str], imports: list[Import]) -> str:
    """Return a cycle and the imports of its weakest step, the fewest to remove."""
    steps = []
    for package, used in pairwise(cycle):
        found = [
            f"  {each.module.at(each.node)} imports {each.target}"
            for each in imports
            if (each.module.package, package_of(each.target)) == (package, used)
        ]
        # The root package imports all others by design, so that step is never the one to remove.
        steps.append((package == "ctsne", list(dict.fromkeys(found))))
    weakest = min(steps, key=lambda step: (step[0], len(step[1])))[1]
    return "\n".join([" → ".join(cycle), *weakest])


def private_uses(modules: Mapping[str, Module], imports: list[Import]) -> list[str]:
    """List the uses of private names of other packages, with file and line."""
    found = []
    for each in imports:
        if package_of(each.target) == each.module.package:
            continue
        inner = each.target.split(".")[2:]
        hidden = [name for name in (*inner, *each.names) if _is_private(name)]
        if hidden:
            found.append(f"{each.module.at(each.node)}: {each.target} ({', '.join(hidden)})")
    own: dict[str, set[str]] = {}
    for module in modules.values():
        own.setdefault(module.package, set()).update(_defined(module.tree))
    for module in modules.values():
        for node in ast.walk(module.tree):
            if (
                isinstance(node, ast.Attribute)
                and _is_private(node.attr)
                and not _is_own(node.value)
                and node.attr not in own[module.package] | FOREIGN
            ):
                found.append(f"{module.at(node)}: {ast.unparse(node)}")
    return list(dict.fromkeys(found))


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


def _is_own(value: ast.expr) -> bool:
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id in ("super", "type")
    return isinstance(value, ast.Name) and value.id in ("self", "cls", "mcs", "ctsne")


def _defined(tree: ast.Module) -> Iterator[str]:
    """Yield every name that a module defines: functions, classes, variables and attributes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def layers(graph: Graph) -> list[list[str]]:
    """Sort packages into layers: each imports only from layers before its own."""
    cycles = find_cycles(graph)
    if cycles:
        raise ValueError(f"circular imports: {' → '.join(cycles[0])}")
    level: dict[str, int] = {}

    def place(package: str) -> int:
        if package not in level:
            level[package] = 1 + max(map(place, graph[package]), default=-1)
        return level[package]

    count = max(map(place, graph)) + 1
    return [sorted(name for name in graph if level[name] == each) for each in range(count)]


def without_detours(graph: Graph) -> Graph:
    """Omit imports implied by others: a → c if a → b → c."""
    below: Graph = {}

    def reach(package: str) -> set[str]:
        if package not in below:
            below[package] = graph[package].union(*map(reach, graph[package]))
        return below[package]

    return {
        package: {name for name in used if not any(name in reach(other) for other in used)}
        for package, used in graph.items()
    }


_STEP, _WIDTH, _HEIGHT, _GAP, _MARGIN = 64, 96, 28, 22, 20
_STYLE = (
    "text{font:13px system-ui,sans-serif;text-anchor:middle;fill:#1b1f24}"
    "rect.box{fill:#eef3fa;stroke:#46648c}rect.private{fill:#f4f4f4;stroke:#888}"
    "path{fill:none;stroke:#8a97a8}.note{font-size:11px;text-anchor:start;fill:#57606a}"
)
_SWEEPS = 40


def draw(graph: Graph) -> str:
    """Draw a graph without cycles by layers, as the text of an SVG file.

    A line leads from a package down to one that it imports. Implied imports are omitted. Private
    packages are grey.
    """
    rows = layers(graph)[::-1]
    lines = without_detours(graph)
    routes = _routes(rows, lines)
    place = _places(rows, routes)
    width = max(x for x, _ in place.values()) + _WIDTH / 2 + _MARGIN
    height = (len(rows) - 1) * _STEP + _HEIGHT + 2 * _MARGIN + 16
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}"'
        f' width="{width:.0f}" height="{height:.0f}" role="img"'
        ' aria-label="Imports between the packages of ctsne">',
        f"<style>{_STYLE}</style>",
        '<rect width="100%" height="100%" fill="#fff"/>',
    ]
    for route in routes:
        x, y = place[route[0]]
        path = f"M{x:.0f} {y + _HEIGHT:.0f}"
        for (x, y), (x2, y2) in pairwise(place[each] for each in route):
            y, middle = y + _HEIGHT, (y + _HEIGHT + y2) / 2
            path += f"C{x:.0f} {middle:.0f} {x2:.0f} {middle:.0f} {x2:.0f} {y2:.0f}"
            path += f"V{y2 + _HEIGHT:.0f}" if (x2, y2) != place[route[-1]] else ""
        parts.append(f'<path d="{path}"/>')
    for name in sorted(graph):
        x, y = place[name]
        kind = "box private" if name.startswith("_") else "box"
        parts += [
            f'<rect class="{kind}" x="{x - _WIDTH / 2:.0f}" y="{y:.0f}" width="{_WIDTH}"'
            f' height="{_HEIGHT}" rx="6"/>',
            f'<text x="{x:.0f}" y="{y + 18.5:.1f}">{escape(name)}</text>',
        ]
    note = "Upper packages import lower ones. Implied imports are omitted."
    parts.append(f'<text class="note" x="{_MARGIN}" y="{height - 8}">{note}</text>')
    return "\n".join([*parts, "</svg>\n"])


def _routes(rows: list[list[str]], lines: Graph) -> list[list[str]]:
    """Return the nodes of every line, one per row, and add the bends to their rows."""
    row_of = {name: row for row, names in enumerate(rows) for name in names}
    routes = []
    for name, used in sorted(lines.items()):
        for other in sorted(used):
            bends = range(row_of[name] + 1, row_of[other])
            # Lines to the same package share their bends.
            route = [name, *(f"{row} to {other}" for row in bends), other]
            for row, bend in zip(bends, route[1:-1], strict=True):
                if bend not in rows[row]:
                    rows[row].append(bend)
            routes.append(route)
    return routes


def _places(rows: list[list[str]], routes: list[list[str]]) -> dict[str, tuple[float, float]]:
    """Place each node near its neighbours, without overlaps."""
    joined: dict[str, set[str]] = {name: set() for names in rows for name in names}
    for route in routes:
        for upper, lower in pairwise(route):
            joined[upper].add(lower)
            joined[lower].add(upper)

    def half(name: str) -> float:
        return (0 if " " in name else _WIDTH / 2) + _GAP / 2

    x = {name: float(column * _WIDTH) for names in rows for column, name in enumerate(names)}
    for sweep in range(_SWEEPS):
        for names in rows if sweep % 2 else rows[::-1]:
            wish = {name: _mean([x[each] for each in joined[name]], x[name]) for name in names}
            names.sort(key=lambda name: (wish[name], name))
            for name in names:
                x[name] = wish[name]
            for left, right in pairwise(names):
                x[right] = max(x[right], x[left] + half(left) + half(right))
            # Resolving overlaps moved nodes to the right: centre the row again.
            shift = _mean([wish[name] - x[name] for name in names], 0)
            for name in names:
                x[name] += shift
    least = min(x[name] - half(name) for name in x) - _MARGIN + _GAP / 2
    return {
        name: (x[name] - least, _MARGIN + row * _STEP)
        for row, names in enumerate(rows)
        for name in names
    }


def _mean(values: list[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def main() -> int:
    """Write the picture, or report the cycles."""
    parser = argparse.ArgumentParser(description="Draw the imports between the packages of ctsne.")
    parser.add_argument("output", type=Path, metavar="OUT.svg", help="the picture to write")
    output = parser.parse_args().output
    imports = find_imports(read_modules())
    graph = package_graph(imports)
    for cycle in find_cycles(graph):
        print(f"circular imports: {describe_cycle(cycle, imports)}", file=sys.stderr)
    if find_cycles(graph):
        return 1
    output.write_text(draw(graph), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
