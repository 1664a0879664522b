"""Jobs of a result in groups, what they waited for, and how near the log they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from cosched import _core
from cosched.cluster.bounds import THRESHOLD
from cosched.cluster.instance import Instance
from cosched.cluster.instance.job_names import kinds_of_comments, kinds_of_jobs
from cosched.cluster.instance.usage import resources
from cosched.cluster.machine.parts import cells_of_nodes, node_attribute
from cosched.core.arrays import step_function
from cosched.errors import InvalidInstance, shorten
from cosched.lazy import pd

GROUPS = (
    "user",
    "group",
    "account",
    "qos",
    "partition",
    "status",
    "name",
    "comment",
    "cores",
    "size",
    "gpu",
    "resource",
    "efficiency",
)
#: Groups whose column of an instance is called otherwise.
_COLUMNS = {"name": "job_name", "cores": "tasks"}
#: Below these a job used so much of its processors.
_EFFICIENCIES = (0.1, 0.25, 0.5, 0.75)
_OF_CORES = ("below 10%", "10-25%", "25-50%", "50-75%", "75% or more", "not said")


def slowdowns_of(result: Any) -> np.ndarray:
    """Bounded slowdown of each job: at least 10 s count."""
    end = np.asarray(result.outcome["end"], dtype=float)
    return _core.cluster.stretches(result.instance._core, end, THRESHOLD)


def by(result: Any, what: str) -> pd.DataFrame:
    """See :meth:`cosched.cluster.Result.by`."""
    instance = result.instance
    if what not in GROUPS:
        raise InvalidInstance(f"by {shorten(what)}: expected {', '.join(GROUPS)}")
    if what == "resource":
        return by_resource(instance, result.outcome["start"], result.outcome["end"])
    keys = keys_of(instance, what)
    if keys is None:
        raise InvalidInstance(f"by {what}: the log does not say it")
    work = instance.column("runtime") * instance.column("cpu") * instance.column("tasks") / 3600
    frame = pd.DataFrame(
        {what: keys, "wait": result.waits, "slowdown": slowdowns_of(result), "work": work}
    )
    frame = _merge_hetjobs(frame[instance.measured], what, instance.ids[instance.measured])
    groups = frame.groupby(what, dropna=False)
    table = pd.DataFrame(
        {
            "jobs": groups.size(),
            "mean_wait": groups["wait"].mean(),
            "median_wait": groups["wait"].median(),
            "p95_wait": groups["wait"].quantile(0.95),
            "mean_bounded_slowdown": groups["slowdown"].mean(),
            "cpu_hours": groups["work"].sum(),
        }
    ).reset_index()
    if what == "size":
        table["size"] = [range_of(power) for power in table["size"]]
    if what == "efficiency":
        table["efficiency"] = [_OF_CORES[place] for place in table["efficiency"]]
    return table


def keys_of(instance: Any, what: str) -> np.ndarray | None:
    """The group of each job; of sizes and efficiencies its number. None: the log does not say."""
    if what == "size":
        return np.ceil(np.log2(instance.column("tasks"))).astype(int)
    if what == "gpu" and "gpus" in instance.column_names:
        return np.where(instance.column("gpus") > 0, "with", "without")
    if what == "efficiency" and "cpu_efficiency" in instance.column_names:
        part = instance.column("cpu_efficiency")
        place = np.searchsorted(_EFFICIENCIES, part, side="right")
        return np.where(np.isnan(part), len(_EFFICIENCIES) + 1, place)
    if what == "name" and "job_name" in instance.column_names:
        comments = instance.column("comment") if "comment" in instance.column_names else None
        return kinds_of_jobs(instance.column("job_name"), comments).kinds
    if what == "comment" and "comment" in instance.column_names:
        return kinds_of_comments(instance.column("comment"))
    column = _COLUMNS.get(what, what)
    return instance.column(column) if column in instance.column_names else None


def _merge_hetjobs(frame: pd.DataFrame, what: str, ids: np.ndarray) -> pd.DataFrame:
    """Return components of a heterogeneous job (``45+0, 45+1``) as one, which waits for the
    last."""
    if ids.dtype.kind not in "UO":
        return frame
    names = pd.Series(ids, index=frame.index).astype(str)
    several = names.str.contains(r"\+[0-9]+$")
    if not several.any():
        return frame
    parts = frame[several].assign(
        job=names[several].str.rpartition("+")[0], run=names[several].groupby(names).cumcount()
    )
    measures = {"wait": "max", "slowdown": "max", "work": "sum"}
    merged = parts.groupby([what, "job", "run"], as_index=False, dropna=False).agg(measures)
    return pd.concat([frame[~several], merged[frame.columns]], ignore_index=True)


def range_of(power: int) -> str:
    """Numbers of tasks with this logarithm, rounded up."""
    low, high = 2 ** (power - 1) + 1, 2**power
    return str(high) if power <= 0 or low >= high else f"{low}-{high}"


def starts_of(result: Any) -> np.ndarray:
    """Starts (s), a row a draw; one row without draws."""
    return result.outcome["start"][None] if result.draws is None else result.draws.starts


def nearness(starts: np.ndarray, logged: np.ndarray) -> pd.DataFrame:
    """How near starts are to those of the log, a row a draw: ``within_60`` and ``within_300``
    (shares of jobs), ``rank_correlation`` (Spearman's)."""
    differences = np.abs(starts - logged)
    shares = {f"within_{seconds}": (differences <= seconds).mean(axis=1) for seconds in (60, 300)}
    ranks = pd.DataFrame(starts.T).rank(), pd.Series(logged).rank()
    varied = np.ptp(starts, axis=1) * np.ptp(logged) > 0
    correlations = [
        np.corrcoef(ranks_of_run, ranks[1])[0, 1] if good else np.nan
        for good, ranks_of_run in zip(varied, ranks[0].to_numpy().T, strict=True)
    ]
    return pd.DataFrame({**shares, "rank_correlation": correlations})


def by_resource(instance: Instance, start: np.ndarray, end: np.ndarray) -> pd.DataFrame:
    """A row a resource: its capacity, how much of it jobs hold over time, who waited for it."""
    span = float(end.max() - instance.column("eligible").min())
    rows = []
    waited = waited_for(instance, start, end)
    every = float((start - instance.column("eligible")).sum()) / 3600
    for name, capacity, amount in resources(instance):
        times, level = step_function(start, end, amount)
        hours = float(level[:-1] @ np.diff(times)) / 3600
        has_capacity = capacity > 0
        is_defined = has_capacity and span > 0
        utilization = hours * 3600 / (capacity * span) if is_defined else np.nan
        rows.append(
            {
                "resource": name,
                "capacity": capacity if has_capacity else np.nan,
                "used_hours": hours,
                "utilization": utilization,
                "utilisation": utilization,
                "peak": float(level.max()) / capacity if has_capacity else np.nan,
                "waited_hours": waited.get(name, 0.0) if has_capacity else np.nan,
                "waited": waited.get(name, 0.0) / every if has_capacity and every > 0 else np.nan,
            }
        )
    return pd.DataFrame(rows)


def waited_for(instance: Instance, start: np.ndarray, end: np.ndarray) -> dict[str, float]:
    """Hours that jobs waited for each resource, by what the head of their queue lacked.

    The jobs that may use the same nodes are a queue; its head is, of the jobs that wait, the one
    that could have started first. A resource lacks if less of it is free than the head needs: of
    what these nodes have, less what those jobs hold that may use no others. All jobs that wait in
    the queue wait for it then; of several that lack, for each an equal part of the time.
    """
    cells, allowed, _ = instance.partition_layout
    masks = allowed if len(cells) else np.ones(len(instance), dtype=np.uint64)
    handed_out = ("nodes", "cores", *(instance.machine.counts if instance.machine else ()))
    known_resources = [
        (name, amount)
        for name, total, amount in resources(instance)
        if total > 0 and name.partition(":")[0] in handed_out
    ]
    capacities = Capacity(instance)
    hours = {name: 0.0 for name, _ in known_resources}
    for mask in np.unique(masks[start > instance.column("eligible")]):
        is_inside, is_of_mask = (masks & ~mask) == 0, masks == mask
        queue = _Queue(instance.column("eligible"), start, end, is_inside, is_of_mask)
        lacks = {}
        for name, amount in known_resources:
            capacity = capacities.of(name, mask)
            free = capacity - queue.level(np.where(is_inside, amount, 0.0))
            lacks[name] = amount[queue.head] > free + 1e-9 * capacity
        for name in lacks:
            if name.startswith("gpus:"):  # who asks for a type waits for that
                lacks["gpus"] &= ~lacks[name]
        several = np.maximum(sum(lack.astype(int) for lack in lacks.values()), 1)
        for name, lack in lacks.items():
            hours[name] += float((queue.waiting * lack / several).sum()) / 3600
    return hours


class _Queue:
    """The jobs that may use the same nodes, from each time on at which any of this changes."""

    #: By time: the head, and the seconds that all jobs wait until the next time (0: nobody waits).
    head: np.ndarray
    waiting: np.ndarray

    def __init__(
        self,
        eligible: np.ndarray,
        start: np.ndarray,
        end: np.ndarray,
        is_inside: np.ndarray,
        is_of_mask: np.ndarray,
    ) -> None:
        self._start, self._end = start, end
        self.times = np.unique(
            np.concatenate([start[is_inside], end[is_inside], eligible[is_of_mask]])
        )
        jobs = np.flatnonzero(is_of_mask & (start > eligible))
        jobs = jobs[np.argsort(eligible[jobs], kind="stable")]
        latest_start_before = np.concatenate([[-np.inf], np.maximum.accumulate(start[jobs])[:-1]])
        first = np.maximum(
            eligible[jobs], latest_start_before
        )  # it is the head until it starts, if it ever is
        jobs, first = jobs[start[jobs] > first], first[start[jobs] > first]
        job_positions = np.searchsorted(first, self.times, side="right") - 1
        self.head = jobs[np.maximum(job_positions, 0)]
        is_head = (job_positions >= 0) & (self.times < start[self.head])
        count = self._sum(eligible[is_of_mask], start[is_of_mask], np.ones(int(is_of_mask.sum())))
        self.waiting = np.append(np.diff(self.times), 0.0) * count * is_head

    def level(self, amount: np.ndarray) -> np.ndarray:
        """What jobs hold from each time on."""
        has_amount = amount > 0
        return self._sum(self._start[has_amount], self._end[has_amount], amount[has_amount])

    def _sum(self, begin: np.ndarray, end: np.ndarray, amount: np.ndarray) -> np.ndarray:
        change = np.zeros(len(self.times))
        for times, sign in ((begin, 1.0), (end, -1.0)):
            place = np.searchsorted(self.times, times)
            change += sign * np.bincount(place, amount, minlength=len(change))
        return np.cumsum(change)


class Capacity:
    """What the parts of the machine have of each resource."""

    def __init__(self, instance: Instance) -> None:
        machine, parts = instance.machine, len(instance.partition_layout[0])
        self._by_part = {"nodes": np.array([float(instance.nodes)])}
        if machine is None:
            return
        number = cells_of_nodes(machine)[0] if parts else np.zeros(machine.node_count, dtype=int)
        node_amounts = {
            name: node_attribute(machine, name) for name in ("cores", "memory_gb", "gpus")
        }
        types = node_attribute(machine, "gpu_type")
        node_amounts |= {
            f"gpus:{name}": node_amounts["gpus"] * (types == name) for name in set(types.tolist())
        }
        self._by_part = {name: np.bincount(number, amount) for name, amount in node_amounts.items()}

    def of(self, name: str, mask: int) -> float:
        """Of one resource, in the parts with these bits; 0: not said."""
        amounts = self._by_part.get(name, np.zeros(1))
        return float(amounts @ (int(mask) >> np.arange(len(amounts)) & 1))
