"""Label columns of any kind as integer codes, label names and counts.

:func:`encode_labels` reads the one to three columns that a map factors out, :func:`encode_column`
a single column, such as one to measure a map by.
"""

from ctsne.labels.column import JOINT, Column, combine_columns, encode_column, encode_number
from ctsne.labels.columns import (
    MOST_COLUMNS,
    UNNAMED,
    Labels,
    add_numbers,
    encode_labels,
    join_columns,
)

__all__ = [
    "JOINT",
    "MOST_COLUMNS",
    "UNNAMED",
    "Column",
    "Labels",
    "add_numbers",
    "combine_columns",
    "encode_column",
    "encode_labels",
    "encode_number",
    "join_columns",
]
