"""What a study is, and where its data lies.

A paper's studies live in the folder of their family as ``STUDIES = (Study(...), ...)``;
``README.md`` beside this file shows how to write one.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from cosched import io
from cosched.errors import InvalidInstance, StudyError, shorten
from cosched.lazy import pd
from cosched.registry import family

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: One task: plain data (what JSON can hold) that says all that ``Study.run`` needs.
Task = dict[str, Any]


def no_figures(frame: pd.DataFrame) -> dict[str, Figure]:
    """No picture."""
    return {}


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
    paper, about : str
        The reference, and a paragraph that the report begins with.
    needs, quick_needs : tuple of str
        Paths below ``COSCHED_DATA`` without which the study (at reduced size) cannot start.
    keep : tuple of str
        Columns of a run at full size that tables and claims need; they are kept in the package.

    Raises
    ------
    ValueError
        A name that users cannot type.

    Examples
    --------
    >>> squares = Study(
    ...     name="squares", title="Squares", family="packs",
    ...     plan=lambda quick: [{"n": n} for n in range(2 if quick else 10)],
    ...     run=lambda task: {"square": task["n"] ** 2},
    ...     tables=lambda frame: {"squares": frame[["n", "square"]]},
    ...     figures=lambda frame: {},
    ... )
    >>> [squares.run(task) for task in squares.plan(True)]
    [{'square': 0}, {'square': 1}]
    """

    name: str
    title: str
    family: str
    plan: Callable[[bool], list[Task]]
    run: Callable[[Task], dict[str, Any]]
    tables: Callable[[pd.DataFrame], dict[str, pd.DataFrame]]
    figures: Callable[[pd.DataFrame], dict[str, Figure]] = no_figures
    paper: str = ""
    about: str = ""
    needs: tuple[str, ...] = ()
    quick_needs: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name) or self.name == "all":
            raise InvalidInstance(f"study name {shorten(self.name)}: expected a-z, 0-9 and hyphens")

    def missing(self, quick: bool) -> list[str]:
        """The needed paths that are not there.

        They are relative to ``COSCHED_DATA``.

        Parameters
        ----------
        quick : bool
            At reduced size.
        """
        needed_paths = self.quick_needs if quick else self.needs
        return [path for path in needed_paths if not has_data(path)]


class Functions(NamedTuple):
    """What a study of this package runs; see :class:`Study`."""

    plan: Callable[[bool], list[Task]]
    run: Callable[[Task], dict[str, Any]]
    tables: Callable[[pd.DataFrame], dict[str, pd.DataFrame]]
    figures: Callable[[pd.DataFrame], dict[str, Figure]] = no_figures


def read_studies(
    family_name: str, functions: Mapping[str, Functions], names: Mapping[str, object]
) -> tuple[Study, ...]:
    """A family's studies: what its ``studies.toml`` says of each, and their functions.

    In the texts about them ``{name}`` takes the value of one of `names`.
    """
    path = Path(__file__).parent / family_name / "studies.toml"
    study_tables = io.parse_toml(io.read_text(path), str(path))
    if study_tables.keys() != functions.keys():
        raise InvalidInstance(
            f"{path}: expected {', '.join(functions)}, got {', '.join(study_tables)}"
        )
    studies = []
    for name, fields in study_tables.items():
        texts = {key: fields.pop(key).format_map(names) for key in ("title", "paper", "about")}
        lists: dict[str, Any] = {key: tuple(values) for key, values in fields.items()}
        parts = functions[name]._asdict()
        studies.append(Study(name=name, family=family_name, **texts, **lists, **parts))
    return tuple(studies)


def with_registered(family_name: str, names: Iterable[str]) -> tuple[str, ...]:
    """The names, then the algorithms that the user registered in that family.

    Plans use it, so that a scheduler of one's own takes part in the family's studies.

    Parameters
    ----------
    family_name : str
        ``"packs"``, ...

    Examples
    --------
    >>> with_registered("moldable", ["demt", "gang"])[:2]
    ('demt', 'gang')
    """
    chosen = tuple(names)
    return chosen + tuple(sorted(family(family_name).registered - set(chosen)))


def has_data(path: str) -> bool:
    """Whether the folder that ``COSCHED_DATA`` names has this file or folder."""
    root = os.environ.get("COSCHED_DATA")
    return Path(root, path).exists() if root else False


def data_path(*parts: str) -> Path:
    """A file or folder of the real data, below the folder that ``COSCHED_DATA`` names.

    Parameters
    ----------
    *parts : str
        Parts of the path.

    Raises
    ------
    StudyError
        It is not there; the message says what to set.

    Examples
    --------
    >>> data_path("no such folder")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    cosched.errors.StudyError: this study needs no such folder below COSCHED_DATA...
    """
    path = "/".join(parts)
    if not has_data(path):
        raise StudyError(missing_line("this study", [path]))
    return Path(os.environ["COSCHED_DATA"], path)


def missing_line(who: str, paths: Sequence[str]) -> str:
    """The one line about real data that is not there."""
    root = os.environ.get("COSCHED_DATA")
    where = f"which is {root}" if root else "which is not set"
    return (
        f"{who} needs {', '.join(paths)} below COSCHED_DATA, {where}: it names the folder of the "
        "archives, into whose pwa `cosched fetch` downloads logs"
    )


#: Columns of the results that a task must not claim.
_RESERVED = ("task", "status", "message")


@dataclass(frozen=True)
class Design:
    """Tasks in order; a task's number is its place.

    ``ids`` fingerprint the single tasks, ``digest`` all of them.
    """

    #: The name of the study.
    study: str
    #: Whether it is the short form of the study.
    quick: bool
    #: The tasks; a task's number is its place.
    tasks: tuple[Task, ...]
    #: The fingerprint of each task.
    ids: tuple[str, ...]
    #: The fingerprint of all tasks.
    digest: str


def make_design(study: Study, name: str, quick: bool) -> Design:
    """The tasks of a study that was asked for by `name`."""
    tasks = []
    ids: dict[str, int] = {}
    for number, task_fields in enumerate(study.plan(quick)):
        text = _canonical(task_fields, f"plan of {name}, task {number}")
        task_id = hashlib.sha256(text.encode()).hexdigest()[:16]
        if task_id in ids:
            raise StudyError(f"plan of {name}: tasks {ids[task_id]} and {number} are the same")
        ids[task_id] = number
        # Through JSON once, so that run() sees the same data here and on another machine.
        tasks.append(json.loads(json.dumps(task_fields)))
    if not tasks:
        raise StudyError(f"plan of {name}: no tasks")
    design_text = "\n".join([name, *ids])
    digest = hashlib.sha256(design_text.encode()).hexdigest()
    return Design(name, quick, tuple(tasks), tuple(ids), digest)


def is_timing(key: str) -> bool:
    """Whether a key of a row is a measured time, which no two runs have in common."""
    return key == "seconds" or key.startswith("seconds_")


def _canonical(task: Task, where: str) -> str:
    if not isinstance(task, dict) or not all(isinstance(key, str) for key in task):
        raise StudyError(f"{where}: expected a dictionary with texts as keys")
    for key in task:
        if key in _RESERVED or is_timing(key):
            raise StudyError(f"{where}: the key {key!r} is reserved")
    try:
        return json.dumps(task, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise StudyError(f"{where}: not plain data ({error})") from None
