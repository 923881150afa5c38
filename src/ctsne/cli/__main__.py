"""The program ``ctsne``, also ``python -m ctsne.cli``: signals end it in an orderly way."""

import sys


def run() -> int:
    """Run the program and return its exit code.

    Everything is imported here, so that Ctrl-C while it loads is one line too.
    """
    try:
        import signal

        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is signal.SIG_DFL:  # nohup ignores one of them
                signal.signal(number, _end)
        from ctsne.cli.main import main

        code = main()
        # Nothing is left to do but to stop; Python would show where it was interrupted.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        return code
    except KeyboardInterrupt:
        print("ctsne: interrupted", file=sys.stderr)
        return 130


def _end(number: int, _: object) -> None:
    """End as after Ctrl-C, so that no unfinished files remain, with the shell's exit code."""
    import signal

    signal.signal(number, signal.SIG_IGN)
    raise SystemExit(128 + number)


if __name__ == "__main__":
    sys.exit(run())
