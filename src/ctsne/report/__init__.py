"""Maps as one interactive page that opens offline: in a file, or inside a notebook.

:func:`write_report` writes a sweep or a fitted model, :func:`show` shows a page in a notebook.
Nothing else needs to be installed. :func:`widget` also returns the selection, with anywidget.
"""

from ctsne.report.notebook import widget
from ctsne.report.write import Page, show, write_report

__all__ = ["Page", "show", "widget", "write_report"]
