"""What is said of some lines of sacct's output."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cosched import io
from cosched.notes import Note, NoteKind


class Remark(NamedTuple):
    """What is said of some lines; the lines themselves stand beside it."""

    #: Kind of the note about these lines.
    kind: NoteKind
    #: The column, or what is unusual about the jobs.
    subject: str
    #: What is said of the lines, and what was taken.
    text: str


def count_with_lines(reason: str, lines: Sequence[int] | np.ndarray) -> str:
    """How many lines a reason concerns, and which."""
    return f"{len(lines)}: {reason} ({io.shown_lines(lines)})"


def note_of_lines(remark: Remark, lines: Sequence[int] | np.ndarray, prefix: str = "  ") -> Note:
    """The note of a remark on these lines."""
    return Note(
        remark.kind,
        count_with_lines(remark.text, lines),
        subject=remark.subject,
        count=len(lines),
        where=io.shown_lines(lines),
        prefix=prefix,
    )
