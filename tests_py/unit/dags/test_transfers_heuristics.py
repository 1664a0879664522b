"""dags: CPOP and PEFT with transfers, against their definitions written out task by task."""

import numpy as np
import pytest

import cosched as cs
from cosched.dags import Instance

INF = float("inf")


def random_instance(seed):
    random = np.random.default_rng(seed)
    n, types = int(random.integers(2, 16)), int(random.integers(1, 4))
    times = random.uniform(1, 10, (n, types))
    times[random.random((n, types)) < 0.1] = INF
    times[np.isinf(times).all(axis=1)] = 5.0
    edges = [(i, j) for j in range(n) for i in range(j) if random.random() < 0.3]
    units = random.integers(1, 4, types).tolist()
    return Instance(
        times,
        edges,
        units,
        data=random.uniform(0, 10, len(edges)),
        bandwidth=random.uniform(0.3, 3, (types, types)),
        latency=random.uniform(0, 1),
        memories=("host", "unit", random.integers(0, 3, sum(units)).tolist())[seed % 3],
    )


class Plain:
    """Means over units and pairs of units, and places of tasks in gaps, from their definitions."""

    def __init__(self, inst):
        self.inst = inst
        self.places = [(q, k) for q, count in enumerate(inst.units) for k in range(count)]
        pairs = [(a, b) for a in self.places for b in self.places if a != b]
        edges = range(len(inst.edges))
        self.moved = [
            np.mean([inst.transfer(e, a, b) for a, b in pairs]) if pairs else 0.0 for e in edges
        ]
        self.before = [[] for _ in range(inst.tasks)]
        self.after = [[] for _ in range(inst.tasks)]
        for e, (i, j) in enumerate(inst.edges.tolist()):
            self.before[j].append((e, i))
            self.after[i].append((e, j))
        self.start, self.end, self.at = {}, {}, {}

    def mean(self, task, values):
        """Of a value a type, over the units that can run the task."""
        return np.mean([values[q] for q, _ in self.places if np.isfinite(self.inst.times[task, q])])

    def place_in(self, task, place):
        """End in the first gap of a unit that is long enough."""
        time = self.inst.times[task, place[0]]
        arrivals = [
            self.end[i] + self.inst.transfer(e, self.at[i], place) for e, i in self.before[task]
        ]
        start = max(arrivals, default=0.0)
        for other in sorted((k for k in self.at if self.at[k] == place), key=self.start.get):
            if start + time <= self.start[other]:
                break
            start = max(start, self.end[other])
        return start, start + time

    def run(self, priority, choose):
        """Of the ready tasks the one of highest priority, where `choose(task, ends)` says."""
        n = self.inst.tasks
        while len(self.at) < n:
            ready = [
                j
                for j in range(n)
                if j not in self.at and all(i in self.at for _, i in self.before[j])
            ]
            task = max(ready, key=lambda j: (priority[j], -j))
            able = [p for p in self.places if np.isfinite(self.inst.times[task, p[0]])]
            ends_by_place = {place: self.place_in(task, place) for place in able}
            place = choose(task, {place: end for place, (_, end) in ends_by_place.items()})
            self.start[task], self.end[task] = ends_by_place[place]
            self.at[task] = place
        return max(self.end.values())


def earliest_place(ends, extra=lambda place: 0.0):
    """The place of least end + extra; equal: the highest type, then the lowest unit."""
    return min(ends, key=lambda place: (ends[place] + extra(place), -place[0], place[1]))


def plain_cpop(inst):
    plain = Plain(inst)
    n = inst.tasks
    mean = [plain.mean(j, inst.times[j]) for j in range(n)]
    up, down = np.zeros(n), np.zeros(n)
    for j in inst.order[::-1]:
        up[j] = mean[j] + max((plain.moved[e] + up[k] for e, k in plain.after[j]), default=0.0)
    for j in inst.order:
        paths = [down[i] + mean[i] + plain.moved[e] for e, i in plain.before[j]]
        down[j] = max(paths, default=0.0)
    task = max((j for j in range(n) if not plain.before[j]), key=lambda j: (up[j], -j))
    path = [task]
    while plain.after[path[-1]]:
        following = plain.after[path[-1]]
        path.append(
            max(following, key=lambda item: (plain.moved[item[0]] + up[item[1]], -item[1]))[1]
        )
    times = inst.times[path]
    able = np.isfinite(times)
    lost, spent = (~able).sum(axis=0), np.where(able, times, 0).sum(axis=0)
    kind = min(range(inst.types), key=lambda q: (lost[q], spent[q], -q))

    def choose(task, ends):
        return (kind, 0) if task in path and (kind, 0) in ends else earliest_place(ends)

    return plain.run(up + down, choose)


def plain_peft(inst):
    plain = Plain(inst)
    costs = np.zeros((inst.tasks, inst.types))
    for j in inst.order[::-1]:
        for q in range(inst.types):
            rest = [
                min(
                    costs[k, r] + inst.times[k, r] + (0 if r == q else plain.moved[e])
                    for r in range(inst.types)
                )
                for e, k in plain.after[j]
            ]
            costs[j, q] = max(rest, default=0.0)
    priority = [plain.mean(j, costs[j]) for j in range(inst.tasks)]

    def choose(task, ends):
        # Of a type the earliest end, then the type of least end + cost.
        return earliest_place(ends, lambda place: costs[task, place[0]])

    return plain.run(priority, choose)


@pytest.mark.parametrize("name", ["cpop", "peft"])
def test_heuristics_are_as_defined(name):
    plain = {"cpop": plain_cpop, "peft": plain_peft}[name]
    for seed in range(60):
        inst = random_instance(seed)
        result = cs.dags.solve(inst, name)
        result.schedule.validate()
        assert result.value == pytest.approx(plain(inst), rel=1e-9), seed
