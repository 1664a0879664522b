"""Casanova, Stillwell, Vivien 2011, Section 3.2: EquiPartition and its worst cases."""

import math

import numpy as np
import pytest

import cosched as cs
from cosched.cluster import Instance
from cosched.experiments.cluster.sections import (
    equal_shares_worst,
    equipartition,
    jobs_of_family,
    plan_theorems,
    run_theorem,
    unknown_times_worst,
)


def plain_equipartition(submit, length):
    """Ends under equal shares: an event loop of its own."""
    remaining, end, now = list(map(float, length)), [0.0] * len(length), 0.0
    todo = set(range(len(length)))
    while todo:
        here = [j for j in todo if submit[j] <= now + 1e-12 * max(1, now)]
        later = [submit[j] for j in todo if j not in here]
        if not here:
            now = min(later)
            continue
        step = min(remaining[j] for j in here) * len(here)
        step = min([step, *(s - now for s in later)])
        now += step
        for j in here:
            remaining[j] -= step / len(here)
            if remaining[j] <= 1e-9 * length[j]:
                end[j] = now
                todo.discard(j)
    return np.array(end)


def is_feasible_on_one_node(submit, length, stretch):
    """Whether one node can end every job at that stretch: earliest deadline first, preemptive."""
    deadline = submit + stretch * length
    remaining = length.astype(float).copy()
    times = np.unique(submit)
    for arrival, later in zip(times, [*times[1:], np.inf], strict=True):
        now = arrival
        while now < later:
            waiting = np.flatnonzero((submit <= now) & (remaining > 0))
            if not len(waiting):
                break
            job = waiting[np.argmin(deadline[waiting])]
            step = min(remaining[job], later - now)
            now += step
            remaining[job] = 0 if step == remaining[job] else remaining[job] - step
            if remaining[job] == 0 and now > deadline[job] * (1 + 1e-9):
                return False
    return True


@pytest.mark.parametrize("task", [task for task in plan_theorems(True) if task["jobs"] < 33])
def test_bounds_of_the_study_of_theorems_are_optima(task):
    """Ratios are to the bound: on one node it is the optimum, which a schedule reaches."""
    instance = Instance(jobs_of_family(task["family"], task["jobs"], task["draw"]), nodes=1)
    submit, length = instance.column("submit"), instance.column("runtime")
    bound = run_theorem(task)["bound"]
    assert is_feasible_on_one_node(submit, length, bound * (1 + 1e-6))
    if bound > 1 + 1e-6:
        assert not is_feasible_on_one_node(submit, length, bound * (1 - 1e-6))


@pytest.mark.parametrize("n", [2, 3, 8, 40])
def test_theorem_3_the_shortest_waits_for_all(n):
    inst = Instance(unknown_times_worst(min(n, 12), factor=1000.0), nodes=1)
    result = equipartition(inst)
    result.schedule.validate()
    assert result.max_stretch == pytest.approx(len(inst), rel=1e-9)
    assert float(cs.cluster.bound(inst)) <= 1000 / 999 + 1e-9


@pytest.mark.parametrize("n", [3, 8, 32, 128])
def test_theorem_4_equipartition_is_far_from_the_optimum(n):
    inst = Instance(equal_shares_worst(n), nodes=1)
    result = equipartition(inst)
    assert result.max_stretch == pytest.approx(n, rel=1e-6)
    end = result.jobs["end"].to_numpy()
    assert end == pytest.approx(np.full(n, end[0]), rel=1e-6)  # all at once
    best = float(cs.cluster.bound(inst))
    assert best <= 2 + sum(1 / i for i in range(2, n)) + 1e-9
    delta = n - 1
    assert result.max_stretch / best >= (delta + 1) / (2 + math.log(delta))


def test_theorem_4_never_more_than_the_number_of_jobs():
    random = np.random.default_rng(0)
    for n in (2, 5, 9, 17):
        jobs = {
            "submit": np.sort(random.uniform(0, 500, n)),
            "tasks": np.full(n, 3),
            "cpu": np.ones(n),
            "memory": np.full(n, 1 / n),
            "runtime": random.uniform(20, 900, n),
        }
        inst = Instance(jobs, nodes=3)
        result = equipartition(inst)
        result.schedule.validate()
        assert result.max_stretch <= n + 1e-9
        expected = plain_equipartition(inst.column("submit"), inst.column("runtime"))
        assert result.jobs["end"].to_numpy() == pytest.approx(expected, rel=1e-6)
