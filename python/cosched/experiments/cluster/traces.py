"""The paper's sets of traces, and one simulation of a trace as a row."""

from __future__ import annotations

import time
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from cosched import cluster, workloads
from cosched.cluster import Instance
from cosched.experiments.study import Task, data_path, has_data
from cosched.lazy import pd

#: HPC2N, version 2.1 "cleaned", below ``COSCHED_DATA``.
LOG = "pwa/HPC2N-2002-2.1-cln.swf.gz"
LOADS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
#: A set of traces, and what tables and pictures call it.
TITLES = {
    "weeks": "real weeks",
    "log": "the whole log",
    "log-free": "the whole log, no penalty",
    "generated": "generated weeks",
    "unscaled": "unscaled synthetic traces",
    "scaled": "scaled synthetic traces",
}
#: Column of the paper's tables that a set's results stand beside.
_NODES = {
    "weeks": 120,
    "log": 120,
    "log-free": 120,
    "generated": 120,
    "unscaled": 128,
    "scaled": 128,
}
_WEEKS = 182
_WEEK = 604800.0


def real(quick: bool, weeks: int) -> list[Task]:
    """The weeks of HPC2N; at reduced size `weeks` of them, generated where the log is not there.

    The choice is part of the plan: all rows of a campaign are of one kind.
    """
    if not quick:
        return [_trace("weeks", number) for number in range(_WEEKS)]
    if has_data(LOG):
        return [_trace("weeks", number) for number in range(5, _WEEKS, _WEEKS // weeks)][:weeks]
    return [_trace("generated", number, size=600) for number in range(weeks)]


def unscaled(traces: int, size: int = 1000) -> list[Task]:
    """Traces of the Lublin-Feitelson model, batch and interactive, for 128 quad-core nodes."""
    return [_trace("unscaled", number, size) for number in range(traces)]


def scaled(traces: int, size: int = 1000, loads: Iterable[float] = LOADS) -> list[Task]:
    """The same traces with inter-arrival times rescaled to each offered load."""
    return [_trace("scaled", number, size, load) for number in range(traces) for load in loads]


def whole_log() -> list[Task]:
    """HPC2N in one piece."""
    return [_trace("log", 0)]


def whole_log_without_penalty() -> list[Task]:
    """The same; for policies that pause and move jobs."""
    return [{**_trace("log-free", 0), "penalty": 0.0}]


def _trace(traces: str, number: int, size: int | None = None, load: float | None = None) -> Task:
    return {"traces": traces, "trace": number, "size": size, "load": load}


def run(task: Task) -> dict[str, Any]:
    """Simulate one policy on one trace: bound, degradation from it, the paper's measures."""
    stream = instance(task["traces"], task["trace"], task["size"], task["load"])
    options = {key: task[key] for key in ("period", "penalty") if task.get(key) is not None}
    if task["algorithm"] == "EASY":
        options["estimates"] = "perfect"  # as in the paper
    begin = time.perf_counter()
    result = cluster.solve(stream, task["algorithm"], **options)
    seconds = time.perf_counter() - begin
    result.schedule.validate()
    row = {"jobs": len(stream), "seconds": seconds, **_measures(result.metrics())}
    if not task["traces"].startswith("log"):  # its bound would take longer than the simulations
        bound = cluster.Result.bound_beside(stream)
        assert bound is not None
        row |= {"bound": bound.value, "degradation": result.value / bound.value}
    return row


def _measures(metrics: dict[str, Any]) -> dict[str, Any]:
    """Return the measures that the results of the studies keep, which are numbers."""
    names_of_today = ("utilization", "underutilization", "estimates")
    return {name: value for name, value in metrics.items() if name not in names_of_today}


@lru_cache(maxsize=4)  # the policies of a trace are neighbours in the plan
def instance(traces: str, number: int, size: int | None, load: float | None) -> Instance:
    """The jobs of a trace on the machine of its set."""
    nodes = _NODES[traces]
    if traces.startswith("log"):
        return cluster.from_swf(data_path(*LOG.split("/")), nodes)
    if traces == "weeks":
        return Instance(_weeks()[number], nodes)
    if traces == "generated":
        jobs = workloads.lublin(size or 600, nodes, serial_cpu=0.5, seed=number)
        return Instance(jobs[jobs.submit < _WEEK], nodes)
    # With types of jobs: then 1,000 jobs take the paper's 4 to 6 days, without them 7 to 15.
    jobs = workloads.lublin(size or 1000, nodes, types="typed", seed=number)
    return Instance(jobs if load is None else workloads.rescale_load(jobs, nodes, load), nodes)


@lru_cache(maxsize=1)
def _weeks() -> list[pd.DataFrame]:
    return workloads.hpc2n_weeks(data_path(*LOG.split("/")))
