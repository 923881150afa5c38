"""Pictures of maps and of their measures, drawn with matplotlib.

Every function takes plain arrays, draws into ``ax`` (or a new pyplot figure) and returns the Axes.
Functions that draw points also take an AnnData object and names of its columns, and those that
compare maps a sweep: ``pl.embedding(adata, "batch")``, ``pl.trade_off(result)``.

A label has the same colour in every picture of the same labels, its text is shown literally (``$``
and a leading ``_`` have no special meaning), missing labels are grey, and legends lie outside the
data; ``layout="constrained"`` makes room for them in a figure of your own. matplotlib
(``pip install "ctsne[plot]"``) is imported when the first picture is drawn.
"""

from ctsne.pl.maps import embedding, maps
from ctsne.pl.measures import measures, trade_off
from ctsne.pl.neighbors import label_mixing, other_share, similarity_profile
from ctsne.pl.palette import palette

__all__ = [
    "embedding", "label_mixing", "maps", "measures", "other_share", "palette",
    "similarity_profile", "trade_off",
]  # fmt: skip
