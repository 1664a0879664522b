"""What a run was by its real starts and ends: whether it kept what there is, who ran beside whom.

Shares no code with the driver.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from cosched.core.text import listed
from cosched.errors import shorten
from cosched.execution.task_run import TaskRun

#: Sums of needs may pass a capacity by that much: rounding.
_ROUNDING = 1e-9


def violations(tasks: Sequence[TaskRun], capacity: Mapping[str, float]) -> list[str]:
    """A line for each capacity that was passed, where it was passed most, and for each unit that
    two tasks had at once. O(n log n + pairs that overlap).
    """
    ran = sorted((t for t in tasks if t.start < t.end), key=lambda t: t.start)
    worst: dict[str, tuple[float, float, list[str]]] = {}
    holder: dict[tuple[int, int], TaskRun] = {}
    said = []
    running: list[TaskRun] = []
    for task in ran:
        running = [other for other in running if other.end > task.start]
        for unit in task.units:
            before = holder.get((task.kind, unit))
            if before is not None and before.end > task.start:
                said.append(
                    f"unit {unit}: {shorten(task.name)} began at {task.start:.6g} s, "
                    f"{shorten(before.name)} had it until {before.end:.6g} s"
                )
                break
        for unit in task.units:
            holder[task.kind, unit] = task
        running.append(task)
        for what, most in capacity.items():
            held = math.fsum(other.needs.get(what, 0.0) for other in running)
            if held > max(most * (1 + _ROUNDING), worst.get(what, (0.0,))[0]):
                names = [other.name for other in running if other.needs.get(what)]
                worst[what] = (held, task.start, names)
    for what, (held, when, names) in worst.items():
        gigabytes = " GB" if what == "memory" else ""
        said.append(
            f"{what}: {held:g}{gigabytes} at {when:.6g} s ({listed(names)}), capacity is "
            f"{capacity[what]:g}"
        )
    return said


def neighbours(
    tasks: Sequence[TaskRun],
) -> Iterator[tuple[TaskRun, list[tuple[TaskRun, float]]]]:
    """Each task that ran, with those that ran beside it, and for how many seconds.

    O(n log n + pairs that overlap).
    """
    found: dict[int, list[tuple[TaskRun, float]]] = {}
    ran = sorted((t for t in tasks if t.start < t.end), key=lambda t: t.start)
    running: list[TaskRun] = []
    for task in ran:
        running = [other for other in running if other.end > task.start]
        for other in running:
            seconds = min(task.end, other.end) - task.start
            found.setdefault(task.task, []).append((other, seconds))
            found.setdefault(other.task, []).append((task, seconds))
        running.append(task)
    yield from ((task, found.get(task.task, [])) for task in ran)
