"""Jobs that are not submitted yet, as ``cosched when`` is asked for them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cosched.cli import report
from cosched.core.tails import conformal_limit, min_sample_count
from cosched.core.text import count_of
from cosched.errors import CoschedError, InvalidInstance, shorten
from cosched.execution import measured_times, runs_file
from cosched.execution.measured_times import runs_of_current_codes
from cosched.execution.plan_input import MARGIN
from cosched.slurm.conf.lines import seconds_of_time
from cosched.units import parse_megabytes

#: The chance that a run of such a code is longer than its limit.
_RISK = 0.05


def read_requests(
    node_counts: list[int] | None, limit: str | None, runs: Path | None, task: str | None
) -> list[dict[str, Any]]:
    """One request for each number of nodes, and each time limit."""
    if node_counts is None:
        return []
    if limit is None:
        raise InvalidInstance("missing --time: 2:00:00, or auto with --runs")
    measured_times = _measured_times(runs, task)
    requests = []
    for count in node_counts:
        times = measured_times.get(count, [])
        if runs is not None and not times:
            raise InvalidInstance(f"{runs}: task {shorten(task)} has no runs on {count}")
        for text in limit.split(","):
            if text == "auto" and not times:
                raise InvalidInstance("--time auto: expected --runs and --task")
            seconds = _sufficient_limit(times) if text == "auto" else _limit_of_text(text)
            requests.append({"nodes": count, "time": seconds, "runs": times})
    return requests


@contextmanager
def requests_by_nodes(requests: Sequence[Mapping[str, Any]]) -> Iterator[None]:
    """A message about ``requests[0]`` names the option instead: ``--nodes 4``."""
    try:
        yield
    except CoschedError as error:
        text = str(error)
        place = re.match(r"requests\[(\d+)\]", text)
        if place is not None and int(place[1]) < len(requests):
            nodes = requests[int(place[1])]["nodes"]
            error.args = (f"--nodes {nodes}{text[place.end() :]}",)
        raise


def _limit_of_text(text: str) -> float:
    """Return the seconds of a time limit; 0 is none, as for sbatch."""
    return seconds_of_time(text, "--time") or math.inf


def _sufficient_limit(times: list[float]) -> float:
    """Return what the next such run exceeds with a chance of 5% at most, in whole minutes; of too
    few runs as long as the longest, and a tenth more."""
    if len(times) < min_sample_count(_RISK):
        report.complain(
            f"--time auto: {count_of(len(times), 'run')} measured, {min_sample_count(_RISK)} are "
            f"needed for a risk of {_RISK:.0%}: the longest run and a tenth more is taken"
        )
    return math.ceil(conformal_limit(times, _RISK, MARGIN) / 60) * 60.0


def _measured_times(runs: Path | None, task: str | None) -> dict[int, list[float]]:
    """Return processors -> times of the runs of a code."""
    if runs is None:
        return {}
    of_tasks = measured_times.seconds_of(runs_of_current_codes(runs_file.read_runs(runs), None)[0])
    if task is None:
        raise InvalidInstance(f"missing --task: {runs} has {', '.join(sorted(of_tasks))}")
    if task not in of_tasks:
        raise InvalidInstance(f"--task {shorten(task)}: {runs} has {', '.join(sorted(of_tasks))}")
    return {count: times for count, times in of_tasks[task].items() if times}


def megabytes_of_option(text: str | None) -> int | None:
    """The memory of ``--mem`` in MB, as Slurm counts it."""
    if text is None:
        return None
    megabytes = parse_megabytes(text)
    if not megabytes:
        raise InvalidInstance(f"--mem: {shorten(text)}: expected a size, as 4G")
    return max(1, round(megabytes))
