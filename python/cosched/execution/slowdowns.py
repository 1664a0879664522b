"""``slowdowns.csv``: what codes do to each other side by side, and what of it is noise."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike

import numpy as np

from cosched import io
from cosched.core.text import listed
from cosched.errors import InvalidInstance, shorten
from cosched.execution.runs import Run, company_of

#: ``beside`` is empty in the rows of a code alone against alone.
COLUMNS = (
    "task", "beside", "processors", "alone", "together", "slowdown",
    "beside_processors", "runs", "low", "high", "share",
)  # fmt: skip
_NEEDED = ("task", "beside", "slowdown")
QUANTILES = ("low", "median", "high")
#: A pair that is not there counts as one of these.
MISSING = ("one", "worst")


@dataclass(frozen=True)
class Pair:
    """A row: a task beside another, or alone against alone."""

    task: str
    beside: str
    slowdown: float
    low: float
    high: float
    processors: int = 1
    share: float = math.nan

    def at(self, quantile: str) -> float:
        return {"low": self.low, "median": self.slowdown, "high": self.high}[quantile]


@dataclass(frozen=True)
class Slow:
    """Slow-downs to plan with."""

    table: np.ndarray  # of a task beside another
    low: np.ndarray
    high: np.ndarray
    notes: tuple[str, ...]


def read_slowdowns(path: str | PathLike[str]) -> list[Pair]:
    """The rows of a CSV file; only ``task, beside, slowdown`` have to be there."""
    table = io.read_csv(path)
    header = [name.strip().lower() for name in table.header]
    if set(_NEEDED) - set(header):
        raise InvalidInstance(
            f"{path}: line 1: header {shorten(','.join(table.header))}: expected "
            f"{','.join(COLUMNS)}"
        )
    place = {name: header.index(name) for name in COLUMNS if name in header}
    return [_pair(cells, place, f"{path}: line {line}") for line, cells in table.rows]


def _pair(cells: Sequence[str], place: dict[str, int], where: str) -> Pair:
    def ratio(name: str, default: float) -> float:
        text = cells[place[name]].strip() if name in place else ""
        return io.parse_positive(text, f"{where}, column '{name}'") if text else default

    task, beside = (cells[place[name]].strip() for name in ("task", "beside"))
    if not task:
        raise InvalidInstance(f"{where}, column 'task': empty cell: expected a name")
    median = ratio("slowdown", math.nan)
    if math.isnan(median):
        raise InvalidInstance(f"{where}, column 'slowdown': empty cell: expected a number")
    return Pair(
        task=task,
        beside=beside,
        slowdown=median,
        low=ratio("low", median),
        high=ratio("high", median),
        processors=round(ratio("processors", 1)),
        share=ratio("share", math.nan),
    )


def slow_of(
    pairs: Sequence[Pair],
    names: Sequence[str],
    procs: int,
    quantile: str = "median",
    missing: str = "one",
) -> Slow:
    """Slow-downs of tasks by their profiles' `names`.

    A slow-down inside the noise (what alone against alone shows of its task) is planned as 1,
    but for `quantile` "high"; of several counts the one next to half of the machine is taken.
    """
    if quantile not in QUANTILES:
        raise InvalidInstance(f"slowdown = {shorten(quantile)}: expected {', '.join(QUANTILES)}")
    if missing not in MISSING:
        raise InvalidInstance(f"missing = {shorten(missing)}: expected {' or '.join(MISSING)}")
    known = list(dict.fromkeys(names))
    noise = {pair.task: max(pair.high, 1 / pair.low) for pair in pairs if not pair.beside}
    best: dict[tuple[str, str], Pair] = {}
    for pair in sorted(pairs, key=lambda pair: -pair.processors):
        before = best.get((pair.task, pair.beside))
        if before is None or _off(pair, procs) < _off(before, procs):
            best[pair.task, pair.beside] = pair
    absent: list[str] = []
    quiet: list[str] = []
    value: dict[tuple[str, str], tuple[float, float, float]] = {}
    for task in known:
        row = [pair.at(quantile) for (one, other), pair in best.items() if one == task and other]
        for other in known:
            if (task, other) in best:
                pair = best[task, other]
                inside = pair.slowdown <= noise.get(task, 1.0) and quantile != "high"
                quiet += [f"{task} beside {other}"] if inside and task in noise else []
                at = 1.0 if inside else max(pair.at(quantile), 1.0)
                value[task, other] = at, max(min(pair.low, at), 1.0), max(pair.high, at)
            else:
                absent.append(f"{task} beside {other}")
                at = max([1.0, *row]) if missing == "worst" else 1.0
                value[task, other] = at, 1.0, at
    table, low, high = (
        np.array([[value[one, other][k] for other in names] for one in names]) for k in range(3)
    )
    told = [pair for pair in best.values() if {pair.task, pair.beside or pair.task} <= set(known)]
    return Slow(table, low, high, _notes(told, noise, quiet, absent, missing))


def as_if_alone(runs: Sequence[Run], names: Sequence[str], slow: Slow) -> tuple[list[Run], int]:
    """Runs without what those beside them did, by the slow-downs of `names`; how many had company.

    An execution measures its tasks in company: planned with slow-downs, that would count twice.
    """
    place = {name: k for k, name in enumerate(names)}
    made, changed = [], 0
    for run in runs:
        beside = company_of(run)
        row = place.get(run.task)
        excess = (
            0.0
            if row is None
            else math.fsum(
                share * (slow.table[row, place[other]] - 1)
                for other, share in beside.items()
                if other in place
            )
        )
        changed += excess > 0
        made.append(replace(run, seconds=run.seconds / (1 + excess)))
    return made, changed


def _off(pair: Pair, procs: int) -> float:
    return abs(math.log2(pair.processors / max(procs / 2, 1)))


def _notes(
    pairs: Sequence[Pair],
    noise: dict[str, float],
    quiet: Sequence[str],
    absent: Sequence[str],
    missing: str,
) -> tuple[str, ...]:
    notes = []
    if quiet:
        floor = max(noise.values())
        notes.append(
            f"slow-downs inside the noise, planned as 1: {listed(quiet)} (alone against alone "
            f"differs by up to {100 * (floor - 1):.0f}%)"
        )
    impossible = [
        f"{pair.task} beside {pair.beside} {pair.slowdown:.2f}"
        for pair in pairs
        if pair.beside and pair.slowdown < 1 / noise.get(pair.task, 1.0) - 1e-9
    ]
    if impossible:
        notes.append(
            f"noise, planned as 1: {listed(impossible)}: no code is faster in company; the machine "
            "was busier when it ran alone"
        )
    if absent:
        how = "as the largest of their task" if missing == "worst" else "as 1"
        notes.append(f"slow-downs that were not measured, planned {how}: {listed(absent)}")
    starved = {pair.task for pair in pairs if pair.share < 0.9}
    if starved:
        notes.append(
            f"slow-downs of {listed(sorted(starved))} measure the load if they compute: alone they "
            "had less than 0.9 of their processors"
        )
    return tuple(notes)
