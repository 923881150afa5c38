"""Pictures of maps and of what they cost, drawn with matplotlib.

Every function takes plain arrays and returns the Axes: ``ax``, or those of a new pyplot figure.
Those that draw points also take an AnnData object and names of its columns, and those that compare
maps a sweep: ``pl.embedding(adata, "batch")``, ``pl.strip(result)``, ``pl.trade_off(result)``.

The same labels have the same colours in every picture; pass ``palette=pl.palette(labels)`` to draw
a subset of them in these too. A method has the same colour everywhere. The text of a label is shown
literally (``$`` and a leading ``_`` have no special meaning), missing labels are grey, and legends
lie outside the data; ``layout="constrained"`` makes room for them in a figure of your own.
``width="single"`` or ``"double"`` makes a figure that fits the columns of a journal. In vector
formats points are an image, of the dpi that you save with, and texts stay texts with
``rcParams["svg.fonttype"] = "none"`` and ``rcParams["pdf.fonttype"] = 42``. matplotlib (``pip
install "ctsne[plot]"``) is imported when the first picture is drawn.
"""

from ctsne.pl.compare import before_after, strip
from ctsne.pl.maps import embedding, maps
from ctsne.pl.palette import palette
from ctsne.pl.split import split
from ctsne.pl.trade_off import trade_off

__all__ = [
    "before_after",
    "embedding",
    "maps",
    "palette",
    "split",
    "strip",
    "trade_off",
]
__dir__ = __all__.copy  # modules are not listed
