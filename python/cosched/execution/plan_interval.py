"""How far the end of a plan may be off, by all that is known of how times vary."""

from collections.abc import Mapping, Sequence
from os import PathLike

import numpy as np

from cosched import core
from cosched.core.resampling import resource_needs
from cosched.execution.execution_measurements import read_executions
from cosched.execution.interval import Interval, errors_of, interval_of, noise_of
from cosched.execution.plan_input import Tables, Tasks
from cosched.execution.runs_file import MeasuredRun
from cosched.execution.slowdowns import SlowdownTables

#: The shortest length (s) by which shared time is divided: a placement may have the length 0.
_MIN_LENGTH = 1e-12


def plan_interval(
    result: core.Result,
    runs_file: str | PathLike[str],
    runs: Sequence[MeasuredRun],
    tasks: Tasks,
    tables: Tables,
    slowdowns: SlowdownTables | None,
    shared: Mapping[str, object],
    edges: Sequence[tuple[int, int]],
    seed: int | None,
) -> Interval | None:
    """Return the 90% interval of the end of a plan; None where nothing is known of how times vary.

    Parameters
    ----------
    result : Result
        The plan.
    runs_file : str or path-like
        The measurements; earlier executions stand beside it.
    runs : sequence of MeasuredRun
        What was measured.
    tasks, tables : Tasks, Tables
        What was planned.
    slowdowns : SlowdownTables, optional
        The slow-downs that were planned with.
    shared : mapping
        Needs of resources, as the instances take them.
    edges : sequence of (int, int)
        The second task waits for the first.
    seed : int or None
        Of the draws.
    """
    return interval_of(
        result.schedule,
        barriers=result.family == "packs",
        noise=noise_of([run for run in runs if run.task in tasks.seconds], result.value),
        errors=_errors_of_executions(runs_file, tasks, tables),
        slowdown_bounds=None if slowdowns is None else _slowdown_bounds(result, slowdowns),
        resource_uses=resource_needs(result.schedule, shared),
        edges=edges,
        seed=0 if seed is None else seed,
    )


def _slowdown_bounds(
    result: core.Result, slowdowns: SlowdownTables
) -> tuple[np.ndarray, np.ndarray]:
    """Return the least and largest length of each placement over its planned length.

    The planned length has the planned slow-downs; the bounds have the low and high ones.
    """
    schedule = result.schedule
    length = schedule.end - schedule.start
    low, high = np.ones(len(length)), np.ones(len(length))
    for row in range(len(length)):
        overlap = np.minimum(schedule.end, schedule.end[row]) - np.maximum(
            schedule.start, schedule.start[row]
        )
        shared_fraction = np.clip(overlap, 0, None) / max(length[row], _MIN_LENGTH)
        shared_fraction[row] = 0.0  # no task slows itself
        planned_slowdown, low_slowdown, high_slowdown = (
            1 + float((shared_fraction * (table[schedule.task[row], schedule.task] - 1)).sum())
            for table in (slowdowns.planned, slowdowns.low, slowdowns.high)
        )
        low[row] = low_slowdown / planned_slowdown
        high[row] = high_slowdown / planned_slowdown
    return low, high


def _errors_of_executions(
    runs_file: str | PathLike[str], tasks: Tasks, tables: Tables
) -> list[float]:
    """Return the real end over the planned end of earlier executions of these tasks."""
    planned_seconds = {
        (name, column + 1): float(seconds)
        for name, row in zip(tasks.profiles, tables.times, strict=True)
        for column, seconds in enumerate(row)
        if np.isfinite(seconds)
    }
    return errors_of(read_executions(runs_file), planned_seconds)
