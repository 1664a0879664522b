"""Drawn instances whose tasks share the machine, and exhaustive search over small ones."""

import itertools
from functools import cache

import numpy as np
from scipy.optimize import linprog

import cosched as cs
from cosched.profiles import Bandwidth, Slowdowns

RULES = ("sum", "product", "max")


def _times(rng, tasks, procs):
    work, serial = rng.uniform(5, 100, tasks), rng.uniform(0, 0.35, tasks)
    return work[:, None] * (serial[:, None] + (1 - serial)[:, None] / np.arange(1, procs + 1))


def _shared(rng, tasks, procs, seed):
    """One law or both, needs a task or a count, or none; never nothing."""
    shared = {}
    kind = int(rng.integers(60))
    table = 1 + rng.uniform(0, 0.8, (tasks, tasks)) * (rng.random((tasks, tasks)) < 0.6)
    if kind % 2 == 0:
        shared["slowdowns"] = Slowdowns(table, RULES[seed % 3])
    if kind % 3 == 0:
        demand = np.minimum(rng.uniform(1, 5, (tasks, 1)) * np.arange(1, procs + 1), 9.0)
        shared["bandwidth"] = Bandwidth(demand, 9.0, rng.choice([0.0, 0.4, 1.0], tasks))
    if kind % 4 < 2:
        need = rng.uniform(1, 6, tasks)
        if kind % 5 == 0:
            need = need[:, None] * np.arange(1, procs + 1) ** 0.3
        shared["resources"] = {"memory": need}
        shared["capacity"] = {"memory": 9.0}
    return shared or {"slowdowns": table}


def packs_case(seed):
    """Three to six tasks on two to five processors."""
    rng = np.random.default_rng(seed)
    tasks, procs, size = int(rng.integers(3, 7)), int(rng.integers(2, 6)), int(rng.integers(2, 5))
    shared = _shared(rng, tasks, procs, seed)
    return cs.packs.Instance(_times(rng, tasks, procs), size, **shared)


def moldable_case(seed):
    """Two to eight jobs on two to six processors, one in five with releases."""
    rng = np.random.default_rng(seed)
    jobs, machines = int(rng.integers(2, 9)), int(rng.integers(2, 7))
    times, shared = _times(rng, jobs, machines), _shared(rng, jobs, machines, seed)
    release = rng.uniform(0, 60, jobs) if seed % 5 == 0 else None
    return cs.moldable.Instance(times, rng.integers(1, 9, jobs), release, **shared)


def packs_large(seed, tasks, procs, size):
    """Slow-downs up to 1.8 and memory that a third of the tasks fill."""
    rng = np.random.default_rng(seed)
    table = 1 + rng.uniform(0, 0.8, (tasks, tasks)) * (rng.random((tasks, tasks)) < 0.7)
    return cs.packs.Instance(
        _times(rng, tasks, procs),
        size,
        slowdowns=table,
        resources={"memory": rng.uniform(2, 60, tasks)},
        capacity={"memory": 100.0},
    )


def _fits(inst, pack, counts):
    for name, needs in inst.resources.items():
        table = needs if needs.ndim == 2 else np.repeat(needs[:, None], inst.times.shape[1], axis=1)
        needed = table[list(pack), np.array(counts) - 1].sum()
        if needed > inst.capacity[name] * (1 + 1e-12):
            return False
    return True


def brute_force(inst):
    """The least cost over all partitions and all counts."""
    cost = {}
    for size in range(1, inst.max_tasks + 1):
        for pack in itertools.combinations(range(inst.tasks), size):
            all_counts = itertools.product(range(1, inst.procs + 1), repeat=size)
            cost[pack] = min(
                (
                    cs.packs.ends(inst, pack, counts).max()
                    for counts in all_counts
                    if sum(counts) <= inst.procs and _fits(inst, pack, counts)
                ),
                default=np.inf,
            )

    @cache
    def least_cost(remaining_tasks):
        if not remaining_tasks:
            return 0.0
        first, rest = remaining_tasks[0], remaining_tasks[1:]
        return min(
            cost[(first, *others)] + least_cost(tuple(i for i in rest if i not in others))
            for size in range(inst.max_tasks)
            for others in itertools.combinations(rest, size)
        )

    return least_cost(tuple(range(inst.tasks)))


def configuration_programme(inst):
    """The least sum of seconds of all mixes, every set with every counts enumerated."""
    columns = []
    for size in range(1, inst.jobs + 1):
        for jobs in itertools.combinations(range(inst.jobs), size):
            for counts in itertools.product(range(1, inst.machines + 1), repeat=size):
                if sum(counts) > inst.machines or not _fits(inst, jobs, counts):
                    continue
                rates = np.zeros(inst.jobs)
                factors = _factors(inst, jobs, counts)
                for job, count, factor in zip(jobs, counts, factors, strict=True):
                    rates[job] = 1 / (inst.times[job, count - 1] * factor)
                columns.append(rates)
    rates = np.array(columns).T
    return linprog(np.ones(len(columns)), A_ub=-rates, b_ub=-np.ones(inst.jobs)).fun


def _factors(inst, jobs, counts):
    """From the definition, apart from the package's own."""
    table = inst.slowdowns.table if inst.slowdowns is not None else np.ones((inst.jobs,) * 2)
    rule = inst.slowdowns.rule if inst.slowdowns is not None else "sum"
    excess = np.maximum(table, 1) - 1
    excess_load = 0.0
    if inst.bandwidth is not None and len(jobs) > 1:
        demand = inst.bandwidth.demand
        load = sum(demand[job, count - 1] for job, count in zip(jobs, counts, strict=True))
        excess_load = max(0.0, load / inst.bandwidth.capacity - 1)
    for job in jobs:
        others = [excess[job, other] for other in jobs if other != job]
        pairs = {
            "sum": 1 + sum(others),
            "product": np.prod([1 + each for each in others]),
            "max": 1 + max(others, default=0.0),
        }[rule]
        stall = inst.bandwidth.stall[job] if inst.bandwidth is not None else 0.0
        yield max(pairs, 1 + stall * excess_load)
