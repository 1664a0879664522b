"""Decisions of the twin of slurmctld in Slurm's words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

ACTIONS = ("start", "start", "wait", "wait", "plan", "finish", "finish", "wait", "wait", "preempt",
           "preempt", "start")  # fmt: skip
_REASONS = (
    "started by the main scheduler",
    "started by the backfill scheduler",
    "Resources: the first of its partition, too few idle nodes",
    "Priority: a job before it in its partition waits for nodes",
    "planned start {start} s by the backfill scheduler",
    "COMPLETED",
    "TIMEOUT: past its limit at the controller's check",
    "Licenses: too few are free",
    "a limit of its QOS or association",
    "PREEMPTED: its nodes are for a job that comes before it",
    "SUSPENDED: a job of a higher tier has its cores",
    "RUNNING again",
)


def log_of(outcome: Mapping[str, Any]) -> tuple:
    """(time, job, action, reason) of each decision, in Slurm's words."""
    time, job, action, reason = [], [], [], []
    for when, who, what, start, *_, limit in outcome["notes"]:
        time.append(when)
        job.append(who)
        action.append(ACTIONS[what])
        reason.append(limit or _REASONS[what].format(start=start))
    return np.array(time), np.array(job, dtype=np.int64), action, reason
