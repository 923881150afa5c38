"""How far apart colours look, to normal and to red-green blind eyes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

# Linear RGB as normal, red-blind and green-blind eyes see it (Machado et al. 2009, severity 1).
_VISIONS = np.array(
    [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ],
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ],
    ]
)
# From linear RGB to OKLab (Ottosson 2020), with a cube root between the two.
_TO_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)
# Distances are shorter without red or green, so they count this many times.
_BLIND_WEIGHT = 2.2


def linear(rgb: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return amounts of light of sRGB values from 0 to 1."""
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def color_distances(colors: Sequence[str]) -> NDArray[np.float64]:
    """Return the distance of each pair of hexadecimal colours: for the eyes that see least."""
    rgb = np.array([[int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)] for color in colors])
    seen = np.clip(linear(rgb) @ _VISIONS.transpose(0, 2, 1), 0, 1)
    lab = np.cbrt(seen @ _TO_CONES.T) @ _TO_LAB.T
    apart = np.linalg.norm(lab[:, :, None] - lab[:, None], axis=-1)
    least: NDArray[np.float64] = np.minimum(apart[0], _BLIND_WEIGHT * apart[1:].min(axis=0))
    return least
