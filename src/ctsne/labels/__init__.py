"""Label columns of any kind as integer codes, label names and counts.

:func:`encode_column` reads one column, :func:`encode_labels` one or several that are conditioned
on separately.
"""

from ctsne.labels.column import JOINT, Column, combine_columns, encode_column
from ctsne.labels.columns import MOST_COLUMNS, Labels, encode_labels

__all__ = [
    "JOINT",
    "MOST_COLUMNS",
    "Column",
    "Labels",
    "combine_columns",
    "encode_column",
    "encode_labels",
]
