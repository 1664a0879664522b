"""Degenerate instances of every family, and one call on each that has to end."""

from collections.abc import Callable
from typing import Any

import numpy as np
from fuzz_input import rnd

import cosched as cs
from cosched.cluster import Machine, NodeType, Partition
from cosched.core.options import accepted_options
from cosched.profiles import Bandwidth, Slowdowns
from cosched.registry import family

#: Seconds that a limited call is given, and work.
LIMITS, WORK = (0, 0.01, 0.05), (0, 1, 30, 300)
#: One call in so many is with neither, where a search would take its default work.
UNLIMITED = 60


def _times(rows: int, columns: int) -> np.ndarray:
    """All equal, no speed-up, a perfect one, one job far longer, extremes, small integers."""
    kind = rnd.randrange(8)
    base = np.array([float(rnd.randrange(1, 4)) for _ in range(rows)])
    table = np.repeat(base[:, None], columns, axis=1)
    if kind == 0:
        return np.full((rows, columns), rnd.choice([1.0, 3.0, 1e-9, 1e12]))
    if kind == 1:
        return table
    if kind == 2:
        return table / np.arange(1, columns + 1)
    if kind == 3:
        table[rnd.randrange(rows)] *= rnd.choice([1e3, 1e9])
        return table
    if kind == 4:
        table[rnd.randrange(rows), : rnd.randrange(columns)] = np.inf
        return table
    if kind == 5:
        return table * 10.0 ** rnd.choice([-300, -12, 12, 290])
    return np.array([[float(rnd.randrange(1, 9)) for _ in range(columns)] for _ in range(rows)])


def random_values(count: int, *values: float) -> list[float]:
    """All of one value, or drawn."""
    common_value = rnd.choice(values)
    return [common_value if rnd.random() < 0.5 else rnd.choice(values) for _ in range(count)]


def _shared(tasks: int, procs: int) -> dict[str, Any]:
    """What binds never, or always, and slow-downs that are none, or ruin everything."""
    shared: dict[str, Any] = {}
    if rnd.random() < 0.5:
        shared["resources"] = {"m": random_values(tasks, 0, 1, 1, 3)}
        shared["capacity"] = {"m": rnd.choice([0, 1, 3, 3, 3.0 * tasks, 1e9])}
    if rnd.random() < 0.4:
        table = np.array([random_values(tasks, 1, 1, 0.5, 2, 100) for _ in range(tasks)])
        shared["slowdowns"] = Slowdowns(table, rnd.choice(["sum", "product", "max"]))
    if rnd.random() < 0.3:
        demand = np.array([random_values(procs, 0, 1, 5) for _ in range(tasks)])
        stall = np.array(random_values(tasks, 0, 1, 0.5))
        shared["bandwidth"] = Bandwidth(demand, rnd.choice([5.0, 1e9]), stall)
    return shared


def _edges(tasks: int) -> list[tuple[int, int]]:
    kind = rnd.randrange(4)
    if kind == 0:
        return [(i, i + 1) for i in range(tasks - 1)]
    if kind == 1:
        return [(0, i) for i in range(1, tasks)]
    return [(i, j) for i in range(tasks) for j in range(i + 1, tasks) if rnd.random() < 0.3]


def packs() -> cs.packs.Instance:
    n, p = rnd.randrange(1, 7), rnd.randrange(1, 6)
    shared = _shared(n, p) if rnd.random() < 0.6 else {}
    times = np.minimum.accumulate(_times(n, p), axis=1) if rnd.random() < 0.8 else _times(n, p)
    return cs.packs.Instance(times, rnd.randrange(1, n + 1), **shared)


def moldable() -> cs.moldable.Instance:
    n, m = rnd.randrange(1, 7), rnd.randrange(1, 6)
    extra_arguments = _shared(n, m) if rnd.random() < 0.6 else {}
    if rnd.random() < 0.25:
        extra_arguments["edges"] = _edges(n)
    release = rnd.choice(
        [None, None, random_values(n, 0, 1), random_values(n, 0, 1e9), random_values(n, 5)]
    )
    weights = rnd.choice(
        [None, random_values(n, 0, 0, 1), random_values(n, 1, 1e9), random_values(n, 1e-12)]
    )
    return cs.moldable.Instance(_times(n, m), weights, release, **extra_arguments)


def dags() -> cs.dags.Instance:
    n, q = rnd.randrange(1, 7), rnd.choice([1, 2, 2, 2, 3])
    times = _times(n, q)
    if rnd.random() < 0.2:
        times[rnd.randrange(n)] = 0
    edges = _edges(n)
    extra_arguments: dict[str, Any] = {}
    if rnd.random() < 0.4:
        extra_arguments["data"] = random_values(len(edges), 0, 1, 1e9)
        extra_arguments["bandwidth"] = rnd.choice([1.0, 1e-6, 1e12])
        extra_arguments["latency"] = rnd.choice([0.0, 0.0, 1e3])
        extra_arguments["memories"] = rnd.choice(["host", "unit"])
        if rnd.random() < 0.4:
            extra_arguments["memory_capacity"] = rnd.choice([1.0, 2.0, 1e10])
    units = [rnd.choice([1, 1, 2, 5]) for _ in range(q)]
    return cs.dags.Instance(times, edges, units, **extra_arguments)


def bags() -> cs.bags.Instance:
    t, m = rnd.randrange(1, 4), rnd.randrange(1, 4)
    return cs.bags.Instance(
        [rnd.choice([1, 1, 2, 40, 100_000]) for _ in range(t)],
        [rnd.choice([1, 1, 2, 30]) for _ in range(m)],
        _times(t, m),
        np.array([random_values(m, 1, 1, 200) for _ in range(t)]),
        price=rnd.choice([None, 0, 1, 1e9]),
        energy_cost=rnd.choice([0.0, 1.0, 1.0]),
        gamma=rnd.choice([None, 1.0, 1.0, 2.0]),
        idle_power=rnd.choice([None, 0.0, 5.0]),
        power_cap=rnd.choice([None, None, 1.0, 300.0]),
    )


def cluster() -> cs.cluster.Instance:
    n, nodes = rnd.randrange(1, 8), rnd.choice([1, 1, 2, 4])
    jobs: dict[str, Any] = {
        "submit": random_values(n, 0, 0, 0, 10, 1e7),
        "tasks": [int(k) for k in random_values(n, 1, 1, nodes)],
        "cpu": random_values(n, 1, 1, 0.5, 0.01),
        "memory": random_values(n, 0.1, 1, 0.01),
        "runtime": random_values(n, 0, 1, 60, 60, 1e7),
    }
    if rnd.random() < 0.6:
        jobs["estimate"] = random_values(n, 0, 1, 60, 3600, float("nan"))
    if rnd.random() < 0.6:
        return _on_machine(jobs, nodes)
    running = None
    if rnd.random() < 0.5:
        jobs["id"] = [str(k) for k in range(n)]
        jobs["submit"][0] = 0
        many = jobs["tasks"][0]
        start, limit = rnd.choice([-1e6, -5, 0]), rnd.choice([1, 60, 1e7])
        running = {"job": ["0"], "nodes": [[*range(many)]], "start": [start], "limit": [limit]}
    return cs.cluster.Instance(jobs, nodes, running=running)


def _on_machine(jobs: dict[str, Any], nodes: int) -> cs.cluster.Instance:
    """Nodes in cores and memory, partitions without nodes or within others, what runs already."""
    n, cores = len(jobs["tasks"]), rnd.choice([1, 2, 4])
    kinds = (NodeType("n", nodes, cores, rnd.choice([0.0, 8.0]), 0),)
    wide = Partition("all", ((0, nodes),), rnd.choice([np.inf, 60.0]), rnd.choice([0.0, 1.0]))
    small_partition = Partition("few", ((0, rnd.choice([1, nodes])),), np.inf, 1.0)
    empty = Partition("none", (), np.inf, 5.0)
    parts = rnd.choice(
        [(), (wide,), (wide, small_partition), (wide, small_partition, empty), (wide, empty)]
    )
    machine = Machine(kinds, parts)
    jobs = {**jobs, "nodes": jobs["tasks"], "memory_gb": random_values(n, 0, 0, 1, 8)}
    jobs["tasks"] = [many * rnd.choice([1, cores]) for many in jobs["nodes"]]
    jobs["partition"] = [rnd.choice([part.name for part in parts] or [""]) for _ in range(n)]
    return cs.cluster.Instance(jobs, machine.cores, machine=machine)


MAKE: dict[str, Callable[[], Any]] = {
    "packs": packs, "moldable": moldable, "dags": dags, "bags": bags, "cluster": cluster
}  # fmt: skip
#: Options besides a budget that choose other loops.
CHOICES: dict[str, tuple[Any, ...]] = {
    "objective": ("makespan", "minsum"),
    "estimates": ("perfect", "requested"),
    "kill": (True, False),
    "priority": ("fcfs", "shortest", "smallest", "wfp3"),
    "penalty": (0, 300),
    "period": (100, 600, 1e6),  # the longest job has 100,000 of them: more are long, not endless
    "bf_interval": (1, 30),
    "version": ("22.05", "24.11"),
    "reoptimise": (True, False),
    "tolerance": (1e-9, 0.5),
    "eps": (1e-9, 0.5),
}


def _budget(accepted: frozenset[str] | set[str]) -> dict[str, Any]:
    """A limit, work, both, and rarely nothing."""
    budget: dict[str, Any] = {}
    if rnd.randrange(UNLIMITED) == 0:
        return budget
    work = sorted(accepted & {"work", "evaluations"})
    if work and rnd.random() < 0.7:
        budget[rnd.choice(work)] = rnd.choice(WORK)
    if "time_limit" in accepted and (not budget or rnd.random() < 0.3):
        budget["time_limit"] = rnd.choice(LIMITS)
    return budget


def _asked(function: Any) -> dict[str, Any]:
    accepted = set(accepted_options(function) or ())
    options = _budget(accepted)
    for name in sorted(accepted & set(CHOICES)):
        if rnd.random() < 0.5:
            options[name] = rnd.choice(CHOICES[name])
    return options


def extra_calls(name: str, instance: Any) -> list[Callable[[], Any]]:
    """Loops that are neither an algorithm of the table nor a bound."""
    if name == "moldable":
        online = lambda: cs.moldable.online(instance, rnd.choice(["demt", "gang", "list-lptf"]))  # noqa: E731
        return [online, lambda: cs.moldable.replay(instance, online())]
    if name == "dags":
        heft = lambda: cs.dags.solve(instance, "heft")  # noqa: E731
        return [lambda: cs.dags.replay(heft().schedule, noise="lognormal", draws=2,
                                       order=rnd.choice(["kept", "list"]))]  # fmt: skip
    if name == "bags":
        return [lambda: cs.bags.front(instance), lambda: cs.bags.least_makespan(instance)]
    return []


def one_call(name: str) -> tuple[str, Callable[[], Any]]:
    """What is called on a fresh instance of a family, and the call."""
    instance = MAKE[name]()
    of = family(name)
    draw = rnd.random()
    further_calls = extra_calls(name, instance)
    if further_calls and draw < 0.1:
        return f"{name} further", rnd.choice(further_calls)
    with_bounds = draw < 0.35
    table = of.bounds if with_bounds else of.algorithms
    chosen = rnd.choice(sorted(table))
    if name == "cluster" and not with_bounds and rnd.random() < 0.6:
        chosen = rnd.choice(["FCFS", "EASY", "conservative", "slurm-backfill"])
    options = _asked(table[chosen])
    if chosen == "ilp" and instance.tasks > 5:  # "up to five tasks or so"
        options.setdefault("time_limit", 1.0)
    solve = of.bound if with_bounds else of.solve
    return f"{name} {chosen} {options}", lambda: solve(instance, chosen, **options)
