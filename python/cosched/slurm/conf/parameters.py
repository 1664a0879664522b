"""Parameters of Slurm that are followed: their units, ranges and defaults, by version."""

from __future__ import annotations

import re
from typing import NamedTuple

from cosched import _core
from cosched.errors import InvalidInstance, shorten
from cosched.slurm.conf.lines import seconds_of_limit, words

#: Every parameter that ``slurm-backfill`` follows, with Slurm's defaults (seconds, counts, 0 or 1).
PARAMETERS: dict[str, float] = dict(_core.cluster.SLURM_PARAMETERS)

#: The version where no file says another, and the first whose SelectType is cons_tres by itself.
NEWEST = "24.11"
#: Versions whose rules are followed, and what is followed where none is said.
VERSIONS = ("22.05", "24.11")
CONS_TRES_SINCE = "23.02"


class Given(NamedTuple):
    """How a parameter is given, beside its default in the core."""

    unit: float = 1.0  # s of Slurm's own, where it is a time
    least: float = 0.0  # outside least and greatest Slurm falls back to its default
    greatest: float = 1e18
    #: What its own line of a slurm.conf holds (number, minutes, time, yes); or a word of
    #: SchedulerParameters without a value (flag); or what several lines say together (settled).
    by: str = ""


_GIVEN = {
    "bf_interval": Given(least=1, greatest=10800),
    "bf_resolution": Given(least=1, greatest=3600),
    "bf_window": Given(60.0, least=1, greatest=43200),
    "bf_max_time": Given(least=1, greatest=3600),
    "bf_max_job_test": Given(least=1, greatest=1_000_000),
    "bf_node_space_size": Given(least=2, greatest=2_000_000),
    "batch_sched_delay": Given(greatest=1e9),
    "sched_interval": Given(least=1, greatest=1e9),
    "sched_min_interval": Given(1e-6),
    "default_queue_depth": Given(greatest=1e9),
    "OverTimeLimit": Given(60.0, by="time"),
    "PriorityMaxAge": Given(60.0, by="time"),
    "PriorityCalcPeriod": Given(60.0, by="time"),
    "PriorityDecayHalfLife": Given(by="time"),
    "PreemptExemptTime": Given(60.0, by="time"),
    "ResvOverRun": Given(by="minutes"),
    "PriorityFavorSmall": Given(by="yes"),
    **dict.fromkeys(words("""
        KillWait CompleteWait ReturnToService
        PriorityWeightJobSize PriorityWeightPartition PriorityWeightAge
    """), Given(by="number")),
    **dict.fromkeys(words("""
        defer bf_one_resv_per_job preempt_youngest_first preempt_strict_order
    """), Given(by="flag")),
    **dict.fromkeys(words("""
        cons_tres multifactor age_counts since_24 builtin safe_limits
    """), Given(by="settled")),
}  # fmt: skip
#: Parameters with a line of their own, by its key.
LINES = {
    name.lower(): name for name, given in _GIVEN.items() if given.by and name[0].isupper()
}  # fmt: skip


def given_as(name: str) -> Given:
    """How a parameter is given; as a number of any size where nothing else is known."""
    return _GIVEN.get(name, Given())


def value_of_line(name: str, value: str, place: str, spelled: str) -> float:
    """A parameter (s) of its line in a slurm.conf."""
    by = _GIVEN[name].by
    if by == "time":
        return seconds_of_limit(value, place)
    if by == "yes":
        return float(value.lower() in ("yes", "true", "1", "up"))
    return number(value, place, spelled) * (60 if by == "minutes" else 1)


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
    unit, low, high, _ = given_as(name)
    if not low <= value <= high:
        raise InvalidInstance(f"{name} = {value:.15g}: expected {low:.15g}..{high:.15g}")
    return value * unit


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
