"""The command line: ``ctsne <command>``.

Every command is one file here; what they share is in ``options`` (options and parameters),
``config`` (TOML files), ``console`` (what is told, and where) and ``parser``.
"""

from ctsne.cli.main import main

__all__ = ["main"]
