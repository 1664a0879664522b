"""What a controller's log and ``scontrol show job`` tell of a run."""

import math
import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from typing import Any

from cosched.errors import SolverError

_TIME = r"\[(\S+?)\] "
_JOB = r"JobId=(\d+)(?:_(\d+|\*|\[\S+\]))?(?:\((\d+)\))?"
_SUBMITTED = re.compile(_TIME + r"_slurm_rpc_submit_batch_job: JobId=(\d+)")
_MAIN = re.compile(_TIME + rf"sched: Allocate {_JOB} NodeList=(\S+) #CPUs=\d+ Partition=(\S+)")
_BACKFILL = re.compile(_TIME + rf"sched/backfill: _start_job: Started {_JOB} in (\S+) on (\S+)")
_CYCLE = re.compile(_TIME + r"sched/backfill: _attempt_backfill: beginning()")
#: In the middle of a job, it tells of time slots.
_YIELD = re.compile(
    _TIME + r"sched/backfill: _attempt_backfill: yielding locks after testing (\d+)\("
    r".* jobs( tested, .* time slots)?,.*\n(?:.*\n)*?"
    + _TIME
    + r"sched/backfill: (_attempt_backfill: BACKFILL: system state changed)?"
)
_DEALLOCATED = re.compile(_TIME + rf"TRACE_JOBS: deallocate_nodes: {_JOB}$", re.MULTILINE)
_CLEAN = re.compile(_TIME + rf"TRACE_JOBS: cleanup_completing: {_JOB}$", re.MULTILINE)
_TESTED = re.compile(_TIME + r"sched/backfill: _attempt_backfill: completed testing (\d+)\(")
#: At a limit check, also where a GraceTime is over.
_KILL = re.compile(
    _TIME + r"(?:Time limit exhausted for|preempted) JobId=(\d+)"
    r"(?: has been \w+ to reclaim resources for JobId=Invalid)?$",
    re.MULTILINE,
)
_PAUSE = re.compile(_TIME + r"gang: (suspending|resuming) JobId=(\d+)$", re.MULTILINE)
_PAUSES = {"suspending": "suspend", "resuming": "resume"}
_BEGIN = re.compile(_TIME + r"Running as primary controller()")
_DECAY = re.compile(_TIME + r"priority/multifactor: _read_last_decay_ran: ()")
_VERSION = re.compile(_TIME + r"slurmctld version (\S+) started")
_PLAN = re.compile(
    _TIME + rf"sched/backfill: _dump_job_sched: {_JOB} to start at (\S+), end at (\S+) on nodes"
    r" (\S+) in partition (\S+)"
)
#: Of the scheduler's own log.
_PASS = re.compile(r"sched: " + _TIME + r"Running job scheduler for (default depth|full queue)")
_REASON = re.compile(r"sched: " + _TIME + rf"{_JOB}\. State=PENDING\. Reason=(\w+)")


def _seconds(stamp: str) -> float:
    return datetime.fromisoformat(stamp).replace(tzinfo=timezone.utc).timestamp()


class RunLog:
    """Events of one run, s from the whole second of the first submission.

    Parameters
    ----------
    log, scheduler_log : str
        SlurmctldLogFile, and SlurmSchedLogFile.
    numbers : sequence of int or None
        Slurm's number of each job; None: it was refused.
    """

    def __init__(self, log: str, scheduler_log: str, numbers: Iterable[int | None]) -> None:
        self._log, self._scheduler_log = log, scheduler_log
        self._place = {number: k for k, number in enumerate(numbers) if number is not None}
        submitted = {int(job): _seconds(stamp) for stamp, job in _SUBMITTED.findall(log)}
        missing = [number for number in self._place if number not in submitted]
        begun = _BEGIN.findall(log)
        if missing or not begun or not self._place:
            raise SolverError(f"the controller's log does not tell of job {missing[:1]}")
        self._submitted = submitted
        self.epoch = math.floor(min(submitted[number] for number in self._place))
        version = _VERSION.findall(log)
        self.version = version[0][1] if version else ""

    def since(self, stamp: str) -> float:
        """Return seconds of the run."""
        return round(_seconds(stamp) - self.epoch, 3)

    def _times(self, pattern: re.Pattern[str]) -> list[float]:
        """Return the times of all lines that a pattern matches (s)."""
        return [self.since(stamp) for stamp, _ in pattern.findall(self._log)]

    def jobs(self, scontrol_text: str, jobs: list[dict[str, Any]]) -> list[dict[str, Any] | None]:
        """Return what happened to each job, from ``scontrol --details --oneliner show job``."""
        by = {number: name for _, number, name, *_ in self._starts()}
        records: list[dict[str, Any] | None] = [None] * len(jobs)
        tasks: dict[int, list[dict[str, Any]]] = {}
        for line in scontrol_text.splitlines():
            if not line.startswith("JobId="):
                continue
            keys = _pairs(line)
            number = int(keys["JobId"])
            record = {**self._record_of_job(keys, line), "by": by.get(number, "")}
            array = keys.get("ArrayJobId")
            if int(array or number) not in self._place:
                continue  # refused, and yet on its list
            if array is None:
                records[self._place[number]] = record
            elif keys["ArrayTaskId"].isdigit():
                row = self._place[int(array)]
                tasks.setdefault(row, []).append({"task": int(keys["ArrayTaskId"]), **record})
        for row, rows in tasks.items():
            records[row] = {"tasks": sorted(rows, key=lambda task: task["task"])}
        return records

    def _record_of_job(self, keys: Mapping[str, str], line: str) -> dict[str, Any]:
        """Return what happened to a job, of its line of scontrol."""
        times = {
            name: None
            if keys.get(key) in (None, "Unknown", "N/A", "None")
            else int(_seconds(keys[key])) - self.epoch
            for name, key in (
                ("submit", "SubmitTime"),
                ("eligible", "EligibleTime"),
                ("start", "StartTime"),
                ("end", "EndTime"),
            )
        }
        nodes = keys.get("NodeList", "")
        has_run = nodes not in ("", "(null)")
        if not has_run:
            times["start"] = times["end"] = None
        record: dict[str, Any] = {
            **times,
            "state": keys["JobState"],
            "reason": keys["Reason"],
            "nodelist": nodes if has_run else "",
            "cpus": int(keys["NumCPUs"]),
            "partition": keys["Partition"],
        }
        owner_keys = {"account": "Account", "qos": "QOS"}
        record |= {
            k: keys[v] for k, v in owner_keys.items() if keys.get(v, "(null)") not in ("", "(null)")
        }
        allocations = re.findall(r" Nodes=(\S+) CPU_IDs=(\S+) Mem=(\d+)", line)
        if allocations:
            record["alloc"] = {
                names: {"cpus": cpus, **({"mem": int(memory)} if int(memory) else {})}
                for names, cpus, memory in allocations
            }
        return record

    def _starts(self) -> list[tuple[float, int, str, str, str]]:
        """Return (time, Slurm's number, who, nodes, partition)."""
        starts = [
            (self.since(stamp), int(real or job), "main", nodes, part)
            for stamp, job, _, real, nodes, part in _MAIN.findall(self._log)
        ]
        starts += [
            (self.since(stamp), int(real or job), "backfill", nodes, part)
            for stamp, job, _, real, part, nodes in _BACKFILL.findall(self._log)
        ]
        return sorted(starts)

    def phases(self, scontrol_text: str) -> dict[str, Any]:
        """Return the times of the run."""
        rows = self._rows_of(scontrol_text)
        decay = self._times(_DECAY)
        pauses = [
            [self.since(stamp), rows[int(number)], _PAUSES[action]]
            for stamp, action, number in _PAUSE.findall(self._log)
            if int(number) in rows
        ]
        return {
            "epoch": self.epoch,
            "controller_start": self._times(_BEGIN)[0],
            "submit_exact": [
                round(self._submitted[n] - self.epoch, 3)
                for n, _ in sorted(self._place.items(), key=lambda item: item[1])
            ],
            "bf_cycles": self._times(_CYCLE),
            "bf_ends": [
                [self.since(stamp), int(tested)] for stamp, tested in _TESTED.findall(self._log)
            ],
            "bf_yields": [
                [
                    self.since(stamp),
                    int(jobs) - bool(amid),
                    None if is_over else self.since(resumption),
                    bool(amid),
                ]
                for stamp, jobs, amid, resumption, is_over in _YIELD.findall(self._log)
            ],
            "ends": self._ends(rows),
            "main_passes": [
                [self.since(stamp), "full" if kind == "full queue" else "default"]
                for stamp, kind in _PASS.findall(self._scheduler_log)
            ],
            "kills": sorted(set(self._times(_KILL))),
            "starts": [
                [time, rows[number], who, nodes, part]
                for time, number, who, nodes, part in self._starts()
                if number in rows
            ],
            **({"decay_thread_start": decay[0]} if decay else {}),
            **({"pauses": pauses} if pauses else {}),
            "plans": self._plans(),
            "reasons": self._reasons(rows),
        }

    def _ends(self, rows: Mapping[int, int | list[int]]) -> list[Any]:
        """Return when each job was over, and when its nodes were free."""
        times: list[dict[int, float]] = [
            {
                int(real or job): self.since(stamp)
                for stamp, job, _, real in pattern.findall(self._log)
            }
            for pattern in (_DEALLOCATED, _CLEAN)
        ]
        return [
            [end, times[1][number], rows[number]]
            for number, end in times[0].items()
            if number in rows and number in times[1]
        ]

    def _rows_of(self, scontrol_text: str) -> dict[int, int | list[int]]:
        """Return the job, or job and task, of each of Slurm's numbers."""
        rows: dict[int, int | list[int]] = dict(self._place)
        for line in scontrol_text.splitlines():
            keys = _pairs(line)
            array = int(keys.get("ArrayJobId", -1))
            if array in self._place and keys["ArrayTaskId"].isdigit():
                rows[int(keys["JobId"])] = [self._place[array], int(keys["ArrayTaskId"])]
        return rows

    def _plans(self) -> list[Any]:
        """Return planned reservations by the cycle that made them."""
        cycles = self._times(_CYCLE)
        plans_by_cycle: dict[float, list[Any]] = {}
        cycle_count = 0
        for stamp, job, task, _, start, end, nodes, part in _PLAN.findall(self._log):
            when = self.since(stamp)
            while cycle_count < len(cycles) and cycles[cycle_count] <= when:
                cycle_count += 1
            place = self._place[int(job)]
            job_or_tasks = [place, "*"] if task else place
            times = [int(_seconds(start)) - self.epoch, int(_seconds(end)) - self.epoch]
            cycle = cycles[cycle_count - 1] if cycle_count else when
            plans_by_cycle.setdefault(cycle, []).append([job_or_tasks, *times, nodes, part])
        return [[cycle, plan] for cycle, plan in plans_by_cycle.items()]

    def _reasons(self, rows: Mapping[int, int | list[int]]) -> list[Any]:
        """Return why jobs wait, where a pass of the main scheduler finds it changed."""
        reasons_by_job: dict[int, list[list[Any]]] = {}
        for stamp, job, _, _, reason in _REASON.findall(self._scheduler_log):
            changes = reasons_by_job.setdefault(self._place[int(job)], [])
            if not changes or changes[-1][1] != reason:
                changes.append([self.since(stamp), reason])
        return [[job, changes] for job, changes in reasons_by_job.items()]


def _pairs(line: str) -> dict[str, str]:
    return dict(part.split("=", 1) for part in line.split() if "=" in part)
