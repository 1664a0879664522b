"""What tasks share: the arguments of instances, their files, and evaluation."""

import pickle

import numpy as np
import pytest
from note_facts import counts
from shared_cases import moldable_case

import cosched as cs
from cosched import NoteKind
from cosched.errors import InvalidInstance, InvalidSchedule
from cosched.profiles import Bandwidth, Slowdowns

TIMES = [[8.0, 4.4], [6.0, 3.2], [2.0, 1.2]]
SLOW = [[1.0, 1.5, 1.2], [1.3, 1.0, 1.1], [1.25, 1.4, 1.0]]
SHARED = {
    "resources": {"memory": [4.0, 3.0, 1.0], "gpus": [[1, 2], [0, 0], [1, 1]]},
    "capacity": {"memory": 8.0, "gpus": 2},
    "slowdowns": Slowdowns(SLOW, rule="product"),
    "bandwidth": Bandwidth([[5.0, 9.0], [4.0, 8.0], [1.0, 1.0]], 10.0, [1.0, 0.5, 0.0]),
}


def packs(**shared):
    return cs.packs.Instance(TIMES, names=["cfd", "fem", "post"], **shared)


def moldable(**shared):
    return cs.moldable.Instance(TIMES, [1, 2, 3], names=["cfd", "fem", "post"], **shared)


@pytest.mark.parametrize("make", [packs, moldable])
def test_what_is_shared_is_kept_in_files_pickles_facts_and_equality(make, tmp_path):
    inst = make(**SHARED)
    inst.write(tmp_path / "inst.json")
    for same in (type(inst).read(tmp_path / "inst.json"), pickle.loads(pickle.dumps(inst))):
        assert same == inst
        assert same.slowdowns == inst.slowdowns
        assert same.bandwidth == inst.bandwidth
        assert same.capacity == inst.capacity
        assert same.resources["gpus"].tolist() == [[1, 2], [0, 0], [1, 1]]
    assert inst != make()
    assert inst != make(**{**SHARED, "slowdowns": SLOW})
    facts = inst.facts()
    assert facts["slowdowns"] == {"table": SLOW, "rule": "product"}
    assert facts["bandwidth"]["capacity"] == 10
    assert facts["capacity"]["gpus"] == 2
    assert set(make().facts()) == {"procs", "times"}
    with pytest.raises(InvalidInstance, match=r"CSV file cannot hold resources, capacity"):
        inst.write(tmp_path / "inst.csv")


@pytest.mark.parametrize("make", [packs, moldable])
def test_without_slowdowns_the_needs_stay(make):
    inst = make(**SHARED)
    plain = inst.without_slowdowns()
    assert plain.slowdowns is None
    assert plain.bandwidth is None
    assert plain == make(resources=SHARED["resources"], capacity=SHARED["capacity"])


def test_notes_name_what_is_read_otherwise():
    table = np.array(SLOW)
    table[0, 1], table[2, 0] = 0.9, np.nan
    inst = packs(resources={"licences": [1, 0, 1]}, slowdowns=table)
    assert counts(inst.notes, NoteKind.ASSUMED) == {"licences": None, "slow-downs": 1}
    assert counts(inst.notes, NoteKind.REPAIRED) == {"slow-downs": 1}
    assert cs.packs.slowdown(inst, [0, 1], [1, 1]).tolist() == [1.0, 1.3]
    assert inst.without_slowdowns().notes == packs(resources={"licences": [1, 0, 1]}).notes


@pytest.mark.parametrize("make", [packs, moldable])
@pytest.mark.parametrize(
    ("shared", "message"),
    [
        ({"resources": {"memory": [250, 1, 1]}, "capacity": {"memory": 192}},
         r"task 'cfd' needs 250 GB of memory, capacity is 192"),
        ({"resources": {"gpus": [1, 1, 3]}, "capacity": {"gpus": 2}},
         r"task 'post' needs 3 gpus, capacity is 2"),
        ({"resources": {"a": [[1, 9], [0, 0], [0, 0]], "b": [[9, 1], [0, 0], [0, 0]]},
          "capacity": {"a": 2, "b": 2}}, r"task 'cfd' needs more than the capacity of a or b"),
        ({"resources": {"memory": [1, -2, 1]}}, r"resources.memory\[1, 0\] = -2"),
        ({"resources": {"memory": [1, 2]}}, r"resources.memory has shape \(2,\): expected \(3,\)"),
        ({"resources": [1, 2, 3]}, r"resources = .*: expected needs by name"),
        ({"resources": {"memory": [1, 2, 3]}, "capacity": {"memory": "192"}},
         r"capacity.memory = '192': expected a number"),
        ({"resources": {"memory": [1, 2, 3]}, "capacity": {"memory": np.nan}},
         r"capacity.memory = nan: expected a number >= 0"),
        ({"resources": {"memory": [1, np.nan, 3]}, "capacity": {"memory": 4}},
         r"resources.memory\[1, 0\] = nan"),
        ({"slowdowns": [[1, 2], [1, 1]]}, r"slowdowns has shape \(2, 2\): expected \(3, 3\)"),
        ({"slowdowns": [[1, 0, 1], [1, 1, 1], [1, 1, 1]]}, r"slowdowns\[0, 1\] = 0"),
        ({"bandwidth": Bandwidth([5, 5, 11], 10, [1, 1, 1])}, r"bandwidth.demand\[2, 0\] = 11"),
        ({"bandwidth": Bandwidth([5, 5, 5], 10, [1, 2, 1])}, r"bandwidth.stall\[1\] = 2"),
        ({"bandwidth": 10}, r"bandwidth = 10: expected a cosched.profiles.Bandwidth"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_in_one_line(make, shared, message):
    with pytest.raises(InvalidInstance, match=message):
        make(**shared)


def test_an_unknown_rule_is_refused():
    with pytest.raises(InvalidInstance, match="rule = 'mean': expected one of sum, product, max"):
        Slowdowns(SLOW, rule="mean")


def test_a_need_that_equals_the_capacity_fits():
    inst = packs(resources={"memory": [4.0, 4.0, 8.0]}, capacity={"memory": 8.0})
    assert cs.packs.co_schedule(inst, [0, 0, 1], [1, 1, 1]).value == 10.0
    with pytest.raises(InvalidInstance, match="needs 12 of memory: expected at most 8"):
        cs.packs.co_schedule(inst, [0, 1, 0], [1, 1, 1])


def test_two_tasks_end_by_the_closed_form():
    inst = packs(slowdowns=SLOW)
    b, a = 6.0 * 1.3, 8.0  # fem ends first, then cfd goes on alone
    assert cs.packs.ends(inst, [0, 1], [1, 1]) == pytest.approx([a + b * (1 - 1 / 1.5), b])


def simulated(inst, tasks, procs, starts=None):
    """An event simulation of its own: small steps of equal rates."""
    k = len(tasks)
    remaining_work, ends, now = np.ones(k), np.zeros(k), 0.0
    starts = np.zeros(k) if starts is None else np.array(starts)
    while (remaining_work > 0).any():
        running = [m for m in range(k) if remaining_work[m] > 0 and starts[m] <= now]
        later = [starts[m] - now for m in range(k) if remaining_work[m] > 0 and starts[m] > now]
        pace = {}
        for m in running:
            pairs = [max(inst.slowdowns.table[tasks[m], tasks[o]], 1) for o in running if o != m]
            law = {"sum": 1 + sum(s - 1 for s in pairs), "product": np.prod(pairs),
                   "max": max(pairs, default=1)}[inst.slowdowns.rule]  # fmt: skip
            if inst.bandwidth and len(running) > 1:
                load = sum(inst.bandwidth.demand[tasks[o]][procs[o] - 1] for o in running)
                excess_load = max(0, load / inst.bandwidth.capacity - 1)
                law = max(law, 1 + inst.bandwidth.stall[tasks[m]] * excess_load)
            pace[m] = inst.times[tasks[m], procs[m] - 1] * law
        step = min([remaining_work[m] * pace[m] for m in running] + later)
        now += step
        for m in running:
            remaining_work[m] -= step / pace[m]
            if remaining_work[m] < 1e-12:
                remaining_work[m], ends[m] = 0, now
    return ends


@pytest.mark.parametrize("rule", ["sum", "product", "max"])
def test_ends_are_those_of_an_event_simulation(rule):
    rng = np.random.default_rng(1)
    for _ in range(60):
        n, p = 6, 4
        table = 1 + rng.uniform(0, 0.8, (n, n)) * rng.integers(0, 2, (n, n))
        traffic = Bandwidth(rng.uniform(0, 6, (n, p)), 6.0, rng.uniform(0, 1, n))
        inst = cs.packs.Instance(
            rng.uniform(1, 9, (n, p)),
            slowdowns=Slowdowns(table, rule),
            bandwidth=traffic if rng.integers(2) else None,
        )
        tasks = rng.permutation(n)[: rng.integers(1, n + 1)]
        procs = rng.integers(1, p + 1, len(tasks))
        ends = cs.packs.ends(inst, tasks, procs)
        assert ends == pytest.approx(simulated(inst, tasks, procs), rel=1e-10)
        alone = inst.times[tasks, procs - 1]
        factors = cs.packs.slowdown(inst, tasks, procs)
        assert (ends >= alone).all()
        assert (ends <= alone * factors * (1 + 1e-12)).all()
        # Ends grow with every time, every slow-down and every further task.
        slower = cs.packs.Instance(
            inst.times * rng.uniform(1, 1.3, (n, 1)),
            slowdowns=Slowdowns(table * rng.uniform(1, 1.3, (n, n)), rule),
            bandwidth=inst.bandwidth,
        )
        assert (cs.packs.ends(slower, tasks, procs) >= ends * (1 - 1e-12)).all()
        fewer = cs.packs.ends(inst, tasks[1:], procs[1:])
        assert (fewer <= ends[1:] * (1 + 1e-12)).all()


def test_two_side_by_side_beat_one_after_the_other_by_their_slowdowns_alone():
    rng = np.random.default_rng(2)
    for _ in range(200):
        a, b = rng.uniform(1, 3, 2)
        inst = cs.packs.Instance(rng.uniform(1, 9, (2, 2)), slowdowns=[[1, a], [b, 1]])
        together = cs.packs.ends(inst, [0, 1], [1, 1]).max()
        assert (together < inst.times[:, 0].sum()) == (1 / a + 1 / b > 1)


def test_tasks_that_nothing_slows_end_as_ever_to_the_bit():
    rng = np.random.default_rng(3)
    times = rng.uniform(1, 9, (5, 4))
    inst = cs.packs.Instance(times, slowdowns=np.ones((5, 5)), resources={"memory": np.ones(5)})
    assert (
        cs.packs.ends(inst, range(5), [1, 2, 3, 4, 1]) == times[range(5), [0, 1, 2, 3, 0]]
    ).all()


def test_packs_value_is_progressive_and_the_constant_one_beside_it():
    inst = packs(**{**SHARED, "bandwidth": None})
    res = cs.packs.co_schedule(inst, [0, 0, 1], [1, 1, 1])
    assert res.value == pytest.approx(8 + 7.8 * (1 - 1 / 1.5) + 2)
    assert res.metrics()["value_if_constant"] == pytest.approx(8 * 1.5 + 2)
    res.schedule.validate()
    assert "value_if_constant" not in cs.packs.solve(packs(), "sequential").metrics()


def test_sequential_takes_the_fastest_count_that_fits():
    inst = packs(resources={"memory": [[1, 9], [1, 1], [1, 1]]}, capacity={"memory": 5})
    res = cs.packs.solve(inst, "sequential")
    assert res.procs.tolist() == [1, 2, 2]
    assert res.metrics()["relative_cost"] == 1
    res.schedule.validate()


def changed(schedule, **columns):
    columns_now = {name: np.array(getattr(schedule, name))
             for name in ("task", "kind", "unit_begin", "unit", "start", "end")}  # fmt: skip
    return cs.Schedule(schedule.instance, **{**columns_now, **columns})


def test_the_validator_refuses_a_wrong_end_and_a_breach_of_an_instant():
    inst = packs(slowdowns=SLOW, resources={"memory": [4, 3, 1]}, capacity={"memory": 7})
    valid_schedule = cs.packs.co_schedule(inst, [0, 0, 1], [1, 1, 1]).schedule
    end = np.array(valid_schedule.end)
    end[0] *= 1.001
    with pytest.raises(InvalidSchedule, match=r"task 0 ends at .*: beside what runs with it"):
        changed(valid_schedule, end=end).validate()
    jobs = cs.moldable.Instance(
        [[4.0], [2.0], [2.0]], [1, 1, 1], machines=2,
        resources={"memory": [3, 3, 1]}, capacity={"memory": 5},
    )  # fmt: skip
    rows = {"task": [0, 1, 2], "kind": [0, 0, 0], "unit_begin": [0, 1, 2, 3], "unit": [0, 1, 1]}
    cs.Schedule(jobs, **rows, start=[0, 4, 0], end=[4, 6, 2]).validate()
    with pytest.raises(InvalidSchedule, match="at 2, when task 1 starts, 6 of memory is needed"):
        cs.Schedule(jobs, **rows, start=[0, 2, 0], end=[4, 4, 2]).validate()


@pytest.mark.parametrize("small", [3e-9, 1.3e-6])
def test_the_validator_ends_where_a_short_task_runs_late(small):
    # At 3000 s the clock cannot tell what is left of so short a task.
    slow = [[1, 1.3, 1.3], [1.3, 1, 1.7], [1.3, 1.7, 1]]
    inst = cs.packs.Instance([[3e3] * 2, [7e6] * 2, [small] * 2], 2, slowdowns=slow)
    result = cs.packs.co_schedule(inst, [0, 1, 1], [1, 1, 1])
    with cs.time_limit(10):
        result.schedule.validate()


def test_jobs_that_the_configurations_give_no_price_run_too():
    slow = [[1.0, 1.2, 1.0], [1.1, 1.0, 1.1], [1.0, 1.2, 1.0]]
    inst = cs.moldable.Instance(
        [[4.9, 5.5], [1.3, 9.3], [1.1, 1.4]],
        [1, 1, 1],
        resources={"memory": [0, 6, 7]},
        capacity={"memory": 10},
        slowdowns=Slowdowns(slow, "max"),
    )
    result = cs.moldable.solve(inst, "local-search", work=2000)
    result.schedule.validate()
    assert 4.9 < result.value < 5.5


def test_draws_are_compared_at_the_costs_of_their_best_counts():
    # More processors draw more: the quick counts of {0, 1, 3} are dearer than what they cost.
    times = [[3.74, 9.23, 6.7, 9.1], [4.69, 9.9, 4.85, 4.56], [3.87, 2.77, 1.7, 1.26]]
    times += [[3.73, 2.64, 6.45, 8.75]]
    draws = [[1.04, 3.31, 3.05, 4.2], [4.72, 2.69, 2.49, 2.77], [4.47, 4.72, 0.14, 0.97]]
    draws += [[1.94, 4.72, 4.64, 3.2]]
    inst = cs.packs.Instance(times, 3, bandwidth=Bandwidth(draws, 4.72, [0.0, 1.0, 0.3, 1.0]))
    for seed in range(36, 40):
        result = cs.packs.solve(inst, "random-proc-9", seed=seed)
        plain = cs.packs.solve(inst.without_slowdowns(), "random-proc-9", seed=seed)
        unaware = cs.packs.co_schedule(inst, plain.pack_of, plain.procs)
        assert result.value <= unaware.value * (1 + 1e-9)


def test_bounds_of_packs_count_no_processors_on_which_a_task_does_not_fit():
    need = {"memory": [[4.0, 9.0], [4.0, 9.0]]}
    inst = cs.packs.Instance([[8.0, 4.0], [6.0, 3.0]], 1, resources=need, capacity={"memory": 5})
    assert cs.packs.solve(inst, "optimal").value == 14
    assert float(cs.packs.bound(inst, "columns")) == pytest.approx(14)
    assert float(cs.packs.bound(inst, "longest")) == pytest.approx(14)
    assert float(cs.packs.bound(inst, "area")) == pytest.approx(7)


@pytest.mark.parametrize(
    "shared",
    [
        {"resources": {"memory": [3, 1, 3]}, "capacity": {"memory": 4}},
        {"slowdowns": [[1, 1, 3], [1, 1, 1], [3, 1, 1]]},
    ],
)
def test_the_range_of_a_plan_knows_why_a_job_waits_beside_idle_processors(shared):
    # Job 2 waits for the end of job 0: they do not fit, or slow each other too much.
    spread = np.full((3, 3), 0.2)
    times = [[4.0] * 3, [2.0] * 3, [4.0] * 3]
    inst = cs.moldable.Instance(times, [1, 1, 1], spread=spread, **shared)
    placed = cs.core.Schedule(
        inst, [0, 1, 2], [0, 0, 0], [0, 1, 2, 3], [0, 1, 1], [0.0, 0.0, 4.0], [4.0, 2.0, 8.0]
    )
    metrics = cs.moldable.FAMILY.result_of(inst, placed).metrics()
    assert 7.2 < metrics["value_p5"] < 8 < metrics["value_p95"] < 8.8


@pytest.mark.parametrize("name", ["pack-by-pack-9", "random-pack-9", "random-proc-9"])
def test_packs_that_slow_more_than_they_save_are_parted(name):
    times = np.random.default_rng(0).uniform(1, 9, (20, 4))
    inst = cs.packs.Instance(times, 3, slowdowns=np.full((20, 20), 1000.0))
    alone = cs.packs.solve(inst, "sequential").value
    assert cs.packs.solve(inst, name).value == pytest.approx(alone)


def test_the_bound_of_the_search_knows_what_is_shared_and_edges():
    """It was that of the jobs alone: where configurations proved 92.9 s it said 89.6."""
    for seed in (1, 2, 4):
        inst = moldable_case(seed)
        bounds = [cs.moldable.bound(inst, name).value for name in ("optimal", "configurations")]
        assert bounds[0] >= bounds[1] * (1 - 1e-12)
    chain = cs.moldable.Instance([[4.0, 2.5], [3.0, 2.0]], edges=[(0, 1)])
    assert cs.moldable.bound(chain, "optimal").value == pytest.approx(4.5)


def test_configurations_end_at_their_limit():
    rng = np.random.default_rng(0)
    inst = cs.moldable.Instance(
        rng.uniform(1, 10, 30)[:, None] / np.arange(1, 9) ** rng.uniform(0.3, 0.9, 30)[:, None],
        resources={"m": rng.uniform(0.1, 1, 30).tolist()}, capacity={"m": 1.5},
    )  # fmt: skip
    assert cs.moldable.bound(inst, "configurations", time_limit=0).status == "time_limit"
    bound = cs.moldable.bound(inst, "configurations")
    assert (bound.status, bound.value > 0) == ("ok", True)
