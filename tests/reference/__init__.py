"""Every formula as plain, slow, exact NumPy, for the tests to compare the fast code with.

All work is in float64 with dense n × n matrices. ``codes`` have one column per label column, shape
(n, C): integers from 0, with -1 where the label is missing; a ``column`` is one of them. A knob is
one value per column: a number per label, or one for all labels. Two points *differ* in a column
when both have a label there and the labels are not equal.
"""

from .maps import *  # noqa: F403
from .neighbors import *  # noqa: F403
from .similarities import *  # noqa: F403
