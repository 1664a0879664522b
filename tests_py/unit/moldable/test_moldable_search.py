"""local-search of moldable jobs, its starts, its limits, and the bound by time slots."""

import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import cosched as cs
from support import moldable_optima


def instance(jobs, machines, seed, *, releases=False):
    rng = np.random.default_rng(seed)
    alone, serial = rng.uniform(1, 10, (jobs, 1)), rng.uniform(0, 0.3, (jobs, 1))
    times = alone * (serial + (1 - serial) / np.arange(1, machines + 1))
    release = rng.uniform(0, 8, jobs) if releases else None
    return cs.moldable.Instance(times, rng.integers(1, 9, jobs), release)


@pytest.mark.parametrize("releases", [False, True])
def test_it_finds_the_optimum_of_small_instances(releases):
    for seed in range(6):
        inst = instance(4, 3, seed, releases=releases)
        makespan, minsum = moldable_optima(inst.times, inst.weights, inst.release)
        short = cs.moldable.local_search(inst)
        short.schedule.validate()
        assert short.makespan == pytest.approx(makespan)
        light = cs.moldable.local_search(inst, objective="minsum", seed=1)
        light.schedule.validate()
        assert light.weighted_completion == pytest.approx(minsum)
        assert (short.status, light.seed) == ("ok", 1)


def test_it_is_never_worse_than_the_family_and_knows_releases():
    for releases in (False, True):
        inst = instance(12, 8, 3, releases=releases)
        short = cs.moldable.local_search(inst)
        light = cs.moldable.local_search(inst, objective="minsum")
        names = set(cs.moldable.ALGORITHMS) - {"demt-best", "local-search", "optimal"}
        others = [cs.moldable.solve(inst, name) for name in sorted(names)]
        assert short.makespan <= min(res.makespan for res in others) * (1 + 1e-12)
        assert light.weighted_completion <= 1e-9 + min(res.weighted_completion for res in others)
        if releases:
            assert short.makespan < cs.moldable.online(inst, "demt").makespan


@pytest.mark.parametrize("k", [1, 2, 5])
def test_it_is_never_worse_than_a_plan_of_packs(k):
    for seed in range(5):
        inst = instance(10, 6, seed)
        packs = cs.packs.optimal(cs.packs.Instance(inst.times, max_tasks=k))
        for start in (packs, packs.schedule):
            result = cs.moldable.local_search(inst, start=start, work=0, time_limit=0)
            assert result.makespan <= packs.cost * (1 + 1e-12)
        assert cs.moldable.local_search(inst, start=packs).makespan <= packs.cost * (1 + 1e-12)


def test_a_start_of_another_instance_is_refused():
    inst = instance(5, 4, 1)
    with pytest.raises(cs.errors.InvalidSchedule):
        cs.moldable.local_search(inst, start=cs.moldable.gang(instance(5, 4, 2)))


def test_options_are_checked():
    inst = instance(3, 2, 1)
    with pytest.raises(cs.InvalidInstance, match="objective = 'both': expected one of makespan"):
        cs.moldable.local_search(inst, objective="both")
    with pytest.raises(cs.InvalidInstance, match="work"):
        cs.moldable.local_search(inst, work=-1)
    with pytest.raises(cs.InvalidInstance, match="time_limit"):
        cs.moldable.local_search(inst, time_limit=-1)


def test_it_repeats_for_a_seed():
    for jobs in (15, 120):
        inst = instance(jobs, 16, 5)
        first, second = (cs.moldable.local_search(inst, work=20_000, seed=4) for _ in range(2))
        assert first.start.tolist() == second.start.tolist()


def test_a_time_limit_is_said():
    inst = instance(60, 16, 1)
    cut = cs.moldable.local_search(inst, objective="minsum", work=10**9, time_limit=0.2)
    cut.schedule.validate()
    assert cut.status == "time_limit"
    assert cs.moldable.local_search(inst, work=0, time_limit=1e6).status == "ok"


@pytest.mark.parametrize("more", [{}, {"release": [0, 1, 0]}])
def test_a_time_limit_that_is_over_costs_no_answer_of_jobs_with_resources(more):
    """What is computed behind the search, too: its bound asks for the clock."""
    needs = {"resources": {"memory": [0.5, 0.6, 0.3]}, "capacity": {"memory": 1.0}}
    inst = cs.moldable.Instance([[3, 2], [2, 1.5], [4, 2.5]], machines=2, **needs, **more)
    result = cs.moldable.local_search(inst, time_limit=0.1)
    result.schedule.validate()
    assert result.status in ("ok", "time_limit")


def test_it_ends_when_it_meets_the_bound():
    inst = cs.moldable.Instance([[4.0, 2.0]] * 8, [1] * 8)
    result = cs.moldable.local_search(inst, work=2**40)
    assert result.gap == pytest.approx(0, abs=1e-9)


INTERRUPTED = """
import numpy as np, cosched as cs
alone = np.random.default_rng(1).uniform(1, 9, (300, 1))
inst = cs.moldable.Instance(alone / np.arange(1, 33), [1] * 300)
try:
    print("ready", flush=True)
    cs.moldable.local_search(inst, objective="minsum", work=2**50)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_ctrl_c_ends_it():
    command = [sys.executable, "-c", INTERRUPTED]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60)[0] == "interrupted\n"


def test_the_bound_by_time_slots():
    for releases in (False, True):
        for seed in range(4):
            inst = instance(4, 3, seed, releases=releases)
            _, minsum = moldable_optima(inst.times, inst.weights, inst.release)
            bound = cs.moldable.time_indexed_bound(inst)
            assert 0.85 * minsum <= float(bound) <= minsum * (1 + 1e-9)
            assert bound.method == "time-indexed"
    inst = instance(15, 16, 1)
    best = cs.moldable.local_search(inst, objective="minsum")
    assert best.minsum_gap < 0.08
    assert best.minsum_gap < best.weighted_completion / float(cs.moldable.minsum_bound(inst)) - 1
    assert float(cs.moldable.time_indexed_bound(inst, time_limit=0)) <= float(best.minsum_bound)


def test_a_result_of_optimal_knows_what_was_proved_of_its_criterion():
    inst = instance(8, 6, 2)
    proved = cs.moldable.optimal(inst, objective="minsum")
    assert proved.stopped_by == "proved"
    assert proved.minsum_gap <= 1e-9
    assert proved.minsum_bound.method == "optimal"
    values = [
        cs.moldable.optimal(inst, objective="minsum", work=work).own_minsum_bound.value
        for work in (0, 3_000, 300_000, 30_000_000)
    ]
    assert values == sorted(values)
    assert values[-1] <= proved.weighted_completion * (1 + 1e-9)
    # With little work the bounds beside results are better than its own.
    assert cs.moldable.optimal(inst, objective="minsum", work=0).minsum_bound.value > values[0]


@pytest.mark.parametrize("objective", ["makespan", "minsum"])
@pytest.mark.parametrize("release", [None, [0, 1]])
def test_a_job_of_no_worth_starts_too(objective, release):
    """Nothing binds, and one of the prices is 0: the decoder's greedy waited for ever."""
    inst = cs.moldable.Instance(
        [[8, 8], [7, 3]], release=release, resources={"m": [1, 1]}, capacity={"m": 3}
    )
    result = cs.moldable.local_search(inst, objective=objective, work=100)
    result.schedule.validate()
    best = {"makespan": 8, "minsum": 16 if release else 14}
    criterion = {"makespan": result.makespan, "minsum": result.weighted_completion}
    assert criterion[objective] == best[objective]


@pytest.mark.parametrize("more", [{}, {"edges": [(0, 1)]}])
def test_the_minsum_of_what_shares_resources(more):
    inst = cs.moldable.Instance(
        [[8, 5], [7, 3]], [1, 4], resources={"m": [2, 2]}, capacity={"m": 3}, **more
    )
    assert cs.moldable.optimal(inst).value == 8
    result = cs.moldable.optimal(inst, objective="minsum")
    assert result.weighted_completion == (5 + 4 * 8 if more else 4 * 3 + 8)
    assert result.stopped_by == "proved"
    assert result.minsum_bound.value == result.weighted_completion


def test_slow_downs_are_refused_by_what_proves():
    inst = cs.moldable.Instance([[8.0], [7.0]], slowdowns=[[1, 2], [2, 1]], machines=2)
    for objective in ("makespan", "minsum"):
        with pytest.raises(cs.InvalidInstance, match=r"^optimal does not know"):
            cs.moldable.optimal(inst, objective=objective)


#: Three jobs each, with what an exact solver found for them.
WAITING = [
    ([[240.0], [60.0], [180.0]], 1, "minsum", 1669.0,
     {"weights": [2, 3, 2], "release": [0, 7, 1], "resources": {"mem": [4, 4, 1]},
      "capacity": {"mem": 5}}),
    ([[1e5, 1], [100, 1000], [1000, 1e5]], 2, "minsum", 1136.0,
     {"release": [11, 11, 1], "resources": {"mem": [4, 2, 0]}, "capacity": {"mem": 5}}),
    ([[16, 1], [13, 10]], 5, "minsum", 16.0,
     {"release": [2, 1], "resources": {"mem": [[3, 4], [0, 3]]}, "capacity": {"mem": 4}}),
    ([[4], [4], [8], [3], [3]], 2, "minsum", 53.0,
     {"release": [3, 11, 10, 0, 2], "resources": {"mem": [0, 4, 2, 2, 0]}, "capacity": {"mem": 4}}),
    ([[4, 3, 4, 2]] * 3, 4, "makespan", 5.0,
     {"edges": [[1, 2]], "resources": {"mem": [[1, 4, 3, 3], [0, 4, 2, 2], [1, 3, 2, 0]]},
      "capacity": {"mem": 7}}),
]  # fmt: skip


@pytest.mark.parametrize("name", ["local-search", "optimal"])
@pytest.mark.parametrize("number", range(len(WAITING)))
def test_waiting_for_a_later_release_pays(name, number):
    """Started whatever fitted: 40% and 86% above the optimum, and 6 where 5 is possible."""
    times, machines, objective, best, options = WAITING[number]
    inst = cs.moldable.Instance(times, machines=machines, **options)
    result = cs.moldable.solve(inst, name, objective=objective)
    result.schedule.validate()
    value = result.makespan if objective == "makespan" else result.weighted_completion
    assert value == pytest.approx(best, rel=1e-12)
    assert result.stopped_by == "proved"
    assert (result.gap if objective == "makespan" else result.minsum_gap) <= 1e-9
