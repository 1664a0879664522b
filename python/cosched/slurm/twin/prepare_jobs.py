"""Checks and changes of the jobs of an instance before the simulator of Slurm gets them."""

import numpy as np

from cosched.cluster.instance import Instance
from cosched.cluster.instance.usage import numbers_of
from cosched.cluster.machine import Machine
from cosched.errors import InvalidInstance
from cosched.notes import Note, NoteKind
from cosched.slurm.conf import settings as conf

#: Longest time (s) from the first submission to the last, and longest run time: 300 years. The
#: clocks of the simulator tick all the while.
_MAX_SECONDS = 1e10


def check_time_range(instance: Instance) -> None:
    """Raise InvalidInstance for the job with the latest submission or the longest run time, if
    that is beyond the range of the simulator's clocks."""
    submit = instance.column("eligible")
    seconds_of_jobs = {"submit": submit - submit.min(), "runtime": instance.column("runtime")}
    for column, seconds in seconds_of_jobs.items():
        row = int(np.argmax(seconds))
        if seconds[row] > _MAX_SECONDS:
            raise InvalidInstance(
                f"slurm-backfill: job {instance.ids[row]}: {column} = "
                f"{instance.column(column)[row]:.15g}: expected at most {_MAX_SECONDS:g} s, from "
                "the first submission"
            )


def check_settings(settings: conf.SlurmSettings) -> None:
    """Raise InvalidInstance where a slurm.conf has settings that the simulator does not follow."""
    if settings.refused:
        raise InvalidInstance(
            f"slurm-backfill does not cover {', '.join(settings.not_covered)}: expected a "
            "slurm.conf without, or approximate=True (--approximate) to run without them"
        )
    if settings.not_covered:
        raise InvalidInstance(
            f"slurm-backfill: {', '.join(settings.not_covered)}: expected accounts= "
            "(--accounts FILE: what sacctmgr -P show assoc and show qos print), or "
            "approximate=True (--approximate) to run without them"
        )


def without_suspensions(instance: Instance, machine: Machine | None) -> Instance:
    """Return the jobs without the time for which they were suspended.

    That holds where the machine preempts by suspension: the simulator then suspends jobs itself.
    On other machines the jobs stay as they are.
    """
    slurm = machine.slurm if machine is not None else None
    if slurm is None or slurm.parameters.get("PreemptMode") != conf.SUSPEND:
        return instance
    suspended = numbers_of(instance, "suspended")
    if not suspended.any():
        return instance
    columns = {"runtime": instance.column("runtime") - suspended, "suspended": 0.0 * suspended}
    if "estimate" in instance.column_names:
        columns["estimate"] = instance.raw_columns["estimate"] - suspended
    count = int((suspended > 0).sum())
    text = f"assumed: {count} jobs of the log were suspended; the simulator suspends jobs by itself"
    note = Note(NoteKind.ASSUMED, text, subject="suspended jobs", count=count)
    return instance.replace(**columns).with_notes([note])
