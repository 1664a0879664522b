"""``execution.together``: do codes slow each other down side by side?"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from cosched import io
from cosched.core.arrays import integer, seed_of
from cosched.errors import InvalidInstance
from cosched.execution.codes import Codes
from cosched.execution.launchers import Launcher, launcher_of
from cosched.execution.measure import Bench
from cosched.execution.planned import Plan, Step
from cosched.execution.slowdowns import COLUMNS
from cosched.lazy import pd

#: What runs beside a code: nothing, nothing once more, or a code.
_ALONE, _AGAIN = -2, -1


def together(
    codes: Codes,
    repeat: int = 3,
    out: str | PathLike[str] | None = None,
    *,
    launcher: str | Launcher = "local",
    outputs: str | PathLike[str] = "together.outputs",
    seed: int | None = None,
    watch: Callable[[int, int, str], None] | None = None,
    **options: Any,
) -> pd.DataFrame:
    """Measure codes in pairs, each on one half of the processors: how much slower than alone?

    Each code runs on the first half of the processors (its largest count there), alone and with
    every other code on the second half; the other is started again as often as it ends, so that
    the first is never alone. In a round each code runs alone twice, and once beside each, in an
    order that is drawn anew: a slow-down is the median over the rounds of the time beside over
    the mean time alone in the same round, and the two alone, one over the other, are the noise.

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

    Returns
    -------
    pandas.DataFrame
        A row a pair: ``task, beside, processors, alone, together`` (s), ``slowdown`` (together /
        alone), ``beside_processors, runs, low, high`` (an interval of the slow-down, by order
        statistics) and ``share`` (of its processors that the task had alone: below 0.9 a code
        that computes measures the load of the machine). Before the pairs of a task a row with an
        empty ``beside``: alone against alone.

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
    first_of = {name: mine[0].name for name, mine in codes.profiles().items()}
    counts = {name: _largest(codes, name, half) for name in first_of}
    chosen = launcher_of(launcher, **options)
    _check(codes, chosen, list(first_of.values()), half)
    names = list(first_of)
    order = _order(len(names), times, np.random.default_rng(seed_of(seed)))
    found: dict[tuple[int, int], list[tuple[float, float]]] = {}
    with Bench(codes, chosen, Path(outputs)) as bench:
        for done, (first, second) in enumerate(order):
            beside = f" beside {names[second]}" if second >= 0 else ""
            if watch is not None:
                watch(done, len(order), names[first] + beside)
            placed = [(first_of[names[first]], range(counts[names[first]]))]
            if second >= 0:
                there = range(half, half + counts[names[second]])
                placed.append((first_of[names[second]], there))
            took = bench.while_beside(placed[0], placed[1] if second >= 0 else None)
            found.setdefault((first, second), []).append(took)
    cores = {name: chosen.cores_of(count) for name, count in counts.items()}
    frame = _table(names, counts, found, cores)
    if out is not None:
        io.write_frame(frame, out)
    return frame


def _order(codes: int, rounds: int, random: np.random.Generator) -> list[tuple[int, int]]:
    """What runs, beside what: the runs of a code in a round follow each other."""
    order = []
    for _ in range(rounds):
        for first in random.permutation(codes).tolist():
            beside = [_ALONE, _AGAIN, *range(codes)]
            order += [(first, beside[k]) for k in random.permutation(len(beside)).tolist()]
    return order


def _table(
    names: Sequence[str],
    counts: dict[str, int],
    found: dict[tuple[int, int], list[tuple[float, float]]],
    cores: dict[str, int],
) -> pd.DataFrame:
    rows = []
    for first, name in enumerate(names):
        seconds = {
            k: np.array([took for took, _ in found[first, k]]) for k in range(-2, len(names))
        }
        alone = (seconds[_ALONE] + seconds[_AGAIN]) / 2
        used = sum(cpu for k in (_ALONE, _AGAIN) for _, cpu in found[first, k])
        share = used / (2 * float(alone.sum()) * cores[name])
        for second in (_AGAIN, *range(len(names))):
            ratios = seconds[second] / (seconds[_ALONE] if second == _AGAIN else alone)
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

    Examples
    --------
    >>> order_statistics(np.array([1.3, 1.1, 1.2])), order_statistics(np.arange(10.0))
    ((1.1, 1.3), (1.0, 8.0))
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
        step = Step(task=0, name=name, kind=0, units=units, start=0.0, end=0.0)
        launcher.check(Plan(family="moldable", steps=(step,)), codes)
