"""Maps of your data without what you already know in it: conditional t-SNE, fast.

The whole pipeline is :class:`ConditionalTSNE`; its stages are ``ctsne.neighbors``,
``ctsne.affinity`` and ``ctsne.layout``, the measures ``ctsne.evaluate``, and every formula once
more in plain NumPy ``ctsne.oracle``.
"""

from importlib.metadata import version as _version

from ctsne.estimator import ConditionalTSNE

__version__ = _version("ctsne")
__all__ = ["ConditionalTSNE", "__version__"]
