"""``execution.plan``: the best plan for measured codes, over packs and moldable jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np

from cosched import core, profiles
from cosched.core.arrays import integer, positive
from cosched.core.limits import Patience
from cosched.core.options import one_of
from cosched.errors import InvalidInstance
from cosched.execution.adaptive import Guarantee, guarantee
from cosched.execution.advice import Advice
from cosched.execution.codes import Codes
from cosched.execution.longest_first import is_no_better, longest_first, xargs_line
from cosched.execution.measured_times import (
    by_member,
    runs_of_current_codes,
    seconds_of,
    starved_note,
    table_of,
)
from cosched.execution.plan_input import Tables, Tasks, shared_of, tables_of, tasks_of
from cosched.execution.plan_interval import plan_interval
from cosched.execution.plan_search import PlanSearch
from cosched.execution.runs_file import MeasuredRun, read_measurements
from cosched.execution.slowdowns import (
    MISSING,
    QUANTILES,
    SlowdownTables,
    read_slowdowns,
    slowdown_tables,
    without_slowdowns,
)
from cosched.notes import Note, NoteKind


def plan(
    runs: str | PathLike[str],
    codes: Codes | None = None,
    *,
    procs: int | None = None,
    counts: str = "all",
    slowdowns: str | PathLike[str] | None = None,
    slowdown: str = "median",
    missing: str = "one",
    memory_margin: float = 1.1,
    strict: bool = False,
    time_limit: float | None = Patience(2.0),
    seed: int | None = None,
) -> Advice:
    """Plan measured codes: the best plan that was found over packs and moldable jobs.

    A plan of packs is a plan of moldable jobs, too, so one lower bound holds for both. Where codes
    come `after` others, only plans of moldable jobs are compared: packs know no order. Codes that
    completed on no count are left out, with the codes that come after them, and named; so are
    measurements of tasks that are not among the codes, and of other commands than theirs. Where
    the codes say what memory, GPUs and licences the machine has, a plan keeps within it: a code
    needs what it declares, else the largest memory that was measured, times a margin.

    Parameters
    ----------
    runs : str or path-like
        What :func:`profile` wrote, or any CSV ``task,processors,seconds``.
    codes : Codes, optional
        Only counts that they may run on are planned, and their weights count; None: any count
        between the smallest and the largest measured.
    procs : int, optional
        Processors; by default those of the codes, else the largest count measured.
    counts : {"all", "measured"}
        "measured": no time is filled in between measured counts.
    slowdowns : str or path-like, optional
        What :func:`together` (``profile --together -o``) wrote: how tasks slow each other.
    slowdown : {"low", "median", "high"}
        Which of its numbers is planned with; what lies inside the noise is 1, but for "high".
    missing : {"one", "worst"}
        What a pair that is not there counts as: 1, or the largest of its task.
    memory_margin : float
        What measured memory is multiplied by.
    strict : bool
        Refuse what would be left out.
    time_limit : float or None
        Seconds for each algorithm, which a search uses; by default a ceiling of 2 s.
    seed : int, optional
        Of the random algorithms and of the draws of the interval.

    Returns
    -------
    Advice
        The plan, its lower bound, the interval of its end, and notes on what was left out.

    Raises
    ------
    InvalidInstance
        A bad file; a task that was measured on none of its counts, or that fits on none; with
        `strict` a code that failed, or that was not measured; slow-downs of codes with an order.
    OSError
        A file cannot be read.

    Examples
    --------
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "runs.csv"
    >>> _ = path.write_text("task,processors,seconds\\na,1,4\\na,2,3\\nb,1,2\\nb,2,1.5\\n")
    >>> plan(path).result.schedule.makespan
    4.0
    """
    one_of(slowdown, "slowdown", QUANTILES)
    one_of(missing, "missing", MISSING)
    # What was measured, and what of it can be planned.
    measurements = read_measurements(runs)
    measured_runs, changed_notes = runs_of_current_codes(measurements.runs, codes)
    tasks = tasks_of(measured_runs, codes, runs, strict)
    processors = _processor_count(tasks, codes, procs)
    edges = [] if codes is None else codes.edges(tasks.names)
    # What tasks do to each other.
    slowdowns_of_tasks: SlowdownTables | None = None
    correction_notes: tuple[Note, ...] = ()
    if slowdowns is not None:
        _require_no_order(edges, slowdowns)
        slowdowns_of_tasks = slowdown_tables(
            read_slowdowns(slowdowns), tasks.profiles, processors, slowdown, missing
        )
        measured_runs, tasks, correction_notes = _without_measured_slowdowns(
            measured_runs, tasks, slowdowns_of_tasks, codes
        )
    # What the machine has, and what tasks need of it.
    tables = tables_of(tasks, processors, codes, counts, str(runs))
    margin = positive(memory_margin, "memory_margin")
    shared, notes = shared_of(tasks, tables, measured_runs, codes, margin)
    if slowdowns_of_tasks is not None:
        shared["slowdowns"] = profiles.Slowdowns(slowdowns_of_tasks.planned)
        notes += (*slowdowns_of_tasks.notes, *correction_notes)
    if edges:
        text = "plans of packs are not compared: they know no order (after)"
        notes += (Note(NoteKind.NOT_USED, text, subject="packs"),)
    # The plan.
    weights = [1.0 if codes is None else codes[name].weight for name in tasks.names]
    search = PlanSearch.of_tables(tasks.names, tables, weights, edges, shared, time_limit, seed)
    result, bound = search.best_plan_and_bound()
    isolated = interference_blind = None
    if slowdowns_of_tasks is not None:
        isolated, interference_blind = search.plan_without_slowdowns()
        result = min(result, interference_blind, key=lambda candidate: candidate.value)
    interval = plan_interval(
        result,
        runs,
        measured_runs if codes is None else by_member(measured_runs, codes),
        tasks,
        tables,
        slowdowns_of_tasks,
        shared,
        edges,
        seed,
    )
    return Advice(
        result=result,
        sequential_makespan=search.sequential_makespan(),
        bound=bound,
        unmeasured=_unmeasured_times(result, tables.origin, tasks.names),
        guarantee=None if shared or edges else _guarantee_of(tasks, tables),
        spread=None if interval is None else (interval.low, interval.high),
        evidence=() if interval is None else interval.rests_on,
        isolated_makespan=None if isolated is None else isolated.value,
        interference_blind_makespan=(
            None if interference_blind is None else interference_blind.value
        ),
        shell_line=None if edges else _shell_line(result, tables.times, codes, shared),
        notes=(
            *measurements.notes,
            *changed_notes,
            *starved_note(measured_runs),
            *tasks.notes,
            *notes,
        ),
    )


def _processor_count(tasks: Tasks, codes: Codes | None, procs: int | None) -> int:
    """Return the processors to plan for: as given, else of the codes, else the largest measured
    count."""
    if procs is not None:
        return integer(procs, "procs", 1)
    if codes is not None:
        return codes.procs
    return max(count for name in tasks.timed_name_of_task for count in tasks.seconds[name])


def _require_no_order(edges: Sequence[tuple[int, int]], slowdowns: str | PathLike[str]) -> None:
    """Raise InvalidInstance where tasks wait for others: such plans know no slow-downs."""
    if edges:
        raise InvalidInstance(
            f"{slowdowns}: slow-downs of tasks that come after others are not planned: "
            "expected codes without after, or no slow-downs"
        )


def _without_measured_slowdowns(
    runs: Sequence[MeasuredRun], tasks: Tasks, slowdowns: SlowdownTables, codes: Codes | None
) -> tuple[list[MeasuredRun], Tasks, tuple[Note, ...]]:
    """Return runs and tasks with the times of tasks alone, and a note of how many were corrected.

    An execution measures its tasks beside others. Their slow-downs are planned anew, so they are
    taken out of what was measured.
    """
    isolated_runs, corrected_count = without_slowdowns(runs, tasks.profiles, slowdowns)
    seconds = seconds_of(isolated_runs)
    if codes is not None:
        seconds |= seconds_of(by_member(isolated_runs, codes))
    isolated_tasks = replace(tasks, seconds={name: seconds[name] for name in tasks.seconds})
    if not corrected_count:
        return isolated_runs, isolated_tasks, ()
    text = (
        f"{corrected_count} times were taken in company: divided by the slow-downs of those beside "
        "them"
    )
    note = Note(NoteKind.REPAIRED, text, subject="times", count=corrected_count)
    return isolated_runs, isolated_tasks, (note,)


def _unmeasured_times(
    result: core.Result, origin: np.ndarray, names: Sequence[str]
) -> tuple[tuple[str, int], ...]:
    """Return the tasks and processor counts of a plan whose times were filled in.

    `origin`, shape (n, p): 0 where the time was measured.
    """
    counts = np.diff(result.schedule.unit_begin)
    return tuple(
        (names[task], int(count))
        for task, count in sorted(zip(result.schedule.task.tolist(), counts, strict=True))
        if origin[task, count - 1]
    )


def _shell_line(
    result: core.Result, times: np.ndarray, codes: Codes | None, shared: Mapping[str, object]
) -> str | None:
    """Return the shell line that is as good as the plan, longest-first on one processor each.

    None: the plan is better, or tasks share something, which the line does not know. Empty: no
    such line can be written, since the codes are not known or are too many.
    """
    procs = times.shape[1]
    sequential_times = times[:, 0]
    if shared or not is_no_better(result.value, sequential_times, procs):
        return None
    if codes is None:
        return ""
    _, order = longest_first(sequential_times, procs)
    instance: Any = result.instance
    return xargs_line([codes[instance.names[task]] for task in order], procs) or ""


def _guarantee_of(tasks: Tasks, tables: Tables) -> Guarantee | None:
    """Return what holds whatever the times are that were not measured.

    None where all allowed times were measured, or where a task completed on none of its counts.
    """
    measured_times = table_of(tasks.seconds, tasks.timed_name_of_task, tables.allowed.shape[1])
    table = np.where(tables.allowed, measured_times, np.nan)
    is_complete = not np.isnan(table[tables.allowed]).any()
    has_time_of_each_task = np.isfinite(table).any(axis=1).all()
    if is_complete or not has_time_of_each_task:
        return None
    return guarantee(table, tables.allowed, names=tasks.names)
