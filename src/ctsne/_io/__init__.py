"""Files: data in any common format, maps written with all that is needed to make them again.

This is what the command line works with. Importing it loads NumPy only; packages for a format are
imported when a file needs them.
"""

from ctsne._io.archives import read_columns, write_columns
from ctsne._io.data import Dataset, read_data
from ctsne._io.h5ad_maps import check_key
from ctsne._io.maps import MapFile, read_map, write_map
from ctsne._io.paths import (
    DATA_SUFFIXES,
    MAP_SUFFIXES,
    PICTURE_SUFFIXES,
    check_input,
    check_output,
    file_sha256,
    suffix_of,
)
from ctsne._io.pictures import picture_metadata
from ctsne._io.provenance import InputRecord, Provenance, current_versions, input_records
from ctsne._io.stored import read_provenance

__all__ = [
    "DATA_SUFFIXES",
    "MAP_SUFFIXES",
    "PICTURE_SUFFIXES",
    "Dataset",
    "InputRecord",
    "MapFile",
    "Provenance",
    "check_input",
    "check_key",
    "check_output",
    "current_versions",
    "file_sha256",
    "input_records",
    "picture_metadata",
    "read_columns",
    "read_data",
    "read_map",
    "read_provenance",
    "suffix_of",
    "write_columns",
    "write_map",
]
