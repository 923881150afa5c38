"""The program ``ctsne``, also ``python -m ctsne.cli``: signals end it in an orderly way."""

import sys


class _Interrupt(KeyboardInterrupt):
    """Ctrl-C. After KeyboardInterrupt itself, Python may end by a signal instead of a code."""


def run() -> int:
    """Run the program and return its exit code."""
    # Everything is imported here, so that Ctrl-C while it loads is one line too.
    try:
        import signal

        before = signal.default_int_handler, signal.SIG_DFL
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) in before:  # nohup and shells may ignore them
                signal.signal(number, _end)
        signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
        sys.unraisablehook = _again
        from ctsne.cli.main import main

        code = main()
        # Nothing is left to do but to stop; Python would show where it was interrupted.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        return code
    except KeyboardInterrupt:
        print("ctsne: interrupted", file=sys.stderr)
        return 130


def _end(number: int, _: object) -> None:
    """End in a way that leaves no unfinished files, with the exit code of the shell."""
    import signal

    if number == signal.SIGINT:
        raise _Interrupt
    signal.signal(number, signal.SIG_IGN)
    raise SystemExit(128 + number)


def _again(lost: "sys.UnraisableHookArgs") -> None:
    """Repeat a Ctrl-C that came where Python only prints exceptions, such as in a callback."""
    import signal

    if isinstance(lost.exc_value, _Interrupt):
        signal.setitimer(signal.ITIMER_REAL, 0.01)  # not now: this would be lost as well
    else:
        sys.__unraisablehook__(lost)


if __name__ == "__main__":
    sys.exit(run())
