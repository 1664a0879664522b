"""The moldable family from Python: brute force, guarantees, worst cases, files."""

import pickle

import numpy as np
import pytest

import cosched as cs
from support import moldable_optima, random_times

MOLDABLE = cs.moldable
#: Of instances with a handful of jobs; else demt-best spends its work on each batch of them.
BRIEF = {"demt-best": {"work": 20_000}}
COUNTEREXAMPLE = [
    [1.01, 0.51, 0.40, 0.38],
    [0.51] * 4,
    [0.76] * 4,
    [1.51, 1.51 / 2, 1.51 / 3, 1.51 / 4],
]


def small(seed, n=4, m=3, releases=False):
    random = np.random.default_rng(seed)
    times = random_times(random, n, m)
    release = random.uniform(0, 15, n) * random.integers(0, 2, n) if releases else None
    return MOLDABLE.Instance(times, random.integers(0, 9, n), release)


# --- guarantees -----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("releases", [False, True])
def test_against_brute_force(seed, releases):
    inst = small(seed, 3 + seed % 2, 2 + seed % 3, releases)
    makespan, minsum = moldable_optima(inst.times, inst.weights, inst.release)
    for name in ("dual-approximation", "area", "longest"):
        assert float(MOLDABLE.bound(inst, name)) <= makespan * (1 + 1e-9)
    for refine in (1, 7):
        assert float(MOLDABLE.bound(inst, "minsum", refine=refine)) <= minsum * (1 + 1e-9)
    for name in MOLDABLE.ALGORITHMS:
        res = MOLDABLE.solve(inst, name, seed=seed, **BRIEF.get(name, {}))
        res.schedule.validate()
        assert res.makespan >= makespan * (1 - 1e-9)
        assert res.weighted_completion >= minsum * (1 - 1e-9)
        assert float(res.bound) <= res.value * (1 + 1e-9)
        assert float(res.minsum_bound) <= res.weighted_completion * (1 + 1e-9)
        assert res.minsum_bound.method == "minsum"
        assert res.value == res.makespan == res.schedule.makespan
        assert (res.start >= inst.release).all()
        if res.ratio is not None:
            assert res.makespan <= res.ratio * makespan * (1 + 1e-9)
    assert MOLDABLE.solve(inst, "list-saf").ratio is None
    res = MOLDABLE.dual_approximation(inst, tolerance=0.1)
    assert res.ratio == pytest.approx((2 if inst.has_releases else 1) * 1.65)


def test_the_counterexample_is_solved_within_three_halves():
    inst = MOLDABLE.Instance(COUNTEREXAMPLE, [1] * 4)
    optimum, _ = moldable_optima(inst.times, inst.weights)
    res = MOLDABLE.solve(inst, "dual-approximation", tolerance=1e-6)
    assert res.makespan <= 1.5 * (1 + 1e-6) * optimum
    assert float(res.bound) <= optimum
    assert res.bound.method == "dual-approximation"


def test_a_smaller_tolerance_gives_no_worse_bound():
    inst = cs.workloads.moldable("mixed", 60, 40, seed=3)
    bounds = [
        float(MOLDABLE.bound(inst, "dual-approximation", tolerance=t)) for t in (0.3, 0.01, 1e-6)
    ]
    assert bounds[0] <= bounds[1] * (1 + 1e-9) <= bounds[2] * (1 + 2e-9)
    assert float(MOLDABLE.bound(inst)) == bounds[1]


@pytest.mark.parametrize("kind", ["weakly", "highly", "mixed", "cirne"])
def test_demt_best_is_never_worse_than_demt(kind):
    inst = cs.workloads.moldable(kind, 60, 50, seed=1)
    demt, best = MOLDABLE.solve(inst, "demt"), MOLDABLE.solve(inst, "demt-best")
    assert best.makespan <= demt.makespan
    assert best.weighted_completion <= demt.weighted_completion
    front = best.pareto_front
    assert (np.diff(front[:, 0]) > 0).all()
    assert (np.diff(front[:, 1]) < 0).all()
    assert [best.makespan, best.weighted_completion] in [
        [pytest.approx(x), pytest.approx(y)] for x, y in front
    ]
    assert demt.pareto_front is None
    limited = MOLDABLE.demt_best(inst, time_limit=0)
    assert limited.status == "time_limit"
    limited.schedule.validate()


# --- release dates --------------------------------------------------------------------------


def test_by_batches():
    inst = MOLDABLE.Instance([[2.0], [2.0], [2.0]], [1, 1, 1], release=[10, 0, 1])
    for name in MOLDABLE.ALGORITHMS:
        assert MOLDABLE.solve(inst, name, **BRIEF.get(name, {})).start.tolist() == [10, 0, 2]
    assert float(MOLDABLE.bound(inst)) == 12
    res = MOLDABLE.online(inst, "list-saf", seed=3)
    assert (res.algorithm, res.seed, res.start.tolist()) == ("list-saf on-line", 3, [10, 0, 2])
    assert MOLDABLE.online(inst, "dual-approximation").ratio == pytest.approx(3.03)
    with pytest.raises(ValueError, match="near"):
        MOLDABLE.online(inst, "list-sav")
    with pytest.raises(TypeError, match="tolerance"):
        MOLDABLE.online(inst, "list-saf", bolerance=3)


def test_ones_own_algorithm_goes_on_line(own_algorithm):
    sizes = []

    def one_by_one(instance, *, seed):
        sizes.append(instance.jobs)
        assert not instance.has_releases
        return MOLDABLE.gang(instance).schedule

    own_algorithm("moldable", "one-by-one", one_by_one)
    inst = small(3, 5, 3, releases=True)
    res = MOLDABLE.online(inst, "one-by-one")
    res.schedule.validate()
    assert sum(sizes) == 5
    assert len(sizes) > 1


def test_a_time_limit_is_for_all_batches_together():
    random = np.random.default_rng(0)
    times = random_times(random, 30, 4)
    inst = MOLDABLE.Instance(times, np.ones(30), release=np.arange(30) * 100.0)
    res = MOLDABLE.solve(inst, "demt-best", time_limit=0.0)
    assert res.status == "time_limit"
    res.schedule.validate()


# --- instances ------------------------------------------------------------------------------


def test_profiles_go_on_with_their_last_time():
    inst = MOLDABLE.Instance([[4, 2], [3, 1]], [1, 2], machines=5)
    assert [inst.time(0, q) for q in range(1, 6)] == [4, 2, 2, 2, 2]
    res = MOLDABLE.solve(inst, "gang")
    assert res.procs.tolist() == [5, 5]
    assert inst.times.shape == (2, 2)
    narrow = MOLDABLE.Instance([[4, 2, 1]], [1], machines=2)
    assert narrow.times.tolist() == [[4, 2]]
    with pytest.raises(cs.InvalidInstance, match="expected a job"):
        narrow.time(0, 3)


def test_downey_is_the_published_formula():
    def speedup(n, A, sigma):
        if sigma <= 1:
            if n <= A:
                return A * n / (A + sigma * (n - 1) / 2)
            if n <= 2 * A - 1:
                return A * n / (sigma * (A - 0.5) + n * (1 - sigma / 2))
            return A
        if n <= A + A * sigma - sigma:
            return n * A * (sigma + 1) / (sigma * (n + A - 1) + A)
        return A

    A, sigma = np.array([1, 6.5, 20, 3, 40.0]), np.array([0, 0.4, 1, 1.5, 7])
    inst = MOLDABLE.Instance.from_downey([10.0] * 5, A, sigma, [1] * 5, 60)
    expected = [
        [10 / speedup(q, a, s) for q in range(1, 61)] for a, s in zip(A, sigma, strict=True)
    ]
    assert np.allclose(inst.times, expected, rtol=1e-14)
    assert inst.monotone
    table = MOLDABLE.Instance(inst.times, inst.weights)
    for name in MOLDABLE.ALGORITHMS:
        options = BRIEF.get(name, {})
        assert MOLDABLE.solve(inst, name, **options).value == (
            MOLDABLE.solve(table, name, **options).value
        )


def test_a_hundred_thousand_jobs_on_ten_thousand_processors():
    inst = cs.workloads.moldable("cirne-berman", 100_000, 10_000, seed=1)
    res = MOLDABLE.solve(inst, "demt")
    res.schedule.validate()
    assert res.gap < 0.5
    assert 0 < res.minsum_gap < 2
    with pytest.raises(cs.InvalidInstance, match="formulas"):
        _ = inst.times
    with pytest.raises(cs.InvalidInstance, match="processors in all"):
        MOLDABLE.solve(inst, "gang")


def test_profiles_that_are_not_monotone():
    rising = MOLDABLE.Instance([[3.0, 4.0], [2.0, 1.5]], [1, 1])
    superlinear = MOLDABLE.Instance([[3.0, 1.0], [2.0, 1.5]], [1, 1])
    impossible = MOLDABLE.Instance([[np.inf, 1.0], [2.0, 1.5]], [1, 1])
    for inst, ratio in ((rising, 1.5), (superlinear, 2), (impossible, 2)):
        assert not inst.monotone
        assert any("claims a factor of 2" in note for note in inst.notes) == (ratio == 2)
        makespan, minsum = moldable_optima(inst.times, inst.weights)
        for name in MOLDABLE.ALGORITHMS:
            res = MOLDABLE.solve(inst, name, **BRIEF.get(name, {}))
            res.schedule.validate()
            assert float(res.bound) <= makespan <= res.makespan
            assert float(res.minsum_bound) <= minsum <= res.weighted_completion
        dual = MOLDABLE.solve(inst, "dual-approximation", tolerance=0.1)
        assert dual.ratio == pytest.approx(1.1 * ratio)
        assert dual.makespan <= dual.ratio * makespan
        table = MOLDABLE.compare(inst)
        assert (table.status == "ok").all()
    linear = MOLDABLE.Instance([6 / np.arange(1, 50)], [1])
    assert linear.monotone  # up to rounding
    assert linear.notes == ()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (([], []), "times"),
        (([[1, 2], [3]], [1, 1]), "rows"),
        (([[1, -2]], [1]), r"times\[0, 1\] = -2"),
        (([[1, np.nan]], [1]), r"times\[0, 1\]"),
        (([[1, 2]], [1, 2]), "weights has 2 entries for 1"),
        (([[1, 2]], [-1]), r"weights\[0\] = -1"),
        (([[1, 2]], [np.inf]), r"weights\[0\]"),
        (([[1, 2]], ["a"]), "weights"),
        (([[1, 2]], [1], [-1]), r"release\[0\] = -1"),
        (([[1, 2]], [1], [1, 2]), "release has 2"),
        (([[1e308]], [1e9]), "overflow"),
    ],
)
def test_refusals(arguments, text):
    with pytest.raises(cs.InvalidInstance, match=text):
        MOLDABLE.Instance(*arguments)


def test_more_refusals():
    for machines in (0, -1, 1.5, "2", 2**40):
        with pytest.raises(cs.InvalidInstance, match="machines"):
            MOLDABLE.Instance([[1.0]], [1], machines=machines)
    for arguments, text in (
        (([1], [0.5], [0], [1], 4), r"A\[0\] = 0.5"),
        (([1], [2], [-1], [1], 4), "sigma"),
        (([0], [2], [1], [1], 4), "t1"),
        (([1, 2], [2], [1], [1], 4), "A has 1 entries, t1 has 2"),
        (([1], [2], [1], [1], 0), "machines"),
        (([], [], [], [], 4), "no jobs"),
    ):
        with pytest.raises(cs.InvalidInstance, match=text):
            MOLDABLE.Instance.from_downey(*arguments)
    inst = small(1)
    for name, options, text in (
        ("dual-approximation", {"tolerance": 0}, "tolerance"),
        ("list-saf", {"tolerance": float("nan")}, "tolerance"),
        ("demt", {"compaction": "best"}, "compaction = 'best'"),
        ("demt", {"local_order": 3}, "local_order"),
        ("demt", {"shuffles": -1}, "shuffles"),
        ("demt", {"horizon": 0.0}, "horizon"),
        ("demt-best", {"work": -1}, "work"),
        ("demt-best", {"time_limit": -1}, "time_limit"),
    ):
        with pytest.raises(cs.InvalidInstance, match=text):
            MOLDABLE.solve(inst, name, **options)
    with pytest.raises(cs.InvalidInstance, match="refine"):
        MOLDABLE.bound(inst, "minsum", refine=0)
    with pytest.raises(cs.InvalidInstance, match="job 9"):
        inst.select([9])


def test_instances_are_values():
    inst = MOLDABLE.Instance(
        [[4.0, 3.0], [2.0, 1.0]],
        [1, 2],
        [0, 3],
        machines=3,
        names=["a", "b"],
        origin=[[0, 1], [0, 0]],
    )
    formulas = MOLDABLE.Instance.from_downey([1], [2], [3], [4], 5, release=[6], names=["x"])
    for each in (inst, formulas):
        copy = pickle.loads(pickle.dumps(each))
        assert copy == each
        assert repr(copy) == repr(each)
    assert inst != formulas
    assert inst.origin.tolist() == [[0, 1, 2], [0, 0, 2]]
    assert formulas.origin is None
    with pytest.raises(AttributeError):
        inst.machines = 4
    with pytest.raises(ValueError, match="read-only"):
        inst.weights[0] = 3
    part = inst.select([1])
    assert (part.names, part.release.tolist(), part.times.tolist()) == (("b",), [0], [[2, 1]])


@pytest.mark.parametrize("scale", [1e-300, 1e-12, 1e12, 1e280])
def test_scale_does_not_matter(scale):
    inst = small(5, 6, 4)
    scaled = MOLDABLE.Instance(inst.times * scale, inst.weights)
    for name in MOLDABLE.ALGORITHMS:
        unscaled, other = (
            MOLDABLE.solve(each, name, **BRIEF.get(name, {})) for each in (inst, scaled)
        )
        assert other.value == pytest.approx(unscaled.value * scale, rel=1e-6), name
        assert float(other.minsum_bound) == pytest.approx(
            float(unscaled.minsum_bound) * scale, rel=1e-6
        )


@pytest.mark.parametrize("name", MOLDABLE.ALGORITHMS)
def test_smallest_instances(name):
    for times, weights in (
        ([[3.0]], [1]),
        ([[3.0, 2.0]], [0]),
        ([[3.0], [4.0]], [1, 0]),
        ([[3.0, 2.0]] * 2, [0, 0]),
    ):
        inst = MOLDABLE.Instance(times, weights)
        res = MOLDABLE.solve(inst, name, **BRIEF.get(name, {}))
        res.schedule.validate()
        assert float(res.minsum_bound) <= res.weighted_completion * (1 + 1e-9)


def test_each_compaction_is_no_worse():
    inst = cs.workloads.moldable("highly", 80, 40, seed=7)
    values = [
        MOLDABLE.demt(inst, compaction=step).weighted_completion
        for step in ("none", "early", "list", "shuffle")
    ]
    assert values == sorted(values, reverse=True)


# --- workloads ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["weakly-parallel", "highly-parallel", "mixed", "cirne-berman"])
def test_workloads(kind):
    inst = cs.workloads.moldable(kind, 300, 20, seed=1)
    assert inst == cs.workloads.moldable(kind, 300, 20, seed=1)
    assert inst != cs.workloads.moldable(kind, 300, 20, seed=2)
    assert inst.monotone
    assert 1 <= inst.weights.min() < 2
    assert 9 < inst.weights.max() <= 10
    speedup = inst.times[:, 0] / inst.times[:, -1]
    if kind == "weakly-parallel":
        assert speedup.mean() < 2.5
    if kind == "highly-parallel":
        assert speedup.mean() > 10
    if kind == "mixed":
        assert 0.6 < (inst.times[:, 0] < 3).mean() < 0.85
    else:
        assert inst.times[:, 0].min() >= 1
        assert inst.times[:, 0].max() <= 10


def test_bad_workloads():
    for arguments in (
        {"kind": "x"},
        {"kind": ""},
        {"kind": "m", "n": 0},
        {"m": 0},
        {"weights": (3, 1)},
        {"sequential": (0, 1)},
        {"small_share": 2},
        {"seed": -1},
    ):
        with pytest.raises(cs.InvalidInstance):
            cs.workloads.moldable(**arguments)


def test_workloads_that_no_draw_can_reach_are_refused():
    with pytest.raises(cs.InvalidInstance, match="outside the range"):
        cs.workloads.moldable("mixed", 5, 4, large=(-1e300, 1.0), seed=1)


@pytest.mark.parametrize("unit", [1e-290, 1e-30, 1.0, 1e30, 1e290])
def test_configurations_at_any_scale(unit):
    slow = [[1, 2, 2], [2, 1, 2], [2, 2, 1]]
    inst = cs.moldable.Instance([[4 * unit]] * 3, [1, 1, 1], machines=3, slowdowns=slow)
    assert float(cs.moldable.bound(inst, "configurations")) == pytest.approx(12 * unit, rel=1e-9)
    mixed = cs.moldable.Instance([[unit], [1.0], [1 / unit]], [1, 1, 1], machines=2)
    longest = max(unit, 1 / unit)
    bound = float(cs.moldable.bound(mixed, "configurations"))
    assert longest <= bound <= float(cs.moldable.solve(mixed, "local-search").value)


def test_bounds_of_times_without_numbers_between_them():
    """Quotients of such times are 0 or infinite, and were places in arrays."""
    for times, release in (
        ([[4.15, 2.3e-308]], [1e300]),
        ([[5e-324, 1.0], [5e-324, 4.15]], [1e300, 1e-310]),
        ([[5e-324, 4.15, 4.42]], [0.0]),
        ([[1e300], [1e-300]], [0.0, 0.0]),
    ):
        inst = cs.moldable.Instance(times, [1.0] * len(times), release=release)
        longest = cs.moldable.bound(inst, "longest").value
        assert cs.moldable.bound(inst, "configurations").value >= longest * (1 - 1e-9)
        best = cs.moldable.solve(inst, "sequential").schedule
        assert cs.moldable.bound(inst, "configurations").value <= best.makespan * (1 + 1e-9)
        weighted = float(best.end.sum())
        assert cs.moldable.bounds.time_indexed_bound(inst).value <= weighted * (1 + 1e-9)


def test_as_many_shuffles_as_anybody_wants_end_at_the_limit():
    inst = cs.moldable.Instance([[8.0, 4.4, 3.1], [6.0, 3.2, 2.5], [2.0, 1.2, 0.9]], [1, 2, 4])
    many = {"demt": {"shuffles": 2**31 - 1}}
    table = cs.moldable.compare(inst, ["demt", "gang"], time_limit=1.0, options=many)
    assert table.set_index("algorithm")["status"].to_dict() == {"demt": "time_limit", "gang": "ok"}
