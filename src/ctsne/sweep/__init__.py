"""Many settings on one neighbour graph, and the choice of one of them.

:func:`sweep` computes and measures the maps, :class:`SweepResult` holds them and chooses.
"""

from ctsne.sweep.result import SweepResult, SweptMap
from ctsne.sweep.run import sweep

__all__ = ["SweepResult", "SweptMap", "sweep"]
