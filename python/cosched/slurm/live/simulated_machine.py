"""The machine of a snapshot as it is simulated: priorities as Slurm shows them, and for long queues
a backfill scheduler in coarser steps."""

from collections.abc import Mapping
from dataclasses import replace

from cosched.cluster.machine import Machine
from cosched.notes import Note, NoteKind
from cosched.slurm.conf.settings import settings_of
from cosched.slurm.live.snapshot import Snapshot

#: Queues of more jobs are simulated in coarser steps.
_LONG_QUEUE_JOBS = 200
#: In coarser steps backfill cycles are so far apart (bf_interval, s). They still test all jobs
#: that the configuration lets them test: with fewer, small jobs behind a long queue would never be
#: backfilled.
_COARSE_INTERVAL = 1800.0


def has_long_queue(snapshot: Snapshot) -> bool:
    """Whether so many jobs wait that the simulation takes coarser steps."""
    return waiting_count(snapshot) > _LONG_QUEUE_JOBS


def waiting_count(snapshot: Snapshot) -> int:
    """Return the number of jobs that wait; each task of an array is one."""
    return sum(max(job.tasks, 1) for job in snapshot.pending)


def has_aging(snapshot: Snapshot) -> bool:
    """Whether priorities grow with the age of jobs."""
    return bool(snapshot.priorities) and snapshot.clocks.get("multifactor", 0) > 0


def simulated_machine(snapshot: Snapshot, *, coarse: bool) -> tuple[Machine, list[Note]]:
    """Return the machine with the parameters of the simulation, and a note on coarser steps.

    The fixed part of a job's priority is its ``nice`` value in the simulation. Of the factors of
    priority/multifactor only age and fair-share, which change with time, are computed.
    """
    machine = snapshot.machine
    settings = settings_of(machine)
    parameters = {**settings.parameters, **_priority_parameters(snapshot)}
    notes = []
    if coarse:
        parameters |= _coarse_parameters(settings.parameters)
        notes.append(_note_of_coarse_steps(snapshot))
    # What PriorityWeightTRES adds is in the priorities that the snapshot shows.
    slurm = replace(settings, parameters=parameters, priority_tres="")
    return replace(machine, slurm=slurm), notes


def is_followed(setting: str, snapshot: Snapshot) -> bool:
    """Whether the simulation of a snapshot follows a setting that slurm.conf alone leaves open: the
    snapshot shows limits, QOS, shares, priorities and states."""
    if setting.startswith("AccountingStorageEnforce"):
        return bool(snapshot.limits.get("associations"))
    if setting.lower().startswith("qos="):
        return bool(snapshot.limits.get("qos"))
    if setting.startswith("PriorityWeightFairShare") and snapshot.shares:
        return True
    if setting.startswith("PriorityWeight"):
        return bool(snapshot.priorities)
    return setting.startswith("State=")


def _priority_parameters(snapshot: Snapshot) -> dict[str, float]:
    """Return the parameters of priority/multifactor, as the controller of the snapshot has them."""
    controller = snapshot.clocks
    return {
        "multifactor": 1.0,
        "age_counts": 1.0,
        "PriorityWeightJobSize": 0.0,
        "PriorityWeightPartition": 0.0,
        "SMALL_RELATIVE_TO_TIME": 0.0,
        "PriorityFavorSmall": 0.0,
        "PriorityWeightQOS": 0.0,
        "PriorityWeightFairshare": controller.get("weight_fairshare", 0.0),
        "PriorityDecayHalfLife": controller.get("half_life", 604800.0),
        "PriorityWeightAge": controller.get("weight_age", 0.0) if has_aging(snapshot) else 0.0,
        "PriorityMaxAge": controller.get("max_age", 604800.0) or 604800.0,
        "PriorityCalcPeriod": controller.get("calc_period", 300.0) or 300.0,
    }


def _coarse_parameters(parameters: Mapping[str, float]) -> dict[str, float]:
    """Return parameters with which backfill cycles are rare, so that replications take less
    time."""
    interval = max(parameters.get("bf_interval", 30.0), _COARSE_INTERVAL)
    return {"bf_interval": interval, "bf_max_time": interval}


def _note_of_coarse_steps(snapshot: Snapshot) -> Note:
    """Return the note that the queue is so long that steps are coarser."""
    waiting = waiting_count(snapshot)
    text = (
        f"{waiting} jobs wait: here the backfill scheduler runs every "
        f"{_COARSE_INTERVAL / 60:.0f} minutes"
    )
    return Note(NoteKind.ASSUMED, text, subject="backfill scheduler", count=waiting)
