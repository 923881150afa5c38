"""Labels as people read them."""

from __future__ import annotations

__all__ = ["label_text"]


def label_text(value: object) -> str:
    """Return a label as text, whole numbers without a fraction.

    Examples
    --------
    >>> from ctsne._label_text import label_text
    >>> label_text(3.0), label_text(2.5), label_text("x")
    ('3', '2.5', 'x')
    """
    # Whole numbers become floats as soon as a column has a gap; 3.0 is still the label 3.
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
