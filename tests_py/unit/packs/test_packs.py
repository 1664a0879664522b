"""The packs family from Python: brute force, guarantees, worst cases."""

import numpy as np
import pytest

import cosched as cs
from support import pack_cost_by_brute_force, packs_optimum, random_times

HEURISTICS = [name for name in cs.packs.ALGORITHMS if name not in ("pairs", "optimal", "ilp")]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("k", [1, 2, 3, 4, 7])
def test_exact_methods_equal_exhaustive_search(seed, k):
    random = np.random.default_rng(seed)
    inst = cs.packs.Instance(random_times(random, 6 if k < 7 else 7, 5 + seed), k)
    best = packs_optimum(inst.times, k)
    result = cs.packs.solve(inst, "optimal")
    assert result.value == pytest.approx(best, rel=1e-9)
    assert result.gap == 0
    assert result.bound.method == "optimal"
    if k <= 2:
        assert cs.packs.solve(inst, "pairs").value == pytest.approx(best, rel=1e-9)
    for name in HEURISTICS:
        res = cs.packs.solve(inst, name, seed=seed)
        res.schedule.validate()
        assert res.value >= best * (1 - 1e-9)
    for name in cs.packs.BOUNDS:
        assert float(cs.packs.bound(inst, name)) <= best * (1 + 1e-9)
    assert (
        cs.packs.solve(inst, "local-search").value <= cs.packs.solve(inst, "pack-by-pack-9").value
    )


@pytest.mark.parametrize("seed", range(3))
def test_ilp_equals_exhaustive_search(seed):
    random = np.random.default_rng(seed)
    inst = cs.packs.Instance(random.uniform(1, 9, (4, 4)), 3)
    res = cs.packs.solve(inst, "ilp")
    assert res.value == pytest.approx(packs_optimum(inst.times, 3), rel=1e-9)
    res.schedule.validate()


@pytest.mark.parametrize("seed", range(20))
def test_pairs_on_any_table(seed):
    random = np.random.default_rng(seed)
    inst = cs.packs.Instance(random.uniform(1, 9, (5, 6)), 2)
    assert cs.packs.pairs(inst).value == pytest.approx(packs_optimum(inst.times, 2), rel=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_one_pack(seed):
    random = np.random.default_rng(seed)
    n, p = int(random.integers(1, 6)), int(random.integers(6, 12))
    times = random_times(random, n, p)
    best = pack_cost_by_brute_force(times, range(n), p)
    for solver in (cs.packs.one_pack, cs.packs.one_pack_dynamic_programme):
        counts = solver(times, p)
        assert counts.sum() <= p
        assert times[np.arange(n), counts - 1].max() == pytest.approx(best)
        wild = random.uniform(1, 9, (n, p))
        counts = solver(wild, p)
        assert counts.sum() <= p
        assert wild[np.arange(n), counts - 1].max() == pytest.approx(
            pack_cost_by_brute_force(wild, range(n), p)
        )


def test_one_pack_refusals():
    with pytest.raises(cs.InfeasibleError):
        cs.packs.one_pack([[3, 2], [3, 2], [3, 2]], 2)
    with pytest.raises(cs.InvalidInstance, match="columns"):
        cs.packs.one_pack([[3, 2]], 3)
    with pytest.raises(cs.InfeasibleError, match="need at least 4 processors"):
        cs.packs.one_pack([[np.inf, 2, 1], [np.inf, 2, 1]], 3)
    assert cs.packs.one_pack([[3, 4]], 2).tolist() == [1]
    with pytest.raises(cs.InvalidInstance, match="procs = 0"):
        cs.packs.one_pack([[3, 2]], 0)
    # Columns beyond procs are not used, so they may be anything.
    assert cs.packs.one_pack([[3, 2, 9]], 2).tolist() == [2]


@pytest.mark.parametrize("seed", range(10))
def test_pack_approx_guarantee(seed):
    random = np.random.default_rng(100 + seed)
    times = random_times(random, 6, 4)
    inst = cs.packs.Instance(times)  # k = p
    best = packs_optimum(times, 4)
    paper = cs.packs.solve(inst, "pack-approx", reoptimise=False)
    ours = cs.packs.solve(inst, "pack-approx")
    assert best * (1 - 1e-9) <= ours.value <= paper.value <= 3 * best
    paper.schedule.validate()


@pytest.mark.parametrize("k", [3, 4, 5])
@pytest.mark.parametrize("seed", range(3))
def test_three_partition(k, seed):
    inst = cs.workloads.three_partition(triples=3, target=24, max_tasks=k, seed=seed)
    res = cs.packs.solve(inst, "optimal")
    assert res.value == pytest.approx(3, rel=1e-9)  # YES: cost n / k, packs full
    assert np.bincount(res.pack_of).tolist() == [k] * 3
    assert float(cs.packs.bound(inst)) <= 3 * (1 + 1e-9)


def test_metrics_by_hand():
    # Packs {0, 1} of cost 4 and {2} of cost 2 on p = 3.
    inst = cs.packs.Instance([[8, 4, 3], [3, 2, 1.5], [6, 3, 2]], 2)
    res = cs.packs.make_pack(inst, [2, 1, 3], reoptimise=False)
    assert res.cost == 6
    assert res.pack_of[0] == res.pack_of[1] != res.pack_of[2]
    assert res.packing_ratio == pytest.approx((8 + 3 + 6) / (3 * 6))
    assert res.relative_cost == pytest.approx(6 / (3 + 1.5 + 2))
    alone = (1.5 + (1.5 + 2) + (1.5 + 2 + 3)) / 3
    assert res.relative_response_time == pytest.approx((2 + (2 + 4) + (2 + 3)) / 3 / alone)
    assert res.schedule.to_frame().start.tolist() == [2, 2, 0]


def test_make_pack_refusals():
    inst = cs.packs.Instance([[8, 4, 3], [3, 2, 1.5]], 2)
    for procs in ([1], [1, 4], [0, 1], [1, 1.5], [1, -1]):
        with pytest.raises(cs.InvalidInstance):
            cs.packs.make_pack(inst, procs)


def test_pack_size_is_clamped_or_refused():
    assert cs.packs.Instance([[3, 2]] * 4, 10**9).max_tasks == 2
    assert cs.packs.Instance([[3, 2]] * 4).max_tasks == 2
    for bad in (0, -1, 1.5, "2"):
        with pytest.raises(cs.InvalidInstance, match="max_tasks"):
            cs.packs.Instance([[3, 2]] * 4, bad)
    assert cs.packs.solve(cs.packs.Instance([[3.0]] * 3, 5), "pairs").value == 9


@pytest.mark.parametrize("name", cs.packs.ALGORITHMS)
def test_smallest_instances(name):
    for times, k in (([[3.0]], 1), ([[3.0, 2.0]], 1), ([[3.0], [4.0]], 1), ([[3.0, 2.0]] * 2, 2)):
        inst = cs.packs.Instance(times, k)
        res = cs.packs.solve(inst, name)
        res.schedule.validate()
        if "random" in name:  # no guarantee, but never more than one processor for each in turn
            assert res.value <= inst.times[:, 0].sum()
        else:
            assert res.value <= 1.5 * cs.packs.optimal(inst).value + 1e-9


@pytest.mark.parametrize("scale", [1e-300, 1e-12, 1e12, 1e290])
def test_scale_does_not_matter(scale):
    plain = random_times(np.random.default_rng(0), 6, 4)
    for name in cs.packs.ALGORITHMS:
        if name in ("pairs", "ilp"):
            continue
        small = cs.packs.solve(cs.packs.Instance(plain, 3), name)
        large = cs.packs.solve(cs.packs.Instance(plain * scale, 3), name)
        assert large.value == pytest.approx(small.value * scale, rel=1e-6), name


def test_options():
    inst = cs.workloads.packs_ii(tasks=12, seed=4, max_tasks=4)
    nine = cs.packs.pack_by_pack(inst)
    each = [cs.packs.pack_by_pack(inst, epsilons=[e / 10]).value for e in range(1, 10)]
    assert nine.value == min(each)
    assert cs.packs.solve(inst, "pack-by-pack-1").value == each[4]
    for bad in ([], [1.0], [-0.1], [float("nan")], ["x"]):
        with pytest.raises(cs.InvalidInstance, match="epsilon"):
            cs.packs.pack_by_pack(inst, epsilons=bad)
    with pytest.raises(cs.InvalidInstance, match=r"epsilons.* expected at most"):
        cs.packs.pack_by_pack(inst, epsilons=range(2**62))
    for k in (2, 4, 12):
        limited = inst.with_max_tasks(k)
        for epsilons in ([0.2], [0.5, 0.9]):
            cuts = cs.packs.pack_by_pack(limited, epsilons=epsilons, choice="cuts")
            cuts.schedule.validate()
            assert cuts.value <= cs.packs.pack_by_pack(limited, epsilons=epsilons).value * (
                1 + 1e-12
            )
            cs.packs.pack_by_pack(limited, epsilons=epsilons, choice="idle").schedule.validate()
    greedy = cs.packs.solve(inst, "pack-by-pack-1", choice="greedy")
    assert greedy.value == each[4]
    with pytest.raises(
        cs.InvalidInstance, match="choice = 'x': expected one of greedy, idle, cuts"
    ):
        cs.packs.pack_by_pack(inst, choice="x")
    for name in ("random_pack", "random_proc"):
        draw = getattr(cs.packs, name)
        assert draw(inst, draws=9, seed=1).value <= draw(inst, draws=1, seed=1).value
        with pytest.raises(cs.InvalidInstance, match="draws"):
            draw(inst, draws=0)
    with pytest.raises(cs.InvalidInstance, match="time_limit"):
        cs.packs.optimal(inst, time_limit=-1)


def test_local_search_says_when_its_time_limit_ended_it():
    instance = cs.workloads.packs_ii(tasks=20, seed=1, max_tasks=4)
    cut = cs.packs.local_search(instance, time_limit=0)
    assert cut.status == "time_limit"
    assert cut.value <= cs.packs.solve(instance, "pack-by-pack-9").value
    assert cs.packs.local_search(instance, work=10, time_limit=1e6).status == "ok"


@pytest.mark.parametrize(
    ("tasks", "shares"), [(14, False), (18, False), (33, False), (18, True), (30, True)]
)
def test_optimal_under_a_time_limit_is_no_worse_than_the_local_search(tasks, shares):
    """It begins with the rounds of that, whose first ones end long before the limit."""
    instance = cs.workloads.packs_ii(tasks=tasks, nodes=8, max_tasks=4, seed=tasks)
    if shares:
        need = np.full((tasks, instance.procs), 1.0)
        instance = cs.packs.Instance(
            instance.times, 4, resources={"memory": need}, capacity={"memory": 3.0}
        )
    searched = cs.packs.local_search(instance, seed=0, work=1_000_000)
    exact = cs.packs.optimal(instance, time_limit=2.0)
    exact.schedule.validate()
    assert exact.value <= searched.value * (1 + 1e-6)
    assert float(exact.bound) <= exact.value


def test_the_default_work_of_a_thousand_tasks_is_that_of_260():
    """Five million operations a task, and 1.3e9 in all: some seconds."""
    works = {tasks: cs._core.packs.default_work(tasks) for tasks in (1, 260, 1000, 100_000)}
    assert works[1] == works[260] == cs.packs.algorithms.LOCAL_SEARCH_WORK
    assert works[1000] * 1000 <= 260 * works[260]
    assert works[100_000] * 100_000 <= 260 * works[260]


def test_a_time_limit_never_claims_a_proof():
    inst = cs.workloads.packs_ii(tasks=40, seed=1, max_tasks=5)
    res = cs.packs.optimal(inst, time_limit=0.05)
    assert float(res.bound) <= res.value
    assert res.status in ("ok", "time_limit")
    if res.status == "time_limit":
        assert res.bound.method == "optimal"
    res.schedule.validate()


def test_generators():
    inst = cs.workloads.packs_ii(seed=1)
    assert (inst.tasks, inst.procs) == (65, 16)
    assert np.allclose(cs.packs.monotone(inst.times), inst.times)
    assert cs.workloads.packs_ii(seed=1) == inst
    assert cs.workloads.packs_ii(seed=2) != inst
    assert (cs.workloads.packs_iii(seed=1).tasks, cs.workloads.packs_iii(seed=1).procs) == (260, 32)
    # f = 1 without overhead on one core: no speed-up at all.
    flat = cs.workloads.packs_ii(serial_fractions=[1.0], overheads=["log q"], seed=1)
    assert (flat.times == flat.times[:, :1]).mean() > 0.05
    for bad in (
        {"tasks": 0},
        {"nodes": 0},
        {"serial_fractions": [2.0]},
        {"sequential": ["m^9"]},
        {"overheads": ["x"]},
        {"sizes": (9, 3)},
        {"reference_time": -1},
        {"seed": -1},
    ):
        with pytest.raises(cs.InvalidInstance):
            cs.workloads.packs_ii(**bad)


def test_direct_calls_say_what_they_were():
    inst = cs.workloads.packs_ii(tasks=8, seed=4, max_tasks=3)
    assert cs.packs.random_pack(inst, draws=3, seed=7).seed == 7
    assert cs.packs.random_pack(inst, draws=3).algorithm == "random-pack-3"
    assert cs.packs.local_search(inst, seed=5).seed == 5
    for name in ("sequential", "optimal", "local-search"):
        assert getattr(cs.packs, name.replace("-", "_"))(inst).algorithm == name


def test_thousands_of_tasks_keep_a_limit_and_have_a_bound():
    inst = cs.workloads.packs_ii(tasks=1300, nodes=8, max_tasks=3, seed=1)
    result = cs.packs.optimal(inst, time_limit=0.3)
    assert result.status == "time_limit"
    result.schedule.validate()
    assert float(result.bound) <= result.value
    bound = cs.packs.bound(inst, "columns", time_limit=20)
    local = cs.packs.local_search(inst, work=20_000)
    assert local.status == "ok"
    longest = float(cs.packs.bound(inst, "longest"))
    assert longest <= float(bound) <= local.value <= 1.05 * float(bound)


@pytest.mark.parametrize(
    "name", ["x" * 5002, "x" * 5002 + ".json", "x" * 300 + ".csv", "d/" * 2100 + "x.json"]
)
def test_a_name_that_no_file_can_have_is_not_repeated(name):
    inst = cs.packs.Instance([[2.0, 1.0]], max_tasks=1)
    readers = [
        module.Instance.read for module in (cs.packs, cs.moldable, cs.dags, cs.bags, cs.cluster)
    ]
    bags = cs.bags.Instance([1], [1], [[1.0]], [[1.0]], price=9000)
    calls = (inst.write, *readers, cs.cluster.Machine.read, bags.write)
    for call in calls:
        with pytest.raises(OSError, match="File name too long") as error:
            call(name)
        assert len(str(error.value)) < 200


def test_an_integer_programme_of_tiny_and_long_times_is_exact():
    # At GLPK's own integrality tolerance 8.7803374 was called optimal.
    alone = [3.798232667181469e-07, 5.304478028606775e-05, 5.969442793080592e-10]
    times = [[time, time] for time in alone]
    times += [[104201211.12736394, 0.09046913405268464], [8.6898148455956, 8.6898148455956]]
    inst = cs.packs.Instance(times, max_tasks=2)
    proved = cs.packs.solve(inst, "ilp")
    assert proved.stopped_by == "proved"
    assert proved.value == pytest.approx(cs.packs.solve(inst, "optimal").value, rel=1e-9)


def test_an_integer_programme_has_no_bound_above_the_optimum():
    # GLPK calls a co-schedule optimal that is 1.6e-7 longer than another.
    random = np.random.default_rng(43)
    tasks, procs = int(random.integers(2, 5)), int(random.integers(1, 4))
    times = 10.0 ** random.uniform(-6, 6, (tasks, procs))
    inst = cs.packs.Instance(times, max_tasks=int(random.integers(1, 4)))
    relaxation, optimum = cs.packs.ilp(inst), cs.packs.optimal(inst).value
    assert relaxation.value > optimum * (1 + 1e-8)
    assert optimum * (1 - 2e-6) < relaxation.bound.value <= optimum


def test_what_is_proved_has_no_gap():
    """Up to twelve tasks local-search is the optimum; its gap was that of the bound beside it."""
    gaps = []
    for seed in range(10):
        inst = cs.workloads.packs_ii(tasks=10, nodes=8, seed=seed, max_tasks=4)
        result = cs.packs.local_search(inst)
        assert (result.stopped_by, result.gap) == ("proved", 0)
        assert result.value == cs.packs.optimal(inst).value
        gaps.append(result.value / cs.packs.bound(inst).value - 1)
    assert max(gaps) > 1e-3
