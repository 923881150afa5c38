"""Beyond one machine: a map of a sample, and all other points placed in it by a Dask cluster.

:func:`fit_sample` draws a sample that keeps rare labels and fits a model to it; :func:`place`
places all points of a collection with :meth:`ctsne.ConditionalTSNE.place` and writes one file per
shard.
Both need the extra: ``pip install "ctsne[dask]"``.
"""

from ctsne.distributed.placement import PlacedShards, place
from ctsne.distributed.sample import fit_sample

__all__ = ["PlacedShards", "fit_sample", "place"]
