"""What the comparison at equal mixing says, in words and counts that are computed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from common import number
from equal_mixing import Place, Standing, compare

__all__ = ["PAPER", "duel", "lost_duels", "share_text", "standing_sentence", "tally", "verdict"]

# The methods of the two papers.
PAPER = ("original", "revised p", "revised r")

Standings = Mapping[str, Sequence[Standing]]
Counts = tuple[int, int, int]


def share_text(share: float) -> str:
    """Write a share of random mixing: .5, .85."""
    return number(share, 2).rstrip("0")


def standing_sentence(name: str, found: Standing) -> str:
    """Say which method is best on a dataset at a share of random mixing.

    Parameters
    ----------
    name : str
        Of the dataset.
    found : Standing

    Returns
    -------
    str

    Examples
    --------
    >>> from equal_mixing import make_line, standing
    >>> from real_words import standing_sentence
    >>> joint = make_line([0, 1], [0.6, 0.4], [0.0, 0.1])
    >>> balanced = make_line([0, 1], [0.6, 0.2], [0.0, 0.2])
    >>> print(standing_sentence("toy", standing({"joint": joint, "balanced": balanced}, 0.5)))
    On toy at .5: joint dominates with most neighbours (.500) and purest (.050).
    """
    if not found.places and not found.past:
        body = ["no method reaches it"]
    elif not found.places:
        body = ["no line passes it"]
    elif not found.contested:
        only, there = next(iter(found.places.items()))
        body = [f"only {only} can be read (R_NX {_kept(there)}, Laplacian {_impure(there)})"]
    else:
        body = [_comparison(found)]
    if found.places and all(method in found.short for method in PAPER):
        body.append("none of the papers' methods gets there")
    if found.short and (found.places or found.past):
        body.append(f"{_and(found.short)} {'fall' if found.short[1:] else 'falls'} short")
    if found.past:
        body.append(f"{_and(found.past)} {'mix' if found.past[1:] else 'mixes'} more throughout")
    return f"On {name} at {share_text(found.share)}: {'; '.join(body)}."


def _comparison(found: Standing) -> str:
    keeps, pure = found.keeps_most[0], found.purest[0]
    if found.dominant:
        there = found.places[keeps]
        return (
            f"{keeps} dominates with most neighbours ({_kept(there)}) and purest ({_impure(there)})"
        )
    most = f"{keeps} keeps most neighbours ({_kept(found.places[keeps])}"
    most += f", tie with {_and(found.keeps_most[1:])})" if found.keeps_most[1:] else ")"
    purest = f"{pure} is purest ({_impure(found.places[pure])}"
    purest += f", tie with {_and(found.purest[1:])})" if found.purest[1:] else ")"
    both = f"{_and(found.unbeaten)} best or tied in both" if found.unbeaten else "none best in both"
    return f"{most}, {purest}, {both}"


def duel(standings: Standings, one: str, two: str) -> tuple[Counts, Counts]:
    """Count how often one method is better than another where both can be read.

    Parameters
    ----------
    standings : mapping of dataset to sequence of Standing
    one, two : str

    Returns
    -------
    kept, pure : tuple of int
        How often ``one`` is better, tied and worse.

    Examples
    --------
    >>> from equal_mixing import make_line, standing
    >>> from real_words import duel
    >>> good = make_line([0, 1], [0.6, 0.4], [0.0, 0.1])
    >>> poor = make_line([0, 1], [0.6, 0.2], [0.0, 0.1])
    >>> duel({"made-up": [standing({"good": good, "poor": poor}, 0.5)]}, "good", "poor")
    ((1, 0, 0), (0, 1, 0))
    """
    return tally(
        (found.places[one], found.places[two])
        for found in _all(standings)
        if one in found.places and two in found.places
    )


def tally(meetings: Iterable[tuple[Place, Place]]) -> tuple[Counts, Counts]:
    """Count in how many pairs the first is better, tied and worse: in R_NX and in purity.

    Parameters
    ----------
    meetings : iterable of pairs of Place

    Returns
    -------
    kept, pure : tuple of int

    Examples
    --------
    >>> from equal_mixing import Place, Range
    >>> from real_words import tally
    >>> one, two = (Place(Range(x, x, x), Range(0.1, 0.1, 0.1)) for x in (0.5, 0.4))
    >>> tally([(one, two), (one, one)])
    ((1, 1, 0), (0, 2, 0))
    """
    results = [compare(*pair) for pair in meetings]
    kept, pure = ([pair[side] for pair in results] for side in (0, 1))
    return (
        (kept.count(1), kept.count(0), kept.count(-1)),
        (pure.count(1), pure.count(0), pure.count(-1)),
    )


def lost_duels(standings: Standings, one: str, others: Iterable[str]) -> list[str]:
    """Say where a method keeps fewer neighbours or is less pure than one of the others.

    Parameters
    ----------
    standings : mapping of dataset to sequence of Standing
    one : str
    others : iterable of str

    Returns
    -------
    list of str
        A clause for each dataset and share with a loss.
    """
    rivals = list(others)
    lost = []
    for name, each in standings.items():
        for found in each:
            clauses = _losses(found, one, rivals)
            if clauses:
                lost.append(f"{name} at {share_text(found.share)}: it {'; it '.join(clauses)}")
    return lost


def _losses(found: Standing, one: str, rivals: Sequence[str]) -> list[str]:
    if one not in found.places:
        return []
    own = found.places[one]
    there = {rival: found.places[rival] for rival in rivals if rival in found.places}
    kept = [f"{m} ({_kept(p)})" for m, p in there.items() if compare(own, p)[0] < 0]
    pure = [f"{m} ({_impure(p)})" for m, p in there.items() if compare(own, p)[1] < 0]
    clauses = [f"keeps {_kept(own)}, less than {_and(kept)}"] if kept else []
    return clauses + ([f"has Laplacian {_impure(own)}, more than {_and(pure)}"] if pure else [])


def verdict(standings: Standings, *, hope: str = "joint") -> list[str]:
    """Sum up all datasets and shares.

    Parameters
    ----------
    standings : mapping of dataset to sequence of Standing
    hope : str, default="joint"
        The method that was hoped to be best.

    Returns
    -------
    list of str
        Sentences.

    Examples
    --------
    >>> from equal_mixing import make_line, standing
    >>> from real_words import verdict
    >>> joint = make_line([0, 1], [0.6, 0.4], [0.0, 0.1])
    >>> paper = make_line([0, 1], [0.6, 0.2], [0.0, 0.2])
    >>> lines = {"joint": joint, "original": paper, "revised p": paper, "revised r": paper}
    >>> verdict({"toy": [standing(lines, 0.5)]})[1]
    'joint dominates everywhere.'
    """
    every = _all(standings)
    contested = [found for found in every if found.contested]
    reached = sum(hope not in found.short for found in every)
    papers = sum(any(method not in found.short for method in PAPER) for found in every)
    sentences = [
        f"Of {len(every)} pairs of a dataset and a share that t-SNE alone does not reach, {hope} "
        f"reaches {reached}, and one of the papers' methods at least {papers}."
    ]
    dominant = [found.dominant for found in contested]
    wins = {name: dominant.count(name) for name in dict.fromkeys(dominant) if name}
    if len(wins) == 1 and sum(wins.values()) == len(contested):
        sentences.append(f"{next(iter(wins))} dominates everywhere.")
    else:
        text = _and([f"{name} in {count}" for name, count in _falling(wins)]) or "no method in any"
        both = sum(not found.dominant and bool(found.unbeaten) for found in contested)
        split = sum(not found.unbeaten for found in contested)
        sentences.append(
            f"No method dominates everywhere. Of the {len(contested)} that two methods or more "
            f"reach, one dominates (best in R_NX and in purity, beyond the seed spread) as follows:"
            f" {text}; in {both} the best are tied in one measure or both, in {split} one method "
            "keeps most neighbours and another is purest."
        )
    rivals = sorted({m for found in every for m in found.places if m != hope})
    better: list[str] = []
    worse: list[str] = []
    for rival in rivals:
        kept, pure = duel(standings, hope, rival)
        (better if _ahead(kept) and _ahead(pure) else worse).append(rival)
    if better:
        sentences.append(
            f"Where both can be read, {hope} is ahead of {_and(better)} more often than behind, or "
            "as often, in R_NX and in purity."
        )
    if worse:
        sentences.append(
            f"That is not so against {_and(worse)}, which {'is' if len(worse) == 1 else 'are'} "
            f"more often better than {hope} in one of the two at least."
        )
    return sentences


def _ahead(counts: Counts) -> bool:
    return counts[0] >= counts[2]


def _falling(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: -item[1])


def _all(standings: Standings) -> list[Standing]:
    return [found for each in standings.values() for found in each]


def _kept(there: Place) -> str:
    return number(there.kept.value)


def _impure(there: Place) -> str:
    return number(there.impure.value)


def _and(names: Sequence[str]) -> str:
    return ", ".join(names[:-1]) + f" and {names[-1]}" if len(names) > 1 else "".join(names)
