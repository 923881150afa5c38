"""Label columns of any kind as integer codes, label names and counts.

:func:`encode_labels` reads one column, :func:`encode_columns` one or several that are conditioned
on separately.
"""

from ctsne.labels.column import JOINT, Labels, combine_columns, encode_labels
from ctsne.labels.columns import MOST_COLUMNS, LabelColumns, encode_columns

__all__ = [
    "JOINT",
    "MOST_COLUMNS",
    "LabelColumns",
    "Labels",
    "combine_columns",
    "encode_columns",
    "encode_labels",
]
