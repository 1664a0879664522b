"""Recordings of a real Slurm: jobs are submitted to one on this host, and its log is read."""

import stat
import tempfile
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from threading import Event, Thread
from typing import Any

from cosched.errors import SolverError
from cosched.slurm.accounts.accounting_dump import COLUMN_TABLE
from cosched.slurm_lab import conf, slurmdbd
from cosched.slurm_lab.daemons import RealSlurm
from cosched.slurm_lab.export import ExportError, export_tables
from cosched.slurm_lab.job_program import JobProgram
from cosched.slurm_lab.log import RunLog
from cosched.slurm_lab.trace import longest_run, options_of

#: A run that is not over after so many times what its jobs need is given up.
_PATIENCE = 20.0
#: Jobs that wait so long on their own never start (s of the Slurm's clock).
_STUCK = 600.0
_PARTITION = "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP"
_CPUS = 4
#: Plans are not logged without, since 24.11.
_LOGGED = {"SlurmctldDebug": "verbose"}


def record(
    jobs: Sequence[Mapping[str, object]],
    nodes: int | Sequence[str],
    *,
    speed: float = 20.0,
    runs: int = 1,
    settings: Mapping[str, str] | None = None,
    partitions: Sequence[str] = (),
    root: Path | None = None,
    accounts: Sequence[str] | None = None,
    every: float = 150.0,
    begin: datetime | None = None,
    export: Path | None = None,
) -> dict[str, Any]:
    """Run the jobs of :func:`read_trace` on a real Slurm on this host, and say what it did.

    `nodes`: their number, or NodeName lines; `accounts`: lines of sacctmgr, for a slurmdbd; then
    squeue, sprio and sshare are asked `every` so many seconds of its clock. `begin`: the date
    that its clock shows at first (UTC). `export`: a folder for what sacct and sacctmgr print in the
    end; needs `accounts` and one run; where it fails, :class:`ExportError` has the recording. What
    comes back is a recording, as
    :func:`cosched.slurm.recordings.agreement.read_recording` reads it.
    """
    shared = any("cores" in job for job in jobs)
    default_settings = _usual_select(jobs) if shared else {"SelectType": "select/linear"}
    all_settings = {**default_settings, **(settings or {})}
    exclusive_option = "" if shared else " OverSubscribe=EXCLUSIVE"
    partitions = tuple(partitions) or (_PARTITION + exclusive_option,)
    lines = conf.plain_nodes(nodes, _CPUS) if isinstance(nodes, int) else tuple(nodes)
    recorded_runs: dict[str, list[Any]] = {
        "runs": [],
        "phases": [],
        "samples": [],
        "cancelled_at_end": [],
    }
    facts: dict[str, Any] = {}
    export_failure = ""
    pauses = any(
        "SUSPEND" in text.upper() for text in (all_settings.get("PreemptMode", ""), *partitions)
    )
    users = {str(job["user"]) for job in jobs if "user" in job}
    for _ in range(runs):
        with tempfile.TemporaryDirectory(prefix="cosched-slurm-", dir=_folder_for(users)) as folder:
            slurm_folder = Path(folder) / "slurm"
            if users:  # their jobs read what is below
                Path(folder).chmod(0o755)
            with RealSlurm(
                slurm_folder,
                lines,
                {**_LOGGED, **all_settings},
                partitions,
                speed=speed,
                root=root,
                accounts=accounts,
                users=users,
                begin=begin,
            ) as slurm:
                recorded_run = _Recorder(
                    slurm, list(map(dict, jobs)), every if accounts else None, pauses
                ).run()
                if export is not None:
                    export_failure = _try_export(slurm, export)
                facts = facts or recorded_run.pop("told")
                recorded_run.pop("told", None)
        for name, value in recorded_run.items():
            recorded_runs[name].append(value)
    if accounts is None:
        del recorded_runs["samples"]
    config = {**all_settings, "Partitions": list(partitions), "speed": speed}
    if shared or not isinstance(nodes, int):
        config["NodeNames"] = list(lines)
    else:
        config["NodeLines"] = "one"
    if accounts is not None:
        config.setdefault("AccountingStorageEnforce", "limits,qos")
        facts |= {"sacctmgr": list(accounts), **COLUMNS}
    recording = {
        "config": config,
        "nodes": len(conf.node_names(lines)),
        "jobs": [{**job, "hold": True} if "hold" in job else dict(job) for job in jobs],
        "events": _releases(jobs),
        **facts,
        **recorded_runs,
    }
    if export_failure:
        raise ExportError(export_failure, recording)
    return recording


def _try_export(slurm: RealSlurm, folder: Path) -> str:
    """Return why the export failed, empty where it did not: the recording of hours is kept
    anyhow."""
    try:
        export_tables(slurm, folder)
    except (SolverError, OSError) as error:
        return f"{folder}: {error}"
    return ""


def _folder_for(users: Collection[str]) -> str | None:
    """Return a folder that these users can enter: /tmp, where the usual temporary folder is closed.

    Jobs of other users than the one who records run scripts that are below it.
    """
    usual = Path(tempfile.gettempdir()).resolve()
    folders = (usual, *usual.parents)
    can_enter = all(folder.stat().st_mode & stat.S_IXOTH for folder in folders)
    return None if can_enter or not users else "/tmp"


def _usual_select(jobs: Sequence[Mapping[str, object]]) -> dict[str, str]:
    """Return the usual SelectType for these jobs: those with cores of their own share nodes."""
    memory = any("mem" in job or "mem_per_cpu" in job for job in jobs)
    kind = "CR_Core_Memory" if memory else "CR_Core"
    return {"SelectType": "select/cons_tres", "SelectTypeParameters": kind}


def _releases(jobs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Yield held jobs that are let go after some seconds."""
    events = [
        {"t": job["submit"] + job["hold"], "do": "release", "job": number}
        for number, job in enumerate(jobs)
        if job.get("hold", True) is not True
    ]
    return sorted(events, key=lambda event: event["t"])


class _Recorder:
    """Submits the jobs of one run to a Slurm, and reads what happened to them."""

    def __init__(
        self, slurm: RealSlurm, jobs: list[dict[str, Any]], every: float | None, pauses: bool
    ) -> None:
        self._slurm, self._jobs, self._every = slurm, jobs, every
        holds_memory = any("rss" in job for job in jobs)
        self._job_program: JobProgram | None = None
        if pauses or holds_memory:
            self._job_program = JobProgram(slurm.job_folder, can_be_suspended=pauses)
        self._numbers: list[int | None] = [None] * len(jobs)
        self._refused: dict[str, str] = {}
        self._released: list[tuple[int, float, str]] = []
        self._samples: list[PrintedSample] = []
        self._last = 0.0

    def run(self) -> dict[str, Any]:
        """Submit all jobs, wait for their end, and return what happened."""
        is_over = Event()
        sampling = Thread(target=self._sample, args=(is_over,), daemon=True)
        if self._every is not None:
            sampling.start()
        try:
            self._submit_all()
            cancelled = self._wait()
        finally:
            is_over.set()
            if self._every is not None:
                sampling.join()
        return self._read(cancelled)

    def _submit_all(self) -> None:
        """Submit and release jobs, each at its time on the Slurm's own clock."""
        due = [(float(job["submit"]), 0, number) for number, job in enumerate(self._jobs)]
        releases = _releases(self._jobs)
        due += [(event["t"], 1, number) for number, event in enumerate(releases)]
        begin = self._slurm.now()
        for when, release, number in sorted(due):
            time.sleep(max(0.0, (begin + when - self._slurm.now()) / self._slurm.speed))
            if release:
                self._release(number, releases[number]["job"])
            else:
                self._submit(number)

    def _submit(self, number: int) -> None:
        """Submit a job with sbatch, and keep its number, or why it is refused."""
        job = self._jobs[number]
        options = options_of(job, self._numbers)
        if options is None:
            self._refused[str(number)] = "depends on a job that was refused"
            return
        user_options = self._slurm.of_user(job["user"]) if "user" in job else ()
        if self._job_program is None:
            work = f"sleep {job['runtime']}"
        else:
            work = self._job_program.command(job["runtime"], job.get("rss", 0))
        work = f"{work}; exit 1" if job.get("fail") else f"exec {work}"
        self._numbers[number], refusal = self._slurm.sbatch(
            *options, *user_options, "--output=/dev/null", "--chdir=/", f"--wrap={work}"
        )
        if refusal:
            self._refused[str(number)] = refusal

    def _release(self, event: int, job: int) -> None:
        """Release a held job."""
        if self._numbers[job] is not None:
            self._released.append((event, self._slurm.now(), ""))
            self._slurm.run("scontrol", "release", str(self._numbers[job]))

    def _wait(self) -> list[int]:
        """Wait until nothing runs, and what waits does so for ever; return the numbers of these
        jobs."""
        slurm = self._slurm
        if all(number is None for number in self._numbers):
            raise SolverError(f"all jobs were refused: {next(iter(self._refused.values()))}")
        longest_work = sum(longest_run(job) for job in self._jobs) + 3600
        begins = [job["submit"] + job.get("begin", 0) for job in self._jobs]
        self._last = slurm.now() + max(begins) - self._jobs[-1]["submit"]
        waiting: set[int] = set()

        def has_ended() -> bool:
            nonlocal waiting
            rows = [row.split() for row in slurm.run("squeue", "-h", "-o", "%A %T").splitlines()]
            waiting = {int(number) for number, state in rows if state == "PENDING"}
            if len(waiting) < len(rows):
                self._last = max(self._last, slurm.now())
            time.sleep(0.5)
            return not rows or slurm.now() > self._last + _STUCK

        slurm.until(has_ended, "its jobs are over", 60 + _PATIENCE * longest_work / slurm.speed)
        return sorted(waiting)

    def _sample(self, is_over: Event) -> None:
        """Take a sample of sprio and sshare now and then, until the run is over."""
        assert self._every is not None
        due = self._slurm.now() + self._every
        while not is_over.wait(max(0.0, (due - self._slurm.now()) / self._slurm.speed)):
            self._samples.append(sample(self._slurm))
            due = max(due + self._every, self._slurm.now())

    def _read(self, cancelled: list[int]) -> dict[str, Any]:
        """Return the recorded run: what scontrol, sacctmgr and the logs tell."""
        scontrol_text = self._slurm.run("scontrol", "--details", "--oneliner", "show", "job")
        log = RunLog(
            self._slurm.log.read_text(),
            self._slurm.scheduler_log.read_text(),
            self._numbers,
        )
        phases = log.phases(scontrol_text)
        exact = iter(phases["submit_exact"])
        phases["submit_exact"] = [None if n is None else next(exact) for n in self._numbers]
        phases["refused"] = self._refused
        phases["requeues"], phases["reservations"] = [], []
        phases["events"] = [
            [event, round(when - log.epoch, 1), message] for event, when, message in self._released
        ]
        runs = log.jobs(scontrol_text, self._jobs)
        _require_work(runs, self._jobs)
        places = {number: k for k, number in enumerate(self._numbers) if number is not None}
        facts: dict[str, Any] = {"slurm": log.version}
        if self._every is not None:
            for kind, columns in COLUMN_TABLE["recorded"].items():
                show = ("sacctmgr", "-P", "show", kind, f"format={','.join(columns)}")
                facts[kind] = slurmdbd.rows_shown(self._slurm.run(*show))
        return {
            "runs": runs,
            "phases": phases,
            "samples": [
                recorded_sample.since(log.epoch, places) for recorded_sample in self._samples
            ],
            "cancelled_at_end": [places[number] for number in cancelled if number in places],
            "told": facts,
        }


def _require_work(runs: Sequence[Any], jobs: Sequence[Mapping[str, Any]]) -> None:
    """Check that a job was at work: one that fails at once is no recording of these jobs."""
    for number, (run, job) in enumerate(zip(runs, jobs, strict=True)):
        for record in (run or {}).get("tasks", [run or {}]):
            took = (record.get("end") or 0) - (record.get("start") or 0)
            if record.get("state") == "FAILED" and took < job["runtime"]:
                raise SolverError(f"job {number} failed after {took} s: {record['reason']}")


#: What a recording says of the columns.
COLUMNS = {
    "squeue_columns": "job|state|priority|reason|start (estimate or true)",
    "sprio_columns": "job|priority|age|fairshare|jobsize|partition|qos|nice|site|tres",
    "sshare_columns": "Account|User|RawShares|NormShares|RawUsage|NormUsage|EffectvUsage|"
    "FairShare|LevelFS|GrpTRESMins|TRESRunMins",
}


@dataclass(frozen=True)
class PrintedSample:
    """Rows as printed, with Slurm's own numbers of jobs."""

    time: float  # Unix, of the Slurm's clock
    #: Rows of squeue, sprio and sshare.
    squeue: list[list[str]]
    #: Rows of sprio.
    sprio: list[list[str]]
    #: Rows of sshare.
    sshare: list[list[str]]

    def since(self, epoch: int, places: Mapping[int, int]) -> dict[str, Any]:
        """As a recording has it: s from its second 0, jobs by their place."""
        return {
            "t": round(self.time - epoch, 1),
            "squeue": [
                [places[int(job)], state, int(priority), reason, _second(start, epoch)]
                for job, state, priority, reason, start in self.squeue
                if int(job) in places
            ],
            "sprio": [
                [places[int(job)], *map(int, numbers), tres]
                for job, *numbers, tres in self.sprio
                if int(job) in places
            ],
            "sshare": self.sshare,
        }


def sample(slurm: RealSlurm) -> PrintedSample:
    """Return what sprio and sshare show now; one is asked after another, some moments apart."""
    now = slurm.now()
    queue = slurm.run("squeue", "-h", "-t", "PD,R", "-o", "%F|%t|%Q|%r|%S", check=False)
    priorities = slurm.run("sprio", "-h", "-o", "%i|%Y|%A|%F|%J|%P|%Q|%N|%S|%T", check=False)
    shares = slurm.run("sshare", "-a", "-l", "-P", "-n", check=False)
    rows = [[cell.strip() for cell in line.split("|")] for line in shares.splitlines()]
    return PrintedSample(now, _cells(queue), _cells(priorities), rows)


def _cells(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("|")] for line in text.splitlines()]


def _second(stamp: str, epoch: int) -> int | None:
    date = datetime.fromisoformat(stamp) if stamp[:1].isdigit() else None
    return int(date.replace(tzinfo=timezone.utc).timestamp()) - epoch if date else None
