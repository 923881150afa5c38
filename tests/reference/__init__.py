"""Every formula as plain, slow, exact NumPy, for the tests to compare the fast code with.

All work is in float64 with dense n × n matrices. ``codes`` are integer labels from 0, with -1
where the label is missing. Two points are *different* when both are labelled and the labels
differ; all other points go to the list called *same*.
"""

from .columns import *  # noqa: F403
from .maps import *  # noqa: F403
from .neighbors import *  # noqa: F403
from .similarities import *  # noqa: F403
