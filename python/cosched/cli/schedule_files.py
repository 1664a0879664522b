"""Schedules and records of runs, read from files as ``cosched solve`` and ``run`` write them."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

from cosched import io
from cosched.core import Bound, Family, Presentation, Result, Schedule
from cosched.core.arrays import integer_array, real
from cosched.core.result import FORMAT, VERSION
from cosched.core.text import first_repeated, percent
from cosched.errors import InvalidBound, InvalidInstance, InvalidSchedule, shorten
from cosched.execution.record import FORMAT as OF_RECORD, Execution
from cosched.lazy import pd
from cosched.profiles import SHARED_FIELDS

_INTEGERS = {"task", "kind", "task_type", "machine_type", "machine", "count"}
_LISTS = {"units", "nodes"}
_NUMBERS = {"start", "end", "yield_", "progress"}
_TEXTS = {"cause", "name", "machine_name"}
_FLAGS = {"exclusive", "killed"}
_LIST = re.compile(r"\(?\s*([0-9]+(\s*,\s*[0-9]+)*)?\s*,?\s*\)?")


def read_schedule(of: Family, instance: Any, path: Path) -> tuple[Schedule, dict[str, Any]]:
    """The schedule of a file, and what the file states of it (nothing, in a .csv)."""
    name = io.bare_name(path)
    if name.endswith(".json"):
        data = io.read_json(path)
        _require_known(of, data)
        _require_same_facts(instance, data)
        schedule = of.schedule_type.from_dict(instance, data)
        if data.get("edges") and "edges" not in instance.facts():
            _require_order(instance, schedule, data["edges"])
        return schedule, data
    if name.endswith(".csv"):
        rows = _placements(path)
        return of.schedule_type.from_frame(instance, pd.DataFrame(rows)), {}
    raise InvalidSchedule("expected a name that ends in .json or .csv")


def _require_known(of: Family, data: Any) -> None:
    is_schedule = isinstance(data, dict) and "placements" in data
    if not is_schedule or data.get("family", of.name) != of.name:
        raise InvalidSchedule(f"not a schedule of the family {of.name}")
    if (format := data.get("format", FORMAT)) != FORMAT:
        raise InvalidSchedule(f"format = {shorten(format)}: expected {FORMAT!r}")
    version = data.get("version", VERSION)
    if isinstance(version, bool) or version != VERSION:
        raise InvalidSchedule(
            f"version = {shorten(version)}: this cosched reads version {VERSION}: expected a "
            "schedule that it wrote, or a newer cosched"
        )


def _require_same_facts(instance: Any, data: dict[str, Any]) -> None:
    """Check that what the file repeats of the instance, for `cosched run`, is as the instance has
    it.

    A table of another shape is of an instance with more or fewer processors: the schedule may suit
    both.
    """
    facts = io.plain(instance.facts())
    for key in (key for key in SHARED_FIELDS if key in data and key not in facts):
        raise InvalidSchedule(
            f"states {key}, of which the instance knows nothing: expected the file that it was "
            "made from, or the schedule itself as the instance"
        )
    for key, ours in facts.items():
        if isinstance(ours, (dict, list)):
            _require_same(key, data.get(key, ours), ours)


def _require_same(what: str, theirs: Any, ours: Any) -> None:
    """Refuse tables that differ as far as they have one shape."""
    if isinstance(ours, dict):
        facts_of_file = theirs if isinstance(theirs, dict) else {}
        for name in {**ours, **facts_of_file}:
            _require_same(f"{what}.{name}", facts_of_file.get(name), ours.get(name))
    elif isinstance(ours, list) and isinstance(theirs, list):
        pairs = zip(theirs, ours, strict=True) if len(theirs) == len(ours) else ()
        for number, (row, own_row) in enumerate(pairs):
            _require_same(f"{what}[{number}]", row, own_row)
    elif theirs != ours:
        raise InvalidSchedule(f"{what} = {shorten(theirs)}: it is {shorten(ours)}")


def _require_order(instance: Any, schedule: Any, edges: Any) -> None:
    """Check the order of tasks, which the file of a plan says, and a file of measurements does
    not."""
    pairs = integer_array(edges, "edges", 2)
    place = {task: k for k, task in enumerate(schedule.task.tolist())}
    for number, pair in enumerate(pairs.tolist()):
        if len(pair) != 2 or not place.keys() >= set(pair):
            raise InvalidSchedule(f"edges[{number}] = {pair}: expected two tasks that are placed")
        first, second = (place[task] for task in pair)
        if schedule.start[second] < schedule.end[first] - 1e-9 * max(1.0, schedule.end[first]):
            before, after = (shorten(instance.names[task]) for task in pair)
            raise InvalidSchedule(
                f"{after} starts at {schedule.start[second]:g}, before {before} ends at "
                f"{schedule.end[first]:g}: expected the order of its edges"
            )


def _placements(path: Path) -> list[dict[str, Any]]:
    """Return rows of a table of placements; columns that say nothing of a placement are passed
    over."""
    table = io.read_csv(path)
    known_keys = _INTEGERS | _LISTS | _NUMBERS | _TEXTS | _FLAGS
    columns = [(place, name) for place, name in enumerate(table.header) if name in known_keys]
    twice = first_repeated(name for _, name in columns)
    if twice is not None:
        raise InvalidSchedule(f"line 1: column {twice!r} is there twice")
    return [
        {
            name: _parsed(name, cells[place], f"{path}: line {line}, column '{name}'")
            for place, name in columns
        }
        for line, cells in table.rows
    ]


def _parsed(name: str, text: str, where: str) -> Any:
    if name in _TEXTS:
        return text
    if name in _FLAGS:
        if text.strip() not in ("True", "False"):
            raise InvalidInstance(f"{where}: {shorten(text)}: expected True or False")
        return text.strip() == "True"
    if name in _INTEGERS:
        return io.parse_integer(text, where, 0, 2**53)
    if name in _NUMBERS:
        return io.parse_nonnegative(text, where)
    list_match = _LIST.fullmatch(text.strip())
    if not list_match:
        raise InvalidInstance(f"{where}: {shorten(text)}: expected integers, as (0, 3)")
    return tuple(io.parse_integer(part, where, 0, 2**31 - 1) for part in re.findall(r"\d+", text))


def stated_bound(stated: Any, result: Result, of: Presentation) -> Bound | None:
    """The bound that a schedule file states; InvalidSchedule where the value contradicts it."""
    if stated is None:
        return None
    stated_value = stated.get("value", math.nan) if isinstance(stated, dict) else math.nan
    if stated_value is None:  # written where it is no finite number
        return None
    number = stated_number(stated_value, "bound")
    if math.isnan(number):
        raise InvalidSchedule(f"states the bound {shorten(stated)}: expected value and method")
    try:
        result.gap_to(Bound(number, ""))
    except InvalidBound:
        side = "below" if of.family.maximise else "above"
        raise InvalidSchedule(
            f"states a bound of {number:.17g}, {side} the {of.objective}, {result.value:.17g}"
        ) from None
    return Bound(number, "")


def stated_number(stated: Any, what: str) -> float:
    return math.nan if stated is None else real(stated, what)


def record_of(of: Family, instance: Any, path: Path) -> Execution | None:
    """The record of a run of this instance; None: the file is none."""
    if not io.bare_name(path).endswith(".json"):
        return None
    data = io.read_json(path)
    if not isinstance(data, dict) or data.get("format") != OF_RECORD:
        return None
    record = Execution.read(path)
    tasks = sorted(task.task for task in record.tasks)
    if record.family != of.name or tasks != list(range(len(instance.names))):
        raise InvalidSchedule("the record of a run of something else")
    return record


def check_file(of: Presentation, instance: Any, path: Path) -> tuple[dict[str, Any], str]:
    """Check the schedule of a file, or the record of a run.

    Returns
    -------
    dict, str
        The numbers that were checked, and a sentence with them.

    Raises
    ------
    InvalidSchedule
        The file breaks a rule of the instance, or states another value than it has.
    """
    if (record := record_of(of.family, instance, path)) is not None:
        return check_record(record)
    schedule, stated_facts = read_schedule(of.family, instance, path)
    schedule.validate()
    result = of.family.result_of(instance, schedule)
    value = result.value
    stated_value = stated_facts.get("value", value)
    # written so that nan is refused
    if not abs(value - stated_number(stated_value, "value")) <= 1e-9 * abs(value):
        raise InvalidSchedule(f"states {of.objective} {shorten(stated_value)}, it is {value:.17g}")
    bound = stated_bound(stated_facts.get("bound"), result, of)
    numbers = {
        "valid": True,
        "placements": len(schedule),
        "value": value,
        "bound": None if bound is None else bound.value,
        "gap": None if bound is None else result.gap_to(bound),
    }
    sentence = f"valid: {len(schedule)} placements, {of.objective} {value:.9g}"
    if bound is not None:
        sentence += f", stated bound {bound.value:.9g} (gap {percent(result.gap_to(bound))})"
    return numbers, sentence


def check_record(record: Execution) -> tuple[dict[str, Any], str]:
    """Check that a run kept the capacities; InvalidSchedule where it did not."""
    record.validate()
    n_completed = sum(task.state == "completed" for task in record.tasks)
    checks = ["no unit was used twice at once"]
    if record.capacity:
        checks.append(f"{', '.join(sorted(record.capacity))} kept")
    end = "" if math.isnan(record.makespan) else f", measured end {record.makespan:.9g} s"
    numbers = {
        "valid": True,
        "tasks": len(record.tasks),
        "completed": n_completed,
        "makespan": record.makespan,
    }
    sentence = f"valid as it happened: {n_completed} of {len(record.tasks)} tasks completed{end}, "
    return numbers, sentence + ", ".join(checks)
