"""What the library holds: instances by their generator calls, and of each a record, the best
schedule and the best bound, who found them, and when; better schedules are taken."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import date
from functools import cache
from importlib.resources import files
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import Any

from cosched import io
from cosched.core import Bound, Instance, Result, Schedule
from cosched.core.result import relative_gap
from cosched.core.text import unknown_name
from cosched.errors import InvalidInstance, InvalidSchedule, printable, shorten
from cosched.registry import FAMILIES, family
from cosched.workloads import WORKLOADS, rescale_load


@cache
def entries() -> dict[str, dict[str, Any]]:
    """Name -> its entry of ``instances/FAMILY.toml``, in the order of the files.

    A family without this file has no instances in the library.
    """
    tables = {of: files("cosched.library") / "instances" / f"{of}.toml" for of in FAMILIES}
    return {
        f"{of}/{short}": entry
        for of, path in tables.items()
        if path.is_file()
        for short, entry in io.parse_toml(path.read_text("utf-8"), f"{of}.toml").items()
    }


def entry_of(name: str) -> dict[str, Any]:
    """The entry of a name; refused with near ones where there is none."""
    all_entries = entries()
    if not isinstance(name, str) or name not in all_entries:
        raise InvalidInstance(unknown_name("instance of the library", name, all_entries))
    return all_entries[name]


def family_of(name: str) -> Any:
    """The Family of an instance's name."""
    entry_of(name)
    return family(name.partition("/")[0])


def load(name: str) -> Instance:
    """Make an instance of the library.

    Parameters
    ----------
    name : str
        ``"dags/cholesky-12-ccr1"``: see the column ``name`` of :func:`cosched.library.list`.

    Raises
    ------
    ValueError
        No such name; the message has near ones.

    Examples
    --------
    >>> cs.library.load("dags/cholesky-12-ccr1")
    <dags.Instance: 364 tasks, 858 edges with 9e+08 bytes, 16 + 4 units>
    """
    arguments = dict(entry_of(name))
    generator, load_of = arguments.pop("generator"), arguments.pop("load", None)
    jobs_and_nodes = WORKLOADS[generator](**arguments)
    if load_of is not None:  # a log: its jobs, on the machine that they were drawn for
        jobs = rescale_load(jobs_and_nodes, arguments["nodes"], load_of)
        jobs_and_nodes = family_of(name).instance_type(jobs, nodes=arguments["nodes"])
    instance: Instance = jobs_and_nodes
    return instance


FORMAT, VERSION = "cosched-library", 1
#: Where records are kept: beside this file, one a name.
FOLDER = Path(__file__).with_name("records")


def is_source_tree() -> bool:
    """Whether the records are those of a clone, and a change of them can be sent to the project."""
    return (FOLDER.parents[3] / "pyproject.toml").is_file()


@dataclass(frozen=True)
class Finding:
    """A value, or a bound, and where it comes from.

    Attributes
    ----------
    value : float
        In the unit of the family's objective.
    algorithm : str
        What found it: an algorithm or a bound of the family, or another solver's name.
    by : str
        Who ran it.
    since : str
        The day, as ``2026-11-26``.
    """

    value: float
    algorithm: str
    by: str
    since: str


@dataclass(frozen=True)
class Record:
    """What is known of an instance.

    Attributes
    ----------
    name : str
    size : int
        Tasks, jobs or types of tasks.
    best : Finding
        The best value.
    schedule : dict
        The schedule that has it, as ``Schedule.to_dict`` writes it; of a long one that an algorithm
        makes again ``algorithm`` and ``seed``.
    bound : Finding
        The best bound.
    certificate : dict
        Its proof: see :mod:`cosched.library.table`.
    history : tuple of Finding
        The values before, the oldest first.
    """

    name: str
    size: int
    best: Finding
    schedule: dict[str, Any]
    bound: Finding
    certificate: dict[str, Any]
    history: tuple[Finding, ...] = ()

    def beaten_by(self, best: Finding, schedule: dict[str, Any]) -> Record:
        """The record after a better schedule."""
        return replace(self, best=best, schedule=schedule, history=(*self.history, self.best))

    def write(self, folder: Path) -> Path:
        """Writes ``FOLDER/FAMILY/NAME.json``, whole or not at all."""
        path = folder / f"{self.name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        data = {"format": FORMAT, "version": VERSION, **io.plain(asdict(self))}
        # A line a key, so that a change of a record can be read.
        lines = (f"{json.dumps(key)}: {json.dumps(value)}" for key, value in data.items())
        io.write_text("{\n" + ",\n".join(lines) + "\n}\n", path)
        return path


def names_in(folder: Path) -> list[str]:
    """The instances of which a folder has a record; refused where it has a file of another name."""
    all_entries = entries()
    names = sorted(path.relative_to(folder).as_posix()[:-5] for path in folder.glob("*/*.json"))
    shown_folder = printable(folder)
    for name in names:
        if name not in all_entries:
            raise ValueError(
                f"{shown_folder}: {unknown_name('instance of the library', name, all_entries)}"
            )
    if not names:
        raise ValueError(f"{shown_folder}: no record of the library, expected FAMILY/NAME.json")
    return [name for name in all_entries if name in set(names)]


def record_of(name: str, folder: Path = FOLDER) -> Record:
    """The record of a name."""
    entry_of(name)
    path = folder / f"{name}.json"
    data = io.read_json(path)
    try:
        if (data.pop("format"), data.pop("version")) != (FORMAT, VERSION):
            raise ValueError(f"expected format {FORMAT!r}, version {VERSION}")
        best, bound = Finding(**data.pop("best")), Finding(**data.pop("bound"))
        history = tuple(Finding(**finding) for finding in data.pop("history"))
        record = Record(**data, best=best, bound=bound, history=history)
        _require_whole(record, name)
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise InvalidSchedule(f"{path.name}: not a record of the library: {error}") from None
    return record


def _require_whole(record: Record, name: str) -> None:
    if record.name != name:
        raise ValueError(f"it is of {shorten(record.name)}: expected {name}")
    for finding in (record.best, record.bound, *record.history):
        if isinstance(finding.value, bool) or not isfinite(finding.value):
            raise ValueError(f"value = {shorten(finding.value)}: expected a number")
        for key in ("algorithm", "by"):
            _line(getattr(finding, key), key)
        date.fromisoformat(finding.since)
    if type(record.size) is not int or record.size < 1:
        raise ValueError(f"size = {shorten(record.size)}: expected a number >= 1")
    missing_keys = isinstance(record.schedule, dict) and {"placements", "algorithm"} & set(
        record.schedule
    )
    if not missing_keys or not isinstance(record.certificate, dict):
        raise ValueError("expected a schedule and a certificate")


def _line(text: object, what: str) -> str:
    """Return a short text of one line."""
    if not (isinstance(text, str) and text.isprintable() and 0 < len(text.strip()) <= 200):
        who = "who" if what == "by" else "what"
        raise ValueError(f"{what} = {shorten(text)}: expected {who} found it, in one line")
    return text.strip()


def gap_of(record: Record) -> float:
    """How far the value is from the bound at most, relative; refused where it is beyond."""
    bound = Bound(record.bound.value, record.bound.algorithm)
    return relative_gap(record.best.value, bound, family_of(record.name).maximise, record.name)


#: By how much a value has to be better, relative: validators allow 1e-9 a job, and chains add up.
_BETTER = 1e-6


def is_better(record: Record, value: float) -> bool:
    """Whether a value beats the record by more than rounding explains."""
    maximises = family_of(record.name).maximise
    gain = value - record.best.value if maximises else record.best.value - value
    return gain > _BETTER * abs(record.best.value)


def submit(
    name: str,
    schedule: Schedule | Result | Mapping[str, object] | str | PathLike[str],
    by: str,
    *,
    algorithm: str | None = None,
    folder: str | PathLike[str] | None = None,
) -> Path:
    """Put a better schedule into the library's records, ready for a pull request.

    The file of the record, written anew, is returned. The schedule has to be better than the record
    in `folder`, and where that has none, than the record of the package.

    Parameters
    ----------
    name : str
        As for :func:`cosched.library.load`.
    schedule : Schedule, Result, mapping, or path
        A file, or its content, is what ``cosched solve -o schedule.json`` writes.
    by : str
        Who found it.
    algorithm : str, optional
        What found it; None: as the result or the file says.
    folder : path, optional
        Where the record is written, as ``FAMILY/NAME.json``; it is made where it does not exist.
        None: the records of the clone that the package is imported from. An installed package
        keeps its own as they are.

    Raises
    ------
    InvalidSchedule
        It breaks a rule of the family: the validator's words; or the record is damaged.
    InvalidBound
        It is valid, and better than the record says is possible: one of the two is wrong.
    ValueError
        It is valid, and not better than the record by a millionth; or `name` is unknown, or `by`
        no line of 1 to 200 characters; or the package is installed, and `folder` is None.
    """
    of = family_of(name)
    if folder is None and not is_source_tree():
        raise ValueError(
            "folder: the package is installed, and its records are not changed; expected a folder "
            "for the new record"
        )
    where = FOLDER if folder is None else Path(folder)
    who = _line(by, "by")
    record = record_of(name, where if (where / f"{name}.json").exists() else FOLDER)
    rows, named = _rows_of(schedule)
    instance = load(name)
    read = of.schedule_type.from_dict(instance, rows)
    read.validate()
    value = of.result_of(instance, read).value
    if not is_better(record, value):
        raise ValueError(
            f"{name}: {value:.9g} is not better than {record.best.value:.9g}, which "
            f"{record.best.by} has since {record.best.since}"
        )
    what = _line(named if algorithm is None else algorithm, "algorithm")
    finding = Finding(float(value), what, who, date.today().isoformat())
    better = record.beaten_by(finding, rows_without_names(read))
    gap_of(better)
    return better.write(where)


def _rows_of(schedule: object) -> tuple[dict[str, Any], str]:
    """Return the rows of a schedule as ``from_dict`` reads them, and what found it."""
    if isinstance(schedule, Result):
        return schedule.schedule.to_dict(), schedule.algorithm
    if isinstance(schedule, Schedule):
        return schedule.to_dict(), "-"
    if isinstance(schedule, str | PathLike):
        schedule = io.read_json(schedule)
    if not isinstance(schedule, Mapping) or "placements" not in schedule:
        raise InvalidSchedule("expected a schedule as `cosched solve -o schedule.json` writes it")
    return dict(schedule), str(schedule.get("algorithm", "-"))


def rows_without_names(schedule: Schedule) -> dict[str, Any]:
    """What a record keeps of a schedule: the instance has the names."""
    data = schedule.to_dict()
    rows = data["placements"]
    unnamed_rows = [{key: value for key, value in row.items() if key != "name"} for row in rows]
    return data | {"placements": unnamed_rows}
