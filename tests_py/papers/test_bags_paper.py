"""The experiments of Li et al. 2016, and the data of Tarplee et al."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

import cosched as cs
from cosched import experiments
from cosched.experiments.bags import studies as study
from support import data

GAMMAS = (1.01, 1.05, 1.09, 1.1, 1.11, 1.2, 1.5)


@pytest.fixture(scope="module")
def sweep():
    inst = cs.bags.Instance.read(data("etc_apc", "tarplee_9machBig"), gamma=1.0)
    assert (inst.tasks, inst.machines.sum(), inst.etc.shape) == (11_000, 360, (30, 9))
    return study.gamma_sweep(inst, GAMMAS).pivot(index="gamma", columns="algorithm")


@pytest.mark.data
def test_tarplee_data_gaps(sweep):
    gaps = 100 * sweep["gap"]["ttb-best"]
    low = gaps.index <= 1.11
    assert (gaps[low] < 0.1).all(), gaps.to_string()
    assert (gaps[~low] < 0.4).all(), gaps.to_string()
    assert (sweep["gap"] >= 0).all(axis=None)


@pytest.mark.data
def test_tarplee_data_against_tms(sweep):
    value = sweep["value"]
    for name in ("ttb", "ttb-exact", "ttb-best"):
        assert (value[name] >= value["tms"]).all(), value.to_string()
    assert (value["ttb-exact"] >= value["ttb"]).all()
    assert (value["ttb-best"] >= value["ttb-exact"]).all()
    assert (value["ttb"] / value["tms"]).mean() > 1.003


@pytest.mark.data
def test_the_paper_s_grid_alone_is_above_tms_but_for_two_prices():
    """However fine the grid: at gamma = 1.11 TMS's rounding is lucky."""
    inst = cs.bags.Instance.read(data("etc_apc", "tarplee_9machBig"), gamma=1.0)
    for gamma in GAMMAS:
        bag = inst.with_price(gamma=gamma)
        tms = cs.bags.tms(bag).value
        ratio = cs.bags.ttb(bag, with_tms=False).value / tms - 1
        assert (ratio > -1e-12) == (gamma not in (1.01, 1.11)), gamma
    fine = cs.bags.ttb(inst.with_price(gamma=1.11), eps=3e-6, with_tms=False).value
    assert -5e-6 < fine / cs.bags.tms(inst.with_price(gamma=1.11)).value - 1 < 0


@pytest.fixture(scope="module")
def figure_3(tmp_path_factory):
    return experiments.run("bags-fig3", quick=True, out=tmp_path_factory.mktemp("f"), workers=0)


def test_figure_3(figure_3):
    rows = figure_3.frame
    assert sorted(rows.q.unique()) == [1, 7, 13, 19, 25]
    assert len(rows) == 5 * 3 * len(study.ALGORITHMS)
    assert (rows.bound >= rows.value * (1 - 1e-9)).all()
    assert not len(figure_3.errors)
    findings = figure_3.tables["findings"].set_index("the paper says").verdict
    assert findings.filter(like="where ttb is not below TMS").tolist() == ["agrees"]
    # Far ahead where there are few tasks a machine; the two meet where there are many.
    advantage = figure_3.tables["advantage"].set_index(["algorithm over tms", "q"])["mean %"]
    for name in (study.GRID, "ttb"):
        assert advantage[name][1] > 10
        assert abs(advantage[name][25]) < 10
    assert {path.name for path in (figure_3.out / "figures").iterdir()} == {"fig3.svg", "fig3.png"}
    plan = study._plan_3(quick=False)
    assert len(plan) == 25 * 40 * len(study.ALGORITHMS)


def test_advantage_and_its_picture(figure_3):
    rows = figure_3.frame
    ratio = study.advantage(rows).set_index(["algorithm", "q", "draw"]).ratio
    draw_values = rows[(rows.q == 7) & (rows.draw == 2)].set_index("algorithm").value
    assert ratio["ttb-best", 7, 2] == draw_values["ttb-best"] / draw_values["tms"]
    ax = cs.plot.lines(ratio.reset_index(), "q", "ratio", bars=True)
    assert [box.get_label() for box in ax.containers] == list(study.ALGORITHMS[1:])
    plt.close("all")


@pytest.mark.data
def test_table_1(tmp_path):
    data("etc_apc", "openbenchmarking", "1204229-SU-CPUMONITO81_resource_data.csv")
    data("etc_apc", "tarplee_9machBig")
    result = experiments.run("bags-table1", quick=True, out=tmp_path, workers=0)
    assert not len(result.errors)
    table = result.tables["table1"].set_index("gamma")
    assert table.index.tolist() == list(study.GAMMAS)
    assert table["paper TTB"].tolist() == [0.0, 986.1, 2009.0, 3529.8, 5510.7, 7986.0]
    # No profit to be had at gamma = 1 (the paper's TMS loses a little there, by its rounding;
    # here r = 0 is seen, and the plan of least energy taken).
    assert (table.loc[1.0, list(study.ALGORITHMS)].abs() <= 0.05).all()
    for low, high in (("tms", study.GRID), (study.GRID, "ttb"), ("ttb", "ttb-exact")):
        assert (table[high] >= table[low]).all()
    assert (table.bound >= table["ttb-best"]).all()
    advantage = result.tables["advantage"].set_index(["algorithm over tms", "gamma"])
    mean = advantage.loc[(study.GRID, "mean")]
    assert mean["paper %"] == "0.463"
    assert mean["mean %"] > 0.463
    values = result.frame.query("data == 'programs' and draw == 0 and gamma == 1.2")
    values = values.set_index("algorithm").value
    expected = 100 * (values["ttb-best"] / values["tms"] - 1)
    assert advantage.loc[("ttb-best", 1.2), "even split %"] == pytest.approx(expected, abs=1e-3)
    gaps = result.tables["tarplee-gap"]
    assert (gaps["ttb-best %"] <= gaps["goal of ttb-best %"]).all()
    over_tms = result.tables["tarplee-over-tms"]
    assert (over_tms[["ttb %", "ttb-exact %", "ttb-best %"]] >= 0).all(axis=None)
    shares = {tuple(study._bag("programs", draw).counts) for draw in range(3)}
    assert (2400,) * 5 in shares
    assert {sum(each) for each in shares} == {12_000}
    assert len(shares) == 3


@pytest.mark.data
def test_sweep_pictures(sweep):
    long = sweep.stack(future_stack=True).reset_index()
    assert len(cs.plot.lines(long, "gamma", "gap").lines) == 4
    ax = cs.plot.lines(study.with_bound(long, "gamma"), "gamma", "profit rate")
    drawn = {box.get_label(): box.lines[0].get_ydata().tolist() for box in ax.containers}
    assert drawn["ttb"] == sweep["value"]["ttb"].tolist()
    assert all(np.array(drawn["bound"]) >= drawn["ttb-best"])
