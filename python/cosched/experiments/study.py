"""What a study is, and where studies are found.

A paper's studies live in ``cosched/experiments/<family>.py`` as ``STUDIES = (Study(...), ...)``;
:func:`studies` collects them. ``README.md`` beside this file shows how to write one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cosched.core.family import FAMILIES, _near, family
from cosched.errors import StudyError, shorten

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure
    from plotly.graph_objects import Figure as Chart

#: One task: plain data (what JSON can hold) that says all that ``Study.run`` needs.
Task = dict[str, Any]

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True, kw_only=True)
class Study:
    """A paper's table or figures as a plan of independent tasks.

    Attributes
    ----------
    name : str
        What users type: lower case, digits and hyphens.
    title, family : str
    plan : callable
        ``plan(quick) -> list of Task``: instances x algorithms x options x seeds, the same at
        every call. Tasks of one instance are neighbours, so that workers can cache it.
    run : callable
        ``run(task) -> row``: a function of a module; the row is plain data too, and depends on
        the task only. Keys ``seconds`` and ``seconds_*`` are timings: they go to a file of
        their own. ``status`` is ``"ok"`` unless the row says otherwise.
    tables, figures : callable
        ``f(frame) -> {name: DataFrame or matplotlib Figure}``. The frame has a row a task
        (without those that ended in an error): its number as ``task``, the task's keys,
        ``status``, the row's keys, the timings.
    charts : callable, optional
        ``charts(frame) -> {name: plotly Figure}``; by default the distribution of each result.
    paper, about : str
        The reference, and a paragraph that the report begins with.
    needs, quick_needs : tuple of str
        Paths below ``COSCHED_DATA`` without which the study (at reduced size) cannot start.
    """

    name: str
    title: str
    family: str
    plan: Callable[[bool], list[Task]]
    run: Callable[[Task], dict[str, Any]]
    tables: Callable[[pd.DataFrame], dict[str, pd.DataFrame]]
    figures: Callable[[pd.DataFrame], dict[str, Figure]]
    charts: Callable[[pd.DataFrame], dict[str, Chart]] | None = None
    paper: str = ""
    about: str = ""
    needs: tuple[str, ...] = ()
    quick_needs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name) or self.name == "all":
            raise ValueError(f"study name {shorten(self.name)}: expected a-z, 0-9 and hyphens")

    def missing(self, quick: bool) -> list[str]:
        """The needed paths that are not there."""
        wanted = self.quick_needs if quick else self.needs
        return [path for path in wanted if not (data_root() / path).exists()]


@cache
def studies() -> dict[str, Study]:
    """All studies of the package by name, in the order of the papers."""
    found: dict[str, Study] = {}
    for name in FAMILIES:
        module = f"cosched.experiments.{name}"
        if find_spec(module) is None:
            continue
        for study in getattr(import_module(module), "STUDIES", ()):
            if study.name in found:
                raise ValueError(f"two studies are named {study.name}")
            found[study.name] = study
    return found


def find(name: str) -> Study:
    """The study of that name; ``"module:NAME"`` is one of the user's own.

    Raises
    ------
    ValueError
        Unknown; the message lists near names.
    """
    if ":" not in name:
        if name not in studies():
            raise ValueError(_near("study", name, studies()))
        return studies()[name]
    module, _, attribute = name.partition(":")
    try:
        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(f"study {shorten(name)}: {error}") from None
    if not isinstance(found, Study):
        raise ValueError(f"study {shorten(name)}: expected a Study, got {type(found).__name__}")
    return found


def with_registered(family_name: str, names: Iterable[str]) -> tuple[str, ...]:
    """The names, then the algorithms that the user registered in that family.

    Plans use it, so that a scheduler of one's own takes part in the family's studies.
    """
    chosen = tuple(names)
    return chosen + tuple(sorted(family(family_name).registered - set(chosen)))


def data_root() -> Path:
    """The folder of the real data: ``COSCHED_DATA``, else ``../shared/data``."""
    return Path(os.environ.get("COSCHED_DATA") or Path("..", "shared", "data"))


def data_path(*parts: str) -> Path:
    """A file or folder below :func:`data_root`; StudyError where it is not there."""
    path = data_root().joinpath(*parts)
    if not path.exists():
        raise StudyError(missing_line("this study", ["/".join(parts)]))
    return path


def missing_line(who: str, paths: Sequence[str]) -> str:
    """The one line about real data that is not there."""
    return (
        f"{who} needs {', '.join(paths)} below {data_root()}: "
        "set COSCHED_DATA to the folder of the real data"
    )
