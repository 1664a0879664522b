"""What codes need by their runs, as ``codes.toml`` has it: by the rule of ``rightsize``."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from os import PathLike

from cosched.core.tails import enough, least_past, risk_of
from cosched.errors import InvalidInstance
from cosched.execution.runs import Run, completed, current, read_runs

#: Of the longest run, and of the largest, where runs are too few to promise anything.
MARGIN = 1.1


def peaks_of(every: Sequence[Run], risk: float, margin: float) -> dict[str, dict[int, float]]:
    """GB of each task on each count that it was measured on.

    Parameters
    ----------
    risk : float
        That the next run needs more, where there are enough runs.
    margin : float
        Of fewer runs the largest, times this.
    """
    measured: dict[str, dict[int, list[float]]] = {}
    for run in every:
        if not math.isnan(run.memory):
            measured.setdefault(run.task, {}).setdefault(run.processors, []).append(run.memory)
    return {
        task: {count: enough(values, risk, margin) for count, values in of.items()}
        for task, of in measured.items()
    }


def toml_of(path: str | PathLike[str], risk: float) -> str:
    """``timeout`` and ``memory`` of the tasks of a ``runs.csv``, as lines of ``codes.toml``.

    Parameters
    ----------
    path : path-like
        What ``cosched profile`` wrote.
    risk : float
        Below 1: that a run is ended for one of the two. Each has half, where both were measured.

    Raises
    ------
    InvalidInstance
        No such file, or no run that completed.
    """
    every = current(read_runs(path), None)[0]
    times = {task: of for task, of in completed(every).items() if any(of.values())}
    if not times:
        raise InvalidInstance(f"{path}: no run completed: expected what `cosched profile` wrote")
    chance = risk_of(risk)
    judged = 2 if any(not math.isnan(run.memory) for run in every) else 1
    peaks = peaks_of(every, chance / judged, MARGIN)
    lines = [
        f"# ends at most {100 * chance:g}% of such runs, of {least_past(chance / judged)} runs on "
        f"a count or more; of fewer: {MARGIN:g} times the most"
    ]
    for task, of in times.items():
        runs = {count: [run.seconds for run in mine] for count, mine in of.items() if mine}
        lines += _lines(task, runs, peaks.get(task, {}), chance / judged)
    return "\n".join(lines) + "\n"


def _lines(
    task: str, runs: dict[int, list[float]], peaks: dict[int, float], risk: float
) -> Iterator[str]:
    plain = re.fullmatch(r"[A-Za-z0-9_-]+", task)
    yield f"\n[task.{task if plain else json.dumps(task, ensure_ascii=False)}]"
    longest = max(enough(values, risk, MARGIN) for values in runs.values())
    counts = ", ".join(f"{len(values)} on {count}" for count, values in sorted(runs.items()))
    yield f"timeout = {math.ceil(longest / 60) * 60}  # runs: {counts}"
    if peaks:
        amounts = ", ".join(
            f"{count} = {math.ceil(100 * gb - 1e-6) / 100:g}" for count, gb in sorted(peaks.items())
        )
        yield f"memory = {{ {amounts} }}  # GB"
