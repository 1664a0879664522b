"""What jobs hold over time: starts of the log, levels, use of the machine's resources."""

from collections.abc import Iterator

import numpy as np

from cosched.cluster.instance.instance import Instance
from cosched.core.arrays import OVERUSE_RATIO, OVERUSE_SHARE, share_above, step_function
from cosched.errors import InvalidInstance

#: States of jobs that still run, as a log of sacct has them.
RUNNING_STATES = ("running", "suspended", "completing", "stopped", "signaling", "stage_out")


def texts_of(instance: Instance, name: str) -> np.ndarray:
    """A column as texts, empty where the log does not have it."""
    has_column = name in instance.column_names
    return instance.column(name).astype(str) if has_column else np.full(len(instance), "")


def numbers_of(instance: Instance, name: str) -> np.ndarray:
    """A column of numbers, 0 where the log does not say it."""
    has_column = name in instance.column_names
    return (
        np.nan_to_num(instance.column(name).astype(float))
        if has_column
        else np.zeros(len(instance))
    )


def ran_in_log(instance: Instance) -> np.ndarray:
    """Which jobs ran, as the log says: it has their wait, or they run at its begin."""
    has_run = numbers_of(instance, "running") > 0
    if "wait" in instance.column_names:
        has_run |= ~np.isnan(instance.column("wait").astype(float))
    return has_run


def has_waits(instance: Instance) -> bool:
    """Whether the log says how long jobs waited."""
    return "wait" in instance.column_names and not np.isnan(instance.column("wait")).all()


def ran_of(instance: Instance) -> np.ndarray:
    """Seconds that each job ran, without those in which it was suspended."""
    return instance.column("runtime") - numbers_of(instance, "suspended")


def limits_of(instance: Instance) -> np.ndarray:
    """Time limits (s) that users gave, without the time of a suspension; nan: none or unlimited.

    Where every job ran exactly to its limit, and none is said to have been ended by it, a tool has
    filled in the run times: then nobody gave any.
    """
    if "estimate" not in instance.column_names:
        return np.full(len(instance), np.nan)
    limit = instance.raw_columns["estimate"] - numbers_of(instance, "suspended")
    limit = np.where((limit > 0) & np.isfinite(limit), limit, np.nan)
    is_filled_in = np.isnan(limit) | (limit == ran_of(instance))
    if is_filled_in.all() and not (texts_of(instance, "status") == "timeout").any():
        return np.full(len(instance), np.nan)
    return limit


def has_requested_times(instance: Instance) -> bool:
    """Whether users gave time limits: `EASY` and `conservative` plan with these by default."""
    return not np.isnan(limits_of(instance)).all()


def used_of(instance: Instance) -> tuple[float, float]:
    """How much of the time and of the memory that jobs asked for they used, by core hours and GB
    hours; nan where the log does not say it. A job that ran to its limit or longer used all of
    it. Jobs that still run do not count: what they will use is not known."""
    nothing = np.full(len(instance), np.nan)
    requested_memory, memory_of_ended = (
        instance.column(name).astype(float) if name in instance.column_names else nothing
        for name in ("memory_gb", "used_memory_gb")
    )
    has_ended = ~np.isin(texts_of(instance, "status"), RUNNING_STATES)
    memory_of_ended, run_times = (
        np.where(has_ended, amounts, np.nan) for amounts in (memory_of_ended, ran_of(instance))
    )
    tasks = instance.column("tasks").astype(float)
    time = _share_of_asked(run_times, limits_of(instance), tasks)
    return time, _share_of_asked(memory_of_ended, requested_memory, instance.column("runtime"))


def _share_of_asked(usage: np.ndarray, requests: np.ndarray, weight: np.ndarray) -> float:
    """Return the share of what was asked for, over the jobs that say both; nan: no job does."""
    is_told = (usage > 0) & (requests > 0)
    total = (requests * weight)[is_told].sum()
    if not total:
        return float("nan")
    return float((np.minimum(usage, requests) * weight)[is_told].sum() / total)


def logged_starts(instance: Instance) -> np.ndarray:
    """Starts (s) by the log, nan where it does not say; InvalidInstance where it never does."""
    if not has_waits(instance):
        raise InvalidInstance("the log has no waits: nothing says when its jobs started")
    return instance.column("submit") + instance.column("wait")


def recorded_starts(instance: Instance) -> np.ndarray:
    """Starts (s) by the log; where it does not say, when the job was eligible."""
    start = logged_starts(instance)
    return np.where(np.isnan(start), instance.column("eligible"), start)


def overused(instance: Instance, start: np.ndarray, end: np.ndarray) -> bool:
    """Whether jobs hold more than the machine has: 1% more, for 1% of the time."""
    times, level = step_function(start, end, instance.column("tasks") * instance.column("cpu"))
    return share_above(times, level, OVERUSE_RATIO * instance.nodes) > OVERUSE_SHARE


def resources(instance: Instance) -> Iterator[tuple[str, float, np.ndarray]]:
    """Name, capacity (0: not said) and what each job holds of it."""
    machine = instance.machine
    unit = "nodes" if machine is None else "cores"
    yield unit, float(instance.nodes), instance.column("tasks") * instance.column("cpu")
    if "memory_gb" in instance.column_names:
        memory = numbers_of(instance, "memory_gb")
        yield "memory_gb", machine.memory_gb if machine else 0.0, memory
    if "gpus" not in instance.column_names:
        return
    gpus, every = instance.column("gpus").astype(float), float(machine.gpus) if machine else 0.0
    if not (every or gpus.any()):
        return
    yield "gpus", every, gpus
    gpu_types = texts_of(instance, "gpu_type")
    if not ((gpus > 0) & (gpu_types != "")).any():
        return  # of which type the GPUs of a job are, the log does not say
    kinds = machine.nodes if machine else ()
    for name in dict.fromkeys(kind.gpu_type for kind in kinds if kind.gpu_type):
        count = sum(kind.count * kind.gpus for kind in kinds if kind.gpu_type == name)
        yield f"gpus:{name}", float(count), gpus * (gpu_types == name)
    if ((gpus > 0) & (gpu_types == "")).any():
        yield "gpus:not said", 0.0, gpus * (gpu_types == "")
