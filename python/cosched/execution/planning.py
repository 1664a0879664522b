"""``execution.plan``: one answer to a file of measurements, the best of packs and moldable jobs."""

from __future__ import annotations

import heapq
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np

from cosched import core, moldable, packs, profiles
from cosched.core import Bound
from cosched.core.arrays import integer, positive
from cosched.core.limits import Patience
from cosched.core.options import one_of
from cosched.core.resampling import resource_needs
from cosched.errors import InvalidInstance
from cosched.execution.adaptive import Guarantee, any_schedule_bound, guarantee
from cosched.execution.advice import Advice
from cosched.execution.code import Code
from cosched.execution.codes import Codes
from cosched.execution.interval import Interval, errors_of, interval_of, noise_of
from cosched.execution.plan_input import Tables, Tasks, shared_of, tables_of, tasks_of
from cosched.execution.runs import (
    MeasuredRun,
    by_member,
    current,
    read_executions,
    read_measurements,
    seconds_of,
    starved_note,
    table_of,
)
from cosched.execution.slowdowns import (
    MISSING,
    QUANTILES,
    Slow,
    as_if_alone,
    read_slowdowns,
    slow_of,
)
from cosched.notes import Note, NoteKind

#: More tasks are not searched exactly.
_MOST_EXACT = 12
#: More tasks are not searched with every algorithm.
_MANY = 200
#: The algorithms for so many; `sequential` is longest-first on one processor each.
_QUICK = ("list-shelf", "dual-approximation", "list-lptf", "sequential")
#: Ends that differ by no more are the same.
_SAME = 1 + 1e-9


@dataclass(frozen=True)
class PlanSearch:
    """The same tasks as an instance of both families, and for how long each algorithm searches."""

    #: The tasks as an instance of packs.
    packs: packs.Instance
    #: The tasks as an instance of moldable tasks.
    moldable: moldable.Instance
    #: Seconds for each algorithm; None: each does its usual work.
    time_limit: float | None
    #: Seed of the algorithms; None: 0.
    seed: int | None

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        tables: Tables,
        weights: Sequence[float],
        edges: Sequence[tuple[int, int]],
        shared: Mapping[str, Any],
        time_limit: float | None,
        seed: int | None,
    ) -> PlanSearch:
        shared_arguments = {
            "names": names,
            "origin": tables.origin,
            "spread": tables.spread,
            **shared,
        }
        return cls(
            packs.Instance(tables.times, **shared_arguments),
            moldable.Instance(tables.times, weights, edges=edges, **shared_arguments),
            time_limit,
            seed,
        )

    def best(self) -> tuple[core.Result, Bound]:
        """The earliest end that was found, and what no schedule ends before.

        Where tasks come after others, plans of packs are not compared: packs know no order.
        """
        if len(self.moldable.edges):
            return self._best_in_order()
        return _best(self.packs, self.moldable, self.time_limit, self.seed), self._bound()

    def without_slowdowns(self) -> tuple[core.Result, core.Result]:
        """The best plan if nobody slowed another, and that plan with the slow-downs."""
        alone = (self.packs.without_slowdowns(), self.moldable.without_slowdowns())
        plain = _best(*alone, self.time_limit, self.seed)
        if isinstance(plain, packs.Result):
            return plain, packs.co_schedule(self.packs, plain.pack_of, plain.procs)
        assert isinstance(plain, moldable.Result)
        return plain, moldable.replay(self.moldable, plain)

    def one_after_the_other(self) -> float:
        """The end of all tasks one after the other, each on its best count."""
        return packs.sequential(self.packs).value

    def _best_in_order(self) -> tuple[core.Result, Bound]:
        """Return the plan of the simplest algorithm that has the earliest end; the best bound that
        one proves."""
        rows = moldable.FAMILY.compare_rows(self.moldable, None, self.seed, self.time_limit)
        results = [result for _, result in rows if result is not None]
        least = min(result.value for result in results)
        best = next(result for result in results if result.value <= least * _SAME)
        return best, max((r.own_bound for r in results if r.own_bound is not None), key=float)

    def _bound(self) -> Bound:
        """Bounds that do not know what is shared are valid, too."""
        plain = moldable.Instance(self.moldable.times, self.moldable.weights)
        limit = self.time_limit
        bounds = [any_schedule_bound(plain), moldable.bound(plain, "slots", time_limit=limit)]
        if self.moldable.sharing:
            bounds.append(moldable.bound(self.moldable, "configurations", time_limit=limit))
        return max(bounds, key=float)


def _best(
    of_packs: packs.Instance,
    of_moldable: moldable.Instance,
    time_limit: float | None,
    seed: int | None,
) -> core.Result:
    """The earliest end; packs where both families have it: they are simpler to run."""
    names = ["sequential", "pack-by-pack-9", "local-search"]
    names += ["optimal"] if of_packs.tasks <= _MOST_EXACT else []
    rows = packs.FAMILY.compare_rows(of_packs, names, seed, time_limit)
    in_packs = [result for _, result in rows if result is not None]
    # A plan of packs is a schedule of moldable tasks, so the search never ends above it.
    start = min(in_packs, key=lambda result: result.value, default=None)
    few = of_packs.tasks <= _MANY
    options: dict[str, dict[str, Any]] = {"local-search": {"start": start}} if few else {}
    every = None if few else list(_QUICK)
    rows = moldable.FAMILY.compare_rows(of_moldable, every, seed, time_limit, options)
    results = [*in_packs, *(result for _, result in rows if result is not None)]
    least = min(result.value for result in results)
    close = [result for result in results if result.value <= least * _SAME]
    first = [result for result in close if result.family == "packs"]
    return (first or close)[-1]


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
    """The best plan found over packs and moldable jobs for measured codes, in words.

    A plan of packs is one of moldable jobs too, so one bound, on any schedule, is for both. Where
    codes come `after` others, only plans of moldable jobs are compared: packs know no order. Codes
    that completed on no count are left out with those that come after them, and named; so are
    measurements of what is not among the codes, or of other commands than theirs. Where the codes
    say what the machine has of memory, GPUs and licences, a plan keeps it: a code needs what it
    declares, else the largest memory that was measured, times a margin.

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
        What :func:`together` (``profile --together -o``) wrote: what tasks do to each other.
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
    measurements = read_measurements(runs)
    every, changed = current(measurements.runs, codes)
    tasks = tasks_of(every, codes, runs, strict)
    p = _processors(tasks, codes, procs)
    edges = [] if codes is None else codes.edges(tasks.names)
    slow: Slow | None = None
    company_notes: tuple[Note, ...] = ()
    if slowdowns is not None:
        if edges:
            raise InvalidInstance(
                f"{slowdowns}: slow-downs of tasks that come after others are not planned: "
                "expected codes without after, or no slow-downs"
            )
        slow = slow_of(read_slowdowns(slowdowns), tasks.profiles, p, slowdown, missing)
        every, tasks, company_notes = _without_company(every, tasks, slow, codes)
    tables = tables_of(tasks, p, codes, counts, str(runs))
    margin = positive(memory_margin, "memory_margin")
    shared, notes = shared_of(tasks, tables, every, codes, margin)
    if slow is not None:
        shared["slowdowns"] = profiles.Slowdowns(slow.table)
        notes += (*slow.notes, *company_notes)
    weights = [1.0 if codes is None else codes[name].weight for name in tasks.names]
    search = PlanSearch.of(tasks.names, tables, weights, edges, shared, time_limit, seed)
    if edges:
        text = "plans of packs are not compared: they know no order (after)"
        notes += (Note(NoteKind.NOT_USED, text, subject="packs"),)
    result, bound = search.best()
    plain = ignorant = None
    if slow is not None:
        plain, ignorant = search.without_slowdowns()
        result = min(result, ignorant, key=lambda candidate: candidate.value)
    measured = every if codes is None else by_member(every, codes)
    ranged = _interval(result, runs, measured, tasks, tables, slow, shared, edges, seed)
    return Advice(
        result=result,
        alone=search.one_after_the_other(),
        bound=bound,
        unmeasured=_unmeasured(result, tables.origin, tasks.names),
        guarantee=None if shared or edges else _guaranteed(tasks, tables),
        spread=None if ranged is None else (ranged.low, ranged.high),
        rests_on=() if ranged is None else ranged.rests_on,
        alone_in_company=None if plain is None else plain.value,
        ignorant=None if ignorant is None else ignorant.value,
        one_line=None if edges else _one_line(result, tables.times, codes, shared),
        notes=(*measurements.notes, *changed, *starved_note(every), *tasks.notes, *notes),
    )


def _processors(tasks: Tasks, codes: Codes | None, procs: int | None) -> int:
    if procs is not None:
        return integer(procs, "procs", 1)
    if codes is not None:
        return codes.procs
    return max(count for unit in tasks.units for count in tasks.seconds[unit])


def _without_company(
    every: Sequence[MeasuredRun], tasks: Tasks, slow: Slow, codes: Codes | None
) -> tuple[list[MeasuredRun], Tasks, tuple[Note, ...]]:
    """Return measurements made by executions, without the slow-downs that are planned anew."""
    alone, changed = as_if_alone(every, tasks.profiles, slow)
    seconds = seconds_of(alone)
    if codes is not None:
        seconds |= seconds_of(by_member(alone, codes))
    text = f"{changed} times were taken in company: divided by the slow-downs of those beside them"
    note = Note(NoteKind.REPAIRED, text, subject="times", count=changed)
    return (
        alone,
        replace(tasks, seconds={name: seconds[name] for name in tasks.seconds}),
        (note,) if changed else (),
    )


def _interval(
    result: core.Result,
    runs: str | PathLike[str],
    every: Sequence[MeasuredRun],
    tasks: Tasks,
    tables: Tables,
    slow: Slow | None,
    shared: Mapping[str, object],
    edges: Sequence[tuple[int, int]],
    seed: int | None,
) -> Interval | None:
    """How far the end of a plan may be off, by all that is known of how times vary."""
    return interval_of(
        result.schedule,
        barriers=result.family == "packs",
        noise=noise_of([run for run in every if run.task in tasks.seconds], result.value),
        errors=_errors(runs, tasks, tables),
        stretch=None if slow is None else _stretch(result, slow),
        resource_uses=resource_needs(result.schedule, shared),
        edges=edges,
        seed=0 if seed is None else seed,
    )


def _unmeasured(
    result: core.Result, origin: np.ndarray, names: Sequence[str]
) -> tuple[tuple[str, int], ...]:
    counts = np.diff(result.schedule.unit_begin)
    return tuple(
        (names[task], int(count))
        for task, count in sorted(zip(result.schedule.task.tolist(), counts, strict=True))
        if origin[task, count - 1]
    )


def _stretch(result: core.Result, slow: Slow) -> tuple[np.ndarray, np.ndarray]:
    """Return the least and largest length of each placement over the planned one, by its
    slow-downs."""
    schedule = result.schedule
    length = schedule.end - schedule.start
    low, high = np.ones(len(length)), np.ones(len(length))
    for row in range(len(length)):
        task = schedule.task[row]
        shared = np.minimum(schedule.end, schedule.end[row]) - np.maximum(
            schedule.start, schedule.start[row]
        )
        part = np.clip(shared, 0, None) / max(length[row], 1e-12)
        part[row] = 0.0
        others = schedule.task
        planned, least, most = (
            1 + float((part * (table[task, others] - 1)).sum())
            for table in (slow.table, slow.low, slow.high)
        )
        low[row], high[row] = least / planned, most / planned
    return low, high


def _errors(runs: str | PathLike[str], tasks: Tasks, tables: Tables) -> list[float]:
    times = {
        (name, q + 1): float(t)
        for name, row in zip(tasks.profiles, tables.times, strict=True)
        for q, t in enumerate(row)
        if np.isfinite(t)
    }
    return errors_of(read_executions(runs), times)


def _one_line(
    result: core.Result, times: np.ndarray, codes: Codes | None, shared: Mapping[str, object]
) -> str | None:
    """What longest-first on one processor each would be typed as, where it is as good."""
    procs = times.shape[1]
    if shared or not is_no_better(result.value, times[:, 0], procs):
        return None
    if codes is None:
        return ""
    order = longest_first(times[:, 0], procs)[1]
    instance: Any = result.instance
    return one_line([codes[instance.names[task]] for task in order], procs) or ""


def _guaranteed(tasks: Tasks, tables: Tables) -> Guarantee | None:
    measured_times = table_of(tasks.seconds, tasks.units, tables.allowed.shape[1])
    table = np.where(tables.allowed, measured_times, np.nan)
    if not np.isnan(table[tables.allowed]).any() or not np.isfinite(table).any(axis=1).all():
        return None
    return guarantee(table, tables.allowed, names=tasks.names)


#: A plan that ends no earlier than by this share is no better.
_BETTER = 0.01
#: A line of more codes is too long to be typed.
_MOST = 20


def longest_first(times: np.ndarray, procs: int) -> tuple[float, list[int]]:
    """End of tasks on one processor each, the longest first; their order. O(n log n)."""
    order = np.argsort(-times, kind="stable").tolist()
    free = [0.0] * procs
    for task in order:
        heapq.heapreplace(free, free[0] + float(times[task]))
    return max(free), order


def is_no_better(value: float, times: np.ndarray, procs: int) -> bool:
    """Whether a plan's end is not earlier than that by 1%."""
    if not np.isfinite(times).all():
        return False
    return value > longest_first(times, procs)[0] * (1 - _BETTER)


def one_line(codes: Sequence[Code], procs: int) -> str | None:
    """The line of xargs that runs codes in this order, each on one processor; None: too long.

    A code is a line of a shell, with its folder and environment; nothing is pinned.
    """
    if len(codes) > _MOST:
        return None
    words = []
    for code in codes:
        command = code.filled(1, (0,))
        variables = code.filled_environment(1, (0,))
        settings = [f"{key}={value}" for key, value in variables.items()]
        settings += [] if "OMP_NUM_THREADS" in variables else ["OMP_NUM_THREADS=1"]
        folder = shlex.quote(str(code.filled_directory(1, (0,))))
        words.append(shlex.quote(f"cd {folder} && exec {shlex.join(['env', *settings, *command])}"))
    return f"printf '%s\\0' {' '.join(words)} | xargs -0 -n 1 -P {procs} sh -c"
