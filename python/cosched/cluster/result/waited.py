"""How much of each resource jobs hold, and which of them jobs waited for."""

from __future__ import annotations

import numpy as np

from cosched.cluster.instance import Instance
from cosched.cluster.instance.usage import resources
from cosched.cluster.machine.parts import cells_of_nodes, of_nodes
from cosched.core.arrays import levels
from cosched.lazy import pd


def by_resource(instance: Instance, start: np.ndarray, end: np.ndarray) -> pd.DataFrame:
    """A row a resource: its capacity, how much of it jobs hold over time, who waited for it."""
    span = float(end.max() - instance.column("eligible").min())
    rows = []
    waited = waited_for(instance, start, end)
    every = float((start - instance.column("eligible")).sum()) / 3600
    for name, capacity, amount in resources(instance):
        times, level = levels(start, end, amount)
        hours = float(level[:-1] @ np.diff(times)) / 3600
        known = capacity > 0
        rows.append(
            {
                "resource": name,
                "capacity": capacity if known else np.nan,
                "used_hours": hours,
                "utilisation": hours * 3600 / (capacity * span) if known and span > 0 else np.nan,
                "peak": float(level.max()) / capacity if known else np.nan,
                "waited_hours": waited.get(name, 0.0) if known else np.nan,
                "waited": waited.get(name, 0.0) / every if known and every > 0 else np.nan,
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
    cells, allowed, _ = instance.layout
    masks = allowed if len(cells) else np.ones(len(instance), dtype=np.uint64)
    handed_out = ("nodes", "cores", *(instance.machine.counts if instance.machine else ()))
    known = [
        (name, amount)
        for name, most, amount in resources(instance)
        if most > 0 and name.partition(":")[0] in handed_out
    ]
    there = Capacity(instance)
    hours = {name: 0.0 for name, _ in known}
    for mask in np.unique(masks[start > instance.column("eligible")]):
        inside, own = (masks & ~mask) == 0, masks == mask
        queue = _Queue(instance.column("eligible"), start, end, inside, own)
        lacks = {}
        for name, amount in known:
            most = there.of(name, mask)
            free = most - queue.level(np.where(inside, amount, 0.0))
            lacks[name] = amount[queue.head] > free + 1e-9 * most
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
        self, came: np.ndarray, start: np.ndarray, end: np.ndarray, inside: np.ndarray,
        own: np.ndarray,
    ) -> None:  # fmt: skip
        self._start, self._end = start, end
        self.times = np.unique(np.concatenate([start[inside], end[inside], came[own]]))
        jobs = np.flatnonzero(own & (start > came))
        jobs = jobs[np.argsort(came[jobs], kind="stable")]
        before = np.concatenate([[-np.inf], np.maximum.accumulate(start[jobs])[:-1]])
        first = np.maximum(came[jobs], before)  # it is the head until it starts, if it ever is
        jobs, first = jobs[start[jobs] > first], first[start[jobs] > first]
        at = np.searchsorted(first, self.times, side="right") - 1
        self.head = jobs[np.maximum(at, 0)]
        is_head = (at >= 0) & (self.times < start[self.head])
        count = self._sum(came[own], start[own], np.ones(int(own.sum())))
        self.waiting = np.append(np.diff(self.times), 0.0) * count * is_head

    def level(self, amount: np.ndarray) -> np.ndarray:
        """What jobs hold from each time on."""
        some = amount > 0
        return self._sum(self._start[some], self._end[some], amount[some])

    def _sum(self, begin: np.ndarray, end: np.ndarray, amount: np.ndarray) -> np.ndarray:
        change = np.zeros(len(self.times))
        for times, sign in ((begin, 1.0), (end, -1.0)):
            place = np.searchsorted(self.times, times)
            change += sign * np.bincount(place, amount, minlength=len(change))
        return np.cumsum(change)


class Capacity:
    """What the parts of the machine have of each resource."""

    def __init__(self, instance: Instance) -> None:
        machine, parts = instance.machine, len(instance.layout[0])
        self._by_part = {"nodes": np.array([float(instance.nodes)])}
        if machine is None:
            return
        number = cells_of_nodes(machine)[0] if parts else np.zeros(machine.node_count, dtype=int)
        each = {name: of_nodes(machine, name) for name in ("cores", "memory_gb", "gpus")}
        types = of_nodes(machine, "gpu_type")
        each |= {f"gpus:{name}": each["gpus"] * (types == name) for name in set(types.tolist())}
        self._by_part = {name: np.bincount(number, amount) for name, amount in each.items()}

    def of(self, name: str, mask: int) -> float:
        """Of one resource, in the parts with these bits; 0: not said."""
        each = self._by_part.get(name, np.zeros(1))
        return float(each @ (int(mask) >> np.arange(len(each)) & 1))
