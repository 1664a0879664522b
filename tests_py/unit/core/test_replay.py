"""Schedules under other times: unchanged to the bit, valid, and above the bound of each draw."""

import numpy as np
import pytest

import cosched as cs
from cosched.cli import main

FIELDS = ("kind", "unit", "start", "end")


@pytest.fixture(params=[0.0, 1.0], ids=["free", "data"])
def inst(request):
    extra_arguments = {"ccr": request.param} if request.param else {}
    return cs.workloads.layered(30, units=(3, 2), seed=4, **extra_arguments)


def test_unchanged_times_give_the_schedule_to_the_bit(inst):
    for name in cs.dags.DEFAULT_COMPARE:
        result = cs.dags.solve(
            inst, name, **({"work": 20} if name in ("hlp-best", "optimal") else {})
        )
        for replayed in (
            cs.dags.replay(result),
            cs.dags.replay(result.schedule, inst.times),
            cs.dags.replay(result, inst.times[np.arange(inst.tasks), result.kind]),
            cs.dags.replay(result, noise="lognormal", cv=0.0),
        ):
            for field in FIELDS:
                assert np.array_equal(getattr(replayed, field), getattr(result, field)), name
            assert replayed.value == result.value


def test_other_times_are_in_the_result(inst):
    result = cs.dags.heft(inst)
    slower = cs.dags.replay(result, inst.times * 2)
    slower.schedule.validate()
    assert slower.algorithm == "heft"
    assert np.array_equal(slower.instance.times, inst.times * 2)
    assert result.value < slower.value <= 2 * result.value
    assert slower.bound.value <= slower.value
    listed = cs.dags.replay(result, inst.times[:, ::-1], order="list")
    listed.schedule.validate()
    assert np.array_equal(listed.kind, result.kind)
    far = cs.dags.replay(result, transfers=3.0)
    far.schedule.validate()
    assert (far.value > result.value) == (inst.data is not None)
    assert cs.dags.replay(result, transfers=0.0).value <= result.value


def test_draws_repeat_and_no_bound_is_above_its_value(inst):
    result = cs.dags.heft(inst)
    drawn = cs.dags.replay(result, noise="lognormal", cv=0.3, draws=40, seed=5, bound=True)
    assert drawn.columns.tolist() == ["draw", "value", "bound"]
    assert (drawn.bound <= drawn.value * (1 + 1e-9)).all()
    assert drawn.value.nunique() == drawn.bound.nunique() == 40
    repeated = cs.dags.replay(result, noise="lognormal", cv=0.3, draws=60, seed=5)
    assert repeated.columns.tolist() == ["draw", "value"]
    assert np.array_equal(repeated.value[:40], drawn.value)
    single_draw = cs.dags.replay(result, noise="lognormal", cv=0.3, seed=5)
    single_draw.schedule.validate()
    assert single_draw.value == drawn.value[0]
    other = cs.dags.replay(result, noise="lognormal", cv=0.3, draws=40, seed=6)
    assert not np.array_equal(other.value, drawn.value)


def test_blocks_change_nothing(inst, monkeypatch):
    result = cs.dags.heft(inst)
    all_draws = cs.dags.replay(result, noise="lognormal", draws=50)
    monkeypatch.setattr("cosched.dags.replays._BLOCK", 7 * inst.tasks)
    assert cs.dags.replay(result, noise="lognormal", draws=50).equals(all_draws)


def test_factors_have_the_mean_and_spread_that_were_asked_for():
    alone = cs.dags.Instance([[2.0]], [], (1,))
    result = cs.dags.heft(alone)
    values = cs.dags.replay(result, noise="lognormal", cv=0.5, draws=20_000).value
    assert values.mean() == pytest.approx(2, rel=0.02)
    assert values.std() / values.mean() == pytest.approx(0.5, rel=0.03)
    measured = [[3.0, 5.0, 4.0, 4.0]]
    values = cs.dags.replay(result, noise=measured, draws=20_000).value
    shares = {x: (values == x).mean() for x in (1.5, 2.0, 2.5)}
    assert sum(shares.values()) == 1
    assert shares[2.0] == pytest.approx(0.5, abs=0.02)
    both = cs.dags.heft(cs.dags.Instance([[2.0], [2.0]], [], (2,)))
    fixed = cs.dags.replay(both, noise="lognormal", cv=[0.0, 0.5], draws=200).value
    assert fixed.min() == 2  # the first task's


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"order": "kind"}, "order = 'kind': expected one of kept, list"),
        ({"draws": 3}, "draws = 3: expected 1 without noise"),
        ({"noise": "normal"}, "noise = 'normal': expected 'lognormal'"),
        ({"noise": [[1.0]]}, "expected 'lognormal' or 2 sequences"),
        ({"noise": [[1.0], [0.0]]}, r"noise\[1\]: expected one or more repeats"),
        ({"noise": "lognormal", "cv": -1.0}, "cv = -1: expected 0..1000"),
        ({"noise": "lognormal", "cv": [0.1, np.nan]}, r"cv\[1\] = nan"),
        ({"noise": "lognormal", "cv": [0.1]}, "cv has 1 entries"),
        ({"times": [[1.0, 2.0]]}, "times has shape"),
        ({"times": [[1.0, 2.0], [np.inf, 1.0]]}, r"times\[1, 0\] = inf"),
        ({"transfers": -1.0}, "transfers = -1"),
    ],
)
def test_refusals(options, says):
    inst = cs.dags.Instance([[1.0, 2.0], [2.0, 9.0]], [(0, 1)], (1, 1))
    with pytest.raises(cs.InvalidInstance, match=says):
        cs.dags.replay(cs.dags.heft(inst), **options)


def test_what_is_no_schedule():
    with pytest.raises(cs.InvalidInstance, match="expected a schedule, got str"):
        cs.dags.replay("heft")
    other = cs.packs.solve(cs.workloads.packs_ii(tasks=4, nodes=4, seed=1), "sequential")
    with pytest.raises(cs.InvalidInstance, match=r"expected a cosched\.dags\.Instance"):
        cs.dags.replay(other)
    inst = cs.dags.Instance([[1.0], [2.0]], [(0, 1)], (1,))
    wrong = cs.core.Schedule(inst, [0, 1], [0, 0], [0, 1, 2], [0, 0], [0.0, 0.5], [1.0, 2.5])
    with pytest.raises(cs.CoschedError):
        cs.dags.replay(wrong)


def test_compare_ranks_under_noise(inst, tmp_path, capsys):
    names = ["heft", "greedy", "hlp-ols"]
    plain = cs.dags.compare(inst, names)
    noisy = cs.dags.compare(inst, names, noise=0.3)
    added = ["value_p50", "value_p95"]
    assert [c for c in noisy.columns if c not in plain.columns] == added
    for column in ("algorithm", "value", "bound", "gap"):
        assert noisy[column].tolist() == plain[column].tolist()
    assert (noisy.value_p50 < noisy.value_p95).all()
    drawn = cs.dags.replay(cs.dags.heft(inst), noise="lognormal", cv=0.3, draws=1000)
    assert noisy.value_p95[0] == np.percentile(drawn.value, 95)
    with pytest.raises(cs.InvalidInstance, match="noise = -1"):
        cs.dags.compare(inst, names, noise=-1.0)
    with pytest.raises(cs.InvalidInstance, match=r"noise = 0\.2: packs has no replay"):
        cs.packs.compare(cs.workloads.packs_ii(tasks=4, nodes=4, seed=1), noise=0.2)
    path, table = str(tmp_path / "graph.json"), tmp_path / "table.csv"
    inst.write(path)
    command = ["compare", "dags", path, "--algorithms", *names, "--noise", "0.3"]
    assert main([*command, "-o", str(table)]) == 0
    assert "value_p50,value_p95" in table.read_text()
    assert "best median of the makespan" in capsys.readouterr().out
    assert main([*command[:-1], "much"]) == 2
    assert "--noise" in capsys.readouterr().err
