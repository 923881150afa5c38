"""``python -m ctsne.cli``, for when the program ``ctsne`` is not on the path."""

import sys

from ctsne.cli import main

if __name__ == "__main__":
    sys.exit(main())
