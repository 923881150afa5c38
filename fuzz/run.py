"""Attack ctsne: ``python fuzz/run.py [ATTACKER ...] [--seconds 600] [--seed 0] [--workers 2]``.

Prints how many cases of each attacker ended how, and each distinct finding once with the command
that repeats it (``--case N``). The exit code is 1 if there is any finding. See README.md.
"""

from __future__ import annotations

import argparse
import faulthandler
import sys
import tempfile
import time
from pathlib import Path

from harness import FOLDER, KINDS, Outcome, load, run
from worker import prepare, run_case

#: The attackers and their shares of the time. In a second, a core runs about 72 cases of the
#: estimator, 86 of files and 5,000 of native, so 100,000 fits and 20,000 files end together.
ATTACKERS = {"estimator": 76, "functions": 8, "files": 14, "native": 2}


def main() -> int:
    """Run the attackers asked for, or a single case."""
    options = parse()
    if options.case is not None:
        return repeat(options.attackers, options.seed, options.case)
    shares = {name: ATTACKERS[name] for name in options.attackers or ATTACKERS}
    outcomes = []
    for name, share in shares.items():
        outcomes.append(
            run(
                FOLDER / f"{name}.py",
                seconds=options.seconds * share / sum(shares.values()),
                seed=options.seed,
                workers=options.workers,
                tell=lambda line: print(line, flush=True),
            )
        )
    print(table(outcomes))
    for outcome in outcomes:
        for finding in outcome.findings.values():
            print(f"\n{finding['key']} ({finding['times']} times)")
            case = f"--seed {options.seed} --case {finding['number']}"
            print(f"  python fuzz/run.py {outcome.attacker} {case}")
            print("".join(f"  | {line}\n" for line in finding["text"].splitlines()), end="")
    return int(any(outcome.findings for outcome in outcomes))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Attack ctsne with random input.")
    parser.add_argument("attackers", nargs="*", metavar="ATTACKER", help=", ".join(ATTACKERS))
    parser.add_argument("--seconds", type=float, default=600, help="for all attackers together")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2, help="processes at the same time")
    parser.add_argument("--case", type=int, help="repeat this case of one attacker")
    options = parser.parse_args()
    if unknown := set(options.attackers) - set(ATTACKERS):
        parser.error(f"unknown attacker: {', '.join(unknown)}; choose from {', '.join(ATTACKERS)}")
    if options.case is not None and len(options.attackers) != 1:
        parser.error("--case needs exactly one attacker")
    return options


def repeat(attackers: list[str], seed: int, number: int) -> int:
    """Run one case in this process; whatever it raises is shown as it is."""
    attacker = load(FOLDER / f"{attackers[0]}.py")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        prepare(attacker, Path(folder))
        faulthandler.dump_traceback_later(attacker.LIMIT, exit=True)
        start = time.perf_counter()
        print(run_case(attacker, seed, number, Path(folder)))
        print(f"{time.perf_counter() - start:.3f} s")
    return 0


def table(outcomes: list[Outcome]) -> str:
    """Return the counts of all attackers."""
    header = ["attacker", "cases", "ok", "typed error", *KINDS]
    rows = [
        [each.attacker, each.cases, each.ok, each.typed, *(each.found[kind] for kind in KINDS)]
        for each in outcomes
    ]
    lines = [
        "  ".join(
            [
                f"{row[0]:10}",
                *(
                    f"{cell!s:>{max(7, len(name))}}"
                    for cell, name in zip(row[1:], header[1:], strict=True)
                ),
            ]
        )
        for row in [header, *rows]
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
