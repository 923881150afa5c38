"""A sweep as one interactive page, in a single file that opens offline.

:func:`write_report` needs Bokeh (``pip install "ctsne[report]"``), whose scripts go into the page.
"""

from ctsne.report.write import write_report

__all__ = ["write_report"]
