"""What the package wants to reach on two cores, and whether the results say so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

Results = dict[str, dict[str, Any]]
# What was measured, in words, and whether that is enough; None where it cannot be told.
Verdict = tuple[str, bool | None]


@dataclass(frozen=True)
class Target:
    """A goal; `measure` raises KeyError or StopIteration where results are missing."""

    what: str
    goal: str
    measure: Callable[[Results], Verdict]


def _found(results: Results, part: str, name: str) -> dict[str, Any]:
    every = results[part]["results"]
    return next(dict(result) for result in every if result["name"] == name)


def _faster(results: Results, part: str, goal: float) -> Verdict:
    """Compare the end-to-end time of the default method with openTSNE's."""
    ours, peer = (_found(results, part, name) for name in ("ctsne revised-r", "openTSNE-FFT"))
    if peer["status"] == "too slow":
        ratio = peer["limit"] / ours["seconds"]
        return f"> {ratio:.1f} ×", True if ratio >= goal else None
    ratio = peer["seconds"] / ours["seconds"]
    words = f"{ratio:.1f} × ({peer['seconds']:.1f} s : {ours['seconds']:.1f} s)"
    if peer.get("extrapolated_from"):
        words += f", extrapolated from {peer['extrapolated_from']} iterations"
    return words, ratio >= goal


def _million(results: Results) -> Verdict:
    ours = _found(results, "maps-1000000", "ctsne revised-r")
    minutes, gibibytes = ours["seconds"] / 60, ours["memory_peak"] / 1024
    return f"{minutes:.1f} min, {gibibytes:.1f} GiB", minutes < 30 and gibibytes < 12


def _original(results: Results) -> Verdict:
    times = [
        _found(results, "maps-15000", f"ctsne {name}")["seconds"]
        for name in ("original", "revised-r")
    ]
    return f"{times[0] / times[1]:.2f} ×", times[0] <= 2.5 * times[1]


def _floor(results: Results, moment: str) -> Verdict:
    content = results["roofline-300000"]
    jobs = content["settings"]["jobs"]
    ratio = next(
        row["ratio"] for row in content["rows"] if (row["moment"], row["jobs"]) == (moment, jobs)
    )
    return f"{ratio:.2f} ×", ratio <= 2


def _libraries(results: Results, *parts: str) -> Verdict:
    """Compare with every library on either problem, at the recall asked for, in its own run."""
    ratios: list[tuple[float, bool, str]] = []
    left_out: list[str] = []
    missed, undecided = False, False
    for part in parts:
        every = results[part]["results"]
        ours: dict[str, float] = {}
        for result in every:
            if result["name"] == "ctsne":
                missed |= not result["reached"]
                ours.setdefault(result["problem"], result["seconds"])
        for result in every:
            name = f"{result['name']} ({result['problem']})"
            slow = result["status"] == "too slow"
            if result["name"] == "ctsne":
                continue
            if slow or result.get("reached"):
                seconds = result["limit"] if slow else result["seconds"]
                ratios.append((seconds / ours[result["problem"]], slow, name))
            else:
                undecided |= result["status"] != "done"
                why = "missed the recall" if result["status"] == "done" else result["status"]
                left_out.append(f"{name} {why}")
    if not ratios:
        return "no library ran", None
    ratio, slow, name = min(ratios)
    words = "; ".join([f"{name} takes {'> ' if slow else ''}{ratio:.2f} ×", *left_out])
    if missed:
        return f"{words}; our own recall missed the target", False
    if any(ratio <= 1 and not slow for ratio, slow, _ in ratios):
        return words, False
    return words, True if ratio > 1 and not undecided else None


def _label_counts(results: Results) -> Verdict:
    times = {
        result["labels"]: result["seconds"]
        for result in results["neighbors-1000000"]["results"]
        if result["name"] == "ctsne" and result["problem"] == "two lists"
    }
    few, many = times[2], times[1000]
    ratio = max(few, many) / min(few, many)
    return f"{few:.1f} s and {many:.1f} s, {ratio:.2f} ×", ratio <= 1.5


def _small(results: Results) -> Verdict:
    seconds = _found(results, "maps-1500", "ctsne revised-r")["seconds"]
    return f"{seconds:.2f} s", seconds < 1.5


def _second_core(results: Results) -> Verdict:
    names = ("ctsne revised-r, one thread", "ctsne revised-r")
    one, two = (_found(results, "maps-100000", name)["seconds"] for name in names)
    return f"{one / two:.2f} ×", one / two >= 1.7


def _import(results: Results) -> Verdict:
    ours = _found(results, "startup", "ctsne")
    heavy = ", ".join(ours["heavy"])
    words = f"{ours['seconds']:.2f} s" + (f", loads {heavy}" if heavy else "")
    return words, ours["seconds"] < 0.5 and not heavy


def _quality(results: Results, part: str, peer: str) -> Verdict:
    """Our t-SNE must be no more than .01 worse in loss or neighbours kept."""
    ours, theirs = _found(results, part, "ctsne tsne"), _found(results, part, peer)
    loss, kept = ours["kl"] - theirs["kl"], ours["rnx"] - theirs["rnx"]
    words = f"KL {ours['kl']:.4f} ({loss:+.4f}), R_NX {ours['rnx']:.4f} ({kept:+.4f})"
    return words, loss <= 0.01 and kept >= -0.01


_WITHIN = "loss and R_NX no more than .01 worse"
TARGETS = (
    Target(
        "15,000 × 50, 5 labels, revised r, end to end, against openTSNE (FFT)",
        "≥ 20 × faster",
        partial(_faster, part="maps-15000", goal=20),
    ),
    Target(
        "100,000 × 50, 10 labels", "≥ 10 × faster", partial(_faster, part="maps-100000", goal=10)
    ),
    Target("300,000 × 50, 10 labels", "≥ 8 × faster", partial(_faster, part="maps-300000", goal=8)),
    Target(
        "1,000,000 × 50, 10 labels, perplexity 30, 750 iterations",
        "< 30 min, < 12 GiB",
        _million,
    ),
    Target("original against revised r, 15,000", "≤ 2.5 ×", _original),
    Target(
        "one iteration at 300,000, late, against its floor",
        "≤ 2 ×",
        partial(_floor, moment="late"),
    ),
    Target(
        "one iteration at 300,000, early, against its floor",
        "≤ 2 ×",
        partial(_floor, moment="early"),
    ),
    Target(
        "neighbours 100,000 × 50, 75 + 75, recall .99",
        "faster than every library",
        lambda results: _libraries(results, "neighbors-100000"),
    ),
    Target(
        "neighbours 1,000,000 × 50, 45 + 45, recall .95",
        "faster than every library",
        lambda results: _libraries(results, "neighbors-1000000", "neighbors-1000000-more"),
    ),
    Target("the same with 2 and with 1,000 labels", "within 1.5 ×", _label_counts),
    Target("1,500 × 10, 750 iterations", "< 1.5 s", _small),
    Target("second core at 100,000, end to end", "≥ 1.7 ×", _second_core),
    Target("`import ctsne`", "< 0.5 s, nothing heavy", _import),
    Target(
        "t-SNE at 15,000 against openTSNE",
        _WITHIN,
        partial(_quality, part="maps-15000", peer="openTSNE-FFT"),
    ),
    Target(
        "t-SNE at 100,000 against openTSNE",
        _WITHIN,
        partial(_quality, part="maps-100000", peer="openTSNE-FFT"),
    ),
)
