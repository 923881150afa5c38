"""Models without a fit: from files, and from maps that are stored with their settings."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from ctsne._core.checks import check_finite
from ctsne._fit.storing import restore_model
from ctsne.estimator import ConditionalTSNE
from ctsne.labels import encode_columns


def load(path: str | os.PathLike[str]) -> ConditionalTSNE:
    """Load a model that :meth:`ConditionalTSNE.save` or ``ctsne embed --model`` wrote.

    It places new points exactly like the model that was saved. Arrays stay in the file and are read
    when they are needed, so do not change the file while the model is in use; replacing it is fine.
    Everything in it is checked first. It must not be trusted more than any other data, but it
    cannot run code.

    Parameters
    ----------
    path : path-like
        A file whose name ends in ``.ctsne``.

    Returns
    -------
    ConditionalTSNE
        A fitted model without ``affinities_``; ``resume`` is not possible.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import ctsne
    >>> from ctsne.datasets import make_synthetic
    >>> data = make_synthetic(300, random_state=0)
    >>> model = ctsne.ConditionalTSNE(n_iter=100).fit(data.X, labels=data.known)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(Path(folder) / "model.ctsne")
    ...     again = ctsne.load(Path(folder) / "model.ctsne")
    >>> again.method, again.labels_.names, again.embedding_.shape
    ('joint', ('blue', 'orange'), (300, 2))
    """
    model = ConditionalTSNE()
    restore_model(model, path)
    return model


def model_of_map(
    parameters: Mapping[str, Any], matrix: Any, labels: Any, positions: Any
) -> ConditionalTSNE:
    """Return the model of a finished map, given its parameters, checked features and labels.

    Neighbours and similarities are computed again, the map is not.
    """
    model = ConditionalTSNE(**parameters)
    known = None if labels is None else encode_columns(labels, n=matrix.shape[0])
    embedding = np.ascontiguousarray(positions, np.float32)
    if embedding.shape != (matrix.shape[0], model.n_components):
        wanted = f"({matrix.shape[0]}, {model.n_components})"
        raise ValueError(f"the map must have the shape {wanted}, got {embedding.shape}")
    check_finite(embedding, argument="the map")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they were shown when the map was made
        return model._adopt(matrix, known, embedding)
