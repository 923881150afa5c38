"""The scanpy face: tools that work on AnnData objects.

They follow scanpy's conventions: results go into ``adata`` under ``key_added``, or into a copy of
it. anndata and scanpy (``pip install "ctsne[scanpy]"``) are imported when they are needed.
"""

from ctsne.tl.embed import ctsne
from ctsne.tl.evaluate import evaluate
from ctsne.tl.recipe import recipe_heiter23
from ctsne.tl.sweep import sweep

__all__ = ["ctsne", "evaluate", "recipe_heiter23", "sweep"]
