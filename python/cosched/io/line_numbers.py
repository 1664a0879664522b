"""Numbers of lines in notes and messages."""

from collections.abc import Sequence
from typing import Any

_MAX_SHOWN_LINES = 5


def shown_lines(lines: Sequence[int] | Any) -> str:
    """The first of these lines in words.

    Parameters
    ----------
    lines : sequence of int, or an array
        Numbers of lines from 1, at least one.

    Examples
    --------
    >>> shown_lines([7]), shown_lines([2, 3, 4, 5, 6, 7])
    ('line 7', 'lines 2, 3, 4, 5, 6, ...')
    """
    word = "line" if len(lines) == 1 else "lines"
    ellipsis = ", ..." if len(lines) > _MAX_SHOWN_LINES else ""
    return f"{word} {', '.join(str(line) for line in lines[:_MAX_SHOWN_LINES])}{ellipsis}"
