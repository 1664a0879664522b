"""What functions take as options, and what families offer on the command line."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Argument:
    """An argument of ``Instance.read`` that the command line offers as an option."""

    flag: str  # "--max-tasks"
    keyword: str  # "max_tasks"
    help: str
    parse: Callable[[str], Any] = int
    #: A comma-separated list makes several instances in ``compare`` (and a column).
    vary: bool = False


@dataclass(frozen=True)
class Output:
    """A file of the family's own that ``cosched solve`` writes on request."""

    flag: str  # "--jobs"
    keyword: str  # "jobs"
    help: str
    #: ``write(result, path)``.
    write: Callable[[Any, Path], None]
    suffixes: tuple[str, ...] = (".csv",)
    #: What the algorithm needs to be told for it, e.g. ``{"log": True}``.
    options: Mapping[str, Any] = field(default_factory=dict)


def accepted_options(function: Callable[..., Any]) -> set[str] | None:
    """Parameters after the instance; None where the function takes any keyword."""
    parameters = list(inspect.signature(function).parameters.values())[1:]
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return None
    return {p.name for p in parameters if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)}
