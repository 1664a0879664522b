"""What codes do to each other side by side: ``execution.together``, ``slowdowns.csv``, noise."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path

import numpy as np

from cosched import io
from cosched.core.arrays import integer, seed_of
from cosched.core.options import one_of
from cosched.core.text import listed
from cosched.errors import InvalidInstance
from cosched.execution.codes import Codes
from cosched.execution.launchers import Launcher, launcher_of
from cosched.execution.measure import Bench
from cosched.execution.plans import Plan, PlanStep
from cosched.execution.runs_file import MeasuredRun, corunners_of, header_of
from cosched.lazy import pd
from cosched.notes import Note, NoteKind

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
    """A row of the table: a task next to a `neighbour`; with an empty one, alone against alone."""

    #: The profile that is slowed down.
    task: str
    #: The profile that runs beside it; empty: none does.
    neighbour: str
    #: Seconds beside the neighbour over seconds alone.
    slowdown: float
    #: The 5th percentile of the slow-down.
    low: float
    #: The 95th percentile of the slow-down.
    high: float
    #: How many processors the task had.
    processors: int = 1
    #: The share of its processors that the task had alone; nan: not measured.
    share: float = math.nan

    def at(self, quantile: str) -> float:
        return {"low": self.low, "median": self.slowdown, "high": self.high}[quantile]


@dataclass(frozen=True)
class SlowdownTables:
    """Slow-downs to plan with: tables of shape (n, n), a row for the task that is slowed, a column
    for the task beside it; 1: not slowed."""

    #: The quantile that is planned with.
    planned: np.ndarray
    #: The low quantile.
    low: np.ndarray
    #: The high quantile.
    high: np.ndarray
    #: Which pairs are planned as 1, and why.
    notes: tuple[Note, ...]


def read_slowdowns(path: str | PathLike[str]) -> list[Pair]:
    """The rows of a CSV file; only ``task, beside, slowdown`` have to be there."""
    table = io.read_csv(path)
    header = header_of(table, _NEEDED, ",".join(COLUMNS))
    place = {name: header.index(name) for name in COLUMNS if name in header}
    return [_pair(cells, place, f"{path}: line {line}") for line, cells in table.rows]


def _pair(cells: Sequence[str], place: dict[str, int], where: str) -> Pair:
    def ratio(name: str, default: float) -> float:
        text = cells[place[name]].strip() if name in place else ""
        return io.parse_positive(text, f"{where}, column '{name}'") if text else default

    task, neighbour = (cells[place[name]].strip() for name in ("task", "beside"))
    if not task:
        raise InvalidInstance(f"{where}, column 'task': empty cell: expected a name")
    median = ratio("slowdown", math.nan)
    if math.isnan(median):
        raise InvalidInstance(f"{where}, column 'slowdown': empty cell: expected a number")
    return Pair(
        task=task,
        neighbour=neighbour,
        slowdown=median,
        low=ratio("low", median),
        high=ratio("high", median),
        processors=round(ratio("processors", 1)),
        share=ratio("share", math.nan),
    )


def slowdown_tables(
    pairs: Sequence[Pair],
    names: Sequence[str],
    procs: int,
    quantile: str = "median",
    missing: str = "one",
) -> SlowdownTables:
    """Slow-downs of tasks by their profiles' `names`.

    A slow-down inside the noise (what alone against alone shows of its task) is planned as 1,
    but for `quantile` "high"; of several counts the one next to half of the machine is taken.
    """
    one_of(quantile, "slowdown", QUANTILES)
    one_of(missing, "missing", MISSING)
    distinct_names = list(dict.fromkeys(names))
    noise = {pair.task: max(pair.high, 1 / pair.low) for pair in pairs if not pair.neighbour}
    best: dict[tuple[str, str], Pair] = {}
    for pair in sorted(pairs, key=lambda pair: -pair.processors):
        best_pair = best.get((pair.task, pair.neighbour))
        if best_pair is None or _distance_to_half(pair, procs) < _distance_to_half(
            best_pair, procs
        ):
            best[pair.task, pair.neighbour] = pair
    absent: list[str] = []
    quiet: list[str] = []
    value: dict[tuple[str, str], tuple[float, float, float]] = {}
    for task in distinct_names:
        row = [
            pair.at(quantile)
            for (row_task, other), pair in best.items()
            if row_task == task and other
        ]
        for other in distinct_names:
            if (task, other) in best:
                pair = best[task, other]
                is_noise = pair.slowdown <= noise.get(task, 1.0) and quantile != "high"
                quiet += [f"{task} beside {other}"] if is_noise and task in noise else []
                slowdown = 1.0 if is_noise else max(pair.at(quantile), 1.0)
                value[task, other] = (
                    slowdown,
                    max(min(pair.low, slowdown), 1.0),
                    max(pair.high, slowdown),
                )
            else:
                absent.append(f"{task} beside {other}")
                slowdown = max([1.0, *row]) if missing == "worst" else 1.0
                value[task, other] = slowdown, 1.0, slowdown
    table, low, high = (
        np.array([[value[row_task, other][k] for other in names] for row_task in names])
        for k in range(3)
    )
    known_pairs = [
        pair
        for pair in best.values()
        if {pair.task, pair.neighbour or pair.task} <= set(distinct_names)
    ]
    return SlowdownTables(table, low, high, _notes(known_pairs, noise, quiet, absent, missing))


def without_slowdowns(
    runs: Sequence[MeasuredRun], names: Sequence[str], slowdowns: SlowdownTables
) -> tuple[list[MeasuredRun], int]:
    """Divide the times of runs by the slow-downs of what ran beside them; count the changed runs.

    An execution measures its tasks beside others: planned with slow-downs, that would count twice.
    `names`: the profiles in the order of the rows of `slowdowns`.
    """
    place = {name: k for k, name in enumerate(names)}
    corrected_runs, changed = [], 0
    for run in runs:
        share_of_profile = corunners_of(run)
        row = place.get(run.task)
        excess = (
            0.0
            if row is None
            else math.fsum(
                share * (slowdowns.planned[row, place[other]] - 1)
                for other, share in share_of_profile.items()
                if other in place
            )
        )
        changed += excess > 0
        corrected_runs.append(replace(run, seconds=run.seconds / (1 + excess)))
    return corrected_runs, changed


def _distance_to_half(pair: Pair, procs: int) -> float:
    return abs(math.log2(pair.processors / max(procs / 2, 1)))


def _notes(
    pairs: Sequence[Pair],
    noise: dict[str, float],
    quiet: Sequence[str],
    absent: Sequence[str],
    missing: str,
) -> tuple[Note, ...]:
    notes = []

    def add_note(kind: NoteKind, count: int, text: str) -> None:
        notes.append(Note(kind, text, subject="slow-downs", count=count))

    if quiet:
        floor = max(noise.values())
        text = (
            f"slow-downs inside the noise, planned as 1: {listed(quiet)} (alone against alone "
            f"differs by up to {100 * (floor - 1):.0f}%)"
        )
        add_note(NoteKind.PRECISION, len(quiet), text)
    impossible = [
        f"{pair.task} beside {pair.neighbour} {pair.slowdown:.2f}"
        for pair in pairs
        if pair.neighbour and pair.slowdown < 1 / noise.get(pair.task, 1.0) - 1e-9
    ]
    if impossible:
        text = (
            f"noise, planned as 1: {listed(impossible)}: no code is faster in company; the machine "
            "was busier when it ran alone"
        )
        add_note(NoteKind.REPAIRED, len(impossible), text)
    if absent:
        how = "as the largest of their task" if missing == "worst" else "as 1"
        text = f"slow-downs that were not measured, planned {how}: {listed(absent)}"
        add_note(NoteKind.ASSUMED, len(absent), text)
    starved = {pair.task for pair in pairs if pair.share < 0.9}
    if starved:
        text = (
            f"slow-downs of {listed(sorted(starved))} measure the load if they compute: alone they "
            "had less than 0.9 of their processors"
        )
        add_note(NoteKind.UNUSUAL, len(starved), text)
    return tuple(notes)


#: What runs beside a code: nothing, nothing once more, or a code.
_ALONE, _ALONE_AGAIN = -2, -1


def together(
    codes: Codes,
    repeat: int = 3,
    out: str | PathLike[str] | None = None,
    *,
    launcher: str | Launcher = "local",
    outputs: str | PathLike[str] = "together.outputs",
    seed: int | None = None,
    watch: Callable[[int, int, str], None] | None = None,
    **options: object,
) -> pd.DataFrame:
    """Measure codes in pairs, each on one half of the processors: how much slower than alone?

    Each code runs on the first half of the processors (its largest count there), alone and with
    every other code on the second half; the other is started again as often as it ends, so that
    the first is never alone. In a round each code runs alone twice, and once beside each, in an
    order that is drawn anew: a slow-down is the median over the rounds of the time beside over
    the mean time alone in the same round, and the two alone, one over the other, are the noise.
    A row a pair: ``task, beside, processors, alone, together`` (s), ``slowdown`` (together /
    alone), ``beside_processors, runs, low, high`` (an interval of the slow-down, by order
    statistics) and ``share`` (of its processors that the task had alone: below 0.9 a code that
    computes measures the load of the machine). Before the pairs of a task a row with an empty
    ``beside``: alone against alone.

    Parameters
    ----------
    repeat : int
        Rounds.
    out : str or path-like, optional
        .csv, .json or .md to write the table to; :func:`plan` reads the .csv.
    launcher, **options
        As for :func:`run`.
    outputs : str or path-like
        Folder of the outputs.
    seed : int, optional
        Of the order; None means 0.
    watch : callable, optional
        Told before each run: runs done, runs in all, what runs.

    Raises
    ------
    InvalidInstance
        Fewer than two processors, or a code that runs on none of the counts of a half, or fails.
    KeyboardInterrupt
        After Ctrl-C.

    Examples
    --------
    >>> from cosched.execution import Code, Codes, together
    >>> codes = Codes(procs=2, codes={"a": Code(name="a", command="sleep 0.01")})
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> frame = together(codes, repeat=1, outputs=folder, oversubscribe=True)
    >>> frame[["task", "beside", "processors"]].to_numpy().tolist()
    [['a', '', 1], ['a', 'a', 1]]
    """
    times = integer(repeat, "repeat", 1)
    half = codes.procs // 2
    first_of = {
        name: codes_of_profile[0].name for name, codes_of_profile in codes.profiles().items()
    }
    counts = {name: _largest(codes, name, half) for name in first_of}
    chosen_launcher = launcher_of(launcher, **options)
    _check(codes, chosen_launcher, list(first_of.values()), half)
    names = list(first_of)
    order = _order(len(names), times, np.random.default_rng(seed_of(seed)))
    seconds_of_pairs: dict[tuple[int, int], list[tuple[float, float]]] = {}
    with Bench(codes, chosen_launcher, Path(outputs)) as bench:
        for done, (first, second) in enumerate(order):
            company = f" beside {names[second]}" if second >= 0 else ""
            if watch is not None:
                watch(done, len(order), names[first] + company)
            placed_codes = [(first_of[names[first]], range(counts[names[first]]))]
            if second >= 0:
                second_half = range(half, half + counts[names[second]])
                placed_codes.append((first_of[names[second]], second_half))
            seconds = bench.while_beside(placed_codes[0], placed_codes[1] if second >= 0 else None)
            seconds_of_pairs.setdefault((first, second), []).append(seconds)
    cores = {name: chosen_launcher.cores_of(count) for name, count in counts.items()}
    frame = _table(names, counts, seconds_of_pairs, cores)
    if out is not None:
        io.write_frame(frame, out)
    return frame


def _order(codes: int, rounds: int, random: np.random.Generator) -> list[tuple[int, int]]:
    """Return what runs, beside what: the runs of a code in a round follow each other."""
    order = []
    for _ in range(rounds):
        for first in random.permutation(codes).tolist():
            companies = [_ALONE, _ALONE_AGAIN, *range(codes)]
            order += [(first, companies[k]) for k in random.permutation(len(companies)).tolist()]
    return order


def _table(
    names: Sequence[str],
    counts: dict[str, int],
    seconds_of_pairs: dict[tuple[int, int], list[tuple[float, float]]],
    cores: dict[str, int],
) -> pd.DataFrame:
    rows = []
    for first, name in enumerate(names):
        seconds = {
            k: np.array([seconds_beside for seconds_beside, _ in seconds_of_pairs[first, k]])
            for k in range(-2, len(names))
        }
        alone = (seconds[_ALONE] + seconds[_ALONE_AGAIN]) / 2
        cpu_seconds = sum(
            cpu for k in (_ALONE, _ALONE_AGAIN) for _, cpu in seconds_of_pairs[first, k]
        )
        share = cpu_seconds / (2 * float(alone.sum()) * cores[name])
        for second in (_ALONE_AGAIN, *range(len(names))):
            ratios = seconds[second] / (seconds[_ALONE] if second == _ALONE_AGAIN else alone)
            low, high = order_statistics(ratios)
            other = names[second] if second >= 0 else ""
            rows.append(
                (
                    *(name, other, counts[name], float(np.median(alone))),
                    *(float(np.median(seconds[second])), float(np.median(ratios))),
                    *(counts[other] if other else 0, len(ratios), low, high, share),
                )
            )
    return pd.DataFrame(rows, columns=list(COLUMNS))


def order_statistics(values: np.ndarray) -> tuple[float, float]:
    """Two of the values with the median of what they are drawn from between them, in 90%.

    Fewer than five cannot say that: their least and largest.
    """
    count, ordered = len(values), np.sort(values)
    below, place = 0.5**count, 0
    while below + math.comb(count, place + 1) * 0.5**count <= 0.05 and place + 1 < (count + 1) // 2:
        place += 1
        below += math.comb(count, place) * 0.5**count
    return float(ordered[place]), float(ordered[count - 1 - place])


def _largest(codes: Codes, name: str, half: int) -> int:
    fitting = [count for count in codes.counts_of(name) if count <= half]
    if not fitting:
        raise InvalidInstance(
            f"task {name!r} runs on none of 1..{half} processors, a half of procs = {codes.procs}"
        )
    return max(fitting)


def _check(codes: Codes, launcher: Launcher, names: Sequence[str], half: int) -> None:
    for name in names:
        units = tuple(range(2 * half))
        step = PlanStep(task=0, name=name, kind=0, units=units, start=0.0, end=0.0)
        launcher.check(Plan(family="moldable", steps=(step,)), codes)
