"""New points in a finished map: each at the minimum of its own loss, the map unchanged."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import ctsne._native as _native
from ctsne.layout.fields import Fields

# Newton's method needs three or four steps for most points.
MOST_STEPS = 60


class Places:
    """A finished map that takes new points.

    A new point attracted by the neighbours j with weights ``p_j`` goes to a minimum of
    ``-a sum_j p_j log K(d_j) + log Phi(y)``, where a is the exaggeration of the map and Phi the
    potential of its points: the Kullback-Leibler divergence between the point's similarities in the
    data and in the map. Where Phi is less than usual in the map, the logarithm is continued by its
    tangent, so that Phi is divided by what it is divided by in the loss of the map; otherwise
    points between clusters would be driven out of the map. A point starts at a weighted median of
    its neighbours. New points do not feel each other, so the place of each depends on nothing but
    its own row.
    """

    def __init__(self, y: NDArray[np.float32], fields: Fields, *, exaggeration: float) -> None:
        self._fields = fields
        self._exaggeration = exaggeration
        self._native = _native.PlaceMap(
            y,
            fields.grids,
            fields.nodes,
            fields.spacing,
            fields.origin.tolist(),
            fields.offset,
            fields.summed,
            fields.dof,
            fields.usual,
        )

    def place(
        self,
        indices: NDArray[np.int32],
        rows: NDArray[np.float32],
        labels: NDArray[np.integer],
        *,
        n_jobs: int,
    ) -> NDArray[np.float32]:
        """Return the places of new points, from their neighbours and the weights of these.

        ``labels`` are numbers of the labels in ``fields``; -1 for points that feel all alike.
        """
        fields = self._fields
        out, _ = self._native.place(
            indices,
            rows,
            fields.grid_of[labels],
            fields.share[labels],
            fields.own[labels],
            fields.ranges[labels],
            self._exaggeration,
            MOST_STEPS,
            n_jobs,
        )
        return out
