"""Pictures of maps and of their measures, drawn with matplotlib.

Every function takes plain arrays, draws into ``ax`` (or a new pyplot figure) and returns the Axes.
Functions that draw points also take an AnnData object and names of its columns, and those that
compare maps a sweep: ``pl.embedding(adata, "batch")``, ``pl.trade_off(result)``.

Up to eight labels have the same colours in every picture of them; more get theirs by their places
in the map, so pass ``palette=pl.palette(labels, embedding)`` to keep them across maps. A method has
the same colour everywhere. The text of a label is shown literally (``$`` and a leading ``_`` have
no special meaning), missing labels are grey, and legends lie outside the data;
``layout="constrained"`` makes room for them in a figure of your own. ``width="single"`` or
``"double"`` makes a figure that fits the columns of a journal. In vector formats points are an
image, of the dpi that you save with, and texts stay texts with
``rcParams["svg.fonttype"] = "none"`` and ``rcParams["pdf.fonttype"] = 42``. matplotlib
(``pip install "ctsne[plot]"``) is imported when the first picture is drawn.
"""

from ctsne.pl.maps import embedding, maps
from ctsne.pl.measures import measures, trade_off
from ctsne.pl.neighbors import label_mixing, other_share
from ctsne.pl.palette import palette

__all__ = ["embedding", "label_mixing", "maps", "measures", "other_share", "palette", "trade_off"]
