"""Limits of dags that are used, bounds that fall back, times of any size."""

import os

import numpy as np
import pytest

import cosched as cs
from cosched.cli import report
from cosched.dags import family

#: 2,000 take a quarter of a minute.
GRAPHS = int(os.environ.get("COSCHED_GRAPHS", "150"))


def five_types(seed, tasks=30):
    return cs.workloads.layered(
        tasks, 0.3, seed=seed, acceleration=[(0.5, 2)] * 4, units=(1,) * 5, ccr=5
    )


def test_a_time_limit_alone_is_used():
    inst = cs.workloads.layered(200, seed=1, units=(4, 2))
    fixed = cs.dags.hlp_best(inst, work=20)
    assert (fixed.stopped_by, fixed.status, fixed.metrics()["stopped_by"]) == ("work", "ok", "work")
    for seconds, largest_work, end in ((0.3, None, "time"), (1e6, 30, "work")):
        res = cs.dags.hlp_best(inst, work=largest_work, time_limit=seconds)
        res.schedule.validate()
        assert res.stopped_by == end
    once, with_seed_0 = cs.dags.hlp_best(inst), cs.dags.hlp_best(inst, seed=0)
    assert once.value == with_seed_0.value
    assert once.stopped_by == "work"


def test_work_and_evaluations_are_the_same():
    inst = cs.workloads.layered(100, seed=2, units=(4, 2))
    assert cs.dags.hlp_best(inst, work=300).value == cs.dags.hlp_best(inst, evaluations=300).value
    with pytest.raises(cs.InvalidInstance, match="work and evaluations"):
        cs.dags.hlp_best(inst, work=3, evaluations=3)


@pytest.mark.parametrize("ccr", [None, 1.0])
def test_more_work_within_a_limit_goes_on_improving(ccr):
    inst = cs.workloads.layered(300, seed=1, units=(4, 2), ccr=ccr)
    values = [
        cs.dags.hlp_best(inst, work=work, time_limit=1e6).value for work in (100, 1000, 10_000)
    ]
    assert values[0] > values[1] > values[2]


@pytest.mark.parametrize("seed", range(3))
def test_small_graphs_on_many_types_are_searched_first(seed):
    inst = five_types(seed)
    heft = cs.dags.heft(inst).value
    assert cs.dags.hlp_best(inst, work=2000, time_limit=1e6).value < 0.95 * heft


def test_large_graphs_are_better_than_heft_within_little_work():
    inst = cs.workloads.layered(4000, 0.05, seed=1, units=(64, 16, 4), acceleration=[(0.5, 50)] * 2)
    best = cs.dags.hlp_best(inst, work=50)
    assert best.value < 0.95 * cs.dags.heft(inst).value
    assert best.value >= float(best.bound)


def test_other_rounds_with_data_find_what_one_heat_does_not():
    inst = cs.workloads.layered(60, seed=1, units=(4, 2), ccr=1)
    short, long = (cs.dags.hlp_best(inst, work=work).value for work in (2_000, 60_000))
    assert long < short


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("ccr", [0.05, 0.3, 5])
def test_transfers_is_never_weaker_than_its_relaxation(seed, ccr):
    inst = cs.workloads.layered(40, seed=seed, units=(4, 2), ccr=ccr)
    bound = cs.dags.transfers(inst)
    proved = cs.dags.transfers_relaxation(inst).certificate.bound(inst)
    assert bound.value >= proved * (1 - 1e-12)
    assert bound.certificate.bound(inst) == bound.value


def random_graph(random, kind):
    tasks, types = int(random.integers(1, 20)), int(random.integers(1, 4))
    if kind == 0:
        times = 10.0 ** random.uniform(-12, 12, (tasks, types))
    else:
        times = random.uniform(1, 10, (tasks, types)) * (1e12 if kind == 1 else 1e-12)
    edges = [(i, j) for j in range(tasks) for i in range(j) if random.random() < 0.25]
    units = [int(count) for count in random.integers(1, 4, types)]
    extra_arguments = {}
    if edges and random.random() < 0.3:
        size = np.median(times) if kind else 1
        extra_arguments = {"data": random.uniform(0, 2, len(edges)) * size, "bandwidth": 1.0}
    return cs.dags.Instance(times, edges, units, **extra_arguments)


def test_times_of_any_size_give_no_error():
    random = np.random.default_rng(1)
    for number in range(GRAPHS):
        inst = random_graph(random, number % 3)
        frame = cs.dags.compare(inst, options={"hlp-best": {"work": 60}})
        assert set(frame.status) <= {"ok", "not_applicable"}, frame.message.tolist()
        solved_rows = frame.dropna(subset=["value"])
        assert (solved_rows.bound <= solved_rows.value * (1 + 1e-6)).all()


def stalling():
    """Times over 24 orders of magnitude, of which the structured method's game is singular."""
    random = np.random.default_rng(5)
    instances = []
    for number in range(3000):
        tasks, types = int(random.integers(1, 40)), int(random.integers(1, 5))
        width = (12, 6, 3)[number % 3]
        times = 10.0 ** random.uniform(-width, width, (tasks, types))
        edges = [
            (i, j)
            for j in range(tasks)
            for i in range(j)
            if random.random() < random.choice([0.05, 0.25])
        ]
        units = tuple(int(count) for count in random.integers(1, 4, types))
        if number % 3 == 0 and types > 1:
            inst = cs.dags.Instance(times, edges, units)
            try:
                cs.dags.hlp(inst, method="structured")
            except cs.SolverError:
                instances.append(inst)
        if len(instances) == 2:
            break
    return instances


def test_where_the_structured_method_fails_bounds_hold_and_say_so():
    graphs = stalling()
    assert graphs
    for inst in graphs:
        relaxation = cs.dags.hlp(inst)
        assert "hlp" in relaxation.note or "game" in relaxation.note
        for name in ("hlp", "windows"):
            bound = cs.dags.bound(inst, name)
            assert bound.note
            assert bound.value >= cs.dags.bound(inst, "critical-path").value * (1 - 1e-9)
        frame = cs.dags.compare(inst, options={"hlp-best": {"work": 60}})
        assert not (frame.status == "error").any()
        assert frame.attrs["bound_notes"]


@pytest.mark.parametrize("power", [-40, -33, 33, 40, 300])
def test_the_scale_of_times_changes_nothing(power):
    inst = cs.workloads.layered(40, seed=3, units=(4, 2))
    scaled = cs.dags.Instance(np.ldexp(inst.times, power), inst.edges, inst.units)
    unscaled, other = cs.dags.hlp(inst), cs.dags.hlp(scaled)
    assert other.value == pytest.approx(float(np.ldexp(unscaled.value, power)), rel=1e-9)
    assert other.certificate.bound(scaled) == pytest.approx(
        float(np.ldexp(unscaled.certificate.bound(inst), power)), rel=1e-9
    )


def test_a_bound_that_fails_falls_back(monkeypatch):
    from cosched.dags.bounds import refutations, relaxation

    def broken(*_):
        raise cs.SolverError("rounding")

    inst = cs.workloads.layered(30, seed=1, units=(4, 2), ccr=1)
    core = relaxation._core.dags
    monkeypatch.setattr(core, "transfers_bound", broken)
    bound = cs.dags.bound(inst)
    assert (bound.method, bound.note) == ("windows", "transfers failed: rounding")
    monkeypatch.setattr(refutations._core.dags, "windows_bound", broken)
    inst = inst.with_units(inst.units)
    bound = cs.dags.bound(inst, "windows")
    assert (bound.method, bound.note) == ("hlp", "windows failed: rounding")
    monkeypatch.setattr(core, "hlp", broken)
    monkeypatch.setattr(core, "hlp_so_far", broken)
    inst = inst.with_units(inst.units)
    bound = cs.dags.bound(inst, "hlp")
    assert bound.method in ("area", "critical-path")
    assert bound.note == "hlp failed: rounding"
    assert bound.value == max(cs.dags.bound(inst, name).value for name in ("area", "critical-path"))
    result = cs.dags.heft(inst)
    assert "note: transfers failed: rounding" in report.in_words(family.PRESENTATION, result)
