"""Run benchmarks and write RESULTS.md from what they measured.

`short` takes less than a quarter of an hour on two cores; `full` adds all other parts and takes
more than an hour. A part can be run alone by its name. Parts that are not run keep their last
results.

Example: python benchmarks/run.py short
Example: python benchmarks/run.py neighbors-100000 roofline-300000
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence

from common import say
from report import write_report
from suites import HERE, PARTS, RESULTS, SETS


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parts = ", ".join(f"{name} (~{part.minutes:g} min)" for name, part in PARTS.items())
    parser.add_argument("names", nargs="+", metavar="NAME", help=f"short, full, or any of {parts}")
    names = parser.parse_args(argv).names
    unknown = [name for name in names if name not in PARTS and name not in SETS]
    if unknown:
        parser.error(f"unknown part {unknown[0]!r}; choose from short, full, {', '.join(PARTS)}")
    chosen = dict.fromkeys(part for name in names for part in SETS.get(name, [name]))
    failed = [name for name in chosen if not run_part(name)]
    if failed:
        say(f"failed: {', '.join(failed)}")
    return 1 if failed else 0


def run_part(name: str) -> bool:
    """Run one part and update the report; return whether it succeeded."""
    part = PARTS[name]
    say(f"== {name} (about {part.minutes:g} minutes)")
    begin = time.perf_counter()
    file = RESULTS / f"{name}.json"
    command = [sys.executable, str(HERE / part.program), *shlex.split(part.options)]
    ended = subprocess.run([*command, "--json", str(file)])
    say(f"== {name}: {time.perf_counter() - begin:.0f} s")
    write_report()
    return ended.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
