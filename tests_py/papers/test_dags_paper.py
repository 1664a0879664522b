"""Amaris et al. 2017: the worst cases of its theorems, and makespans known from elsewhere."""

import numpy as np
import pytest

import cosched as cs
from cosched.dags import Instance
from cosched.dags.workloads.theorems import theorem5_shares
from cosched.experiments.dags.studies import plan_theorems, run_theorem
from support import data


@pytest.mark.parametrize(("m", "k"), [(4, 2), (9, 3), (16, 4), (25, 1), (36, 6)])
def test_theorem_1_heft(m, k):
    inst = cs.workloads.theorem1(m, k)
    expected = m / k * (1 - (m / (m + k)) ** m)
    assert cs.dags.solve(inst, "heft").value == pytest.approx(expected, rel=1e-9)
    # Of the paper: k m / (m + k) is not the optimum, but above it.
    longest = m / (m + k)
    best = cs.dags.solve(inst, "hlp-best")
    assert cs.dags.bound(inst).value == pytest.approx(longest, rel=1e-9)
    assert longest * (1 - 1e-9) <= best.value <= min(expected, k * m / (m + k)) * (1 + 1e-9)


@pytest.mark.parametrize("task", [task for task in plan_theorems(True) if task["m"] < 65])
def test_rows_of_the_study_of_theorems_have_the_optimum_of_their_instance(task):
    """The best schedule is as long as its bound: no schedule is shorter."""
    row = run_theorem(task)
    assert row["best"] == pytest.approx(row["bound"], rel=1e-9)
    assert row["ratio"] == pytest.approx(row["value"] / row["best"], rel=1e-12)
    if task["theorem"] == "theorem 1":
        assert row["best"] == pytest.approx({4: 2 / 3, 9: 3 / 4}[task["m"]], rel=1e-9)


@pytest.mark.parametrize("m", [4, 6, 12])
def test_theorem_2_hlp_est_for_the_stated_optimum(m):
    inst = cs.workloads.theorem2(m)
    value = m * (2 * m + 1) / (m - 1)
    assert cs.dags.hlp(inst).value == pytest.approx(value, rel=1e-9)
    b = 2 * m + 1
    cpu = np.concatenate([[1.0], np.full(b, 0.5), np.full(b, 0.5 - 1e-6)])
    allocation = cs.dags.round_allocation(inst.times, cpu)
    for scheduler in (cs.dags.est, cs.dags.ols):
        assert scheduler(inst, allocation).value == 6 * (2 * m - 1)


@pytest.mark.parametrize(("m", "types"), [(4, 2), (4, 3), (12, 3), (6, 4)])
def test_theorem_5_qhlp_est_for_the_stated_optimum(m, types):
    inst = cs.workloads.theorem5(m, types)
    shares = theorem5_shares(m, types)
    finite = np.where(np.isfinite(inst.times), inst.times, 0.0)
    lp = cs.dags.hlp(inst).value
    # The shares are an optimum: a path, and the load of each type, are at most LP*.
    takes = (finite * shares).sum(axis=1)
    group = takes[1:].reshape(types, -1)
    assert group.max(axis=1).sum() <= lp * (1 + 1e-9)
    assert takes[0] == pytest.approx(lp, rel=1e-9)
    assert ((finite * shares).sum(axis=0) / m).max() <= lp * (1 + 1e-9)
    assert shares.sum(axis=1) == pytest.approx(1)
    allocation = shares.argmax(axis=1)
    slow = types * m - types + 1
    for scheduler in (cs.dags.est, cs.dags.ols):
        makespan = scheduler(inst, allocation).value
        assert makespan == types * (types + 1) * slow
        assert types * (types + 1) * (1 - 3 / m) < makespan / lp < types * (types + 1)


def test_theorem_5_is_tight():
    ratios = []
    for m in (4, 16, 64):
        slow, inst = 3 * m - 2, cs.workloads.theorem5(m, 3)
        ratios.append(12 * slow / inst.times[0, 0])  # A takes LP*
    assert ratios == sorted(ratios)
    assert ratios[-1] > 11.4


@pytest.mark.parametrize(("m", "k"), [(16, 1), (16, 4), (64, 4)])
def test_theorem_4_er_ls(m, k):
    inst = cs.workloads.theorem4(m, k)
    value = cs.dags.solve(inst, "er-ls").value
    assert value == pytest.approx(m * np.sqrt(m), rel=1e-9)
    assert cs.dags.solve(inst, "hlp-best").value == pytest.approx(m * np.sqrt(k), rel=1e-9)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "makespan"),
    [("spotri-512-20", 303.46), ("spotri-512-10", 70.1934), ("spotrf-512-20", 129.1152)],
)
def test_heft_on_chameleon_graphs(name, makespan):
    archive = data("amaris_het", "formatedTasks_2.tar.gz")
    application = name.split("-")[0]
    inst = Instance.read(f"{archive}:formatedTasks_2/{application}/{name}.txt", units=(16, 4))
    res = cs.dags.solve(inst, "heft")
    res.schedule.validate()
    assert res.value == pytest.approx(makespan, rel=1e-5)
    assert cs.dags.hlp(inst).value < res.value


@pytest.mark.data
def test_three_types(tmp_path):
    archive = data("amaris_het", "formatedTasks_3.tar.gz")
    member = "formatedTasks_3/spotrf/spotrf-512-10.txt"
    inst = Instance.read(f"{archive}:{member}", units=(16, 4, 2))
    frame = cs.dags.compare(inst, ["hlp-est", "hlp-ols", "heft", "hlp-best"])
    assert (frame.status == "ok").all()
    assert (frame.gap < 1).all()  # "the approximation ratios do not exceed 2"


@pytest.mark.thorough
def test_forty_thousand_tasks_go_through_every_algorithm():
    inst = cs.workloads.fork_join(phases=8, width=5000, units=(256, 32), seed=1)
    assert inst.tasks == 8 * 5001 + 1
    frame = cs.dags.compare(inst, time_limit=None, options={"hlp-best": {"evaluations": 2}})
    assert (frame.status == "ok").all()
    assert (frame.gap >= 0).all()
