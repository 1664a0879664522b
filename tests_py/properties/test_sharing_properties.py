"""Tasks that share the machine: against exhaustive search, bounds below optima, plans that know.

``COSCHED_SHARING_CASES`` sets how many instances are drawn (``tests_py/bench/bench_sharing.py``
draws 10,000).
"""

import os

import numpy as np
import pytest
from shared_cases import (
    brute_force,
    configuration_programme,
    moldable_case,
    packs_case,
    packs_large,
)

import cosched as cs
from cosched.errors import InvalidInstance

CASES = int(os.environ.get("COSCHED_SHARING_CASES", "150"))
PACK_HEURISTICS = ("sequential", "pack-by-pack-9", "random-pack-1", "random-proc-9", "local-search")


def effort(name):
    return {"work": 2000} if name == "local-search" else {}


@pytest.mark.parametrize("part", range(3))
def test_packs_against_exhaustive_search(part):
    for seed in range(part, CASES, 3):
        inst = packs_case(seed)
        optimum = brute_force(inst)
        best = cs.packs.solve(inst, "optimal")
        assert best.value == pytest.approx(optimum, rel=1e-9), seed
        assert best.gap <= 1e-9
        assert best.stopped_by == "proved"
        if inst.max_tasks <= 2:
            assert cs.packs.solve(inst, "pairs").value == pytest.approx(optimum, rel=1e-9), seed
        for name in cs.packs.BOUNDS:
            assert float(cs.packs.bound(inst, name)) <= optimum * (1 + 1e-9), (seed, name)
        plain = inst.without_slowdowns()
        for name in PACK_HEURISTICS:
            result = cs.packs.solve(inst, name, **effort(name))
            result.schedule.validate()
            assert result.value >= optimum * (1 - 1e-9)
            unaware = cs.packs.solve(plain, name, **effort(name))
            unaware_cost = cs.packs.co_schedule(inst, unaware.pack_of, unaware.procs)
            assert result.value <= unaware_cost.value * (1 + 1e-9), (seed, name)


@pytest.mark.parametrize("case", [packs_case, moldable_case])
def test_every_algorithm_solves_what_is_shared_or_refuses_it(case):
    """A new algorithm, too: cpp/README.md, How to add an algorithm."""
    solved, refused = set(), set()
    for seed in range(12):
        inst = case(seed)
        of = getattr(cs, inst.family)
        for name in of.ALGORITHMS:
            try:
                result = of.solve(inst, name, **effort(name))
            except cs.InvalidInstance:
                refused.add(name)
                continue
            result.schedule.validate()
            assert result.gap is None or result.gap >= -1e-9, (seed, name)
            solved.add(name)
    assert solved | refused == set(of.ALGORITHMS)
    assert len(solved) > 5


def test_relabelled_tasks_cost_the_same():
    for seed in range(20):
        inst = packs_case(seed)
        order = np.random.default_rng(seed).permutation(inst.tasks)
        shared = inst.sharing.select(order).arguments()
        same = cs.packs.Instance(inst.times[order], inst.max_tasks, **shared)
        values = [cs.packs.solve(each, "optimal").value for each in (inst, same)]
        assert values[0] == pytest.approx(values[1], rel=1e-9)


@pytest.mark.parametrize(("tasks", "procs", "size"), [(20, 16, 3), (30, 16, 2), (24, 12, 4)])
def test_beyond_sixteen_tasks_the_optimum_is_proved(tasks, procs, size):
    inst = packs_large(1, tasks, procs, size)
    best = cs.packs.solve(inst, "optimal")
    best.schedule.validate()
    assert best.stopped_by == "proved"
    assert best.gap <= 1e-9
    assert float(cs.packs.bound(inst)) <= best.value
    assert cs.packs.solve(inst, "local-search", work=100_000).value >= best.value * (1 - 1e-9)


def test_pairs_and_the_relaxation_agree_where_both_apply():
    inst = packs_large(2, 30, 16, 2)
    value = cs.packs.solve(inst, "optimal").value
    assert cs.packs.solve(inst, "pairs").value == pytest.approx(value, rel=1e-9)


def test_nothing_that_slows_is_today_to_the_value():
    rng = np.random.default_rng(5)
    times = rng.uniform(1, 20, (9, 6))
    plain = cs.packs.Instance(times, 3)
    same = cs.packs.Instance(
        times,
        3,
        resources={"memory": np.ones(9)},
        capacity={"memory": np.inf},
        slowdowns=np.ones((9, 9)),
    )
    for name in ("optimal", "sequential", "pack-by-pack-9", "random-pack-9"):
        values = [cs.packs.solve(each, name).value for each in (plain, same)]
        assert values[1] <= values[0] * (1 + 1e-12)
        if name in ("optimal", "sequential"):
            assert values[1] == pytest.approx(values[0], rel=1e-12)


def test_those_that_cannot_refuse_by_name():
    packs, jobs = packs_case(2), moldable_case(2)
    for name in ("ilp", "pack-approx"):
        with pytest.raises(InvalidInstance, match=f"{name} does not know the"):
            cs.packs.solve(packs, name)
    for name in ("demt", "demt-best", "dual-approximation"):
        with pytest.raises(InvalidInstance, match=f"{name} does not know the"):
            cs.moldable.solve(jobs, name)
    slow = cs.moldable.Instance([[4.0], [3.0]], [1, 1], slowdowns=[[1, 2], [2, 1]])
    with pytest.raises(InvalidInstance, match="optimal does not know the slow-downs"):
        cs.moldable.solve(slow, "optimal")
    for name in ("list-lp", "list-local"):
        with pytest.raises(
            InvalidInstance, match=f"^{name} does not know slow-downs: expected inst"
        ):
            cs.moldable.solve(slow, name)
    table = cs.packs.compare(packs, ["ilp", "sequential"])
    assert table.set_index("algorithm")["status"].to_dict() == {
        "ilp": "not_applicable",
        "sequential": "ok",
    }


LISTS = ("local-search", "gang", "sequential", "list-shelf", "list-lptf", "list-saf")


def test_moldable_schedules_validate_and_no_bound_passes_one():
    for seed in range(CASES // 3):
        inst = moldable_case(seed)
        values = []
        for name in LISTS:
            options = {"work": 3000} if name == "local-search" else {}
            result = cs.moldable.solve(inst, name, **options)
            result.schedule.validate()
            values.append(result.value)
            if inst.sharing.slows and not inst.has_releases:
                assert result.metrics()["value_if_constant"] >= result.value * (1 - 1e-9)
            if name == "local-search" and inst.sharing.slows and not inst.has_releases:
                plain = cs.moldable.solve(inst.without_slowdowns(), name, **options)
                unaware = cs.moldable.replay(inst, plain)
                unaware.schedule.validate()
                assert result.value <= unaware.value * (1 + 1e-9), seed
        assert values[0] <= min(values) * (1 + 1e-9) or inst.has_releases
        for name in ("configurations", "area", "longest", "slots", "dual-approximation"):
            assert float(cs.moldable.bound(inst, name)) <= min(values) * (1 + 1e-9), (seed, name)


def test_configurations_are_the_programme_over_all_sets():
    for seed in range(CASES // 3):
        inst = moldable_case(seed)
        if inst.jobs > 6 or inst.machines > 5 or inst.has_releases:
            continue
        programme_value = configuration_programme(inst)
        bound = cs.moldable.bound(inst, "configurations")
        assert bound.status == "ok"
        assert float(bound) <= programme_value * (1 + 1e-9), seed
        assert float(bound) >= programme_value * (1 - 2e-3), seed


def test_the_configurations_of_one_processor_are_a_partition():
    # On one processor nothing runs beside anything: the sum of times, exactly.
    inst = cs.moldable.Instance([[4.0], [3.0]], [1, 1], slowdowns=[[1, 2], [2, 1]])
    assert float(cs.moldable.bound(inst, "configurations")) == pytest.approx(7, rel=1e-3)
    assert cs.moldable.solve(inst, "local-search", work=1000).value == 7


def test_a_ban_waits_beside_idle_processors():
    # Side by side each takes three times as long: one after the other is better.
    slow = [[1, 3, 3], [3, 1, 3], [3, 3, 1]]
    inst = cs.moldable.Instance([[4.0], [4.0], [4.0]], [1, 1, 1], machines=3, slowdowns=slow)
    result = cs.moldable.solve(inst, "local-search", work=1000)
    assert result.value == pytest.approx(12)
    assert result.metrics()["value_if_constant"] == result.value
    assert float(cs.moldable.bound(inst)) == pytest.approx(12, rel=3e-3)


def test_searches_keep_their_budgets():
    packs, jobs = packs_large(3, 30, 16, 3), moldable_case(4)
    for solve, inst in ((cs.packs.solve, packs), (cs.moldable.solve, jobs)):
        first, second = (solve(inst, "local-search", work=5000, seed=3) for _ in range(2))
        assert first.value == second.value
        assert first.metrics()["stopped_by"] in ("work", "proved")
        assert solve(inst, "local-search", time_limit=0.2).metrics()["stopped_by"] in (
            "time",
            "proved",
        )
    cut = cs.packs.solve(packs, "optimal", time_limit=0.0)
    cut.schedule.validate()
    assert cut.stopped_by in ("time", "proved")
    assert cut.gap >= 0
