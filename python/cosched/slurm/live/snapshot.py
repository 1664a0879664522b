"""A cluster at one moment: its machine, the jobs that run and wait, shares, limits, the past."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import structs

from cosched import io
from cosched.cluster.instance import Instance
from cosched.cluster.machine import Machine
from cosched.deprecation import DeprecatedAttribute
from cosched.errors import InvalidInstance, shorten
from cosched.lazy import pd
from cosched.notes import Note, NoteKind, as_notes, note_records, notes_of_json
from cosched.slurm.conf.settings import settings_of
from cosched.slurm.live import clocks, command_outputs, nodes
from cosched.slurm.live.anonymous import anonymised
from cosched.slurm.live.job_records import jobs_of_json, jobs_of_text, parse_history
from cosched.slurm.live.model import (
    FinishedJob,
    Share,
    SnapshotJob,
    moment_of,
    numbers,
    parse_records,
    require_unique_ids,
    texts_of,
)
from cosched.slurm.live.rest.client import (
    DEFAULT_TIMEOUT,
    RestClient,
    parse_server,
    token_of_environment,
    user_of_environment,
)
from cosched.slurm.live.rest.query import query_rest
from cosched.slurm.machines import machine_shown

#: Version of the file format.
_FORM = 1
#: Keys of the file for fields that have another name there.
_KEY_OF_FIELD = {"time": "taken", "scontrol_texts": "shown"}
_UNLIMITED = 365 * 86400.0


@dataclass(frozen=True)
class Snapshot:
    """A cluster at one moment, as its users see it.

    Attributes
    ----------
    time : float
        Unix time of the snapshot (s).
    jobs : tuple of SnapshotJob
        Jobs that run or wait: ``id, user, account, partition, qos, state, submit, start, limit,
        nodes, cpus, priority, reason, holds``, ... (times in seconds since 1970; None: not known).
        ``job.user`` and ``job["user"]`` are the same.
    scontrol_texts : mapping of str to str
        What ``scontrol show`` printed of ``config``, ``nodes``, ``partitions``, ``reservations``.
    version : str
        Of Slurm.
    shares, limits, priorities, clocks : list or mapping
        Of associations (sshare); of QOS and associations (sacctmgr); of pending jobs by part
        (sprio); of the controller.
    history : list of Ended
        Jobs that have ended: ``user, account, partition, qos, submit, start, end, limit, nodes,
        cpus``.
    missing : tuple of Note
        What could not be read, and what that does.
    given_machine : Machine, optional
        In place of what scontrol showed.

    Examples
    --------
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "scontrol_job.txt").write_text(
    ...     "JobId=7 JobName=a\\n UserId=ann(1) Priority=9\\n JobState=RUNNING Reason=None\\n"
    ...     " TimeLimit=01:00:00\\n SubmitTime=2026-01-05T08:00:00\\n"
    ...     " StartTime=2026-01-05T08:00:00\\n Partition=main\\n NodeList=n1\\n"
    ...     " NumNodes=1 NumCPUs=4\\n"
    ... )
    >>> snapshot = Snapshot.read(folder)
    >>> len(snapshot.jobs), snapshot.machine.cores
    (1, 4)
    """

    time: float
    jobs: tuple[SnapshotJob, ...]
    scontrol_texts: Mapping[str, str]
    version: str = ""
    shares: list[Share] = field(default_factory=list)
    limits: Mapping[str, Any] = field(default_factory=dict)
    priorities: Mapping[int, Mapping[str, float]] = field(default_factory=dict)
    clocks: Mapping[str, float] = field(default_factory=dict)
    history: list[FinishedJob] = field(default_factory=list)
    missing: tuple[Note, ...] = ()
    given_machine: Machine | None = None

    taken = DeprecatedAttribute("time")
    shown = DeprecatedAttribute("scontrol_texts")

    @cached_property
    def machine(self) -> Machine:
        """The machine, with what is not followed left out."""
        if self.given_machine is not None:
            return self.given_machine
        texts = (self.scontrol_texts[key] for key in ("config", "nodes", "partitions"))
        return machine_shown(*texts).approximated()

    @property
    def pending(self) -> list[SnapshotJob]:
        """Jobs that wait."""
        return [job for job in self.jobs if job.state == "PENDING"]

    @property
    def running(self) -> list[SnapshotJob]:
        """Jobs that run."""
        return [job for job in self.jobs if job.state == "RUNNING"]

    @classmethod
    def read(cls, path: str | PathLike[str], *, timezone: str | None = None) -> Snapshot:
        """Read what :meth:`write` wrote, or a folder with outputs of Slurm's commands.

        The folder holds ``squeue.json`` (any version from 22.05 on) or ``scontrol_job.txt``
        (``scontrol show job -d``), and where they are there ``scontrol_config.txt``,
        ``scontrol_node.txt``, ``scontrol_partition.txt``, ``squeue_start.txt``, ``sinfo.json``,
        ``sprio.txt``, ``sshare.txt``, ``sdiag.txt``, ``sacct.txt``, ``sacctmgr_qos.txt``,
        ``sacctmgr_assoc.txt``, each plain or ``.gz``. What is not there is in ``missing``.

        Parameters
        ----------
        path : str or path-like
            A ``.json`` file, a folder, or ``folder/PREFIX`` where its files are named
            ``PREFIX.squeue.json``, ...
        timezone : str, optional
            Of a folder's local dates, as ``Europe/Stockholm``: where no file tells it.

        Raises
        ------
        InvalidInstance
            No such file, or it is damaged: names the file and the place.
        """
        if not isinstance(path, (str, PathLike)):
            raise InvalidInstance(f"snapshot = {shorten(path)}: expected a file or a folder")
        try:
            if Path(path).is_file():
                return _read_snapshot_file(path)
            texts, notes = command_outputs.read_outputs(path)
        except OSError as error:  # a name that no file can have, a folder that may not be read
            raise InvalidInstance(f"{shorten(str(path))}: {error.strerror or error}") from None
        return cls.of_texts(texts, str(path), notes, timezone)

    @classmethod
    def ask(cls, history: str | None = None) -> Snapshot:
        """Ask the Slurm of this host, by commands that only read.

        Parameters
        ----------
        history : str, optional
            How much of the past sacct is asked for: ``"14days"``.

        Raises
        ------
        InvalidInstance
            There is none.
        """
        texts, notes = command_outputs.query_slurm(history)
        return cls.of_texts(texts, "Slurm", notes)

    @classmethod
    def ask_rest(
        cls,
        url: str,
        *,
        history: str | None = None,
        folder: str | PathLike[str] | None = None,
        timezone: str | None = None,
        version: str | None = None,
        allow_http: bool = False,
        timeout: float = DEFAULT_TIMEOUT,
    ) -> Snapshot:
        """Ask a slurmrestd, which changes nothing there.

        The token is that of the environment variable ``SLURM_JWT``, the user that of
        ``SLURM_USER_NAME``, else ``USER``. Certificates are verified; no redirection is followed.

        Parameters
        ----------
        url : str
            Of slurmrestd, such as ``https://head:6820``.
        history : str, optional
            How much of the past slurmdbd is asked for: ``"14days"``.
        folder : str or path-like, optional
            Outputs of commands for what slurmrestd does not offer: ``scontrol_config.txt``,
            ``sprio.txt``, and ``sshare.txt`` before 0.0.40.
        timezone : str, optional
            Of the dates of `folder`, as ``Europe/Stockholm``.
        version : str, optional
            Of the interface, as ``0.0.40``; default: the newest from 0.0.37 to 0.0.43 that the
            server offers.
        allow_http : bool
            Also without TLS to another host than this one: the token can then be read on its way.
        timeout : float
            For each answer (s).

        Raises
        ------
        InvalidInstance
            No token, no such server, or an answer that is none: names the path and what it said,
            and never the token.
        """
        client = RestClient(
            parse_server(url, allow_http=allow_http),
            user_of_environment(),
            token_of_environment(),
            timeout,
        )
        if folder is not None and timezone is None:
            dated_names = command_outputs.dated_outputs(folder)
            if dated_names:
                raise InvalidInstance(
                    f"{folder}: {dated_names[0]} has local dates: expected their time zone, such "
                    "as Europe/Stockholm (timezone, --timezone)"
                )
        zone = timezone or "UTC"
        answers = query_rest(
            client,
            history=history,
            version=version,
            folder=folder,
            offset=clocks.utc_offset(zone, time.time()),
        )
        return cls.of_texts(answers.texts, "slurmrestd", answers.notes, zone)

    @classmethod
    def of_texts(
        cls,
        texts: Mapping[str, str],
        where: str,
        said: Sequence[str] | None = None,
        timezone: str | None = None,
    ) -> Snapshot:
        """The snapshot of outputs by the names of their files.

        Parameters
        ----------
        texts : mapping of str to str
            What the commands printed, by the names of :meth:`read`.
        where : str
            For messages.
        said : list of Note or str, optional
            What is to be said of them.
        timezone : str, optional
            See :meth:`read`.
        """
        command_outputs.require_texts(texts)
        missing = list(as_notes(said or (), "said"))
        jobs, version, snapshot_time, offset = _jobs(texts, where, missing, timezone)
        snapshot_time = (
            clocks.snapshot_time(texts, jobs, offset) if snapshot_time is None else snapshot_time
        )
        shown_texts = nodes.machine_texts(texts, jobs, missing)
        priorities = clocks.parse_priorities(texts.get("sprio.txt", ""))
        effect_by_name = {
            "sshare.txt": "fair-share stays as it is now",
            "sprio.txt": "priorities do not age",
            "sacctmgr_qos.txt": "limits of QOS are not known",
            "sacctmgr_assoc.txt": "limits of users and accounts are not known",
            "sdiag.txt": "the clock of the backfill scheduler is drawn",
            "sacct.txt": "no history of run times and submissions",
        }
        missing += [
            nodes.note_of_missing_output(name, effect)
            for name, effect in effect_by_name.items()
            if name not in texts
        ]
        shares = nodes.shares(texts)
        if "sshare.txt" in texts and not shares:
            text = "sshare.txt begins with no account: fair-share stays as it is now"
            missing.append(Note(NoteKind.UNKNOWN, text, subject="sshare.txt"))
        history = parse_history(texts.get("sacct.txt", ""), offset, notes=missing)
        machine = machine_shown(
            shown_texts["config"], shown_texts["nodes"], shown_texts["partitions"]
        )
        hidden = nodes.hidden_jobs(texts.get("scontrol_node.txt", ""), jobs, snapshot_time)
        if hidden:
            text = (
                f"{len(hidden)} nodes hold jobs that are not shown (PrivateData): estimated from "
                "the states of the nodes"
            )
            missing.append(
                Note(NoteKind.ASSUMED, text, subject=nodes.HIDDEN_JOBS, count=len(hidden))
            )
        return cls(
            time=snapshot_time,
            jobs=tuple(jobs + hidden),
            scontrol_texts=shown_texts,
            version=version or (machine.slurm.version if machine.slurm else ""),
            shares=shares,
            limits=nodes.limits(texts),
            priorities=priorities,
            clocks=clocks.clocks(texts, jobs, priorities, machine, snapshot_time, offset),
            history=history,
            missing=tuple(missing),
        )

    def write(self, path: str | PathLike[str]) -> None:
        """Write as .json, as :meth:`read` takes it.

        Parameters
        ----------
        path : str or path-like
            Ends in .json. Replaced as a whole or not at all.
        """
        io.check_suffix(path, (".json",))
        io.write_json({"cosched_snapshot": _FORM, **self._to_dict()}, path)

    def _to_dict(self) -> dict[str, Any]:
        """Return the snapshot as a file has it."""
        snapshot_fields = {
            _KEY_OF_FIELD.get(snapshot_field.name, snapshot_field.name): getattr(
                self, snapshot_field.name
            )
            for snapshot_field in fields(self)
        }
        del snapshot_fields["given_machine"]
        for name in ("jobs", "shares", "history"):
            snapshot_fields[name] = [
                structs.asdict(snapshot_field) for snapshot_field in snapshot_fields[name]
            ]  # an infinite limit is null there
        named = {str(job): parts for job, parts in self.priorities.items()}
        return {
            **snapshot_fields,
            "priorities": named,
            "missing": list(self.missing),
            "missing_records": note_records(self.missing),
        }

    def anonymised(self) -> Snapshot:
        """What :func:`when` reads, and nothing else, with numbers in place of all names.

        Users, accounts, partitions, QOS, nodes, features, licences, types of GPUs and reservations
        have the same number wherever they are named; ids of jobs stay. Answers are the same.
        """
        return anonymised(self)

    def instance(self) -> Instance:
        """Jobs that run and wait as an instance that begins with the moment of the snapshot.

        Jobs that run are in ``running``; where a run time is not known, it is the
        limit. Every policy, and ``slurm-backfill``, goes on from there.

        Returns
        -------
        Instance
            Times are seconds after the snapshot; of jobs that were there before, below 0 is 0.
        """
        jobs = [*self.running, *self.pending]
        if not jobs:
            raise InvalidInstance("the snapshot has no jobs that run or wait")
        limit = np.array([limit_of(job, self.machine) for job in jobs])
        frame: dict[str, Any] = {
            "id": [str(job.id) for job in jobs],
            "submit": np.zeros(len(jobs)),
            "tasks": [cores_of(job, self.machine) for job in jobs],
            "cpu": np.ones(len(jobs)),
            "memory": np.ones(len(jobs)),
            "runtime": limit,
            "estimate": limit,
            "user": [job.user for job in jobs],
            "partition": [job.first_partition for job in jobs],
        }
        running = self._running_frame()
        notes = tuple(self.missing)
        return Instance(
            frame,
            self.machine.cores,
            notes=notes,
            machine=self.machine,
            running=running if len(running) else None,
        )

    def _running_frame(self) -> pd.DataFrame:
        """Return the jobs that run as :class:`Instance` takes them: nodes, start, limit."""
        numbers = {name: k for k, name in enumerate(settings_of(self.machine).names)}
        rows = [
            {
                "job": str(job.id),
                "start": (job.start or self.time) - self.time,
                "nodes": {numbers[h.node]: h.cpus for h in job.holds if h.node in numbers},
                "limit": limit_of(job, self.machine),
            }
            for job in self.running
        ]
        return pd.DataFrame(rows, columns=["job", "nodes", "start", "limit"])


def cores_of(job: SnapshotJob, machine: Machine) -> int:
    """Return cores that a job has or asks for: whole nodes where nodes are not shared."""
    settings = machine.slurm
    if job.holds:
        return max(sum(allocation.cpus for allocation in job.holds), 1)
    if settings is not None and (settings.exclusive_nodes or job.exclusive):
        cores = max((kind.cores for kind in machine.nodes), default=1)
        return max((job.nodes or 1) * cores, 1)
    return max(job.cpus or 1, job.nodes or 1)


def limit_of(job: SnapshotJob, machine: Machine) -> float:
    """Return the time limit of a job, else of its partition (s): from a minute to a year."""
    limit = job.limit
    if limit is None or not np.isfinite(limit):
        part = job.first_partition
        limit = next((p.max_time for p in machine.partitions if p.name == part), _UNLIMITED)
    return float(min(max(limit, 60.0), _UNLIMITED))


def _jobs(
    texts: Mapping[str, str], where: str, missing: list[Note], timezone: str | None
) -> tuple[list[SnapshotJob], str, float | None, float]:
    """Return jobs, version, moment, and seconds to add to local times."""
    text, scontrol_text = texts.get("squeue.json"), texts.get("scontrol_job.txt")
    if text is None:
        if scontrol_text is None:
            raise InvalidInstance(
                f"{where}: neither squeue.json nor scontrol_job.txt: expected one of them"
            )
        effect = "jobs are those of scontrol show job"
        missing.append(nodes.note_of_missing_output("squeue.json", effect))
        jobs = jobs_of_text(scontrol_text, f"{where}/scontrol_job.txt")
        return jobs, "", None, 0.0
    jobs, facts = jobs_of_json(text, f"{where}/squeue.json")
    scontrol_jobs: dict[int, SnapshotJob] = {}
    if scontrol_text is not None:
        scontrol_jobs = {
            job.id: job for job in jobs_of_text(scontrol_text, f"{where}/scontrol_job.txt")
        }
    jobs = [
        _merge_sources(job, scontrol_jobs[job.id]) if job.id in scontrol_jobs else job
        for job in jobs
    ]
    snapshot_time = facts["taken"] or clocks.query_time(texts)
    offset = clocks.offset_of(
        texts, jobs, scontrol_jobs.values(), snapshot_time, timezone, where, missing
    )
    return jobs, facts["version"], facts["taken"], offset


def _merge_sources(job: SnapshotJob, scontrol_job: SnapshotJob) -> SnapshotJob:
    """Return a job of squeue with what scontrol says better: the GPUs of each node, in all
    versions."""
    holds = (
        scontrol_job.holds
        if scontrol_job.holds and len(scontrol_job.holds) >= len(job.holds)
        else job.holds
    )
    nice = scontrol_job.nice if job.nice is None else job.nice
    return structs.replace(job, holds=holds, nice=nice)


def _read_snapshot_file(path: str | PathLike[str]) -> Snapshot:
    """Return the snapshot of a file that :meth:`Snapshot.write` wrote."""
    data = io.read_json(path)
    if not isinstance(data, dict) or data.get("cosched_snapshot") != _FORM:
        raise InvalidInstance(
            f"{path}: cosched_snapshot: expected {_FORM}, as cosched snapshot writes it"
        )
    lacking = [name for name in ("taken", "jobs", "shown") if name not in data]
    if lacking:
        raise InvalidInstance(f"{path}: {lacking[0]}: expected what snapshot wrote")
    try:
        return _parse_snapshot(data)
    except InvalidInstance as error:
        raise InvalidInstance(f"{path}: {error}") from None


def _parse_snapshot(data: Mapping[str, object]) -> Snapshot:
    """Return the snapshot of the object in such a file; InvalidInstance names the field."""
    jobs = require_unique_ids(parse_records(SnapshotJob, data["jobs"], "jobs"), "jobs")
    priorities = data.get("priorities", {})
    if not isinstance(priorities, Mapping) or not all(key.isdecimal() for key in priorities):
        raise InvalidInstance("priorities: expected an object by job")
    limits = data.get("limits", {})
    if not isinstance(limits, Mapping):
        raise InvalidInstance("limits: expected an object with qos and associations")
    qos, associations = limits.get("qos", {}), limits.get("associations", [])
    if not isinstance(qos, Mapping) or not isinstance(associations, list):
        raise InvalidInstance("limits: expected qos by name and a list of associations")
    snapshot = Snapshot(
        time=moment_of(data["taken"], "taken"),
        jobs=tuple(
            structs.replace(job, limit=np.inf) if job.limit is None else job for job in jobs
        ),
        scontrol_texts=_parse_shown_texts(data["shown"]),
        version=texts_of({"": data.get("version", "")}, "version")[""],
        shares=parse_records(Share, data.get("shares", []), "shares"),
        limits={
            "qos": {key: texts_of(row, f"limits: qos {shorten(key)}") for key, row in qos.items()},
            "associations": [
                texts_of(row, f"limits: associations[{k}]") for k, row in enumerate(associations)
            ],
        },
        priorities={
            int(key): numbers(row, f"priorities: {key}") for key, row in priorities.items()
        },
        clocks=clocks.checked_clocks(data.get("clocks", {})),
        history=parse_records(FinishedJob, data.get("history", []), "history"),
        missing=_parse_notes(data),
    )
    _ = snapshot.machine
    return snapshot


def _parse_notes(data: Mapping[str, object]) -> tuple[Note, ...]:
    """Return the notes of such a file: an older one has their texts alone."""
    texts = data.get("missing", [])
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise InvalidInstance("missing: expected a list of texts")
    return notes_of_json(texts, data.get("missing_records"), "missing")


def _parse_shown_texts(data: object) -> dict[str, str]:
    """Return what scontrol printed by name; a text that is missing is empty."""
    return dict.fromkeys(("config", "nodes", "partitions", "reservations"), "") | texts_of(
        data, "shown"
    )
