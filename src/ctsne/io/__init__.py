"""Files: data in any common format, and maps stored with all that is needed to repeat them.

Importing this package loads NumPy and SciPy only; packages for a format are imported when a file
needs them.
"""

from ctsne.io.dataset import Dataset, Source
from ctsne.io.maps import (
    check_key,
    check_room,
    read_columns,
    read_map,
    read_settings,
    write_columns,
    write_map,
)
from ctsne.io.paths import PICTURE_SUFFIXES, check_input, check_output, suffix_of
from ctsne.io.read import read_data

__all__ = [
    "PICTURE_SUFFIXES",
    "Dataset",
    "Source",
    "check_input",
    "check_key",
    "check_output",
    "check_room",
    "read_columns",
    "read_data",
    "read_map",
    "read_settings",
    "suffix_of",
    "write_columns",
    "write_map",
]
