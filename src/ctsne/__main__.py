"""``python -m ctsne``: the program ``ctsne``."""

import sys

from ctsne.cli.__main__ import run

if __name__ == "__main__":
    sys.exit(run())
