"""``ctsne.load``: models from files."""

from __future__ import annotations

import os

from ctsne.estimator import ConditionalTSNE
from ctsne.storage.model import restore_model


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
