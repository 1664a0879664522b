"""Memories of limited capacity: at the border, in files, in schedules, in what refuses them."""

import json
import pickle

import numpy as np
import pytest

import cosched as cs
from cosched.cli import main
from cosched.dags import Instance

TIMES = [[4.0, 1.0], [4.0, 1.0], [4.0, 2.0], [4.0, 1.0]]
EDGES = [(0, 1), (0, 2), (1, 3), (2, 3)]
LINKS = {"data": [6.0, 6.0, 6.0, 6.0], "bandwidth": 6.0}
INF = float("inf")


def make_instance(capacity, **links):
    return Instance(TIMES, EDGES, (2, 1), memory_capacity=capacity, **(LINKS | links))


def test_capacities_of_types_units_and_all():
    assert make_instance(None).memory_capacity is None
    assert make_instance(30).memory_capacity == 30.0
    assert make_instance([INF, 12]).memory_capacity == (INF, 12.0)
    assert make_instance([20, 20, 12]).memory_capacity == (20.0, 20.0, 12.0)
    assert make_instance([20, 30, 12], memories="unit").memory_capacity == (20.0, 30.0, 12.0)
    assert "limited" in repr(make_instance(30))
    assert "limited" not in repr(make_instance(INF))
    for capacity, says in (
        (-1, "memory_capacity = -1: expected bytes >= 0"),
        ([1, np.nan], r"memory_capacity\[1\] = nan"),
        (
            [1, 2, 3, 4],
            "memory_capacity has 4 entries: expected a number, or one for each of the 2",
        ),
        ([20, 30, 12], r"memory_capacity\[1\] = 30: unit 0 has the same memory, and 20"),
        ("much", "memory_capacity"),
    ):
        with pytest.raises(cs.InvalidInstance, match=says):
            make_instance(capacity)


def test_it_survives_files_pickles_and_comparison(tmp_path):
    path = tmp_path / "inst.json"
    for capacity in (30.0, (INF, 12.0), (20.0, 20.0, INF)):
        inst = make_instance(capacity)
        inst.write(path)
        for reread_instance in (Instance.read(path), pickle.loads(pickle.dumps(inst))):
            assert reread_instance == inst
            assert reread_instance.memory_capacity == capacity
        assert inst != make_instance(None)
        assert inst.facts()["memory_capacity"] == capacity
        assert Instance.read(path, memory_capacity=40).memory_capacity == 40
    assert "memory_capacity" not in make_instance(None).facts()
    make_instance(None).write(path)
    assert "memory_capacity" not in json.loads(path.read_text())
    assert make_instance((INF, 12)).with_units((4, 2)).memory_capacity == (INF, 12.0)
    path.write_text(path.read_text().replace('"units"', '"memory_capacity": [1, 2, 3], "units"'))
    with pytest.raises(cs.InvalidInstance, match="memory_capacity"):
        Instance.read(path, units=(1, 1))


def test_those_that_count_it_keep_within_it_and_the_others_refuse():
    inst = make_instance((100, 12))
    assert cs.dags.heft(make_instance(None)).value < cs.dags.memheft(inst).value
    for name in ("memheft", "hlp-best"):
        result = cs.dags.solve(inst, name, **({"work": 200} if name == "hlp-best" else {}))
        result.schedule.validate()
        assert result.bound.value <= result.value
        assert result.ratio is None
    for name in set(cs.dags.DEFAULT_COMPARE) - {"memheft", "hlp-best"}:
        with pytest.raises(cs.InvalidInstance, match=f"{name} does not count memory_capacity"):
            cs.dags.solve(inst, name)
    with pytest.raises(cs.InvalidInstance, match="replay does not count"):
        cs.dags.replay(cs.dags.memheft(inst))
    assert cs.dags.compare(inst).algorithm.tolist() == ["memheft", "hlp-best"]
    asked = cs.dags.compare(inst, ["heft", "memheft"]).set_index("algorithm")
    assert asked.status.tolist() == ["not_applicable", "ok"]


def test_without_limits_memheft_is_heft():
    plain = Instance(TIMES, EDGES, (2, 1))
    for inst in (plain, make_instance(None), make_instance(INF), make_instance(1000)):
        by_heft, other = (
            cs.dags.memheft(inst),
            cs.dags.heft(make_instance(None) if inst.data is not None else plain),
        )
        for field in ("kind", "unit", "start", "end"):
            assert np.array_equal(getattr(by_heft, field), getattr(other, field))
    assert "memheft" not in cs.dags.compare(plain).algorithm.tolist()


def test_validate_counts_copies_and_says_where():
    free = cs.dags.heft(make_instance(None))
    assert free.kind.tolist() == [1, 1, 1, 1]
    in_fast_memory = cs.core.Schedule.from_dict(make_instance((100, 12)), free.schedule.to_dict())
    with pytest.raises(cs.CoschedError, match="the memory of unit 0 of type 1 holds 18 bytes at 1"):
        in_fast_memory.validate()
    cs.core.Schedule.from_dict(make_instance((100, 18)), free.schedule.to_dict()).validate()


def test_what_cannot_fit_is_named():
    with pytest.raises(cs.InfeasibleError, match="task 0 needs 12 bytes while it runs"):
        cs.dags.memheft(make_instance(11))
    with pytest.raises(cs.InfeasibleError, match="task 0 needs 12 bytes"):
        cs.dags.hlp_best(make_instance(11))


def test_the_row_of_memory_and_time():
    pairs = [(0, 1), (2, 3), (4, 5), (6, 7)]
    inst = Instance(
        [[1.0]] * 8, pairs, [8], data=[8.0] * 4, bandwidth=8.0, memories="host", memory_capacity=8.0
    )
    assert cs.dags.bound(inst, "memory").value == pytest.approx(8)
    assert cs.dags.bound(inst).method == "memory"
    result = cs.dags.hlp_best(inst, work=100)
    assert result.value == 8
    assert result.gap == pytest.approx(0, abs=1e-8)
    assert result.bound.method == "memory"
    assert cs.dags.bound(make_instance((INF, 12)), "memory").value == 0
    assert cs.dags.bound(make_instance(None), "memory").value == 0


def test_on_the_command_line(tmp_path, capsys):
    path, plan = str(tmp_path / "inst.json"), str(tmp_path / "plan.json")
    make_instance(None).write(path)
    limit = ["--memory-capacity", "100,12"]
    assert main(["solve", "dags", path, *limit, "--algorithm", "memheft", "-o", plan]) == 0
    assert main(["validate", "dags", path, plan, *limit]) == 0
    assert main(["compare", "dags", path, *limit]) == 0
    assert main(["solve", "dags", path, *limit, "--algorithm", "heft"]) == 2
    assert "heft does not count memory_capacity" in capsys.readouterr().err
    assert main(["solve", "dags", path, "--memory-capacity", "12,x", "--algorithm", "heft"]) == 2
