"""Recordings of real Slurms as files."""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from cosched import io
from cosched.cluster.files.sbatch import array_tasks
from cosched.cluster.machine import Machine
from cosched.cluster.machine.node_types import MOST_HOSTS
from cosched.core.arrays import integer, positive
from cosched.errors import InvalidInstance, shorten
from cosched.notes import Note, NoteKind, not_followed, notes_of_kind
from cosched.slurm.accounts.accounting_dump import AccountingDump
from cosched.slurm.accounts.script import ScriptRows, script_rows
from cosched.slurm.conf.lines import seconds_of_limit, words
from cosched.slurm.conf.settings import rules_of
from cosched.slurm.machines import slurm_machine
from cosched.slurm.recordings.phases import run_of, samples_of
from cosched.slurm.recordings.recorded_runs import Recording
from cosched.slurm.requests.associations import Accounts
from cosched.slurm.requests.request import Gpus, Owner, Request, parse_dependencies, parse_gpus

#: What a job of a recording may say.
_JOB_KEYS = words(
    """
    submit nodes cores limit runtime partition mem mem_per_cpu rss gres gpus constraint licenses
    array name dependency begin hold exclusive no_requeue reservation fail
    user account qos nice
    """
)
#: Keys of a recording's configuration that are no lines of a slurm.conf.
_OWN_KEYS = frozenset({"NodeLines", "NodeNames", "Partitions", "speed", "Nodes", "Cpus"})
_CPUS = 4
#: The limit of a job that has none.
NO_LIMIT = "UNLIMITED"
#: Seconds of any clock.
_LATEST = 1e11
#: What a Slurm that is recorded has where its configuration says nothing.
_USUAL = {"ReturnToService": 2}
_DATABASE = {"AccountingStorageType": "accounting_storage/slurmdbd"}


def read_recording(
    path: str | PathLike[str], *, version: str | None = None, approximate: bool = False
) -> Recording:
    """Read a recording of a real Slurm.

    JSON: ``config`` (lines of slurm.conf; ``NodeLines`` each or one, ``Partitions`` whole lines,
    ``speed``), ``nodes``, ``jobs`` (``submit, nodes`` or ``cores, limit, runtime[, partition]``;
    a limit of seconds, or ``"UNLIMITED"``),
    ``runs`` (for each job ``submit, start, end, state, nodelist``, s from the run's second 0) and
    ``phases`` (for each run ``epoch`` = the Unix time of that second, ``controller_start``, and
    where known ``submit_exact, bf_cycles, kills, plans``). `version`: in place of its own;
    `approximate`: what has no rule is left out, with a note.

    Examples
    --------
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "one.json"
    >>> io.write_json({
    ...     "config": {"SelectType": "select/linear", "NodeLines": "one", "speed": 20,
    ...                "Partitions": ["PartitionName=main Nodes=ALL"]},
    ...     "nodes": 2, "jobs": [{"submit": 0, "nodes": 1, "limit": 60, "runtime": 30}],
    ...     "runs": [[{"submit": 0, "start": 1, "end": 32, "nodelist": "n1"}]],
    ...     "phases": [{"epoch": 1000, "controller_start": -20.0}]}, path)
    >>> read_recording(path).runs[0].nodes
    (('n1',),)
    """
    data = io.read_json(path)
    try:
        recorded_data = data if version is None else {**data, "slurm": version}
        return _recording(Path(path).name, recorded_data, approximate)
    except InvalidInstance as error:
        message = str(error)
        raise InvalidInstance(
            message if message.startswith(Path(path).name) else f"{path}: {message}"
        ) from None
    except (LookupError, TypeError, AttributeError, ValueError, OverflowError) as error:
        is_missing_key = isinstance(error, KeyError)
        lack = f"no {error.args[0]}: " if is_missing_key else f"{shorten(str(error))}: "
        raise InvalidInstance(
            f"{path}: {lack}expected a recording with config, nodes, jobs, runs and phases"
        ) from None


def _recording(name: str, data: Mapping[str, Any], approximate: bool) -> Recording:
    """Return the recording of the object in a file."""
    config = data["config"]
    for key in ("runs", "phases"):
        _require_finite(data[key], f"{name}: {key}")
    jobs, released = _normalize_jobs(data["jobs"])
    events = [*data.get("events", ()), *released]
    unsupported_keys = _unsupported_keys(name, jobs, approximate)
    slurm = str(data.get("slurm", ""))
    usual = _USUAL | (_DATABASE if data.get("associations") else {})
    machine = _machine(name, data["nodes"], usual | config, slurm)
    machine = machine.approximated() if approximate else machine
    # In the first recordings, `nodes` beside `cores` was no wish.
    jobs = [
        job if "NodeNames" in config or "cores" not in job else {**job, "nodes": None}
        for job in jobs
    ]
    jobs = [{key: value for key, value in job.items() if value is not None} for job in jobs]
    arrays = [array_tasks(job["array"])[0] if "array" in job else [0] for job in jobs]
    ends = np.cumsum([len(tasks) for tasks in arrays]).tolist()
    rows = tuple(
        tuple(range(end - len(tasks), end)) for tasks, end in zip(arrays, ends, strict=True)
    )
    of_row = np.repeat(np.arange(len(jobs)), [len(rows_of_job) for rows_of_job in rows])
    columns = _columns(jobs, of_row)
    accounts = None
    if data.get("associations"):
        accounts, machine = _with_accounts(name, data, machine)
    requests = requests_of_jobs(jobs, rows, accounts, _refused_in_all_runs(data))
    samples = [
        samples_of(key_name, data["associations"], rows) for key_name in data.get("samples", ())
    ]
    samples = samples or [()] * len(data["runs"])
    ticks = "Epilog" not in config
    runs = tuple(
        run_of(run, phase, rows, machine, events, arrays, jobs, ticks, samples_of_run)
        for run, phase, samples_of_run in zip(data["runs"], data["phases"], samples, strict=True)
    )
    if not runs:
        raise InvalidInstance(f"{name}: runs: expected one at least")
    indexes = {k: tuple(arrays[k]) for k, job in enumerate(jobs) if "array" in job}
    rules = rules_of(slurm)
    notes = [
        not_followed(f"{key_name} of jobs: starts may differ", subject=key_name)
        for key_name in unsupported_keys
    ]
    if machine.slurm is not None and approximate:
        notes += machine.slurm.left_out
    notes += notes_of_kind(_script(data).notes, NoteKind.NOT_FOLLOWED)
    if not slurm.startswith(rules):
        text = f"rules of Slurm {rules} for {slurm}"
        notes.append(Note(NoteKind.OTHER_VERSION, text, subject=slurm))
    recording = Recording(
        name,
        machine,
        columns,
        runs,
        positive(float(config.get("speed", 1)), f"{name}: speed"),
        slurm,
        requests,
        accounts,
        rows,
        indexes,
        tuple(notes),
    )
    recording.requests_of(runs[0])  # what the machine does not have is said here
    return recording


def _require_finite(value: Any, place: str) -> None:
    """Check that no number in an entry, nor a text that says one, is infinite, none, or later
    than all clocks."""
    if isinstance(value, (list, tuple, Mapping)):
        entries = value.items() if isinstance(value, Mapping) else enumerate(value)
        for key, entry in entries:
            _require_finite(entry, f"{place}[{key}]")
        return
    try:
        number = float(value)
    except (TypeError, ValueError):
        return
    if not abs(number) <= _LATEST:
        raise InvalidInstance(f"{place}: {shorten(value)}: expected a finite number")


def _columns(jobs: Sequence[Mapping[str, Any]], of_row: np.ndarray) -> dict[str, np.ndarray]:
    """Return the columns of the jobs, a row per job or task."""
    tasks = np.array([job["cores"] if "cores" in job else job["nodes"] for job in jobs])
    columns: dict[str, np.ndarray] = {
        "tasks": tasks[of_row],
        "cpu": np.ones(len(of_row)),
        "memory": np.ones(len(of_row)),
        "runtime": np.array([float(job["runtime"]) for job in jobs])[of_row],
        "estimate": np.array([_limit_of(job) for job in jobs])[of_row],
    }
    if any("cores" in job for job in jobs):
        columns["cores"] = columns["tasks"]
    if any("partition" in job for job in jobs):
        columns["partition"] = np.array([job.get("partition", "") for job in jobs])[of_row]
    return columns


def _limit_of(job: Mapping[str, Any]) -> float:
    """Return seconds, or infinity."""
    limit = job["limit"]
    return math.inf if limit == NO_LIMIT else float(limit)


def _unsupported_keys(
    name: str, jobs: Sequence[Mapping[str, object]], approximate: bool
) -> list[str]:
    """Return the keys of jobs that the twin has no rule for."""
    foreign = sorted({key for job in jobs for key in job} - _JOB_KEYS)
    if any("nodes" not in job and "cores" not in job for job in jobs):
        raise InvalidInstance(f"{name}: jobs: expected nodes or cores of each")
    if foreign and not approximate:
        raise InvalidInstance(
            f"{name}: slurm-backfill does not cover jobs with {', '.join(foreign)}: "
            "--approximate leaves them out"
        )
    return foreign


def _normalize_jobs(
    jobs: Sequence[Mapping[str, Any]],
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return jobs with one spelling, and releases: ``after`` one job is afterany, ``hold`` for
    some seconds is a release then."""
    normalized_jobs, releases = [], []
    for number, job in enumerate(jobs):
        normalized = dict(job)
        if "after" in normalized:
            normalized["dependency"] = [["afterany", normalized.pop("after")]]
        if normalized.get("hold") not in (None, True, False):
            time = float(normalized["submit"]) + float(normalized["hold"])
            releases.append({"t": time, "do": "release", "job": number})
        normalized_jobs.append(normalized)
    return normalized_jobs, releases


#: What a slurmdbd brings, with its weights as parameters of the twin.
_WEIGHTS = ("PriorityWeightFairshare", "PriorityWeightQOS", "PriorityWeightAge")


def _with_accounts(
    name: str, data: Mapping[str, Any], machine: Machine
) -> tuple[Accounts, Machine]:
    """Return the accounts of a recording, and the machine with the weights that they give a
    meaning."""
    config, settings = data["config"], machine.slurm
    assert settings is not None
    dump = AccountingDump(
        tuple(data["associations"]), tuple(_qos_of(data)), _default_accounts(data)
    )
    try:
        accounts = Accounts(dump, machine)
    except InvalidInstance as error:
        raise InvalidInstance(f"{name}: {error}") from None
    if accounts.unsupported:
        raise InvalidInstance(
            f"{name}: slurm-backfill does not cover {', '.join(accounts.unsupported)}"
        )
    parameters = dict(settings.parameters) | {"age_counts": 1.0}
    parameters |= {key: float(config[key]) for key in _WEIGHTS if key in config}
    half_life = str(config.get("PriorityDecayHalfLife", "7-0"))
    parameters["PriorityDecayHalfLife"] = seconds_of_limit(half_life, name)
    return accounts, replace(machine, slurm=replace(settings, parameters=parameters, accounts=dump))


def _qos_of(data: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the QOS, with what only the commands tell: a limit of accrual, which sacctmgr of
    22.05 does not show."""
    limits = {
        row["Name"]: row["MaxJobsAccruePU"]
        for row in _script(data).rows
        if "MaxJobsAccruePU" in row
    }
    rows = [dict(row) for row in data.get("qos", ())]
    for row in rows:
        if row["Name"] in limits:
            row["MaxJobsAccruePU"] = limits[row["Name"]]
    return rows


def _default_accounts(data: Mapping[str, Any]) -> dict[str, str]:
    """Return the account of jobs that name none, by user: as sacctmgr showed it, or its commands
    told it."""
    users = data.get("users")
    rows = _script(data).rows if users is None else users
    return {row["User"]: row["Def Acct"] for row in rows if row.get("User") and row.get("Def Acct")}


def _script(data: Mapping[str, Any]) -> ScriptRows:
    """Return what the commands that the recording's slurmdbd was told leave.

    The Slurm has taken them: one that is not understood here is a note.
    """
    lines = [f"sacctmgr {line}" for line in data.get("sacctmgr", ())]
    try:
        return script_rows([(f"sacctmgr[{k}]", line) for k, line in enumerate(lines)])
    except InvalidInstance as error:
        note = not_followed(f"commands of sacctmgr: {error}", subject="commands of sacctmgr")
        return ScriptRows((), (note,))


def _machine(name: str, nodes: object, config: Mapping[str, Any], slurm: str) -> Machine:
    """Return the machine of its configuration, read as a slurm.conf."""
    count = integer(config.get("Nodes", nodes), f"{name}: nodes", 1, MOST_HOSTS)
    cpus = int(config.get("Cpus", _CPUS))
    lines = [f"{key}={value}" for key, value in config.items() if key not in _OWN_KEYS]
    node_names = [f"n{k}" for k in range(1, count + 1)]
    names = node_names if config.get("NodeLines") == "each" else [f"n[1-{count}]"]
    lines += config.get("NodeNames") or [f"NodeName={node} CPUs={cpus}" for node in names]
    lines += [re.sub(r"^(?!PartitionName)", "PartitionName=", p) for p in config["Partitions"]]
    version = re.match(r"[0-9]{2}\.[0-9]{2}", slurm)
    return slurm_machine("\n".join(lines), name, version[0] if version else "22.05")


def _refused_in_all_runs(data: Mapping[str, Any]) -> frozenset[int]:
    """Return numbers of jobs that sbatch refused in every run."""
    refused = [{int(number) for number in phase.get("refused", ())} for phase in data["phases"]]
    return frozenset(set.intersection(*refused) if refused else ())


def _owner_of(number: int, job: Mapping[str, object], accounts: Accounts) -> Owner:
    """Return whose a job is; InvalidInstance names the job."""
    try:
        return accounts.require_owner(job)
    except InvalidInstance as error:
        raise InvalidInstance(f"job {number}: {error}") from None


def requests_of_jobs(
    jobs: Sequence[Mapping[str, Any]],
    rows: Sequence[tuple[int, ...]],
    accounts: Accounts | None,
    refused_jobs: Collection[int] = (),
) -> dict[int, Request]:
    """Requests by row: of each job one, or one a task of an array.

    `refused_jobs`: numbers of those that the Slurm refused; whose owner is not known, they wait.
    """
    shared = any("cores" in job for job in jobs)
    names = {_name_of(job) for job in jobs if _is_singleton(job)}
    request_by_row: dict[int, Request] = {}
    for number, (job, rows_of_job) in enumerate(zip(jobs, rows, strict=True)):
        name = _name_of(job) if _name_of(job) in names else None
        has_owner = accounts is not None and not (
            number in refused_jobs and not accounts.has_association(job)
        )
        request = Request(
            **_resources(job) if shared else {},
            constraint=str(job.get("constraint", "")),
            licences=job.get("licenses", ""),
            after=parse_dependencies(job.get("dependency", ()), lambda k: list(rows[k])),
            singleton=name if _is_singleton(job) else None,
            namesake=None if _is_singleton(job) else name,
            array=(number, array_tasks(job["array"])[1]) if "array" in job else None,
            begin=job.get("begin"),
            reservation=job.get("reservation"),
            nice=job.get("nice", 0.0),
            held=bool(job.get("hold")) or (accounts is not None and not has_owner),
            fails=bool(job.get("fail")),
            requeue=not job.get("no_requeue"),
            owner=_owner_of(number, job, accounts) if accounts is not None and has_owner else None,
        )
        request_by_row |= dict.fromkeys(rows_of_job, request)
    return request_by_row


def _resources(job: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a job wants of nodes that jobs share."""
    resources = {
        to: int(job[key])
        for key, to in (("nodes", "nodes"), ("mem", "memory"), ("mem_per_cpu", "memory_per_core"))
        if key in job
    }
    gpus: Gpus | None = None
    for key in ("gres", "gpus"):
        if key in job:
            gpus = parse_gpus(str(job[key]), by_node=key == "gres")
    return {
        "cores": int(job.get("cores", job.get("nodes", 1))),
        "gpus": gpus,
        **resources,
        "exclusive": bool(job.get("exclusive")),
        "partition": str(job.get("partition", "")).split(",")[0],
    }


def _is_singleton(job: Mapping[str, Any]) -> bool:
    return any(kind == "singleton" for kind, _ in job.get("dependency", ()))


def _name_of(job: Mapping[str, Any]) -> tuple[str, str]:
    """Return whose job it is, and what it is called; all without a name are called the same."""
    return job.get("user", ""), job.get("name", "")
