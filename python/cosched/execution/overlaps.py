"""What a run was by its real starts and ends: who ran beside whom."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cosched.execution.task_run import TaskRun


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
