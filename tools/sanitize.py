"""Test the native module under sanitizers: ``make sanitize``.

For each kind (``address``: memory errors, undefined behaviour and leaks; ``thread``: data races)
this builds the package into ``build/sanitize/KIND``, runs the tests that exercise native code, slow
ones included, and attacks the module for a minute (``fuzz/native.py``). The exit code is 1 if a
test fails, the attacker finds anything, or a sanitizer reports anything in any process. Leaks are
looked for under the attacker: the libraries of the tests leak so much that sorting it takes hours.

    python tools/sanitize.py [address] [thread] [--seconds 60] [--tests tests/layout ...]

Needs Linux and GCC with its sanitizer runtimes (Debian, Ubuntu: part of the package g++), and an
environment with the package's test dependencies; takes about half an hour on two cores.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "sanitize"

FLAGS = {
    "address": (
        "-fsanitize=address,undefined,float-cast-overflow,float-divide-by-zero "
        "-fno-sanitize-recover=all -D_GLIBCXX_ASSERTIONS"
    ),
    "thread": "-fsanitize=thread",
}
RUNTIMES = {"address": "libasan.so", "thread": "libtsan.so"}

#: The stages, and what runs all of them: new points placed and taken in, several label columns,
#: numbers, trust, measures, matrices of more than 2**31 entries, and (in tests/neighbors) the
#: approximate search above its threshold.
TESTS = (
    "tests/neighbors",
    "tests/affinity",
    "tests/layout",
    "tests/placing",
    "tests/estimator/test_columns.py",
    "tests/estimator/test_numbers.py",
    "tests/estimator/test_trust.py",
    "tests/evaluate",
    "tests/test_large.py",
)

#: Tests that cannot run, and why.
DESELECTED = {
    "address": {},
    "thread": {
        "tests/test_large.py": "a byte of data takes up to eight of the sanitizer's memory",
    },
}


def main() -> int:
    """Build and run what was asked for."""
    parser = argparse.ArgumentParser(description="Test the native module under sanitizers.")
    parser.add_argument(
        "kinds", nargs="*", metavar="KIND", help=f"{', '.join(FLAGS)}; default: all"
    )
    parser.add_argument("--seconds", type=float, default=60, help="for the attacker (default: 60)")
    parser.add_argument("--tests", nargs="*", default=TESTS, metavar="TEST")
    options = parser.parse_args()
    if not set(options.kinds) <= set(FLAGS):
        parser.error(f"KIND must be one of {', '.join(FLAGS)}")
    wrong = [
        problem
        for kind in options.kinds or FLAGS
        for problem in check(kind, options.tests, options.seconds)
    ]
    print("\n".join(["", *wrong]) if wrong else "\nno reports", flush=True)
    return int(bool(wrong))


def check(kind: str, tests: list[str], seconds: float) -> list[str]:
    """Run everything under one sanitizer; return what went wrong, a line each."""
    folder = BUILD / kind
    heading(f"{kind}: building")
    build(kind, folder)
    shutil.rmtree(folder / "reports", ignore_errors=True)
    (folder / "reports").mkdir()
    kept_out = DESELECTED[kind]
    for test, reason in kept_out.items():
        print(f"not run: {test} ({reason})")
    runs = []
    chosen = [test for test in tests if test not in kept_out]
    if chosen:
        # Standard error is not captured: UndefinedBehaviorSanitizer writes there and ends the run.
        pytest = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--capture=sys", *chosen]
        runs.append(("tests", pytest))
    if seconds > 0:
        runs.append(("attacker", ["fuzz/run.py", "native", "--seconds", str(seconds)]))
    wrong = []
    for name, arguments in runs:
        heading(f"{kind}: {name}")
        start = time.monotonic()
        environment = sanitized(kind, folder, leaks=name == "attacker")
        # Without random addresses: the thread sanitizer needs its own places.
        command = ["setarch", "-R", sys.executable, *arguments]
        code = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
        print(f"{kind}: {name} took {time.monotonic() - start:.0f} s, exit code {code}", flush=True)
        if code != 0:
            wrong.append(f"{kind}: the {name} failed with exit code {code}")
    reports = reports_of(folder)
    for text in reports[:20]:
        print(text)
    if reports:
        wrong.append(f"{kind}: {len(reports)} reports in {folder / 'reports'}")
    return wrong


def build(kind: str, folder: Path) -> None:
    """Install the package with instrumented native code into a folder of its own."""
    shutil.rmtree(folder, ignore_errors=True)
    settings = {
        "build-dir": str(BUILD / f"{kind}-cmake"),
        "cmake.build-type": "RelWithDebInfo",
        "install.strip": "false",
        "cmake.define.CTSNE_STUB": "OFF",
        "cmake.define.CMAKE_CXX_FLAGS": f"{FLAGS[kind]} -g1 -fno-omit-frame-pointer",
    }
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
            "--target",
            str(folder),
            str(ROOT),
            *(part for item in settings.items() for part in ("-C", "=".join(item))),
        ],
        env={**os.environ, "CXX": "g++"},
        check=True,
    )


def sanitized(kind: str, folder: Path, *, leaks: bool) -> dict[str, str]:
    """Return the environment for a Python whose native module is instrumented."""
    # The C++ library comes along because the runtime looks for its exceptions at the start.
    preloaded = [library(RUNTIMES[kind]), library("libstdc++.so.6")]
    # An allocation that is too large raises a MemoryError, as it does without a sanitizer.
    shared = f"log_path={folder}/reports/report:allocator_may_return_null=1"
    options = {
        "ASAN_OPTIONS": f"{shared}:detect_leaks={int(leaks)}",
        "LSAN_OPTIONS": "exitcode=0",  # Python itself leaks; see own_leaks
        # Accesses by other libraries, which are not instrumented, prove nothing.
        "TSAN_OPTIONS": f"{shared}:ignore_noninstrumented_modules=1:die_after_fork=0",
    }
    return {
        **os.environ,
        **options,
        "LD_PRELOAD": ":".join(preloaded),
        "PYTHONPATH": str(folder),
        "PYTHONMALLOC": "malloc",
        "OPENBLAS_NUM_THREADS": "1",
    }


def library(name: str) -> str:
    """Return the path of a library of the compiler."""
    done = subprocess.run(
        ["g++", f"-print-file-name={name}"], check=True, capture_output=True, text=True
    )
    path = done.stdout.strip()
    if path == name:
        sys.exit(f"sanitize: g++ has no {name}")
    return str(Path(path).resolve())


def reports_of(folder: Path) -> list[str]:
    """Return the reports that any process wrote."""
    texts = [path.read_text(errors="replace") for path in (folder / "reports").iterdir()]
    found = [own_leaks(text) if "LeakSanitizer" in text else text for text in texts]
    return [text for text in found if text.strip()]


def own_leaks(text: str) -> str:
    """Keep the leaks of memory that our module took; Python and NumPy never free some of theirs."""
    ours = (" native/", "/ctsne/_native.")  # the build shortens paths of sources
    return "\n\n".join(part for part in text.split("\n\n") if any(path in part for path in ours))


def heading(text: str) -> None:
    """Print what comes next."""
    print(f"\n==== {text} ".ljust(100, "="), flush=True)


if __name__ == "__main__":
    sys.exit(main())
