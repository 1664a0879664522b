"""Recordings of a real Slurm: jobs are submitted to one on this host, and its log is read."""

from __future__ import annotations

import math
import re
import tempfile
import time
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from cosched.cluster import Instance
from cosched.errors import InvalidInstance, SolverError
from cosched.execution.real_slurm import RealSlurm

#: A run that is not over after so many times what its jobs need is given up.
_PATIENCE = 20.0
_PARTITION = (
    "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=EXCLUSIVE"
)
_CPUS = 4


def record(
    trace: Instance,
    nodes: int,
    *,
    speed: float = 20.0,
    runs: int = 1,
    settings: Mapping[str, str] | None = None,
    partitions: tuple[str, ...] = (_PARTITION,),
    node_lines: str = "one",
) -> dict[str, Any]:
    """Run the jobs on a real Slurm on this host, and say what it did.

    `trace` has ``submit`` (s from the first), ``tasks`` (whole nodes), ``runtime`` (s, whole) and
    ``estimate`` (the limit, rounded up to minutes). What comes back is a recording, as
    :func:`cosched.cluster.recordings.read_recording` reads it.
    """
    given = {"SelectType": "select/linear", **(settings or {})}
    jobs = _jobs(trace, nodes)
    found: list[list[dict[str, Any]]] = []
    phases: list[dict[str, Any]] = []
    version = ""
    for _ in range(runs):
        with tempfile.TemporaryDirectory(prefix="cosched-slurm-") as folder:
            where = Path(folder) / "slurm"
            with RealSlurm(where, nodes, _CPUS, given, partitions, node_lines, speed) as slurm:
                numbers = _submit_all(slurm, jobs)
                _wait(slurm, jobs)
                jobs_shown = slurm.run("scontrol", "--oneliner", "show", "job")
                log = slurm.log.read_text()
        run, phase, version = _read(log, jobs_shown, numbers)
        found.append(run)
        phases.append(phase)
    config = {**given, "NodeLines": node_lines, "Partitions": list(partitions), "speed": speed}
    return {
        "config": config, "nodes": nodes, "jobs": jobs, "runs": found, "phases": phases,
        "slurm": version,
    }  # fmt: skip


def _jobs(trace: Instance, nodes: int) -> list[dict[str, Any]]:
    Instance.require(trace)
    table = trace.jobs.sort_values("submit", kind="stable")
    if "estimate" not in table:
        raise InvalidInstance("the jobs have no estimate column: expected their limits")
    for name, tasks in zip(table["id"].tolist(), table["tasks"].tolist(), strict=True):
        if tasks > nodes:
            raise InvalidInstance(f"job {name} wants {tasks} nodes: expected at most {nodes}")
    first = float(table.submit.min())
    jobs = []
    for row in table.to_dict("records"):
        job = {
            "submit": round(row["submit"] - first), "nodes": int(row["tasks"]),
            "limit": 60 * math.ceil(max(row["estimate"], 1) / 60),
            "runtime": max(round(row["runtime"]), 1),
        }  # fmt: skip
        jobs.append({**job, "partition": str(row["partition"])} if "partition" in row else job)
    return jobs


def _submit_all(slurm: RealSlurm, jobs: list[dict[str, Any]]) -> list[int]:
    """Job numbers; each submission at its time on the Slurm's own clock."""
    begin = time.monotonic()
    numbers = []
    for job in jobs:
        time.sleep(max(0.0, begin + job["submit"] / slurm.speed - time.monotonic()))
        options = ["--parsable", f"--nodes={job['nodes']}", "--output=/dev/null"]
        options += [f"--time={job['limit'] // 60}"]
        if "partition" in job:
            options.append(f"--partition={job['partition']}")
        said = slurm.run("sbatch", *options, f"--wrap=exec sleep {job['runtime']}")
        numbers.append(int(said.strip()))
    return numbers


def _wait(slurm: RealSlurm, jobs: list[dict[str, Any]]) -> None:
    most = sum(job["limit"] for job in jobs) + 3600
    seconds = 60 + _PATIENCE * most / slurm.speed
    slurm.until(lambda: not slurm.run("squeue", "-h").strip(), "its jobs are over", seconds)


_TIME = r"\[(\S+?)\] "
_EVENTS = {
    "submit": re.compile(_TIME + r"_slurm_rpc_submit_batch_job: JobId=(\d+)", re.MULTILINE),
    "main": re.compile(_TIME + r"sched: Allocate JobId=(\d+)"),
    "backfill": re.compile(_TIME + r"sched/backfill: _start_job: Started JobId=(\d+)"),
    "cycle": re.compile(_TIME + r"sched/backfill: _attempt_backfill: beginning()"),
    "kill": re.compile(_TIME + r"Time limit exhausted for JobId=(\d+)"),
    "begin": re.compile(_TIME + r"Running as primary controller()"),
    "version": re.compile(_TIME + r"slurmctld version (\S+) started"),
}
_PLAN = re.compile(
    _TIME + r"sched/backfill: _dump_job_sched: JobId=(\d+) to start at (\S+), end at (\S+) on nodes"
    r" (\S+) in partition"
)


def _seconds(stamp: str) -> float:
    return datetime.fromisoformat(stamp).replace(tzinfo=timezone.utc).timestamp()


def _read(
    log: str, jobs_shown: str, numbers: list[int]
) -> tuple[list[dict[str, Any]], dict[str, Any], str]:
    """One run's jobs, its phases, and the version, from the controller's log."""
    events = {
        name: [(_seconds(stamp), what) for stamp, what in pattern.findall(log)]
        for name, pattern in _EVENTS.items()
    }
    submitted = {int(job): when for when, job in events["submit"]}
    by = {int(job): name for name in ("main", "backfill") for _, job in events[name]}
    missing = [number for number in numbers if number not in submitted]
    if missing or not events["begin"]:
        raise SolverError(f"the controller's log does not tell of job {missing[:1]}")
    epoch = math.floor(min(submitted.values()))
    place = {number: k for k, number in enumerate(numbers)}
    shown = dict(
        _shown(line, epoch) for line in jobs_shown.splitlines() if line.startswith("JobId=")
    )
    run = [{**shown[number], "by": by.get(number, "")} for number in numbers]

    def since(times: list[tuple[float, str]]) -> list[float]:
        return [round(when - epoch, 3) for when, _ in times]

    phase = {
        "epoch": epoch,
        "controller_start": since(events["begin"])[0],
        "submit_exact": [round(submitted[number] - epoch, 3) for number in numbers],
        "bf_cycles": since(events["cycle"]),
        "kills": sorted(set(since(events["kill"]))),
        "main_starts": since(events["main"]),
        "bf_starts": since(events["backfill"]),
        "plans": [
            [round(_seconds(t) - epoch, 3), place[int(job)], _seconds(a) - epoch,
             _seconds(b) - epoch, names]
            for t, job, a, b, names in _PLAN.findall(log)
        ],
    }  # fmt: skip
    return run, phase, events["version"][0][1] if events["version"] else ""


def _shown(line: str, epoch: int) -> tuple[int, dict[str, Any]]:
    """A job's number, and what ``scontrol show job`` says of it."""
    keys = dict(part.split("=", 1) for part in line.split() if "=" in part)
    times = {
        name: int(_seconds(keys[key]) - epoch)
        for name, key in (("submit", "SubmitTime"), ("start", "StartTime"), ("end", "EndTime"))
    }
    state = {**times, "state": keys["JobState"], "nodelist": keys["NodeList"]}
    return int(keys["JobId"]), state
