"""What happened in each run of a recording: jobs, clocks, plans, samples."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from cosched.cluster.machine import Machine
from cosched.cluster.machine.node_types import hosts
from cosched.errors import InvalidInstance, shorten
from cosched.slurm.recordings.runs import Run, Sample, shares_of
from cosched.slurm.requests.request import CoreJobBuilder, admin_event

#: The log may name a start in the second after that of the accounts: so much later (s).
_TURN = 1.2
#: A submission is that long before a pass that starts the job, at least (s).
_BEFORE = 0.001
#: Of what sshare shows of a user behind the account and the user: the factor.
_FACTOR = 5


def _reservations(plans: Sequence[Any]) -> Iterator[tuple]:
    """A row each, of ``t, job, start, end, nodes`` or ``t, [[job, start, end, nodes, ...]]``."""
    for time, *plan in plans:
        for job, start, end, nodes, *part in plan[0] if len(plan) == 1 else [plan]:
            number = int(job[0] if isinstance(job, list) else job)
            yield float(time), number, float(start), float(end), nodes, (*part, "")[0]


def run_of(
    run: list[Any],
    phase: Mapping[str, Any],
    rows: Sequence[tuple[int, ...]],
    machine: Machine,
    events: Sequence[Mapping[str, Any]],
    arrays: Sequence[Sequence[int]],
    jobs: Sequence[Mapping[str, Any]],
    ticks: bool,
    samples: tuple[Sample, ...],
) -> Run:
    """A job that did not start, or was refused, has no start, end and nodes."""
    if len(run) != len(jobs):
        raise InvalidInstance(f"runs: expected all {len(jobs)} jobs in each")
    happened: list[Mapping[str, Any]] = []
    for job, tasks in zip(run, arrays, strict=True):
        found = {one["task"]: one for one in (job or {}).get("tasks", ())}
        happened += [found.get(task, {}) for task in tasks] if found else [job or {}] * len(tasks)

    def column(name: str) -> np.ndarray:
        return np.array([np.nan if job.get(name) is None else float(job[name]) for job in happened])

    def row_of(job: Any) -> int:
        number, task = job if isinstance(job, list) else (job, None)
        return rows[number][0 if task is None else arrays[number].index(task)]

    of_row = np.repeat(np.arange(len(rows)), [len(own) for own in rows])
    exact = phase.get("submit_exact")
    given = np.array([float(job["submit"]) for job in jobs])
    if exact is None:
        submit = column("submit")
    else:
        known = [given[k] if one is None else float(one) for k, one in enumerate(exact)]
        submit = np.array(known)[of_row]
    decay = phase.get("decay_thread_start")
    found_run = Run(
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
        rests=tuple(
            (float(when), int(jobs), np.inf if again is None else float(again), (*amid, None)[0])
            for when, jobs, again, *amid in phase.get("bf_yields", ())
        ),
        over={
            row_of(job): (float(over), float(clean)) for over, clean, job in phase.get("ends", ())
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
        reservations=_advance(phase, machine, events),
        outside=_outside(phase, machine, events, rows),
        samples=samples,
        pauses=tuple(_pauses(phase, row_of)),
    )
    # A busy controller tells of a submission late: whoever starts was there before.
    for row in found_run.over:
        before = found_run.decided(found_run.begins[row]) - _BEFORE
        submit[row] = min(submit[row], before)
    return found_run


def _pauses(
    phase: Mapping[str, Any], row_of: Callable[[Any], int]
) -> Iterator[tuple[int, float, float]]:
    """Jobs that were suspended, by row, until they went on."""
    since: dict[int, float] = {}
    for time, job, what in phase.get("pauses", ()):
        row = row_of(job)
        if what == "suspend":
            since[row] = float(time)
        elif row in since:
            yield row, since.pop(row), float(time)


def _exact_starts(
    phase: Mapping[str, Any], happened: Sequence[Mapping[str, Any]]
) -> dict[int, float]:
    """Starts of jobs where each scheduler's were recorded without saying whose they were, beside
    a slurmdbd."""
    begins: dict[int, float] = {}
    if "decay_thread_start" not in phase:
        return begins
    for by in ("main", "bf"):
        left = sorted(map(float, phase.get(f"{by}_starts", ())))
        for row, job in enumerate(happened):
            if job.get("by", "").startswith(by[0]) and job.get("start") is not None:
                near = [time for time in left if 0 <= time - float(job["start"]) < _TURN]
                if near:
                    begins[row] = near[0]
                    left.remove(near[0])
    return begins


def _advance(
    phase: Mapping[str, Any], machine: Machine, events: Sequence[Mapping[str, Any]]
) -> dict[str, tuple]:
    """Reservations that were made, with the flags of the commands that made them."""
    form = CoreJobBuilder(machine)
    said = {}
    for event in events:
        if event["do"] == "create_reservation":
            words = dict(word.split("=", 1) for word in event["args"].split())
            said[words["ReservationName"]] = words
    found = {}
    for time, name, nodes, begin, end in phase.get("reservations", ()):
        words = said.get(name, {})
        every = words.get("Nodes", "").upper() == "ALL"
        maintenance = "MAINT" in words.get("Flags", "").split(",")
        spans = list(form.nodes(nodes, "reservations"))
        found[name] = (float(time), int(begin), int(end), spans, maintenance, every)
    return found


_STATES = {"DOWN": "down", "DRAIN": "drain", "RESUME": "resume"}


def _outside(
    phase: Mapping[str, Any],
    machine: Machine,
    events: Sequence[Mapping[str, Any]],
    rows: Sequence[tuple[int, ...]],
) -> tuple[tuple, ...]:
    """What was done, at the moment when it was."""
    form = CoreJobBuilder(machine)
    exact = {int(number): float(time) for number, time, *_ in phase.get("events", ())}
    found = []
    for number, event in enumerate(events):
        time = exact.get(number, float(event["t"]))
        if event["do"] == "release":
            found += [admin_event("release", time, row) for row in rows[event["job"]]]
        elif event["do"] == "create_reservation":
            found.append(admin_event("reserve", time))
        elif event["do"] == "update_node":
            words = dict(word.split("=", 1) for word in event["args"].split() if "=" in word)
            spans = form.nodes(words["NodeName"], "events")
            found.append(admin_event(_STATES[words["State"].upper()], time, nodes=spans))
        else:
            raise InvalidInstance(
                f"events: {shorten(event['do'])}: the simulator of Slurm has no rule for it"
            )
    return tuple(found)


def samples_of(
    samples: Sequence[Mapping[str, Any]],
    associations: Sequence[Mapping[str, str]],
    jobs: Sequence[tuple[int, ...]],
) -> tuple[Sample, ...]:
    """What sshare and sprio showed."""
    # Of an array, sprio shows the tasks that wait as one: the last of them is among these.
    rows = {(own["Account"], own.get("User", "")): k for k, own in enumerate(associations)}
    return tuple(
        Sample(
            float(one["t"]),
            {
                rows[account, user]: float(shown[_FACTOR])
                for account, user, *shown in one["sshare"]
                if user
            },
            {jobs[int(job)][-1]: float(priority) for job, priority, *_ in one["sprio"]},
        )
        for one in samples
    )
