"""A sweep, or points placed in a map, as one interactive page in a file that opens offline.

Pages need Bokeh (``pip install "ctsne[report]"``), whose scripts go into them.
"""

from ctsne.report.placed import write_placed
from ctsne.report.write import write_report

__all__ = ["write_placed", "write_report"]
