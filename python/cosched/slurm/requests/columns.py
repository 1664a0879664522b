"""The core's columns of the jobs of an instance: when they come, how long they run, how urgent."""

from __future__ import annotations

import numpy as np

from cosched.cluster.instance import Instance
from cosched.cluster.instance.usage import numbers_of, texts_of
from cosched.errors import InvalidInstance
from cosched.slurm.conf.settings import SlurmSettings
from cosched.slurm.requests.of_log import Room

#: Seconds (300 years) of a submission after the first, or of a job: the clocks tick all the while.
_LONGEST = 1e10


def require_times_of_life(instance: Instance) -> None:
    """Raise InvalidInstance where a job comes too late, or runs too long, for a clock's seconds."""
    submit = instance.column("eligible")
    spans = {"submit": submit - submit.min(), "runtime": instance.column("runtime")}
    for name, span in spans.items():
        row = int(np.argmax(span))
        if span[row] > _LONGEST:
            raise InvalidInstance(
                f"slurm-backfill: job {instance.ids[row]}: {name} = "
                f"{instance.column(name)[row]:.15g}: expected at most {_LONGEST:g} s, from the "
                "first submission"
            )


def ran_before(instance: Instance) -> np.ndarray:
    """How long each job has run at second 0 (s)."""
    return np.where(numbers_of(instance, "running") > 0, numbers_of(instance, "ran"), 0.0)


def columns_of(
    room: Room, settings: SlurmSettings, ran: np.ndarray, *, given: bool
) -> dict[str, np.ndarray]:
    """By the core's names; `given`: priorities are those of the instance."""
    instance = room.instance
    if "estimate" in instance.known:
        limit = instance.column("estimate")
    else:
        limit = np.array([settings.default_times.get(name, np.inf) for name in room.parts])
        limit = limit[room.part]
    users = np.unique(texts_of(instance, "user"), return_inverse=True)[1]
    priority = np.full(len(instance), -1.0)  # computed
    if given:
        if "priority" not in instance.known:
            raise InvalidInstance("priorities = given: expected jobs with a column priority")
        priority = np.nan_to_num(instance.column("priority"), nan=-1.0)
    return {
        "submit": instance.column("eligible"), "runtime": instance.column("runtime") + ran,
        "cpus": instance.column("tasks"), "limit": limit + ran, "partition": room.part,
        "user": users.reshape(-1), "nice": np.zeros(len(instance)), "priority": priority,
    }  # fmt: skip
