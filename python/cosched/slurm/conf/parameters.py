"""Parameters of Slurm that are followed: their units, ranges and defaults, by version."""

from __future__ import annotations

import re

from cosched import _core
from cosched.errors import InvalidInstance, shorten

#: Every parameter that ``slurm-backfill`` follows, with Slurm's defaults (seconds, counts, 0 or 1).
PARAMETERS: dict[str, float] = dict(_core.cluster.SLURM_PARAMETERS)

#: The version where no file says another, and the first whose SelectType is cons_tres by itself.
NEWEST = "24.11"
#: Versions whose rules are followed, and what is followed where none is said.
VERSIONS = ("22.05", "24.11")
CONS_TRES_SINCE = "23.02"
#: Seconds of Slurm's unit, where that is another.
UNITS = {
    "bf_window": 60.0,
    "OverTimeLimit": 60.0,
    "PriorityMaxAge": 60.0,
    "PreemptExemptTime": 60.0,
    "PriorityCalcPeriod": 60.0,
    "sched_min_interval": 1e-6,
}
#: Least and greatest value that Slurm takes; outside it falls back to its default.
RANGES = {
    "bf_interval": (1, 10800),
    "bf_resolution": (1, 3600),
    "bf_window": (1, 43200),
    "bf_max_time": (1, 3600),
    "bf_max_job_test": (1, 1_000_000),
    "bf_node_space_size": (2, 2_000_000),
    "batch_sched_delay": (0, 1e9),
    "sched_interval": (1, 1e9),
    "default_queue_depth": (0, 1e9),
}


#: Whose jobs may take the place of others, as the core numbers them.
PREEMPT_TYPES = {"preempt/partition_prio": 1.0, "preempt/qos": 2.0}


def preempt_mode(text: str) -> int | None:
    """What becomes of a preempted job, as the core numbers it; None: there is no rule."""
    words_of = [one for one in text.upper().split(",") if one]
    if set(words_of) <= {"GANG"}:
        return 0
    return {"OFF": 0, "CANCEL": 1, "REQUEUE": 2}.get(",".join(words_of))


def in_seconds(name: str, value: float) -> float:
    """A parameter that is given in Slurm's unit, in seconds."""
    low, high = range_of(name)
    if not low <= value <= high:
        raise InvalidInstance(f"{name} = {value:.15g}: expected {low:.15g}..{high:.15g}")
    return value * UNITS.get(name, 1.0)


def range_of(name: str) -> tuple[float, float]:
    return RANGES.get(name, (0, 1e18))


def rules_of(version: str) -> str:
    """The version whose rules are followed for this one: the nearest; the first where none is."""
    if not version:
        return VERSIONS[0]
    months = months_of(version)
    return min(VERSIONS, key=lambda known: abs(months_of(known) - months))


def months_of(version: str) -> int:
    found = re.match(r"\s*([0-9]{2})\.([0-9]{2})(?![0-9])", str(version))
    if not found:
        raise InvalidInstance(f"slurm_version = {shorten(version)}: expected one as 22.05")
    return 12 * int(found[1]) + int(found[2])


def number(value: str, place: str, name: str) -> float:
    """A whole number as Slurm reads it."""
    try:
        return float(int(value))
    except (ValueError, OverflowError):
        raise InvalidInstance(
            f"{place}: {name} = {shorten(value)}: expected a whole number"
        ) from None


def default_memory(key: str, value: str, place: str) -> tuple[int, bool]:
    """MB of DefMemPerCPU or DefMemPerNode, and whether they are of a CPU."""
    amount = 0 if value.upper() in ("UNLIMITED", "INFINITE") else number(value, place, key)
    return int(amount), key == "defmempercpu"
