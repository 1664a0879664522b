"""Better schedules: taken where they are valid and better, refused otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from os import PathLike
from pathlib import Path
from typing import Any

from cosched import io
from cosched.core import Result, Schedule
from cosched.errors import InvalidSchedule, shorten
from cosched.library.entries import family_of, load
from cosched.library.records import FOLDER, Finding, record_of

#: By how much a value has to be better, relative: less is rounding.
_BETTER = 1e-9


def submit(
    name: str,
    schedule: Schedule | Result | Mapping[str, Any] | str | PathLike[str],
    by: str,
    *,
    algorithm: str | None = None,
    folder: str | PathLike[str] | None = None,
) -> Path:
    """Put a better schedule into the library's records, ready for a pull request.

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
        Where records are; None: those of the installed package.

    Returns
    -------
    pathlib.Path
        The file of the record, written anew.

    Raises
    ------
    InvalidSchedule
        It breaks a rule of the family: the validator's words.
    ValueError
        It is valid, and not better than the record; or `name` is unknown, or `by` empty.
    """
    of, where = family_of(name), FOLDER if folder is None else Path(folder)
    if not isinstance(by, str) or not by.strip():
        raise ValueError(f"by = {shorten(by)}: expected who found it")
    record = record_of(name, where)
    rows, named = _rows_of(schedule)
    instance = load(name)
    read = of.schedule_type.from_dict(instance, rows)
    read.validate()
    value = of.result_of(instance, read).value
    gain = value - record.best.value if of.maximise else record.best.value - value
    if gain <= _BETTER * abs(record.best.value):
        raise ValueError(
            f"{name}: {value:.9g} is not better than {record.best.value:.9g}, which "
            f"{record.best.by} has since {record.best.since}"
        )
    found = Finding(float(value), algorithm or named, by.strip(), date.today().isoformat())
    return record.beaten_by(found, rows_without_names(read)).write(where)


def _rows_of(schedule: Any) -> tuple[dict[str, Any], str]:
    """The rows of a schedule as ``from_dict`` reads them, and what found it."""
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
    kept = [{key: value for key, value in row.items() if key != "name"} for row in rows]
    return data | {"placements": kept}
