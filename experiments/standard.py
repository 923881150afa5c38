"""The default next to what the field uses, by the measures of scib-metrics, on eleven datasets.

Harmony is Harmony 2, which harmonypy has followed since its version 2.
"""

from __future__ import annotations

import importlib.util
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from common import Data, difference, load_real, number, start, table, write, write_section
from equal_mixing import at_mixing
from numpy.typing import NDArray
from real import PAPER, TSNE, measure, parallel
from suggestion import SETS
from yardsticks import bbknn_tsne, harmony_correct, means_removed_tsne

from ctsne import ConditionalTSNE
from ctsne.evaluate import standard_measures
from ctsne.methods import METHODS

SEEDS = range(3)
DEFAULT, AUTO = "default", "auto"
HARMONY, HARMONY_UMAP = "Harmony 2 + t-SNE", "Harmony 2 + UMAP"
BBKNN, MEANS = "BBKNN graph + t-SNE", "label regressed out + t-SNE"
CONCORD = "CONCORD + t-SNE"
STRENGTH = METHODS["joint"].default
STRENGTHS = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
# Measured with all seeds, and with one.
ALL_SEEDS = (TSNE, DEFAULT, AUTO, HARMONY, HARMONY_UMAP)
ONE_SEED = (BBKNN, MEANS, CONCORD, *PAPER)
ESTIMATORS: dict[str, dict[str, Any]] = {
    TSNE: {"method": "tsne"},
    DEFAULT: {},
    AUTO: {"align": "auto"},
    "original": {"method": "original"},
    "revised p": {"method": "revised", "bandwidth": "p"},
    "revised r": {"method": "revised", "bandwidth": "r"},
}
GRAPHS: dict[str, Callable[..., NDArray[np.float32]]] = {
    BBKNN: partial(bbknn_tsne, weights="equal"),
    MEANS: means_removed_tsne,
}
# What is asked for: the lead over the better of both maps after Harmony, on how many sets the
# default is above Harmony and t-SNE, and on how many its types are as pure at Harmony's mixing.
LEAD, ABOVE, PURE = 0.02, 8, 9

Task = tuple[str, str, float | None, int]


def run(output: Path) -> None:
    """Make and measure all maps."""
    made = pd.DataFrame(parallel(_row, tasks()))
    write(output / "standard.csv", made.to_csv(index=False, float_format="%.6g"))
    report(made, output)


def tasks(seeds: Sequence[int] = SEEDS) -> list[Task]:
    """List dataset, line, strength and seed of all maps; None is the default strength."""
    missing = () if importlib.util.find_spec("concord") else (CONCORD,)
    found: list[Task] = []
    for seed in seeds:
        for name in SETS:
            lines = (*ALL_SEEDS, *ONE_SEED) if seed == 0 else ALL_SEEDS
            found += [(name, line, None, seed) for line in lines if line not in missing]
            others = [value for value in STRENGTHS if value != STRENGTH]
            along = (DEFAULT, AUTO) if seed == 0 else (DEFAULT,)
            found += [(name, line, value, seed) for line in along for value in others]
    return found


def _row(name: str, line: str, strength: float | None, seed: int) -> dict[str, Any]:
    data = load(name)
    begun = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings about unmatched points are expected here
        embedding = make_map(data, line, strength, seed)
    row = {"dataset": name, "line": line, "strength": strength, "seed": seed}
    row["seconds"] = round(time.perf_counter() - begun, 2)
    row |= measure(embedding, data)
    if strength is None:
        row |= standard_measures(embedding, data.known, data.hidden, n_jobs=1)
    return row


@lru_cache(maxsize=2)
def load(name: str) -> Data:
    """Load a dataset with the label to factor out and the one to look for."""
    return load_real(name, *SETS[name])


@lru_cache(maxsize=2)
def _corrected(name: str, seed: int) -> NDArray[np.float64]:
    data = load(name)
    return harmony_correct(data.X, data.known, random_state=seed)


def concord_space(data: Data, seed: int) -> NDArray[np.float32]:
    """Train CONCORD on the principal components, with its defaults, and return its latent space."""
    import anndata
    import concord
    import torch

    torch.set_num_threads(1)
    cells = anndata.AnnData(np.asarray(data.X, np.float32))
    cells.obs["label"] = pd.Categorical(data.known.astype(str))
    with tempfile.TemporaryDirectory() as folder:
        model = concord.Concord(
            cells,
            save_dir=folder,
            domain_key="label",
            seed=seed,
            device=torch.device("cpu"),
            preload_dense=True,  # no workers: processes of joblib cannot start others
        )
        model.fit_transform(output_key="Concord")
    return np.asarray(cells.obsm["Concord"], np.float32)


def make_map(data: Data, line: str, strength: float | None, seed: int) -> NDArray[np.float32]:
    """Map data with the defaults of a method; seed 0 starts from PCA, others add noise."""
    if line == HARMONY_UMAP:
        import umap

        model = umap.UMAP(random_state=seed, n_jobs=1)
        return np.asarray(model.fit_transform(_corrected(data.name, seed)), np.float32)
    if line in GRAPHS:
        return GRAPHS[line](data.X, data.known, random_state=seed)
    X = data.X
    if line in (HARMONY, CONCORD):
        X = _corrected(data.name, seed) if line == HARMONY else concord_space(data, seed)
    options = ESTIMATORS.get(line, ESTIMATORS[TSNE])
    if strength is not None:
        options = {**options, "strength": strength}
    init = start(X, seed) if seed else "pca"
    estimator = ConditionalTSNE(**options, init=init, random_state=seed, n_jobs=1)
    return estimator.fit_transform(X, labels=data.known)


def by_set(made: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return the mean of a measure over the seeds, a row per dataset and a column per line."""
    part = made[made["strength"].isna()]
    means = part.pivot_table(index="dataset", columns="line", values=column, sort=False)
    lines = [line for line in (*ALL_SEEDS, *ONE_SEED) if line in means]
    return means.reindex(index=list(dict.fromkeys(made["dataset"])), columns=lines)


def at_harmony(made: pd.DataFrame) -> pd.DataFrame:
    """Read the hidden label's Laplacian at the mixing of Harmony and t-SNE, mean of the seeds.

    t-SNE is the weak end of both lines. Where a line ends below that mixing, its most mixed map is
    taken, and ``<line> ends`` is the mixing where it ends. Seeds with one strength do not count.
    """
    rows = []
    for (name, _), part in made.groupby(["dataset", "seed"], sort=False):
        point, plain = (part[part["line"] == line].iloc[0] for line in (HARMONY, TSNE))
        row = {"dataset": name, "mixing": point["mixing"], HARMONY: point["other_laplacian"]}
        for line in (DEFAULT, AUTO):
            along = part[part["line"] == line].fillna({"strength": STRENGTH})
            along = along.sort_values("strength")
            mixing, impure = (
                np.array([plain[key], *along[key]]) for key in ("mixing", "other_laplacian")
            )
            row[f"{line} ends"] = row[line] = np.nan
            if len(along) == 1:
                continue
            row[line] = at_mixing(mixing, impure, row["mixing"])
            if row[line] is None:
                most = int(mixing.argmax())
                row[f"{line} ends"], row[line] = mixing[most], impure[most]
        rows.append(row)
    # Ends of some seeds only are means over these.
    return pd.DataFrame(rows).groupby("dataset", sort=False).mean().reset_index()


def is_pure(read: pd.DataFrame, *, ends: bool) -> pd.Series[bool]:
    """Return where the default or auto is as pure as Harmony, to three digits.

    ``ends`` also counts lines that end below Harmony's mixing.
    """
    aim = read[HARMONY].round(3)
    return pd.concat(
        [
            (read[line].astype(float).round(3) <= aim) & (read[f"{line} ends"].isna() | ends)
            for line in (DEFAULT, AUTO)
        ],
        axis=1,
    ).any(axis=1)


def report(made: pd.DataFrame, output: Path) -> None:
    """Write the section."""
    total, kept, read = by_set(made, "total"), by_set(made, "rnx"), at_harmony(made)
    write_section(
        output,
        "standard",
        "## Next to what the field uses, by scib-metrics",
        f"Maps of {len(total)} datasets with a second label, {_seeds(made)}, every method with its "
        "defaults. *Total* is the total of scib-metrics (.6 biology, .4 batch, not rescaled), "
        "higher is better. *Harmony 2* is harmonypy 2.1, which follows the R package harmony2 step "
        "by step (Patikas et al. 2026, [preprint](https://doi.org/10.64898/2026.03.16.711825)), "
        "on the same principal components. Points without a second label are mapped, but not "
        "measured. Raw values: [standard.csv](standard.csv).",
        "Totals, mean of the seeds. *Lead* is the default minus the better of both maps after "
        "Harmony:",
        _totals_table(total),
        _verdict(total, read),
        "The hidden label's Laplacian (lower is purer) at the mixing that Harmony 2 + t-SNE "
        "reaches, mean of the seeds (`auto`: the first). Lines are read between t-SNE and the "
        f"strengths {', '.join(f'{each:g}' for each in STRENGTHS)}. \\* marks a line that ends "
        "below that mixing with some seed, which favours it; where it ends is in brackets:",
        _purity_table(read),
        "Neighbours kept (adjusted R_NX, 30 neighbours), mean of the seeds:",
        _sets_table(kept[list(ALL_SEEDS)]),
        "All methods with the first seed, mean over the datasets. *BBKNN graph* takes equally many "
        "neighbours of each label, with equal weights. *Label regressed out* is a linear "
        "regression of each component on the label, which removes the mean of each label: the idea "
        "of PARE ([Chen et al. 2024](https://doi.org/10.1371/journal.pcbi.1012241)), not its "
        "program. The last three are the paper's methods:",
        _methods_table(made),
        "Their totals by dataset, first seed:",
        _sets_table(by_set(made[made["seed"] == 0], "total").drop(columns=list(ALL_SEEDS[2:]))),
        "What contradicts us:",
        _contradictions(total, kept, read, made),
        "CONCORD (concord-sc 1.0) was trained with its defaults on the principal components that "
        "all other methods get, not on genes, which it was made for; it may do better there. scVI "
        "was not measured: it is a model of counts, and these datasets are stored as principal "
        "components, so it cannot be trained on them.",
    )


def _seeds(made: pd.DataFrame) -> str:
    """Say how many seeds there are, and which datasets have fewer."""
    counts = made[made["line"] == DEFAULT].groupby("dataset", sort=False)["seed"].nunique()
    fewer = [f"{name} {count}" for name, count in counts.items() if count < counts.max()]
    said = f"{counts.max()} seed{'s' if counts.max() > 1 else ''}"
    return f"{said} (fewer: {', '.join(fewer)})" if fewer else said


def leads(total: pd.DataFrame) -> pd.Series[float]:
    """Return the default's lead over the better of both maps after Harmony, by dataset."""
    return total[DEFAULT] - total[[HARMONY, HARMONY_UMAP]].max(axis=1)


def _totals_table(total: pd.DataFrame) -> str:
    means = total[list(ALL_SEEDS)].assign(lead=leads(total))
    means.loc["**mean**"] = means.mean()
    rows = [
        [name, *map(number, row[list(ALL_SEEDS)]), difference(row["lead"], 0)]
        for name, row in means.iterrows()
    ]
    return table(["dataset", *ALL_SEEDS, "lead"], rows)


def _sets_table(values: pd.DataFrame) -> str:
    values = pd.concat([values, values.mean().to_frame("**mean**").T])
    rows = [[name, *map(number, row)] for name, row in values.iterrows()]
    return table(["dataset", *values.columns], rows)


def _purity_table(read: pd.DataFrame) -> str:
    rows = []
    for _, row in read.iterrows():
        cells = [
            number(row[line])
            + ("" if np.isnan(row[f"{line} ends"]) else f" \\* ({number(row[f'{line} ends'], 2)})")
            for line in (DEFAULT, AUTO)
        ]
        rows.append([row["dataset"], number(row["mixing"], 2), number(row[HARMONY]), *cells])
    return table(["dataset", "mixing", HARMONY, DEFAULT, AUTO], rows)


def _methods_table(made: pd.DataFrame) -> str:
    columns = {
        "total": "total",
        "biology": "bio_conservation",
        "batch": "batch_correction",
        "mixing": "mixing",
        "hidden Laplacian": "other_laplacian",
        "adjusted R_NX": "rnx",
    }
    first = made[made["seed"] == 0]
    means = pd.DataFrame({said: by_set(first, key).mean() for said, key in columns.items()})
    rows = [[line, *map(number, row)] for line, row in means.iterrows()]
    return table(["method", *columns], rows)


def _held(reached: bool) -> str:
    return "reached" if reached else "**missed**"


def _verdict(total: pd.DataFrame, read: pd.DataFrame) -> str:
    lead, n = leads(total).mean(), len(total)
    above = int((total[DEFAULT] > total[HARMONY]).sum())
    pure, ends = int(is_pure(read, ends=False).sum()), int(is_pure(read, ends=True).sum())
    return (
        f"Aims: a mean lead of {number(LEAD, 2)}: {difference(lead, 0)} "
        f"({_held(lead >= LEAD)}). Above Harmony 2 + t-SNE on at least {ABOVE} datasets: {above} "
        f"of {n} ({_held(above >= ABOVE)}). At Harmony's mixing, the hidden label's Laplacian is "
        f"at or below Harmony's, with the default or `auto`, on at least {PURE}: {pure} of {n} "
        f"({_held(pure >= PURE)}); {ends} if lines that end below that mixing count."
    )


def _contradictions(
    total: pd.DataFrame, kept: pd.DataFrame, read: pd.DataFrame, made: pd.DataFrame
) -> str:
    """List where the default or both lines are behind."""

    def sets(names: Sequence[object], others: str = "") -> str:
        return f"{len(names)} of {len(total)} datasets{others}: {', '.join(map(str, names))}"

    behind = leads(total)[lambda lead: lead < 0].sort_values()
    purer = read.loc[~is_pure(read, ends=False), "dataset"]
    lines = []
    if len(behind):
        said = [f"{name} ({difference(lead, 0)})" for name, lead in behind.items()]
        lines.append(f"A map after Harmony has the higher total on {sets(said)}.")
    if len(purer):
        lines.append(
            "At Harmony's mixing, Harmony's types are purer than with the default and `auto`, or "
            f"neither reaches that mixing, on {sets(list(purer))}."
        )
    for other in (TSNE, HARMONY, HARMONY_UMAP):
        gap = kept[DEFAULT] - kept[other]
        if (gap < 0).any():
            lines.append(
                f"The default keeps fewer neighbours than {other} on "
                f"{(gap < 0).sum()} of {len(gap)} datasets (mean difference "
                f"{difference(gap.mean(), 0)} over all, largest loss {number(-gap.min())})."
            )
    first = by_set(made[made["seed"] == 0], "total").round(3)
    for other in first.columns.drop([TSNE, DEFAULT, HARMONY, HARMONY_UMAP]):
        ahead = list(first.index[first[other] > first[DEFAULT]])
        if ahead:
            lines.append(f"{other} has a higher total (first seed) on {sets(ahead)}.")
    return "\n".join(f"- {line}" for line in lines) or "- Nothing."
