"""Files of packs: measured or complete times, and the pack size. See ``Instance.read``."""

from __future__ import annotations

from os import PathLike
from typing import Any

from cosched import profiles
from cosched.profiles import write

__all__ = ["read", "write"]


def read(path: str | PathLike[str], **options: Any) -> dict[str, Any]:
    """The arguments of ``Instance`` that a file holds; options as :func:`cosched.profiles.read`."""
    table = profiles.read(path, **options)
    return {
        "times": table.times,
        "max_tasks": table.max_tasks,
        "names": table.names,
        "origin": table.origin,
        "notes": table.notes,
    }
