"""Jobs with precedence and resources: random instances, and exhaustive search of its own."""

from __future__ import annotations

import itertools

import numpy as np

import cosched as cs


def random_graph(
    random: np.random.Generator, jobs: int, machines: int, *, resources: bool
) -> cs.moldable.Instance:
    """A random order's edges, any tables, perhaps memory and licences."""
    shrink = random.uniform(0.4, 1.2, (jobs, machines))
    shrink[:, 0] = random.uniform(1, 10, jobs)
    times = np.cumprod(shrink, axis=1)
    if machines > 1:
        times[random.uniform(size=times.shape) < 0.15] = np.inf
        times[np.isinf(times).all(axis=1), 0] = 3.0
    density = random.uniform(0, 0.7)
    order = random.permutation(jobs)
    edges = [
        (int(order[i]), int(order[j]))
        for i in range(jobs) for j in range(i + 1, jobs) if random.uniform() < density
    ]  # fmt: skip
    edges = edges or [(0, 1)]
    needs_arguments: dict = {}
    if resources:
        needs = random.integers(0, 5, jobs).astype(float)
        counted = random.integers(0, 3, (jobs, 1)) + np.arange(machines) * random.uniform(0, 0.5)
        capacity = {"memory": 4.0 + random.integers(0, 4), "licences": float(counted.max())}
        needs_arguments = {
            "resources": {"memory": needs, "licences": counted},
            "capacity": capacity,
        }
    return cs.moldable.Instance(times, edges=edges, **needs_arguments)


def exhaustive(instance: cs.moldable.Instance) -> float:
    """The least makespan: all orders that respect the edges, all counts, each job at its earliest.

    One pass over time per job, no profile: moments at which something ends are tried in turn.
    """
    n, m = instance.jobs, instance.machines
    before = {j: [int(a) for a, b in instance.edges if b == j] for j in range(n)}
    amounts = [
        (np.broadcast_to(need.reshape(n, -1), (n, m)), instance.capacity[name])
        for name, need in instance.resources.items()
    ]
    fitting = [
        [
            q for q in range(1, m + 1)
            if np.isfinite(instance.time(j, q)) and all(a[j, q - 1] <= c for a, c in amounts)
        ]
        for j in range(n)
    ]  # fmt: skip
    best = np.inf
    for order in itertools.permutations(range(n)):
        place = {job: k for k, job in enumerate(order)}
        if any(place[int(a)] > place[int(b)] for a, b in instance.edges):
            continue
        for counts in itertools.product(*(fitting[j] for j in order)):
            best = min(best, _earliest(instance, order, counts, before, amounts, best))
    return best


def _earliest(instance, order, counts, before, amounts, best) -> float:
    done: list[tuple[int, int, float, float]] = []  # job, count, start, end
    ends: dict[int, float] = {}
    for job, q in zip(order, counts, strict=True):
        ready = max([float(instance.release[job]), *(ends[k] for k in before[job])])
        length = instance.time(job, q)
        for start in sorted({ready, *(end for *_, end in done if end > ready)}):
            moments = [start, *(s for _, _, s, _ in done if start < s < start + length)]
            if all(_fits(instance, done, job, q, at, amounts) for at in moments):
                break
        ends[job] = start + length
        if ends[job] >= best:
            return np.inf
        done.append((job, q, start, ends[job]))
    return max(ends.values())


def _fits(instance, done, job, q, at, amounts) -> bool:
    running = [(k, c) for k, c, start, end in done if start <= at < end]
    if q + sum(c for _, c in running) > instance.machines:
        return False
    return all(
        a[job, q - 1] + sum(a[k, c - 1] for k, c in running) <= capacity + 1e-9
        for a, capacity in amounts
    )
