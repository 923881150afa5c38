"""Files: data in any common format, maps written with all that is needed to make them again.

This is what the command line works with. Importing it loads NumPy only; packages for a format are
imported when a file needs them.
"""

from ctsne.io.data import Dataset, read_data
from ctsne.io.paths import (
    DATA_SUFFIXES,
    MAP_SUFFIXES,
    PICTURE_SUFFIXES,
    check_input,
    check_output,
    file_sha256,
    suffix_of,
)
from ctsne.io.provenance import InputRecord, Provenance, current_versions, input_records

__all__ = [
    "DATA_SUFFIXES",
    "MAP_SUFFIXES",
    "PICTURE_SUFFIXES",
    "Dataset",
    "InputRecord",
    "Provenance",
    "check_input",
    "check_output",
    "current_versions",
    "file_sha256",
    "input_records",
    "read_data",
    "suffix_of",
]
