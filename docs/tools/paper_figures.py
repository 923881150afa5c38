"""List the figures and tables of the paper and its supplement: command, state and section."""

from __future__ import annotations

from pathlib import Path

# What is shown, the experiment, and how it compares; None if it needs a file of cells.
FIGURES: dict[str, tuple[str, str, str | None]] = {
    "Figure 1": (
        "maps of the synthetic data",
        "figure1",
        "differs in (b): the original merges wrong shapes less often here, because the start "
        "matters more than the method",
    ),
    "Figure 2": ("distances from one point", "figure2", "reproduced"),
    "Figure 3": (
        "the original with more neighbours",
        "figure3",
        "reproduced from random starts; from principal components the overlap in (a) disappears",
    ),
    "Figure 4": (
        "two bandwidths, one perplexity",
        "figure4",
        "reproduced on a synthetic point; the paper's own cell is ready for the file (`pancreas`)",
    ),
    "Figure 5": (
        "scores and trade-offs on the synthetic data",
        "figure5",
        "reproduced; the original differs in one direction, as in Figure 1",
    ),
    "Figure 6": ("pancreas: scores over β, and maps", "pancreas", None),
    "Figure 7": ("pancreas: trade-offs", "pancreas", None),
    "Figure S1": ("immune cells: maps", "immune", None),
    "Figure S2": ("immune cells: maps with the bandwidth on p", "immune", None),
    "Figure S3": ("immune cells: scores and trade-offs", "immune", None),
    "Table S1": ("immune cells: technology and tissue of the batches", "immune", None),
    "Figure S4": ("pancreas: maps with the bandwidth on p", "pancreas", None),
    "Figure S5": ("pancreas: an outlier dominates rows", "pancreas", None),
    "Figure S6": ("pancreas: other technologies nearby, by cell type", "pancreas", None),
    "Figure S7": ("pancreas: other technologies nearby, by technology", "pancreas", None),
}
FILES = {"pancreas": "panc8", "immune": "Immune_ALL_human.h5ad"}


def table(results: Path) -> str:
    """Return the table; figures of cells are ready until their section has been made."""
    lines = ["| figure | content | command | state |", "| --- | --- | --- | --- |"]
    for figure, (content, experiment, state) in FIGURES.items():
        command = f"`run.py {experiment}`"
        if experiment in FILES:
            command = f"`run.py {experiment} --file {FILES[experiment]}`"
        lines.append(
            f"| {figure} | {content} | {command} | {state or _of_file(results, experiment)} |"
        )
    return "\n".join(lines) + "\n"


def _of_file(results: Path, experiment: str) -> str:
    if (results / f"{experiment}.md").exists():
        return "computed from the file; its section compares it with the authors' values"
    nearest = ", and from pancreas3" if experiment == "pancreas" else ""
    return f"ready for the file; drawn from made-up cells{nearest}"
