"""A schedule as a Paje trace: what ViTE, PajeNG and StarVZ show.

Containers: the machine, a group for each resource type, a unit. A unit's state is what it runs: the
kernel of the task where the instance has kernels, else its label; the label is a field besides.
"""

import colorsys
from collections.abc import Iterable, Iterator
from typing import Any

from cosched.errors import InvalidSchedule, printable

#: Events: name -> fields, all with their types. Their numbers are those of this list.
_EVENTS = {
    "PajeDefineContainerType": "Alias string, Type string, Name string",
    "PajeDefineStateType": "Alias string, Type string, Name string",
    "PajeDefineEntityValue": "Alias string, Type string, Name string, Color color",
    "PajeCreateContainer": "Time date, Alias string, Type string, Container string, Name string",
    "PajeDestroyContainer": "Time date, Type string, Name string",
    "PajePushState": "Time date, Type string, Container string, Value string, Task string",
    "PajePopState": "Time date, Type string, Container string",
}
_NUMBERS = {name: number for number, name in enumerate(_EVENTS)}
#: An overlap of two tasks that is rounding, relative to the end of the first.
_ROUNDING = 1e-9


def lines(schedule: Any) -> Iterator[str]:
    """The trace, line by line.

    Examples
    --------
    >>> inst = cs.dags.Instance([[2.0, 1.0], [3.0, 2.0]], [(0, 1)], units=(1, 1))
    >>> trace = list(lines(cs.dags.heft(inst).schedule))
    >>> [line for line in trace if line.startswith(("5 ", "6 "))]
    ['5 0.0 S U1.0 V0 "task 0"', '6 1.0 S U1.0', '5 1.0 S U1.0 V1 "task 1"', '6 3.0 S U1.0']
    """
    for name, fields in _EVENTS.items():
        yield f"%EventDef {name} {_NUMBERS[name]}"
        yield from (f"%       {field}" for field in fields.split(", "))
        yield "%EndEventDef"
    yield _event("PajeDefineContainerType", "M", "0", _text("Machine"))
    yield _event("PajeDefineContainerType", "K", "M", _text("Type"))
    yield _event("PajeDefineContainerType", "U", "K", _text("Unit"))
    yield _event("PajeDefineStateType", "S", "U", _text("Running"))
    labels, groups = _labels(schedule)
    values = {group: f"V{number}" for number, group in enumerate(dict.fromkeys(groups))}
    for number, group in enumerate(values):
        red, green, blue = colorsys.hsv_to_rgb(number * 0.618 % 1, 0.6, 0.85)
        color = f'"{red:.3f} {green:.3f} {blue:.3f}"'
        yield _event("PajeDefineEntityValue", values[group], "S", _text(group), color)
    yield _event("PajeCreateContainer", 0.0, "m", "M", "0", _text("machine"))
    containers = []
    for kind, (name, count) in enumerate(_types(schedule)):
        yield _event("PajeCreateContainer", 0.0, f"K{kind}", "K", "m", _text(name))
        for unit in range(count):
            alias = f"U{kind}.{unit}"
            containers.append(alias)
            full = _text(f"{name} {unit}")
            yield _event("PajeCreateContainer", 0.0, alias, "U", f"K{kind}", full)
    events = [event for unit, rows in _by_unit(schedule) for event in _states(schedule, unit, rows)]
    for time, place, row in sorted(events, key=lambda event: event[0]):  # stable: each unit's order
        if row is None:
            yield _event("PajePopState", time, "S", place)
        else:
            task = int(schedule.task[row])
            yield _event(
                "PajePushState", time, "S", place, values[groups[task]], _text(labels[task])
            )
    for alias in containers:
        yield _event("PajeDestroyContainer", schedule.makespan, "U", alias)
    for kind, _ in enumerate(_types(schedule)):
        yield _event("PajeDestroyContainer", schedule.makespan, "K", f"K{kind}")
    yield _event("PajeDestroyContainer", schedule.makespan, "M", "m")


def _event(name: str, *fields: object) -> str:
    return " ".join([str(_NUMBERS[name]), *map(str, fields)])


def _text(value: str) -> str:
    """Return a text in quotes, which no reader lets a text contain."""
    return '"' + printable(value).replace('"', "'") + '"'


def _labels(schedule: Any) -> tuple[list[str], list[str]]:
    """Return the label and group of each task."""
    tasks = int(schedule.task.max(initial=-1)) + 1
    names = schedule.instance.given_names or [f"task {number}" for number in range(tasks)]
    kernels = getattr(schedule.instance, "kernels", None)
    return list(names), list(kernels or names)


def _types(schedule: Any) -> list[tuple[str, int]]:
    """Return resource types of the machine: name, units."""
    counts = list(getattr(schedule.instance, "unit_counts", ()))
    for row, kind in enumerate(schedule.kind.tolist()):
        counts += [0] * (kind + 1 - len(counts))
        counts[kind] = max(counts[kind], 1 + max(schedule.units(row)))
    names = getattr(schedule.instance, "kind_names", None) or ["processor"]
    return [(names[k] if k < len(names) else f"type {k}", n) for k, n in enumerate(counts)]


def _by_unit(schedule: Any) -> Iterable[tuple[str, list[int]]]:
    """Return rows on each unit, in the order of time."""
    rows: dict[str, list[int]] = {}
    for row in sorted(range(len(schedule)), key=lambda r: (schedule.start[r], schedule.end[r])):
        for unit in schedule.units(row):
            rows.setdefault(f"U{schedule.kind[row]}.{unit}", []).append(row)
    return rows.items()


def _states(schedule: Any, unit: str, rows: list[int]) -> Iterator[tuple[float, str, int | None]]:
    """Yield what happens on a unit: (time, unit, row that begins; None: what ran ends)."""
    start, end = schedule.start.tolist(), schedule.end.tolist()
    for row, after in zip(rows, [*rows[1:], None], strict=True):
        stop = end[row] if after is None else min(end[row], start[after])
        if end[row] - stop > _ROUNDING * max(abs(end[row]), 1.0):
            raise InvalidSchedule(
                f"tasks {schedule.task[row]} and {schedule.task[after]} share unit {unit[1:]} from "
                f"{stop:g} s on: a Paje trace needs one task per unit at a time"
            )
        yield start[row], unit, row
        yield stop, unit, None
