"""Prepare the results of the experiments for the pages of ``docs/results``, one per question.

The sections are those that ``experiments/run.py`` wrote; no number is typed again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import paper_figures
import result_pictures
from root_pages import adapted

# Paragraphs of sections that answer a question, by how they begin; a table or list after one
# that ends with a colon, or after the aims, belongs to it.
ANSWERS = {
    "reproduce": [("figure5", "With starts like the authors'")],
    "joint": [("constants", "One constant or part"), ("constants", "Types that only one label")],
    "equal-mixing": [("real_tables", "Aims: on average")],
    "alignment": [("alignment", "`auto` takes the alignment")],
    "private": [("private", "Aim: at most .75"), ("private", "Aim: at most .01")],
    "mixing": [("targets", "Within .02 of the target")],
    "next-to-others": [
        ("standard", "Totals, mean of the seeds"),
        ("standard", "Aims: a mean lead"),
        ("standard", "What contradicts us"),
    ],
    "clustering": [("clustering", "Against the type, counting")],
    "new-points": [("reference_embedding", "At the mixing of the reference")],
}
# From the pages, and from those in a folder of their own, to the generated files.
_BESIDE, _UP = "_generated/", "../_generated/"


def write(root: Path, folder: Path) -> None:
    """Write sections, answers and pictures to a folder, to be included by the pages."""
    source = root / "experiments" / "results"
    target = folder / "results"
    target.mkdir()
    for file in sorted(source.glob("*.md")):
        text = adapted(_with_command(file), source, root, folder, prefix=_UP)
        (target / f"{file.stem}.txt").write_text(text, encoding="utf-8")
    for page, wanted in ANSWERS.items():
        parts = [part for name, start in wanted for part in _answer(source / f"{name}.md", start)]
        prefix = _BESIDE if page in ("joint", "next-to-others") else _UP
        text = adapted("\n\n".join(parts) + "\n", source, root, folder, prefix=prefix)
        (target / f"{page}-answer.txt").write_text(text, encoding="utf-8")
    (target / "paper-figures.txt").write_text(paper_figures.table(source), encoding="utf-8")
    result_pictures.write(source, root / "benchmarks" / "results", target)


def blocks(text: str) -> list[str]:
    """Return the paragraphs, tables and lists of a page."""
    return [block.strip("\n") for block in text.split("\n\n") if block.strip()]


def _with_command(file: Path) -> str:
    """Return a section with the command that made it below its heading."""
    heading, rest = file.read_text(encoding="utf-8").strip().split("\n", 1)
    took = json.loads(file.with_suffix(".json").read_text(encoding="utf-8"))
    command = took.get("command", file.stem)
    how = (
        f"`python experiments/run.py {command}` ({took['seconds']:.0f} s on {took['cores']} cores, "
        f"ctsne {took['version']}, {took['date']})"
    )
    return f"{heading}\n\n{how}\n{rest}\n"


def _answer(file: Path, start: str) -> Iterator[str]:
    """Yield the paragraph that begins with a text, and the table or list that it introduces."""
    found = blocks(file.read_text(encoding="utf-8"))
    (at,) = [place for place, block in enumerate(found) if block.startswith(start)]
    yield found[at]
    if at + 1 < len(found) and found[at + 1].startswith(("|", "- ")):
        yield found[at + 1]
