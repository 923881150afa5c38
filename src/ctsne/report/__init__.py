"""Maps as one interactive page that opens offline: in a file, or inside a notebook.

:func:`write_report` writes a sweep or a fitted model, :func:`show` shows a page in a notebook.
Nothing else needs to be installed.
"""

from ctsne.report.write import Page, show, write_report

__all__ = ["Page", "show", "write_report"]
