"""Pictures of maps and of their measures, drawn with matplotlib.

Every function takes plain arrays, draws into ``ax`` (or a new pyplot figure) and returns the Axes.
Those that draw points also take an AnnData object with the names of its columns, and those that
compare maps a sweep: ``pl.embedding(adata, "batch")``, ``pl.trade_off(result)``.

They share one way to draw: a label has the same colour in every picture of the same labels, its
text is shown as it is (a ``$`` or a leading ``_`` means nothing), missing labels are grey, and
legends stand beside the data. In a figure of your own, ``layout="constrained"`` makes room for
them. matplotlib (``pip install "ctsne[plot]"``) is imported when the first picture is drawn.
"""

from ctsne.pl.embedding import embedding
from ctsne.pl.label_mixing import label_mixing
from ctsne.pl.maps import maps
from ctsne.pl.measures import measures
from ctsne.pl.other_share import other_share
from ctsne.pl.palette import palette
from ctsne.pl.similarity_profile import similarity_profile
from ctsne.pl.trade_off import trade_off

__all__ = [
    "embedding",
    "label_mixing",
    "maps",
    "measures",
    "other_share",
    "palette",
    "similarity_profile",
    "trade_off",
]
