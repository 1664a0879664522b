"""What happened in each run of a recording: jobs, clocks, plans, samples."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from cosched import _core
from cosched.cluster.machine import Machine
from cosched.cluster.machine.node_types import hosts
from cosched.errors import InvalidInstance, shorten
from cosched.slurm.recordings.recorded_runs import PrioritySample, RecordedRun, shares_of
from cosched.slurm.requests.core_job_builder import admin_event
from cosched.slurm.requests.node_sets import NodeSetTable

#: The log may name a start in the second after that of the accounts: so much later (s).
_MAX_START_LAG = 1.2
#: A submission is that long before a pass that starts the job, at least (s).
_MIN_LEAD = 0.001
#: Of what sshare shows of a user behind the account and the user: the factor.
_FACTOR_COLUMN = 5


def _reservations(
    plans: Sequence[Any],
) -> Iterator[tuple[float, int, float, float, Any, str]]:
    """Yield a row each, of ``t, job, start, end, nodes`` or ``t, [[job, start, end, nodes,
    ...]]``."""
    for time, *plan in plans:
        for job, start, end, nodes, *part in plan[0] if len(plan) == 1 else [plan]:
            number = int(job[0] if isinstance(job, list) else job)
            partition = part[0] if part else ""
            yield float(time), number, float(start), float(end), nodes, partition


def _yield_of(
    when: float, jobs: int, resumption: float | None, is_amid_job: bool | None = None
) -> tuple[float, int, float, bool | None]:
    """Return a rest of a cycle as :attr:`RecordedRun.yields` has it."""
    until = np.inf if resumption is None else float(resumption)
    return float(when), int(jobs), until, is_amid_job


def _records_by_row(run: Sequence[Any], arrays: Sequence[Sequence[int]]) -> list[Mapping[str, Any]]:
    """Return what happened to each job, or to each task of an array; {}: nothing is recorded."""
    records: list[Mapping[str, Any]] = []
    for job, tasks in zip(run, arrays, strict=True):
        record_by_task = {record["task"]: record for record in (job or {}).get("tasks", ())}
        if record_by_task:
            records += [record_by_task.get(task, {}) for task in tasks]
        else:
            records += [job or {}] * len(tasks)
    return records


def _exact_submissions(
    exact: Sequence[float | None], nominal: np.ndarray, rows: Sequence[tuple[int, ...]]
) -> np.ndarray:
    """Return the exact submission of each row (s), else the nominal one of its job."""
    submit_times = [
        nominal[number] if exact_submit is None else float(exact_submit)
        for number, exact_submit in enumerate(exact)
    ]
    of_row = np.repeat(np.arange(len(rows)), [len(rows_of_job) for rows_of_job in rows])
    return np.array(submit_times)[of_row]


def run_of(
    run: list[Any],
    phase: Mapping[str, Any],
    rows: Sequence[tuple[int, ...]],
    machine: Machine,
    events: Sequence[Mapping[str, object]],
    arrays: Sequence[Sequence[int]],
    jobs: Sequence[Mapping[str, Any]],
    ticks: bool,
    samples: tuple[PrioritySample, ...],
) -> RecordedRun:
    """Return a recorded run; a job that did not start, or was refused, has no start, end and
    nodes."""
    if len(run) != len(jobs):
        raise InvalidInstance(f"runs: expected all {len(jobs)} jobs in each")
    happened = _records_by_row(run, arrays)

    def column(name: str) -> np.ndarray:
        return np.array([np.nan if job.get(name) is None else float(job[name]) for job in happened])

    def row_of(job: Any) -> int:
        number, task = job if isinstance(job, list) else (job, None)
        return rows[number][0 if task is None else arrays[number].index(task)]

    exact = phase.get("submit_exact")
    nominal = np.array([float(job["submit"]) for job in jobs])
    submit = column("submit") if exact is None else _exact_submissions(exact, nominal, rows)
    decay = phase.get("decay_thread_start")
    recorded_run = RecordedRun(
        submit=submit,
        start=column("start"),
        end=column("end"),
        nodes=tuple(
            tuple(hosts(job["nodelist"], "nodelist")) if job.get("nodelist") else ()
            for job in happened
        ),
        shares=tuple(shares_of(job.get("alloc") or {}) for job in happened),
        controller_start=float(phase["controller_start"]),
        epoch=int(phase["epoch"]),
        cycles=tuple(map(float, phase.get("bf_cycles", ()))),
        checks=tuple(map(float, phase.get("kills", ()))),
        ends=tuple((float(time), int(jobs)) for time, jobs in phase.get("bf_ends", ())),
        yields=tuple(_yield_of(*entry) for entry in phase.get("bf_yields", ())),
        exact_ends={
            row_of(job): (float(end), float(free_time))
            for end, free_time, job in phase.get("ends", ())
        },
        passes=tuple((float(time), kind == "full") for time, kind in phase.get("main_passes", ())),
        begins={row_of(job): float(time) for time, job, *_ in phase.get("starts", ())}
        or _exact_starts(phase, happened),
        ticks=ticks,
        decay_start=None if decay is None else float(decay),
        plans=tuple(
            (time, rows[job][0], start, end, tuple(hosts(nodes, "plans")), part)
            for time, job, start, end, nodes, part in _reservations(phase.get("plans", ()))
        ),
        reservations=_advance_reservations(phase, machine, events),
        admin_events=_admin_events(phase, machine, events, rows),
        samples=samples,
        pauses=tuple(_pauses(phase, row_of)),
    )
    # A busy controller tells of a submission late: whoever starts was there before.
    for row in recorded_run.exact_ends:
        latest_submit = recorded_run.decision_before(recorded_run.begins[row]) - _MIN_LEAD
        submit[row] = min(submit[row], latest_submit)
    return recorded_run


def _pauses(
    phase: Mapping[str, Any], row_of: Callable[[Any], int]
) -> Iterator[tuple[int, float, float]]:
    """Yield jobs that were suspended, by row, until they went on."""
    since: dict[int, float] = {}
    for time, job, action in phase.get("pauses", ()):
        row = row_of(job)
        if action == "suspend":
            since[row] = float(time)
        elif row in since:
            yield row, since.pop(row), float(time)


def _exact_starts(
    phase: Mapping[str, Any], happened: Sequence[Mapping[str, Any]]
) -> dict[int, float]:
    """Return starts of jobs where each scheduler's were recorded without saying whose they were,
    beside a slurmdbd."""
    begins: dict[int, float] = {}
    if "decay_thread_start" not in phase:
        return begins
    for scheduler in ("main", "bf"):
        unassigned_starts = sorted(map(float, phase.get(f"{scheduler}_starts", ())))
        for row, job in enumerate(happened):
            if job.get("by", "").startswith(scheduler[0]) and job.get("start") is not None:
                nearby_starts = [
                    time
                    for time in unassigned_starts
                    if 0 <= time - float(job["start"]) < _MAX_START_LAG
                ]
                if nearby_starts:
                    begins[row] = nearby_starts[0]
                    unassigned_starts.remove(nearby_starts[0])
    return begins


def _advance_reservations(
    phase: Mapping[str, Any], machine: Machine, events: Sequence[Mapping[str, Any]]
) -> dict[str, _core.slurm.Reservation]:
    """Reservations that were made, with the flags of the commands that made them."""
    node_sets = NodeSetTable(machine)
    words_by_name = {}
    for event in events:
        if event["do"] == "create_reservation":
            words = dict(word.split("=", 1) for word in event["args"].split())
            words_by_name[words["ReservationName"]] = words
    reservations = {}
    for time, name, nodes, begin, end in phase.get("reservations", ()):
        words = words_by_name.get(name, {})
        has_all_nodes = words.get("Nodes", "").upper() == "ALL"
        maintenance = "MAINT" in words.get("Flags", "").split(",")
        reservations[name] = _core.slurm.Reservation(
            created_at=float(time),
            begin=int(begin),
            end=int(end),
            nodes=node_sets.node_ranges(nodes, "reservations"),
            is_maintenance=maintenance,
            has_all_nodes=has_all_nodes,
        )
    return reservations


_STATES = {"DOWN": "down", "DRAIN": "drain", "RESUME": "resume"}


def _admin_events(
    phase: Mapping[str, Any],
    machine: Machine,
    events: Sequence[Mapping[str, Any]],
    rows: Sequence[tuple[int, ...]],
) -> tuple[_core.slurm.AdminEvent, ...]:
    """Return what was done, at the moment when it was."""
    node_sets = NodeSetTable(machine)
    exact = {int(number): float(time) for number, time, *_ in phase.get("events", ())}
    admin_events = []
    for number, event in enumerate(events):
        time = exact.get(number, float(event["t"]))
        if event["do"] == "release":
            admin_events += [admin_event("release", time, row) for row in rows[event["job"]]]
        elif event["do"] == "create_reservation":
            admin_events.append(admin_event("reserve", time))
        elif event["do"] == "update_node":
            words = dict(word.split("=", 1) for word in event["args"].split() if "=" in word)
            spans = node_sets.node_ranges(words["NodeName"], "events")
            admin_events.append(admin_event(_STATES[words["State"].upper()], time, nodes=spans))
        else:
            raise InvalidInstance(
                f"events: {shorten(event['do'])}: the simulator of Slurm has no rule for it"
            )
    return tuple(admin_events)


def samples_of(
    samples: Sequence[Mapping[str, Any]],
    associations: Sequence[Mapping[str, str]],
    jobs: Sequence[tuple[int, ...]],
) -> tuple[PrioritySample, ...]:
    """Return what sshare and sprio showed."""
    # Of an array, sprio shows the tasks that wait as one: the last of them is among these.
    rows = {
        (association["Account"], association.get("User", "")): k
        for k, association in enumerate(associations)
    }
    return tuple(
        PrioritySample(
            float(sample["t"]),
            {
                rows[account, user]: float(columns[_FACTOR_COLUMN])
                for account, user, *columns in sample["sshare"]
                if user
            },
            {jobs[int(job)][-1]: float(priority) for job, priority, *_ in sample["sprio"]},
        )
        for sample in samples
    )
