"""Shared by all packages: checks, threads, principal components, files, messages, progress."""

# Not from typing: the package imports this module before the command line handles Ctrl-C.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_makers: "list[Callable[[object], str]]" = []


def set_maker(make: "Callable[[object], str]") -> None:
    """Say how to make the page of a sweep or a model, as HTML; empty if it can have none."""
    _makers[:] = [make]


def page_html(shown: object) -> str:
    """Return the page of a sweep or a fitted model as HTML; empty if it can have none."""
    return _makers[0](shown) if _makers else ""
