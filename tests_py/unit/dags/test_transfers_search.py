"""hlp-best where data costs time: near the optimum of tiny graphs, by two exact methods."""

import itertools

import numpy as np
import pytest

import cosched as cs
from cosched.dags import Instance


def tiny(seed, ccr, units=(2, 1), memories="host"):
    random = np.random.default_rng(seed)
    n = int(random.integers(4, 6))
    times = random.uniform(1, 10, (n, 2))
    edges = [(i, j) for j in range(n) for i in range(j) if random.random() < 0.6]
    data = random.uniform(0, 2, len(edges)) * 5 * ccr
    return Instance(times, edges, units, data=data, bandwidth=1.0, memories=memories)


def by_enumeration(inst):
    """Every unit a task, every order of starts, each task as early as it can."""
    places = [(q, u) for q, count in enumerate(inst.units) for u in range(count)]
    edges = [(k, *edge) for k, edge in enumerate(inst.edges.tolist())]
    best = np.inf
    for chosen in itertools.product(places, repeat=inst.tasks):
        cost = {(i, j): inst.transfer(k, chosen[i], chosen[j]) for k, i, j in edges}
        before = [[i for _, i, j in edges if j == task] for task in range(inst.tasks)]
        time = [inst.times[task, chosen[task][0]] for task in range(inst.tasks)]
        best = min(best, _best_order(inst.tasks, chosen, cost, before, time, best))
    return best


def _best_order(n, chosen, cost, before, time, best):
    stack = [((), {}, {})]
    while stack:
        done, end, idle = stack.pop()
        if len(done) == n:
            best = min(best, max(end.values()))
            continue
        for task in set(range(n)) - set(done):
            if not set(before[task]) <= set(done):
                continue
            ready = max((end[i] + cost[i, task] for i in before[task]), default=0.0)
            last = max(ready, idle.get(chosen[task], 0.0)) + time[task]
            if last < best:
                stack.append(((*done, task), {**end, task: last}, {**idle, chosen[task]: last}))
    return best


def by_integers(inst):
    """The same as an integer programme, solved by HiGHS."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    n = inst.tasks
    places = [(q, u) for q, count in enumerate(inst.units) for u in range(count)]
    k = len(places)
    big = inst.times.sum() + sum(
        max(inst.transfer(e, a, b) for a in places for b in places) for e in range(len(inst.edges))
    )
    pairs = list(itertools.combinations(range(n), 2))
    # start of each task, unit of each, who is first of each pair, makespan
    size = n + n * k + len(pairs) + 1
    rows, low = [], []

    def at_least(terms, value):
        row = np.zeros(size)
        for column, factor in terms:
            row[column] += factor
        rows.append(row)
        low.append(value)

    def unit(task, place):
        return n + task * k + place

    def length(task, sign):
        return [(unit(task, p), sign * inst.times[task, q]) for p, (q, _) in enumerate(places)]

    for task in range(n):
        at_least([(unit(task, p), 1) for p in range(k)], 1)
        at_least([(unit(task, p), -1) for p in range(k)], -1)
        at_least([(size - 1, 1), (task, -1), *length(task, -1)], 0)
    for edge, (i, j) in enumerate(inst.edges.tolist()):
        for a, b in itertools.product(range(k), repeat=2):
            seconds = inst.transfer(edge, places[a], places[b])
            on = [(unit(i, a), -big), (unit(j, b), -big)]
            at_least([(j, 1), (i, -1), *length(i, -1), *on], seconds - 2 * big)
    for number, (i, j) in enumerate(pairs):
        first = n + n * k + number
        for p in range(k):
            both = [(unit(i, p), -big), (unit(j, p), -big)]
            at_least([(j, 1), (i, -1), *length(i, -1), *both, (first, -big)], -3 * big)
            at_least([(i, 1), (j, -1), *length(j, -1), *both, (first, big)], -2 * big)
    integers = np.r_[np.zeros(n), np.ones(n * k + len(pairs)), 0]
    upper = np.r_[np.full(n, np.inf), np.ones(n * k + len(pairs)), np.inf]
    cost = np.zeros(size)
    cost[-1] = 1
    solution = milp(
        cost,
        constraints=LinearConstraint(np.array(rows), np.array(low), np.inf),
        integrality=integers,
        bounds=Bounds(np.zeros(size), upper),
        options={"mip_rel_gap": 0},
    )
    assert solution.success
    return solution.fun


@pytest.mark.parametrize("ccr", [0.1, 1, 5])
def test_hlp_best_is_near_the_optimum_and_no_bound_above_it(ccr):
    ratios, blind = [], []
    for seed in range(8):
        inst = tiny(seed, ccr, memories=("host", "unit")[seed % 2])
        optimum = by_enumeration(inst)
        result = cs.dags.solve(inst, "hlp-best", evaluations=3000)
        result.schedule.validate()
        ratios.append(result.value / optimum)
        for name in cs.dags.BOUNDS:
            assert cs.dags.bound(inst, name).value <= optimum * (1 + 1e-9)
        for name in cs.dags.DEFAULT_COMPARE:
            assert cs.dags.solve(inst, name).value >= optimum * (1 - 1e-12)
        blind.append(cs.dags.heft(inst).value / optimum)
    assert min(ratios) >= 1 - 1e-12
    assert np.mean(ratios) <= 1.005
    assert np.mean(blind) >= np.mean(ratios)


@pytest.mark.parametrize("seed", range(3))
def test_the_two_exact_methods_agree(seed):
    inst = tiny(seed + 20, 1, units=(1, 2), memories="unit" if seed else "host")
    assert by_enumeration(inst) == pytest.approx(by_integers(inst), rel=1e-6)
