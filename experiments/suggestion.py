"""The suggestion of a sweep: the same from every file, and how pure next to the purest map."""

from __future__ import annotations

import tempfile
from pathlib import Path

import anndata
import numpy as np
import pandas as pd
from common import Data, load_real, number, table, write, write_section
from real import parallel

from ctsne._core.vocabulary import SUGGESTED_MIXING
from ctsne.io import read_data
from ctsne.sweep import sweep

# What is factored out of each set, and what to look for; small sets first.
SETS = {
    "sc_mixology": ("batch", "cell_line"),
    "coil20": ("quadrants", "object"),
    "kang_muscat": ("stim", "cell_type"),
    "isolet": ("letter", "speaker"),
    "vowels": ("group", "vowel"),
    "cell_lines": ("dataset", "cell_type"),
    "fsdd": ("speaker", "digit"),
    "pancreas3": ("study", "cell_type"),
    "gas_drift": ("batch", "gas"),
    "hapt": ("subject", "activity"),
    "ifnb": ("stim", "cell_type_partial"),
}
WITHIN = 0.01


def run(output: Path) -> None:
    """Sweep all sets with the defaults."""
    made = pd.DataFrame(parallel(_row, [(name,) for name in SETS]))
    write(output / "suggestion.csv", made.to_csv(index=False, float_format="%.6g"))
    report(made, output)


def _row(name: str) -> dict[str, object]:
    data = load_real(name, *SETS[name])
    with tempfile.TemporaryDirectory() as folder:
        csv, h5ad = (read_data(path, labels=list(SETS[name])) for path in _files(data, folder))
        answers = []
        for file in (csv, h5ad):
            known, hidden = (file.column(column) for column in SETS[name])
            result = sweep(file.X, known, other={SETS[name][1]: hidden}, progress=False, n_jobs=1)
            maps = [np.asarray(swept.embedding).tobytes() for swept in result.maps]
            answers.append((maps, result.suggest().reason, result.suggest().map.title))
    suggested = result.suggest()
    most = max(swept.measures["mixing"] for swept in result.maps)
    target = min(SUGGESTED_MIXING, most)
    reaching = [swept for swept in result.maps if swept.measures["mixing"] >= target]
    purest = min(reaching, key=lambda swept: swept.measures["other_mixing"])
    plain = result.find(method="tsne")[0]
    return {
        "dataset": name,
        "points": len(data.X),
        "same": answers[0] == answers[1],
        "most": most,
        "tsne mixing": plain.measures["mixing"],
        "tsne other": plain.measures["other_mixing"],
        "suggested": suggested.map.title,
        "mixing": suggested.map.measures["mixing"],
        "other": suggested.map.measures["other_mixing"],
        "purest": purest.title,
        "purest other": purest.measures["other_mixing"],
        "reason": suggested.reason,
    }


def _files(data: Data, folder: str) -> list[Path]:
    """Write a set as a csv and as an h5ad."""
    names = [f"f{place}" for place in range(data.X.shape[1])]
    labels = pd.DataFrame({data.known_name: data.known, data.hidden_name: data.hidden})
    csv, h5ad = Path(folder) / "data.csv", Path(folder) / "data.h5ad"
    pd.concat([pd.DataFrame(data.X, columns=names), labels], axis=1).to_csv(csv, index=False)
    labels.index = labels.index.astype(str)
    anndata.AnnData(np.asarray(data.X), obs=labels).write_h5ad(h5ad)
    return [csv, h5ad]


def report(made: pd.DataFrame, output: Path) -> None:
    """Write the section."""
    loss = made["other"] - made["purest other"]
    rows = [
        [
            row["dataset"],
            "yes" if row["same"] else "no",
            number(row["tsne mixing"], 2),
            number(row["tsne other"]),
            row["suggested"],
            number(row["mixing"], 2),
            number(row["other"]),
            row["purest"],
            number(row["purest other"]),
        ]
        for _, row in made.iterrows()
    ]
    header = ["dataset", "csv = h5ad", "t-SNE mixes", "other", "suggested", "mixes", "other"]
    reasons = "\n".join(f"- {row['dataset']}: {row['reason']}." for _, row in made.iterrows())
    write_section(
        output,
        "suggestion",
        "## The suggestion",
        f"The default sweep of {len(made)} sets with a second label, the label to look for; "
        f"target: a mixing of {SUGGESTED_MIXING:g}. *Other* is the mixing of the second label, "
        "lower is purer. *Purest* is the purest map that reaches the target, or the most mixed map "
        "if none does. Each set was written as csv and as h5ad, and swept from both. Raw values: "
        "[suggestion.csv](suggestion.csv).",
        table([*header, "purest", "other"], rows),
        "The same maps, bit for bit, and the same suggestion from both files: "
        f"{made['same'].sum()} of {len(made)} sets.",
        f"Within {WITHIN} of the purest map: {(loss <= WITHIN).sum()} of {len(made)} sets (largest "
        f"difference {number(loss.max())}).",
        "The reasons:",
        reasons,
    )
