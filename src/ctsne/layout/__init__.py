"""Stage 3: where the points go.

:class:`Layout` holds a map in the making and can be run, stopped and continued; :class:`Schedule`
says how it is run; :class:`PairWeights` conditions it; :func:`start_positions` begins it;
:func:`align` lays finished maps on each other.
"""

from ctsne.layout.align import align
from ctsne.layout.descent import Layout, Schedule
from ctsne.layout.pairs import PairWeights, pair_weights
from ctsne.layout.start import start_positions

__all__ = ["Layout", "PairWeights", "Schedule", "align", "pair_weights", "start_positions"]
