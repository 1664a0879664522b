"""The experiments of Li et al. 2016, and the data of Tarplee et al."""

import numpy as np
import pytest

import cosched as cs
from cosched.experiments import bags as experiment
from support import data

GAMMAS = (1.01, 1.03, 1.05, 1.07, 1.09, 1.1, 1.11, 1.15, 1.2, 1.3, 1.4, 1.5)


@pytest.fixture(scope="module")
def sweep():
    inst = cs.bags.Instance.read(data("etc_apc", "tarplee_9machBig"), gamma=1.0)
    assert (inst.tasks, inst.machines.sum(), inst.etc.shape) == (11_000, 360, (30, 9))
    return experiment.gamma_sweep(inst, GAMMAS).pivot(index="gamma", columns="algorithm")


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
    assert (value["ttb-best"] >= value["tms"]).all()
    assert (value["ttb-best"] >= value[["ttb", "ttb-exact"]].max(axis=1)).all()
    # Plain TTB is above TMS but at gamma = 1.11, where TMS's rounding is lucky.
    others = value.index != 1.11
    assert (value["ttb"] >= value["tms"] * (1 - 1e-12))[others].all()
    assert value["ttb"][1.11] > 0.999 * value["tms"][1.11]
    assert (value["ttb"] / value["tms"]).mean() > 1.003


@pytest.mark.data
def test_table_1():
    path = data("etc_apc", "openbenchmarking", "1204229-SU-CPUMONITO81_resource_data.csv")
    table = experiment.table_1(path, names=("tms", "ttb", "ttb-best"))
    assert table.index.tolist() == list(experiment.GAMMAS)
    # No profit to be had at gamma = 1 (the paper's TMS loses a little there, by its rounding;
    # here r = 0 is seen, and the plan of least energy taken).
    assert table.tms[1.0] == pytest.approx(0, abs=1e-6)
    assert table.ttb[1.0] == pytest.approx(0, abs=1e-6)
    profitable = table[table.index > 1]
    assert (profitable.ttb >= profitable.tms).all()
    assert (profitable["ttb-best"] >= profitable.ttb).all()
    assert (table.bound >= table[["tms", "ttb", "ttb-best"]].max(axis=1) - 1e-6).all()
    assert experiment.advantage(table) > 0
    cs.plot.profit_rates(table)


def test_figure_3():
    table = experiment.figure_3(range(1, 26))
    assert table.index.tolist() == list(range(1, 26))
    assert (table.bound >= table[["tms", "ttb"]].max(axis=1) * (1 - 1e-9)).all()
    ratio = table.ttb / table.tms
    # Far ahead where there are few tasks a machine; the two meet where there are many.
    assert ratio[:5].mean() > 1.1
    assert abs(ratio[-5:].mean() - 1) < 0.05
    assert experiment.advantage(table) == pytest.approx((ratio - 1).mean())
    assert experiment.advantage(table) > 0.02
    cs.plot.profit_rates(table)


@pytest.mark.data
def test_sweep_pictures(sweep):
    long = sweep.stack(future_stack=True).reset_index()
    ax = cs.plot.gap_against_gamma(long)
    assert len(ax.lines) == 4
    assert ax.get_yscale() == "log"
    assert np.isfinite([line.get_ydata().max() for line in ax.lines]).all()
    ax = cs.plot.profit_against_gamma(long)
    assert len(ax.lines) == 5
    drawn = {line.get_label(): line.get_ydata().tolist() for line in ax.lines}
    assert drawn["ttb"] == sweep["value"]["ttb"].tolist()
    assert all(np.array(drawn["bound"]) >= drawn["ttb-best"])
