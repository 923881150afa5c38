"""Write the API reference: one page per public module, from its docstring and its exports."""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path

import ctsne

# Sections of the overview; a public module that is missing here is an error.
GROUPS = {
    "Around the estimator": (
        *("sweep", "evaluate", "pl", "tl", "report"),
        *("distributed", "datasets", "labels"),
    ),
}


def write(folder: Path) -> None:
    """Write ``api.md`` and one page per module to a folder."""
    modules = [name for names in GROUPS.values() for name in names]
    public = {name for name in ctsne.__all__ if inspect.ismodule(getattr(ctsne, name))}
    missing = public.difference(modules)
    if missing:
        raise ValueError(f"docs/tools/api_pages.py has no place for ctsne.{min(missing)}")
    (folder / "api.md").write_text(_overview(), encoding="utf-8")
    for name in modules:
        (folder / f"api-{name}.md").write_text(_page(name), encoding="utf-8")


def _overview() -> str:
    parts = [
        "# API reference",
        "Generated from the docstrings. Arguments after the data are keyword-only.",
        _summary("ctsne", ["ConditionalTSNE", "load", "Placement"]),
    ]
    for title, names in GROUPS.items():
        lines = [f"- [`ctsne.{name}`](api-{name}.md): {_first(name)}" for name in names]
        parts += [f"## {title}", "\n".join(lines)]
    pages = "\n".join(f"api-{name}" for names in GROUPS.values() for name in names)
    parts += ["```{toctree}\n:hidden:\n\n" + pages + "\n```"]
    return "\n\n".join(parts) + "\n"


def _page(name: str) -> str:
    module = import_module(f"ctsne.{name}")
    exported = [each for each in module.__all__ if not each.startswith("_")]
    classes = [each for each in exported if inspect.isclass(getattr(module, each))]
    functions = [each for each in exported if each not in classes]
    parts = [f"# ctsne.{name}"]
    parts += ["```{eval-rst}\n.. automodule:: ctsne." + name + "\n   :no-members:\n```"]
    if functions:
        parts += ["## Functions", _summary(f"ctsne.{name}", functions)]
    if classes:
        parts += ["## Classes", _summary(f"ctsne.{name}", classes)]
    return "\n\n".join(parts) + "\n"


def _summary(module: str, names: list[str]) -> str:
    listed = "\n".join(f"   {name}" for name in names)
    return (
        f"```{{eval-rst}}\n.. currentmodule:: {module}\n\n"
        f".. autosummary::\n   :toctree: api\n   :nosignatures:\n\n{listed}\n```"
    )


def _first(name: str) -> str:
    """Return the first paragraph of a module's docstring."""
    text = (import_module(f"ctsne.{name}").__doc__ or "").strip()
    return " ".join(text.split("\n\n")[0].split())
