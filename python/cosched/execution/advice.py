"""``execution.plan``: one answer to a file of measurements, in words."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from cosched import core, moldable, packs, profiles
from cosched.core import Bound
from cosched.core.arrays import integer
from cosched.core.limits import Patience
from cosched.core.result import relative_gap
from cosched.errors import InvalidInstance, shorten
from cosched.execution.adaptive import Guarantee, any_schedule_bound, guarantee
from cosched.execution.codes import Codes
from cosched.execution.runs import read_runs, seconds_of, table_of

#: More tasks are not searched exactly.
_MOST_EXACT = 12
#: More names are counted.
_MOST_SHOWN = 6


@dataclass(frozen=True, kw_only=True)
class Advice:
    """What to run, and what is known of it; made by :func:`cosched.execution.plan`.

    Attributes
    ----------
    result : Result
        Of packs or moldable: the earliest end that was found.
    alone : float
        The end of all tasks one after the other, each on its best count (s).
    bound : Bound
        No schedule of any kind ends earlier, if the times are right.
    unmeasured : tuple of (str, int)
        Tasks and counts of the plan whose time was not measured but filled in.
    guarantee : Guarantee or None
        What holds whatever the times are that were not measured; None where all were.
    spread : (float, float) or None
        5% and 95% of the end when times vary as the measurements did.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from cosched.execution import plan
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "runs.csv"
    >>> _ = path.write_text("task,processors,seconds\\na,1,4\\na,2,3\\nb,1,2\\nb,2,1.5\\n")
    >>> advice = plan(path)
    >>> advice.result.value, advice.alone, round(advice.gap, 4)
    (4.0, 4.5, 0.0)
    """

    result: Any
    alone: float
    bound: Bound
    unmeasured: tuple[tuple[str, int], ...] = ()
    guarantee: Guarantee | None = None
    spread: tuple[float, float] | None = None

    @property
    def gap(self) -> float:
        """Distance from the bound: at most so far above the best possible schedule."""
        return relative_gap(self.result.value, self.bound, False)

    def lines(self) -> list[str]:
        """The answer in words.

        Returns
        -------
        list of str
        """
        return [
            *self._headline(),
            self._proof(),
            *self._placements(),
            *self._doubts(),
        ]

    def _headline(self) -> list[str]:
        result = self.result
        tasks, procs = result.instance.times.shape
        return [
            f"{tasks} tasks on {procs} processors end after {_s(result.value)} "
            f"({result.family} {result.algorithm})",
            f"one after the other: {_s(self.alone)}, {self.alone / result.value:.2f} times as long",
        ]

    def _proof(self) -> str:
        if self.gap < 1e-5:
            far = "this is the best possible"
        else:
            far = f"this is at most {100 * self.gap:.1f}% above the best possible"
        return f"proved: no schedule of any kind ends before {_s(self.bound.value)}: {far}"

    def _placements(self) -> list[str]:
        result = self.result
        schedule, names = result.schedule, result.instance.names
        counts = np.diff(schedule.unit_begin)
        order = np.lexsort((schedule.task, schedule.start))
        words = [
            f"{names[schedule.task[row]]} on {counts[row]} "
            f"({_s(schedule.end[row] - schedule.start[row])})"
            for row in order
        ]
        if result.family != "packs":
            return [
                f"from {_s(schedule.start[row])}: {text}"
                for row, text in zip(order, words, strict=True)
            ]
        lines = []
        for number, start in enumerate(np.unique(schedule.start), start=1):
            mine = [k for k, row in enumerate(order) if schedule.start[row] == start]
            end = max(schedule.end[order[k]] for k in mine)
            beside = ", ".join(words[k] for k in mine)
            lines.append(f"pack {number}, {_s(start)[:-2]} to {_s(end)}: {beside}")
        return lines

    def _doubts(self) -> list[str]:
        lines = ["all times of the plan were measured"]
        if self.unmeasured:
            shown = [f"{name} on {count}" for name, count in self.unmeasured[:_MOST_SHOWN]]
            more = len(self.unmeasured) - len(shown)
            text = ", ".join(shown) + (f", and {more} more" if more else "")
            lines = [f"not measured but interpolated: {text}"]
        if self.guarantee is not None:
            known = self.guarantee
            lines.append(
                "whatever the times are that were not measured (time does not grow with "
                f"processors, work does not shrink): some plan ends by {_s(known.plan.value)}, "
                f"no schedule before {_s(known.bound)}"
            )
        if self.spread is not None:
            low, high = self.spread
            lines.append(
                f"when times vary as the measurements did, it ends after {_s(low)} to {_s(high)} "
                "(in 90% of 200 draws)"
            )
        return lines

    def to_dict(self) -> dict[str, Any]:
        """What ``cosched plan -o`` writes: the schedule file, with what is proved of any schedule.

        Returns
        -------
        dict
        """
        proved = {"value": self.bound.value, "method": self.bound.method}
        return {**self.result.to_dict(), "any_schedule": proved, "alone": self.alone}


def _s(seconds: float) -> str:
    return f"{seconds:.4g} s"


def plan(
    runs: str | PathLike[str],
    codes: Codes | None = None,
    *,
    procs: int | None = None,
    counts: str = "all",
    time_limit: float | None = Patience(2.0),
    seed: int | None = None,
) -> Advice:
    """The best plan found over packs and moldable jobs for measured codes, in words.

    A plan of packs is one of moldable jobs too, so one bound, on any schedule, is for both.

    Parameters
    ----------
    runs : str or path-like
        What :func:`profile` wrote, or any CSV ``task,processors,seconds``.
    codes : Codes, optional
        Only counts that they may run on are planned, and their weights count; None: any count
        between the smallest and the largest measured.
    procs : int, optional
        Processors; None: those of the codes, else the largest count measured.
    counts : {"all", "measured"}
        "measured": no time is filled in between measured counts.
    time_limit : float or None
        Seconds for each algorithm, which a search uses; by default a ceiling of 2 s.

    Raises
    ------
    InvalidInstance
        A bad file; a task that is not in the codes, or that was measured on none of its counts.
    OSError
        The file cannot be read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "runs.csv"
    >>> _ = path.write_text("task,processors,seconds\\na,1,4\\na,2,3\\nb,1,2\\nb,2,1.5\\n")
    >>> plan(path).result.schedule.makespan
    4.0
    """
    seconds = seconds_of(read_runs(runs))
    names = list(seconds)
    if codes is not None:
        for name in names:
            codes[name]  # refuses one that is not there
    largest = max(count for of in seconds.values() for count in of)
    p = largest if codes is None else codes.procs
    p = p if procs is None else integer(procs, "procs", 1)
    allowed = _allowed(names, p, codes)
    times, origin, spread = _times(seconds, names, allowed, counts, str(runs))
    given: dict[str, Any] = {"names": names, "origin": origin, "spread": spread}
    of_packs = packs.Instance(times, **given)
    weights = [1.0 if codes is None else codes[name].weight for name in names]
    of_moldable = moldable.Instance(times, weights, **given)
    result = _best(of_packs, of_moldable, time_limit, seed)
    counts_used = np.diff(result.schedule.unit_begin)
    unmeasured = tuple(
        (names[task], int(count))
        for task, count in sorted(zip(result.schedule.task.tolist(), counts_used, strict=True))
        if origin[task, count - 1]
    )
    low, high = (result.metrics().get(key) for key in ("value_p5", "value_p95"))
    return Advice(
        result=result,
        alone=packs.sequential(of_packs).value,
        bound=max(
            any_schedule_bound(of_moldable),
            moldable.bound(of_moldable, "slots", time_limit=time_limit),
            key=float,
        ),
        unmeasured=unmeasured,
        guarantee=_guaranteed(seconds, names, allowed),
        spread=None if low is None or high is None else (low, high),
    )


def _allowed(names: Sequence[str], procs: int, codes: Codes | None) -> np.ndarray:
    allowed = np.ones((len(names), procs), dtype=bool)
    for row, name in enumerate(names):
        mine = None if codes is None else codes[name].counts
        if mine is not None:
            allowed[row] = np.isin(np.arange(1, procs + 1), mine)
    return allowed


def _times(
    seconds: Mapping[str, Mapping[int, list[float]]],
    names: Sequence[str],
    allowed: np.ndarray,
    counts: str,
    where: str,
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Times on 1..p, each task only between its smallest and largest measured count."""
    p = allowed.shape[1]
    runs: dict[str, dict[int, list[float] | float]] = {}
    for name in names:
        mine: dict[int, list[float] | float] = {
            q: times if times else np.inf for q, times in seconds[name].items()
        }
        for q in {*range(1, min(mine)), *range(max(mine) + 1, p + 1)}:
            mine[q] = np.inf
        runs[name] = mine
    found = profiles.complete(runs, p, counts=counts)
    times = np.where(allowed, found.times, np.inf)
    for row, name in enumerate(names):
        if not np.isfinite(times[row]).any():
            raise InvalidInstance(
                f"{where}: task {shorten(name)} was measured on none of the counts that it may "
                f"run on, of 1..{p}: expected one"
            )
    return times, np.where(allowed, found.origin, 0), found.spread


def _best(
    of_packs: packs.Instance,
    of_moldable: moldable.Instance,
    time_limit: float | None,
    seed: int | None,
) -> core.Result:
    """The earliest end; packs where both families have it: they are simpler to run."""
    names = ["pack-by-pack-9", "local-search"]
    names += ["optimal"] if of_packs.tasks <= _MOST_EXACT else []
    rows = packs.FAMILY.compare_rows(of_packs, names, seed, time_limit)
    in_packs = [result for _, result in rows if result is not None]
    # A plan of packs is a schedule of moldable tasks, so the search never ends above it.
    start = min(in_packs, key=lambda result: result.value, default=None)
    options = {"local-search": {"start": start}}
    rows = moldable.FAMILY.compare_rows(of_moldable, None, seed, time_limit, options)
    found = [*in_packs, *(result for _, result in rows if result is not None)]
    least = min(result.value for result in found)
    close = [result for result in found if result.value <= least * (1 + 1e-9)]
    first = [result for result in close if result.family == "packs"]
    return (first or close)[-1]


def _guaranteed(
    seconds: dict[str, dict[int, list[float]]], names: Sequence[str], allowed: np.ndarray
) -> Guarantee | None:
    table = np.where(allowed, table_of(seconds, names, allowed.shape[1]), np.nan)
    if not np.isnan(table[allowed]).any() or not np.isfinite(table).any(axis=1).all():
        return None
    return guarantee(table, allowed, names=names)


def command_to_run(plan_path: Any, codes_path: Any) -> str:
    """The command line that runs a plan."""
    return shlex.join(
        ["cosched", "run", str(plan_path), "--codes", str(codes_path or "codes.toml")]
    )
