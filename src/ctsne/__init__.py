"""Maps of your data without what you already know in it: conditional t-SNE, fast.

The whole pipeline is :class:`ConditionalTSNE`; its stages are ``ctsne.neighbors``,
``ctsne.affinity`` and ``ctsne.layout``, the measures ``ctsne.evaluate``, many maps at once
``ctsne.sweep``, pictures ``ctsne.pl``, the interactive page ``ctsne.report`` and AnnData objects
``ctsne.tl``.

Everything is loaded when it is first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ctsne import (
        affinity,
        datasets,
        evaluate,
        labels,
        layout,
        neighbors,
        pl,
        report,
        sweep,
        tl,
    )
    from ctsne.estimator import ConditionalTSNE

    __version__: str

__all__ = [
    "ConditionalTSNE",
    "__version__",
    "affinity",
    "datasets",
    "evaluate",
    "labels",
    "layout",
    "neighbors",
    "pl",
    "report",
    "sweep",
    "tl",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'ctsne' has no attribute {name!r}")
    if name == "__version__":
        value: Any = import_module("importlib.metadata").version("ctsne")
    elif name == "ConditionalTSNE":
        value = import_module("ctsne.estimator").ConditionalTSNE
    else:
        value = import_module(f"ctsne.{name}")
    globals()[name] = value  # found here from now on
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
