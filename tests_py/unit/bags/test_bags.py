"""bags: relaxation, rounding, plans, schedules, command line, pictures."""

import json
import subprocess
import sys

import numpy as np
import pytest

import cosched as cs
from cosched.cli import main
from cosched.core.result import Bound, relative_gap
from support import small_bag as small

bags = cs.bags


# --- relaxation and rounding ----------------------------------------------------------------


def test_relaxation_by_two_methods():
    inst = small()
    least_makespan = bags.least_makespan(inst)
    for makespan in least_makespan * np.array([0.9, 1.0, 1.05, 1.3, 2.0, 10.0]):
        walked = bags.relaxation(inst, makespan)
        if makespan < least_makespan:
            assert (walked.status, walked.energy, walked.x) == ("infeasible", np.inf, None)
            with pytest.raises(cs.InfeasibleError, match="makespan"):
                bags.round_relaxation(inst, walked)
            continue
        solved = bags.relaxation(inst, makespan * (1 + 1e-9), method="glpk")
        assert walked.status == solved.status == "optimal"
        assert walked.energy == pytest.approx(solved.energy, rel=1e-6)
        assert np.allclose(walked.x.sum(axis=1), inst.counts)
        assert ((walked.x * inst.etc).sum(axis=0) <= inst.machines * makespan * (1 + 1e-9)).all()
        assert (walked.x * inst.joules).sum() == pytest.approx(walked.energy)
        assert np.count_nonzero(walked.x) <= sum(inst.etc.shape)  # basic
    for bad in (0, -1, np.nan, np.inf, "x", None):
        with pytest.raises(cs.InvalidInstance):
            bags.relaxation(inst, bad)
    with pytest.raises(cs.InvalidInstance, match="method"):
        bags.relaxation(inst, 100, method="scip")


def test_front_says_what_the_relaxation_says():
    for inst in (small(), small(idle_power=[30, 20]), cs.workloads.bags_random(3, seed=4)):
        front = bags.front(inst)
        assert (np.diff(front.makespan) >= 0).all()
        assert front.least_makespan == bags.least_makespan(inst)
        probes = np.linspace(front.makespan[0], 1.3 * front.makespan[-1], 40)
        energies = front.energy_at(probes)
        for makespan, energy in zip(probes, energies, strict=True):
            assert bags.relaxation(inst, makespan).energy == pytest.approx(energy, rel=1e-9)
        assert front.energy_at(0.99 * front.makespan[0]) == np.inf
        uncut = bags.front(inst, cut=False)
        assert (uncut.energy_at(probes) <= energies * (1 + 1e-9)).all()


def test_front_jumps_where_a_type_becomes_short_enough():
    # One task: 10 s at 1 W, or 4 s at 10 W. From 10 s on the cheap machine can take it.
    inst = bags.Instance([1], [1, 1], [[10.0, 4.0]], [[1.0, 10.0]], price=100)
    front = bags.front(inst)
    assert front.energy_at(np.array([3.9, 4.0, 9.99, 10.0, 12.0])).tolist() == [
        np.inf,
        40,
        40,
        10,
        10,
    ]
    assert bags.bound(inst, "profit-rate-cut").value == pytest.approx(15)
    res = bags.solve(inst, "ttb-exact")
    assert res.profit_rate == pytest.approx(15)
    assert res.bound.method == "profit-rate-cut"
    assert res.gap == pytest.approx(0)
    assert bags.bound(inst, "profit-rate").value > 1.5 * res.value


def test_rounding_rules():
    inst = small()
    relaxation = bags.relaxation(inst, 1.2 * bags.least_makespan(inst))
    counts = bags.round_relaxation(inst, relaxation)
    assert counts.dtype == np.int64
    assert counts.sum(axis=1).tolist() == inst.counts.tolist()
    assert (counts * inst.joules).sum() <= relaxation.energy * (1 + 1e-9)
    largest = bags.round_relaxation(inst, relaxation.x, rule="largest-part")
    assert (np.abs(largest - relaxation.x) < 1).all()
    with pytest.raises(cs.InvalidInstance, match=r"x\[0\] sums to"):
        bags.round_relaxation(inst, relaxation.x * 0.9)
    with pytest.raises(cs.InvalidInstance, match="x has shape"):
        bags.round_relaxation(inst, relaxation.x[:1])
    with pytest.raises(cs.InvalidInstance, match="x"):
        bags.round_relaxation(inst, None)
    with pytest.raises(cs.InvalidInstance, match="rule"):
        bags.round_relaxation(inst, relaxation, rule="up")


def test_local_assignment_refuses_what_does_not_fit():
    inst = small(allowed=[[1, 1], [1, 0], [1, 1]])
    bags.local_assignment(inst, [[40, 0], [30, 0], [0, 7]]).schedule.validate()
    for counts, text in (
        ([[40, 0], [30, 0]], "counts has shape"),
        ([[41, 0], [30, 0], [0, 7]], r"counts\[0, 0\] = 41"),
        ([[39, 0], [30, 0], [0, 7]], r"counts\[0\] leaves 1"),
        ([[40, 0], [29, 1], [0, 7]], r"counts\[1, 1\] = 1"),
        ([[40, -1], [30, 0], [0, 7]], r"counts\[0, 1\] = -1"),
        ([[40, 0.5], [30, 0], [0, 7]], r"counts\[0, 1\] = 0.5"),
    ):
        with pytest.raises(cs.InvalidInstance, match=text):
            bags.local_assignment(inst, counts)


# --- results and schedules ------------------------------------------------------------------


def test_results_add_up():
    inst = small(idle_power=[12, 20], power_cap=420.0)
    for name in bags.ALGORITHMS:
        res = bags.solve(inst, name)
        res.schedule.validate()
        assert res.counts.sum(axis=1).tolist() == inst.counts.tolist()
        assert [len(loads) for loads in res.loads] == inst.machines.tolist()
        for j in range(2):
            assert res.loads[j].sum() == pytest.approx((res.counts * inst.etc)[:, j].sum())
        longest = max(loads.max() for loads in res.loads)
        assert res.makespan >= longest
        assert res.schedule.makespan == pytest.approx(res.makespan)
        busy = (res.counts * inst.etc * inst.apc).sum()
        idle = (inst.machines * res.makespan - [loads.sum() for loads in res.loads]) * [12, 20]
        assert res.energy == pytest.approx(busy + idle.sum())
        assert res.energy <= 420.0 * res.makespan * (1 + 1e-9)
        assert res.profit_rate == res.value == pytest.approx(res.profit / res.makespan)
        metrics = res.metrics()
        assert metrics["power"] == pytest.approx(res.energy / res.makespan)
        assert metrics["machines_used"] <= 5
        assert res.bound.value <= bags.bound(inst, "profit-rate").value * (1 + 1e-12)


def test_schedule_stays_compressed_and_expands():
    inst = small()
    schedule = bags.solve(inst, "ttb").schedule
    frame = schedule.to_frame()
    assert list(frame) == ["task_type", "machine_type", "machine", "count", "start", "end"]
    assert len(frame) <= 15
    assert frame["count"].sum() == 77
    single = schedule.expand()
    assert list(single) == ["task", "task_type", "machine_type", "machine", "start", "end"]
    assert len(single) == 77
    assert single.task.tolist() == list(range(77))
    assert np.bincount(single.task_type).tolist() == [40, 30, 7]
    length = inst.etc[single.task_type, single.machine_type]
    assert np.allclose(single.end - single.start, length)
    for _, machine_rows in single.groupby(["machine_type", "machine"]):
        tasks = machine_rows.sort_values("start")
        assert (tasks.start.to_numpy()[1:] >= tasks.end.to_numpy()[:-1] - 1e-9).all()
    with pytest.raises(cs.InvalidInstance, match="limit = 10"):
        schedule.expand(limit=10)


def test_a_billion_tasks():
    inst = cs.workloads.bags_random(1, seed=3, tasks_per_type=33_333_334)
    for name in bags.ALGORITHMS:
        res = bags.solve(inst, name)
        res.schedule.validate()
        assert res.counts.sum() == 1_000_000_020
        assert len(res.schedule) <= 360 * 30
    assert res.algorithm == "min-makespan"
    assert bags.solve(inst, "ttb-exact").gap < 1e-6
    with pytest.raises(cs.InvalidInstance, match="limit"):
        res.schedule.expand()


def test_validate_finds_changes():
    inst = small()
    schedule = bags.solve(inst, "ttb").schedule
    columns = ["task_type", "machine_type", "machine", "count", "start", "end"]

    def changed(**changes):
        parts = {name: np.array(getattr(schedule, name)) for name in columns}
        for name, (row, value) in changes.items():
            parts[name][row] = value
        return bags.Schedule(inst, **parts)

    changed().validate()
    for changes, text in (
        ({"count": (0, 0)}, "row 0: count = 0"),
        ({"count": (0, schedule.count[0] + 1)}, "row 0: lasts"),
        ({"task_type": (0, 9)}, "row 0: task_type = 9"),
        ({"machine": (1, 7)}, "row 1: machine = 7"),
        ({"start": (0, np.nan)}, "row 0: runs from nan"),
    ):
        with pytest.raises(cs.InvalidSchedule, match=text):
            changed(**changes).validate()
    with pytest.raises(cs.InvalidSchedule, match="not scheduled"):
        bags.Schedule(inst, *(getattr(schedule, name)[1:] for name in columns)).validate()
    with pytest.raises(cs.InvalidInstance, match="lengths"):
        bags.Schedule(inst, [0, 1], [0], [0], [1], [0.0], [1.0])


def test_schedules_of_ones_own(own_algorithm):
    inst = small()

    def first_machines(instance, *, seed):
        counts = np.zeros(instance.etc.shape, dtype=int)
        counts[:, 0] = instance.counts
        return bags.local_assignment(instance, counts).schedule

    own_algorithm("bags", "first-machines", first_machines)
    res = bags.solve(inst, "first-machines")
    same = bags.local_assignment(inst, res.counts)
    assert res.counts[:, 0].tolist() == [40, 30, 7]
    assert res.value == pytest.approx(same.value)
    assert [loads.tolist() for loads in res.loads] == [loads.tolist() for loads in same.loads]


def test_bounds_agree_and_are_ordered():
    for seed in range(5):
        inst = cs.workloads.bags_random(2, seed=seed)
        assert bags.bound(inst).method == "profit-rate-cut"
        bound = bags.bound(inst, "profit-rate")
        assert bags.bound(inst, "profit-rate", method="glpk").value == pytest.approx(
            bound.value, rel=1e-8
        )
        assert bags.bound(inst).value <= bound.value * (1 + 1e-12)
    with pytest.raises(cs.InvalidInstance, match="method"):
        bags.bound(inst, "profit-rate", method="x")
    assert relative_gap(-1.0, Bound(0.0, "x"), True) == np.inf


def test_options_are_checked():
    inst = small()
    for eps in (0, 1e-9, 2, np.nan, "x"):
        with pytest.raises(cs.InvalidInstance, match="eps"):
            bags.solve(inst, "ttb", eps=eps)
    with pytest.raises(cs.InvalidInstance, match="time_limit"):
        bags.solve(inst, "ttb-best", time_limit=-1)
    for text in ("maybe", 2, None):
        with pytest.raises(cs.InvalidInstance, match=r"with_tms = .*: expected true or false"):
            bags.solve(inst, "ttb", with_tms=text)
    with pytest.raises(TypeError, match="options: eps"):
        bags.solve(inst, "ttb", epsilon=0.1)
    with pytest.raises(ValueError, match="ttb-best"):
        bags.solve(inst, "ttbbest")
    assert bags.DEFAULT_EPS <= 0.1
    stopped = bags.solve(cs.workloads.bags_random(20, seed=1), "ttb-best", time_limit=0)
    assert stopped.status == "time_limit"


# --- workloads, command line, pictures ------------------------------------------------------


def test_workload():
    inst = cs.workloads.bags_random(3, seed=5)
    assert inst == cs.workloads.bags_random(3, seed=5)
    assert inst != cs.workloads.bags_random(3, seed=6)
    assert (inst.tasks, inst.machines.sum()) == (450, 360)
    assert inst.gamma == pytest.approx(1.2)
    assert 0 < inst.etc.min() <= inst.etc.max() <= 1
    for bad in (0, -1, 1.5, "x"):
        with pytest.raises(cs.InvalidInstance, match="q = "):
            cs.workloads.bags_random(bad)


def test_command_line(tmp_path, capsys):
    folder, plan = str(tmp_path / "bag"), str(tmp_path / "plan.json")
    small().write(folder)
    price = ["--gamma", "1.4"]
    assert main(["solve", "bags", folder, *price, "--algorithm", "ttb", "-o", plan]) == 0
    written = json.loads((tmp_path / "plan.json").read_text())
    assert written["value"] == pytest.approx(bags.solve(small(), "ttb").value)
    assert main(["validate", "bags", folder, plan, *price]) == 0
    assert "valid:" in capsys.readouterr().out
    assert main(["validate", "bags", folder, plan, "--gamma", "1.5"]) == 2
    assert "states profit rate" in capsys.readouterr().err
    table = str(tmp_path / "table.csv")
    assert main(["compare", "bags", folder, "--gamma", "1.1,1.4", "-o", table]) == 0
    assert main(["bound", "bags", folder, "--price", "150000", "--energy-cost", "1.5"]) == 0
    assert "profit rate at most" in capsys.readouterr().out
    assert main(["solve", "bags", folder, "--algorithm", "ttb"]) == 2
    assert "price and gamma are both missing" in capsys.readouterr().err
    out = str(tmp_path / "random.json")
    assert main(["generate", "bags_random", "--option", "q=2", "--seed", "1", "-o", out]) == 0
    assert main(["solve", "bags", out, "--algorithm", "tms"]) == 0


def test_command_line_warns_in_one_line(tmp_path):
    small().write(tmp_path / "bag")
    command = ["solve", "bags", tmp_path / "bag", "--gamma", "0.5", "--algorithm", "min-energy"]
    done = subprocess.run(
        [sys.executable, "-m", "cosched", *command], capture_output=True, text=True, check=True
    )
    assert done.stderr.startswith("cosched: warning: price = 34950 does not pay")
    assert done.stderr.count("\n") == 1


def test_pictures():
    import matplotlib.pyplot as plt

    inst = small()
    results = [bags.solve(inst, name) for name in ("ttb", "tms")]
    _, own_axes = plt.subplots()
    ax = cs.plot.energy_front(inst, results, ax=own_axes)
    assert ax is own_axes
    drawn = [line.get_xydata().tolist() for line in ax.lines]
    assert [[results[0].makespan, results[0].energy]] in drawn
    assert {"ttb", "tms"} <= {text.get_text() for text in ax.get_legend().get_texts()}
    gantt = cs.plot.gantt(results[0].schedule)
    assert [label.get_text() for label in gantt.get_yticklabels()] == list(inst.machine_names)


def test_a_power_cap_that_leaves_nothing():
    # The power cap leaves so little that no bag time is a finite number: once a crash.
    with pytest.raises(cs.InvalidInstance, match=r"power_cap = 5e-324.*finite"):
        bags.Instance([2], [1], [[1.0]], [[5.0]], price=99, power_cap=5e-324)
    hot = bags.Instance([2], [1], [[1.0]], [[5.0]], price=99, power_cap=0.001)
    assert bags.front(hot).least_makespan == pytest.approx(10 / 0.001)


def test_more_work_finds_better_plans_and_proves_a_tighter_bound():
    inst = cs.workloads.bags_random(6, seed=3)  # 2.5 tasks a machine: the fluid bound is far off
    default, longer = cs.bags.ttb_best(inst), cs.bags.ttb_best(inst, work=8_000_000)
    longer.schedule.validate()
    assert default.own_bound is None
    assert default.gap > 0.2
    assert longer.value > 1.03 * default.value
    assert longer.value <= float(longer.bound) < 0.92 * float(default.bound)
    assert longer.bound.method == "ttb-best"
    options = {"ttb-best": {"work": 8_000_000}}
    table = cs.bags.compare(inst, ["ttb", "ttb-best"], options=options)
    assert set(table.bound) == {float(longer.bound)}  # the best that any row knows
    assert table.value.max() == longer.value  # and the same work gives the same plan
