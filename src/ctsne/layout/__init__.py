"""Stage 3: the positions of the points in the map.

:class:`Layout` is a map that can be run, stopped and continued, with the settings of a
:class:`Schedule`. :class:`PairWeights` or :class:`ColumnWeights` conditions it,
:func:`start_positions` starts it, and :func:`align` aligns finished maps with each other.
"""

from ctsne.layout.align import align
from ctsne.layout.columns import ColumnWeights, column_weights
from ctsne.layout.descent import Layout, Schedule
from ctsne.layout.pairs import PairWeights, pair_weights
from ctsne.layout.start import start_positions

__all__ = [
    "ColumnWeights",
    "Layout",
    "PairWeights",
    "Schedule",
    "align",
    "column_weights",
    "pair_weights",
    "start_positions",
]
