"""Stage 3: the positions of the points in the map.

:class:`Layout` is a map that can be run, stopped and continued, with the settings of a
:class:`Schedule`. :class:`PairWeights` conditions it, :func:`start_positions` starts it, and
:func:`align` aligns finished maps with each other.
"""

from ctsne.layout.descent import Layout, Schedule
from ctsne.layout.start import align, start_positions
from ctsne.layout.weights import PairWeights, pair_weights

__all__ = ["Layout", "PairWeights", "Schedule", "align", "pair_weights", "start_positions"]
