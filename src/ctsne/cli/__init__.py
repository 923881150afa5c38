"""The command line: ``ctsne <command>``.

Every command has a file of its own. They share ``options`` (options and parameters of the
estimator), ``values`` (what options accept), ``console`` (messages and results) and ``inputs``.
"""

from ctsne.cli.main import main

__all__ = ["main"]
