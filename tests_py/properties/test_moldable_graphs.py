"""Jobs with precedence: bounds, optimum and guarantees against exhaustive search.

``COSCHED_GRAPHS=5000`` sets how many instances are drawn (a hundredth of that is exhaustive work
for a second).
"""

from __future__ import annotations

import os

import numpy as np
import pytest
from moldable_graphs import exhaustive, random_graph

import cosched as cs

MANY = int(os.environ.get("COSCHED_GRAPHS", "60"))


@pytest.mark.parametrize("resources", [False, True])
def test_optimal_and_bounds_against_exhaustive_search(resources):
    random = np.random.default_rng(17 + resources)
    for _ in range(MANY // 2):
        inst = random_graph(
            random, int(random.integers(2, 5)), int(random.integers(1, 4)), resources=resources
        )
        best = exhaustive(inst)
        result = cs.moldable.optimal(inst)
        assert result.value == pytest.approx(best, rel=1e-9)
        assert result.stopped_by == "proved"
        programme = cs.moldable.work_and_path(inst)
        assert programme.bound(inst) == pytest.approx(programme.value, rel=1e-7)
        for name in ("work-and-path", "area", "longest", "destructive"):
            assert cs.moldable.bound(inst, name).value <= best * (1 + 1e-9), name
        for name in ("list-lp", "list-local", "local-search"):
            options = {"work": 2_000} if name == "local-search" else {}
            res = cs.moldable.solve(inst, name, **options)
            res.schedule.validate()
            assert res.value >= best * (1 - 1e-9), name


@pytest.mark.parametrize("model", ["roofline", "communication", "amdahl", "general", "power"])
def test_ratios_hold_against_the_bound_itself(model):
    random = np.random.default_rng(5)
    for _ in range(MANY):
        inst = _of_model(random, model)
        programme = cs.moldable.work_and_path(inst)
        lp = cs.moldable.list_lp(inst)
        assert lp.ratio is not None
        assert lp.ratio <= 3 + np.sqrt(5) + 1e-9
        if model == "power":  # concave speed-ups: convex work
            assert lp.ratio <= 3.2920
        assert lp.value <= lp.ratio * programme.value * (1 + 1e-9)
        local = cs.moldable.list_local(inst, model="general" if model == "power" else model)
        least_times = np.array([inst.times[j].min() for j in range(inst.jobs)])
        work = (inst.times * np.arange(1, inst.machines + 1)).min(axis=1).sum() / inst.machines
        if local.ratio is not None:  # a cut job can run on exactly the cut
            lower = max(work, _longest(inst, least_times))
            assert local.value <= local.ratio * lower * (1 + 1e-9)
            limit = {"roofline": 2.62, "communication": 3.61, "amdahl": 4.74, "general": 5.72}
            if model in limit:
                assert local.ratio <= limit[model] + 5e-3


def _of_model(random: np.random.Generator, model: str) -> cs.moldable.Instance:
    """w / min(q, limit) + d + c (q - 1), in parts; the time is that of the best of at most q."""
    jobs, machines = int(random.integers(1, 14)), int(random.integers(1, 17))
    q = np.arange(1, machines + 1)[None, :]
    w = random.uniform(1, 50, (jobs, 1))
    limit = (
        random.integers(1, machines + 1, (jobs, 1))
        if model in ("roofline", "general")
        else machines
    )
    d = random.uniform(0, 4, (jobs, 1)) if model in ("amdahl", "general") else 0.0
    c = random.uniform(0, 0.6, (jobs, 1)) if model in ("communication", "general") else 0.0
    times = w / np.minimum(q, limit) + d + c * (q - 1)
    if model == "power":
        times = w * q ** -random.uniform(0.1, 1.0, (jobs, 1))
    times = np.minimum.accumulate(times, axis=1)
    edges = [
        (i, j) for i in range(jobs) for j in range(i + 1, jobs)
        if random.uniform() < random.uniform(0, 0.5)
    ]  # fmt: skip
    return cs.moldable.Instance(times, edges=edges)


def _longest(inst: cs.moldable.Instance, least_times: np.ndarray) -> float:
    ends = least_times.copy()
    for i, j in sorted(map(tuple, inst.edges.tolist())):  # edges go up
        ends[j] = max(ends[j], ends[i] + least_times[j])
    return float(ends.max())


def test_releases_are_paths_too():
    random = np.random.default_rng(3)
    for _ in range(MANY // 3):
        plain = random_graph(random, int(random.integers(2, 5)), 2, resources=False)
        release = random.uniform(0, 10, plain.jobs)
        inst = cs.moldable.Instance(plain.times, release=release, edges=plain.edges)
        best = exhaustive(inst)
        assert cs.moldable.optimal(inst).value == pytest.approx(best, rel=1e-9)
        programme = cs.moldable.work_and_path(inst)
        assert programme.bound(inst) == pytest.approx(programme.value, rel=1e-7)
        assert cs.moldable.bound(inst).value <= best * (1 + 1e-9)


def test_search_never_worse_than_lists_and_start():
    random = np.random.default_rng(8)
    for _ in range(8):
        inst = random_graph(random, 25, 8, resources=True)
        lists = [cs.moldable.solve(inst, name) for name in ("list-lp", "list-local")]
        result = cs.moldable.local_search(inst, work=3_000, start=lists[0])
        result.schedule.validate()
        assert result.value <= min(list_result.value for list_result in lists) * (1 + 1e-9)
        repeated = cs.moldable.local_search(inst, work=3_000, start=lists[0])
        assert np.array_equal(result.start, repeated.start)


@pytest.mark.parametrize(
    "name", ["demt", "demt-best", "dual-approximation", "gang", "sequential", "list-saf"]
)
def test_what_knows_no_edges_refuses_by_name(name):
    inst = cs.moldable.Instance([[2.0], [1.0]], edges=[(0, 1)])
    with pytest.raises(cs.InvalidInstance, match=f"{name} does not know precedence"):
        cs.moldable.solve(inst, name)


def test_the_minsum_of_jobs_with_edges():
    inst = cs.moldable.Instance([[2.0], [1.0], [4.0]], weights=[1, 5, 1], edges=[(0, 1)])
    for name in ("local-search", "optimal"):
        result = cs.moldable.solve(inst, name, objective="minsum")
        assert result.weighted_completion == 2 + 5 * 3 + 7
        assert result.stopped_by == "proved"
        assert result.minsum_gap == 0


def test_validator_sees_a_job_that_starts_too_early():
    inst = cs.moldable.Instance([[2.0], [1.0]], machines=2, edges=[(0, 1)])
    free = cs.moldable.Instance([[2.0], [1.0]], machines=2)
    plan = cs.moldable.sequential(free).schedule
    columns = (plan.task, plan.kind, plan.unit_begin, plan.unit, plan.start, plan.end)
    with pytest.raises(cs.InvalidSchedule):
        cs.Schedule(inst, *columns).validate()
