"""From where on a log can be simulated, and what it tells of the host that ran it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import numpy as np

from cosched.cluster.files.conventions import jobs_between
from cosched.cluster.instance import Instance
from cosched.cluster.instance.usage import has_waits, logged_starts, recorded_starts
from cosched.cluster.judgement.running_cores import split_running_jobs
from cosched.cluster.machine.node_types import hosts
from cosched.cluster.machine.parts import node_attribute
from cosched.cluster.result import Result
from cosched.core.arrays import step_function
from cosched.core.text import count_of
from cosched.errors import InvalidInstance
from cosched.lazy import pd
from cosched.notes import Note, NoteKind

#: A job that waited longer than this (s) before anything of the log had ended waited for jobs that
#: the log does not have.
WAIT_FOR_UNKNOWN_JOBS = 120.0
#: In so large a part of the time from the first end to the last start of the log a moment is
#: searched at which no job waits.
LONGEST_SEARCH = 0.25
#: Waiting jobs take a node at once, or in the next backfill cycle: a start later than this (s)
#: after the last end on its nodes tells nothing of how long the node was not free.
LONGEST_RELEASE = 300.0
#: The share of these starts that nothing but the release of the node had delayed.
SOONEST_SHARE = 0.05
#: So many starts on nodes just left tell how long a node is not free after a job.
MIN_RELEASES = 20
#: The log's seconds hide so much of it (s): a start and an end are each rounded to a second.
RELEASE_SPREAD = 1.5
#: Where in its second a start or an end is on average (s).
HALF_SECOND = 0.5
#: Shortest time until a node is free after a job (s): that of the host whose recordings check the
#: simulator (``epilog`` of ``cosched.slurm.twin.host_clocks.HOST``).
USUAL_RELEASE = 0.24


@dataclass(frozen=True)
class LogStart:
    """A log as the simulator takes it."""

    #: From the first end of the log on, where the log begins while other jobs run: the jobs that
    #: run at that moment are on their nodes.
    instance: Instance
    #: Seconds from a job's end until its nodes are free; None: the log does not tell.
    epilog: float | None
    #: Seconds of the log's clock at which the simulation begins; None: with the log.
    begin: float | None
    #: What was taken from the log, and what it does not tell.
    notes: tuple[Note, ...]

    @property
    def host_options(self) -> dict[str, Any]:
        """Options of ``slurm-backfill``: logged run times contain the launch of the job, and each
        simulation has a release of its own from the shortest on."""
        epilog = None if self.epilog is None else (self.epilog, self.epilog + RELEASE_SPREAD)
        return {"launch": 0.0, "epilog": epilog}


def start_of_log(
    instance: Instance, *, simulates_whole_log: bool = False, has_unknown_jobs: bool = False
) -> LogStart:
    """Find from where on a log has all jobs, and how soon nodes are free after a job.

    Parameters
    ----------
    instance : Instance
        A log with waits. Where it knows the ``hosts`` of jobs, those that run at the begin are on
        these nodes.
    simulates_whole_log : bool
        Begin with the log in any case.
    has_unknown_jobs : bool
        Jobs that the log does not have ran at its begin, although no job had waited for them:
        begin with the first end (see :func:`has_other_nodes_at_begin`).

    Returns
    -------
    LogStart
    """
    epilog, release_note = _release(instance)
    is_prepared = "running" in instance.column_names
    begin = None
    if not is_prepared:
        begin = _begin_of_known_jobs(instance, has_unknown_jobs=has_unknown_jobs)
    if begin is None:
        return LogStart(instance, epilog, None, (release_note,))
    if simulates_whole_log:
        text = "begins while jobs run that the log does not have on known nodes: simulated whole"
        note = Note(NoteKind.UNKNOWN, text, subject="running jobs")
        return LogStart(instance, epilog, None, (note, release_note))
    jobs_from_begin = _rest_from(instance, begin)
    if "running" not in jobs_from_begin.column_names:
        return LogStart(instance, epilog, None, (release_note,))
    cores_by_node = _cores_of_running_jobs(jobs_from_begin)
    running = int(jobs_from_begin.column("running").sum())
    unplaced = running - sum(map(bool, cores_by_node))
    places = (
        f", {unplaced} of them without known nodes, or on nodes with too few free cores"
        if unplaced
        else ""
    )
    jobs = count_of(running, "job")
    text = f"begins {begin:,.0f} s after the first submission: {jobs} of the log run then{places}"
    note = Note(NoteKind.READING, text, subject="begin", count=running)
    return LogStart(
        jobs_from_begin.replace(held=np.array(cores_by_node)), epilog, begin, (note, release_note)
    )


def _begin_of_known_jobs(instance: Instance, *, has_unknown_jobs: bool) -> float | None:
    """Return when the simulation begins (s), where jobs that the log does not have ran at its
    begin.

    From the first end on, all jobs that run are jobs of the log. The first moment from it on at
    which no job waits is better: how long jobs have waited then matters to no priority. It is taken
    where it comes within :data:`LONGEST_SEARCH` of the time from the first end to the last start.
    """
    if not has_waits(instance):
        return None
    start = recorded_starts(instance)
    end, eligible = start + instance.column("runtime"), instance.column("eligible")
    first_end = float(end.min())
    if first_end < 0:
        return None
    if not has_unknown_jobs and not _waits_for_unknown_jobs(instance, start, first_end):
        return None
    waits = start > eligible
    if not (waits & (eligible <= first_end) & (start > first_end)).any():
        return first_end
    times, waiting = step_function(eligible[waits], start[waits], np.ones(int(waits.sum())))
    last = first_end + LONGEST_SEARCH * (float(start.max()) - first_end)
    is_quiet = (waiting == 0) & (times >= first_end) & (times <= last)
    return float(times[np.argmax(is_quiet)]) if is_quiet.any() else first_end


def _waits_for_unknown_jobs(instance: Instance, start: np.ndarray, first_end: float) -> bool:
    """Return whether a job that had waited starts although nothing was over."""
    waited = start - instance.column("eligible")
    return bool(((start < first_end) & (waited > WAIT_FOR_UNKNOWN_JOBS)).any())


def has_other_nodes_at_begin(simulated: Result, instance: Instance) -> bool:
    """Whether jobs that start before the first end of a log are on other nodes than in a simulation
    of the whole log.

    The simulation begins on an empty machine. Where the log's jobs lie on other nodes, jobs that
    the log does not have may have held the nodes that Slurm takes first.
    """
    placements = simulated.schedule.to_frame()
    if "hosts" not in placements or "hosts" not in instance.column_names:
        return False
    simulated_hosts: dict[Any, set[str]] = {}
    for job, host_names in zip(placements["task"], placements["hosts"], strict=True):
        simulated_hosts.setdefault(simulated.instance.ids[job], set(host_names))
    start = recorded_starts(instance)
    first_end = float((start + instance.column("runtime")).min())
    logged_hosts = instance.column("hosts").tolist()
    for row in np.flatnonzero(start < first_end).tolist():
        names = simulated_hosts.get(instance.ids[row])
        try:
            logged_names = set(hosts(str(logged_hosts[row]), "hosts"))
        except InvalidInstance:
            continue  # the log has no nodes of this job
        if names is not None and names != logged_names:
            return True
    return False


def _rest_from(instance: Instance, begin: float) -> Instance:
    """Return the jobs that run or wait at `begin` (s), and those that come later."""
    table = pd.DataFrame({"id": instance.ids, **instance.raw_columns})
    jobs_from_begin, note = jobs_between(instance.source, table, begin, None)
    date = None if instance.begins is None else instance.begins + timedelta(seconds=begin)
    rest_of_log = Instance(
        jobs_from_begin,
        instance.nodes,
        notes=(*instance.notes, note.with_prefix("  ")),
        source=instance.source,
        min_runtime=instance.min_runtime,
        machine=instance.machine,
        begins=date,
    )
    return rest_of_log.without_bound()


def _nodes_of_jobs(instance: Instance) -> list[list[int]]:
    """Return numbers of each job's nodes; empty where the log or the machine does not tell."""
    machine = instance.machine
    if "hosts" not in instance.column_names or machine is None or machine.slurm is None:
        return [[] for _ in range(len(instance))]
    numbers = {name: number for number, name in enumerate(machine.slurm.names)}
    nodes_of_text: dict[str, list[int]] = {}
    texts = list(map(str, instance.column("hosts").tolist()))
    for text in set(texts):
        try:
            nodes_of_text[text] = [numbers[name] for name in hosts(text, "hosts")]
        except (KeyError, InvalidInstance):
            continue  # no nodes, or none of this machine's
    return [nodes_of_text.get(text, []) for text in texts]


def _cores_of_running_jobs(instance: Instance) -> list[str]:
    """Return cores by node of the jobs that run at the begin, as ``held`` of an instance has
    them."""
    machine = instance.machine
    assert machine is not None
    nodes_of_jobs = _nodes_of_jobs(instance)
    tasks = instance.column("tasks").tolist()
    rows = np.flatnonzero(instance.column("running")).tolist()
    cores_of_jobs = split_running_jobs(
        [tasks[row] for row in rows],
        [nodes_of_jobs[row] for row in rows],
        node_attribute(machine, "cores"),
    )
    texts = [""] * len(instance)
    for row, cores_by_node in zip(rows, cores_of_jobs, strict=True):
        texts[row] = ";".join(f"{node}:{cores}" for node, cores in sorted(cores_by_node.items()))
    return texts


def _release(instance: Instance) -> tuple[float | None, Note]:
    """Return seconds from a job's end until its nodes are free, and how that is known."""
    gaps = _release_gaps(instance) if has_waits(instance) else []
    if len(gaps) < MIN_RELEASES:
        text = (
            f"host: jobs as long as logged; how soon nodes are free after a job is drawn around "
            f"{USUAL_RELEASE:g} s, as on one host: fewer than {MIN_RELEASES} waiting jobs started "
            f"within {LONGEST_RELEASE / 60:g} min of an end on their nodes"
        )
        return None, Note(NoteKind.ASSUMED, text, subject="host")
    # The log is in whole seconds. A node is never free sooner, and a job that a backfill cycle
    # starts comes later.
    release = max(float(np.quantile(gaps, SOONEST_SHARE)) - HALF_SECOND, USUAL_RELEASE)
    text = (
        f"host: jobs as long as logged; nodes are free {release:g} s after a job, of {len(gaps)} "
        "starts on nodes just left"
    )
    return release, Note(NoteKind.READING, text, subject="host", count=len(gaps))


def _release_gaps(instance: Instance) -> list[float]:
    """Return, for jobs that waited, the seconds from the last end on their nodes to their start."""
    nodes_of_jobs = _nodes_of_jobs(instance)
    start = logged_starts(instance)
    end = start + instance.column("runtime")
    waited = start - instance.column("eligible") > WAIT_FOR_UNKNOWN_JOBS
    gaps = []
    # NaN has no place in an order: a job without a known start is left out.
    rows = np.flatnonzero(np.isfinite(start) & np.isfinite(end)).tolist()
    moments = [(float(end[row]), 0, row) for row in rows]
    moments += [(float(start[row]), 1, row) for row in rows]
    last_end: dict[int, float] = {}
    for time, is_start, row in sorted(moments):
        if not is_start:
            last_end |= dict.fromkeys(nodes_of_jobs[row], time)
        elif waited[row]:
            ends_of_nodes = [last_end.get(node, -np.inf) for node in nodes_of_jobs[row]]
            gap = time - max(ends_of_nodes, default=-np.inf)
            if gap <= LONGEST_RELEASE:
                gaps.append(gap)
    return gaps
