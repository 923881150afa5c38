"""The named values that parameters accept; light, because the command line's help reads them."""

STARTS = ("pca", "random", "spectral")
# Metrics between rows of features, and with given distances.
FEATURE_METRICS = ("euclidean", "cosine")
METRICS = (*FEATURE_METRICS, "precomputed")
# The row that has the requested perplexity: conditioned (r) or not (p).
BANDWIDTHS = ("r", "p")
# In rising order of what they assume about the effect of a label.
ALIGNMENTS = ("none", "mutual", "local", "mean")
# "auto" picks from these. It leaves out "local", which moves each point separately, so that it
# always fits well and its score proves nothing.
TRIED_ALIGNMENTS = ("none", "mutual", "mean")
ALIGN_CHOICES = (*ALIGNMENTS, "auto")
