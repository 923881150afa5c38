"""Every formula as plain, slow, exact NumPy, for the tests to compare the fast code with.

All work is in float64 with dense n × n matrices. ``codes`` are integer labels from 0, with -1
where the label is missing. Two points are *different* when both are labelled and the labels
differ; all other points go to the list called *same*.
"""

from ctsne._reference.columns import *  # noqa: F403
from ctsne._reference.maps import *  # noqa: F403
from ctsne._reference.neighbors import *  # noqa: F403
from ctsne._reference.similarities import *  # noqa: F403
