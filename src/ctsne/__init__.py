"""Conditional t-SNE: maps of your data with known labels factored out.

:class:`ConditionalTSNE` runs the whole pipeline, and :func:`load` reads a model that it saved.
``ctsne.evaluate`` measures maps, ``ctsne.sweep`` compares many of them, ``ctsne.pl`` draws figures,
``ctsne.report`` writes an interactive page, ``ctsne.tl`` works on AnnData objects, and
``ctsne.distributed`` on a cluster. All other modules are private; their heavy
loops are in the compiled module ``_native`` (``native/`` in the repository).

Everything is loaded at first use, so that importing the package is fast.
"""

from ctsne._core import set_maker

# Not from typing: until the command line handles Ctrl-C, it shows a traceback of every import.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from ctsne import datasets, distributed, evaluate, labels, pl, report, sweep, tl
    from ctsne.estimator import ConditionalTSNE, load
    from ctsne.placing.place import Placement

    __version__: str

__all__ = [
    "ConditionalTSNE",
    "Placement",
    "__version__",
    "datasets",
    "distributed",
    "evaluate",
    "labels",
    "load",
    "pl",
    "report",
    "sweep",
    "tl",
]

_HOMES = {
    "ConditionalTSNE": "ctsne.estimator",
    "Placement": "ctsne.placing.place",
    "load": "ctsne.estimator",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'ctsne' has no attribute {name!r}")
    from importlib import import_module

    if name == "__version__":
        value: object = import_module("importlib.metadata").version("ctsne")
    elif name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    else:
        value = import_module(f"ctsne.{name}")
    globals()[name] = value  # __getattr__ is not called for it again
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


def _page_html(shown: object) -> str:
    from ctsne.report.write import inline_html

    return inline_html(shown)


set_maker(_page_html)
