"""Draw the pictures of the tutorial on a batch effect, and write its table of measures.

Needs the folder of real data that the variable CTSNE_DATA names, and the packages of
experiments/requirements.txt. The site uses the stored pictures, so that it builds without them.

Example: python docs/tools/batch_effect.py docs
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import harmonypy
import matplotlib
import numpy as np
import pandas as pd
import umap
from PIL import Image

from ctsne import ConditionalTSNE, pl
from ctsne.evaluate import data_neighbors, measure_map

matplotlib.use("Agg")

DATA, KNOWN, OTHER = "pancreas3", "study", "cell_type"
DPI = 110


def save(image: Image.Image, picture: Path) -> None:
    """Write a picture without metadata, as small as it gets."""
    image.convert("RGB").save(picture, optimize=True)


def before_after(X: Any, labels: pd.DataFrame, picture: Path) -> None:
    """Draw the first picture of the project with the commands that a reader would use."""
    with tempfile.TemporaryDirectory() as folder:
        table = pd.DataFrame(X, columns=[f"PC{number}" for number in range(1, X.shape[1] + 1)])
        pd.concat([labels, table], axis=1).to_csv(Path(folder) / "cells.csv", index=False)
        embed = ["embed", "cells.csv", "--labels", KNOWN, "--other", OTHER, "-o", "map.csv"]
        plot = ["plot", "map.csv", "--before-after", "--dpi", str(DPI), "-o", "map.png"]
        for command in (embed, plot):
            subprocess.run([sys.executable, "-m", "ctsne", *command, "-q"], cwd=folder, check=True)
        save(Image.open(Path(folder) / "map.png"), picture)


def maps_of(X: Any, labels: pd.DataFrame) -> dict[str, Any]:
    """Return the maps to compare, all with their defaults."""
    harmony = harmonypy.run_harmony(X, labels, KNOWN, verbose=False, random_state=0)
    corrected = np.asarray(harmony.Z_corr)
    corrected = corrected if corrected.shape == X.shape else corrected.T
    return {
        "t-SNE": ConditionalTSNE(method="tsne").fit_transform(X),
        "Harmony + UMAP": umap.UMAP(random_state=0, n_jobs=1).fit_transform(corrected),
        "ctsne": ConditionalTSNE().fit_transform(X, labels=labels[KNOWN]),
    }


def main() -> int:
    """Write pictures and table into the folder given."""
    folder = Path(sys.argv[1])
    with np.load(Path(os.environ["CTSNE_DATA"]) / f"{DATA}.npz") as file:
        X, labels = file["X"], pd.DataFrame({name: file[name] for name in (KNOWN, OTHER)})
    before_after(X, labels, folder / "before-after.png")
    maps, neighbors = maps_of(X, labels), data_neighbors(X, labels[KNOWN])
    lines = ["| map | studies mixed | types mixed | neighbours kept |", "| --- | --: | --: | --: |"]
    for title, embedding in maps.items():
        found = measure_map(embedding, neighbors, other={OTHER: labels[OTHER]})
        names = ("mixing", "other_mixing", "adjusted_rnx")
        values = [next(x for key, x in found.items() if key.startswith(name)) for name in names]
        lines.append(" | ".join([f"| {title}", *(f"{value:.2f}" for value in values)]) + " |")
    (folder / "batch-effect.txt").write_text("\n".join(lines) + "\n", "utf-8")
    for name in (KNOWN, OTHER):
        figure, content = pl.maps(maps, {name: labels[name]})[0].figure, io.BytesIO()
        figure.savefig(content, dpi=DPI, bbox_inches="tight")
        save(Image.open(content), folder / f"batch-effect-{name}.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
