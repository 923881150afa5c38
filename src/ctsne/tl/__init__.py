"""Tools for AnnData objects that follow scanpy's conventions.

Results go into ``adata`` under ``key_added``, or into a copy of it. anndata and scanpy
(``pip install "ctsne[scanpy]"``) are imported only when they are needed.
"""

from ctsne.tl.embed import ctsne
from ctsne.tl.measure import evaluate, screen, sweep
from ctsne.tl.new_cells import transform
from ctsne.tl.selection import read_selection

__all__ = ["ctsne", "evaluate", "read_selection", "screen", "sweep", "transform"]
__dir__ = __all__.copy  # modules are not listed
