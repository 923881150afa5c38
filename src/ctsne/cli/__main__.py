"""The program ``ctsne``, also ``python -m ctsne.cli``: signals end it in an orderly way."""

import contextlib
import signal
import sys
from types import FrameType

_INTERRUPTED = 130


def run() -> int:
    """Run the program and return its exit code.

    Everything else is imported here, so that Ctrl-C while it loads is one line too.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:  # nohup ignores one of them
            signal.signal(number, _end)
    code = _INTERRUPTED
    try:
        from ctsne.cli.main import main

        code = main()
    except KeyboardInterrupt:
        with contextlib.suppress(KeyboardInterrupt):
            print("ctsne: interrupted", file=sys.stderr)
    finally:
        # Nothing is left to do but to stop; Python would show where it was interrupted.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    return code


def _end(number: int, _: FrameType | None) -> None:
    """End as after Ctrl-C, so that no unfinished files remain, with the shell's exit code."""
    signal.signal(number, signal.SIG_IGN)
    raise SystemExit(128 + number)


if __name__ == "__main__":
    sys.exit(run())
