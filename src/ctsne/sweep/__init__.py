"""Many settings on one neighbour search, and the choice of one of them.

:func:`sweep` computes and measures the maps, :class:`SweepResult` holds them and suggests one, and
:func:`load_sweep` reads the folder of a sweep or a file written by :meth:`SweepResult.save`.
"""

from ctsne.sweep.choice import Suggestion
from ctsne.sweep.result import Line, SweepResult, SweptMap, load_sweep
from ctsne.sweep.run import sweep

__all__ = ["Line", "Suggestion", "SweepResult", "SweptMap", "load_sweep", "sweep"]
