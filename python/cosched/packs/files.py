"""Files of packs: measured or complete times, and the pack size. See ``Instance.read``."""

from os import PathLike
from typing import Any

from cosched import profiles
from cosched.errors import InvalidInstance
from cosched.notes import Note, NoteKind
from cosched.profiles import write

__all__ = ["read", "write"]


def read(path: str | PathLike[str], **options: Any) -> dict[str, Any]:
    """The arguments of ``Instance`` that a file holds; options as :func:`cosched.profiles.read`."""
    table = profiles.read(path, **options)
    if table.edges:
        raise InvalidInstance(f"{path}: column 'after': packs know no precedence: see moldable")
    optional_columns = (("weight", table.weights), ("release", table.release))
    unread = [name for name, values in optional_columns if values is not None]
    unread_notes = [
        Note(NoteKind.NOT_READ, f"{name}: packs have none, it is not read", subject=name)
        for name in unread
    ]
    return {
        "times": table.times,
        "max_tasks": table.max_tasks,
        "names": table.names,
        "origin": table.origin,
        "spread": table.spread,
        **table.shared,
        "notes": (*table.notes, *unread_notes),
    }
