"""Many settings on one neighbour graph, and the choice of one of them.

:func:`sweep` computes and measures the maps, :class:`SweepResult` holds them and chooses,
:func:`load_sweep` reads what :meth:`SweepResult.save` wrote.
"""

from ctsne.sweep.file import load_sweep
from ctsne.sweep.result import SweepResult
from ctsne.sweep.run import sweep
from ctsne.sweep.suggestion import Suggestion
from ctsne.sweep.swept import Line, SweptMap

__all__ = ["Line", "Suggestion", "SweepResult", "SweptMap", "load_sweep", "sweep"]
