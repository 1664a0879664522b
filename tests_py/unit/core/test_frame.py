"""The one shape of all families: registry, results, compare, schedules, pickles."""

import inspect
import math
import pickle
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import cosched as cs
from cosched.core.result import relative_gap
from cosched.registry import FAMILIES


@pytest.fixture
def inst():
    return cs.workloads.packs_ii(tasks=6, nodes=6, seed=3, max_tasks=3)


def test_every_family_has_the_public_shape():
    for name in FAMILIES:
        module = getattr(cs, name)
        for public in (
            "Instance",
            "ALGORITHMS",
            "BOUNDS",
            "DEFAULT_COMPARE",
            "solve",
            "bound",
            "compare",
        ):
            assert hasattr(module, public), f"{name}.{public}"
        assert callable(module.Instance.read)
        for functions in (module.ALGORITHMS, module.BOUNDS):
            for public, function in functions.items():
                doc = inspect.unwrap(getattr(function, "func", function)).__doc__
                assert doc, f"{name} {public} has no docstring"
                assert len(doc) > 40, f"{name} {public}: a docstring of more than 40 characters"


def test_unknown_names_list_near_ones(inst):
    with pytest.raises(ValueError, match="pack-by-pack-9"):
        cs.packs.solve(inst, "pack-by-pack9")
    with pytest.raises(ValueError, match="columns"):
        cs.packs.bound(inst, "column")
    with pytest.raises(ValueError, match="unknown"):
        cs.packs.compare(inst, ["sequential", "nonsense"])
    with pytest.raises(ValueError, match="packs"):
        cs.register("pack", "x", lambda instance, *, seed: None)


def test_unknown_option_is_a_type_error(inst):
    with pytest.raises(TypeError, match="epsilons"):
        cs.packs.solve(inst, "pack-by-pack-1", epsilon=0.5)
    with pytest.raises(TypeError, match="time_limit"):
        cs.packs.bound(inst, "columns", limit=3)


def test_not_an_instance(inst):
    for wrong in (inst.times, None, "inst"):
        with pytest.raises(cs.InvalidInstance, match=r"expected a cosched.packs.Instance"):
            cs.packs.solve(wrong, "sequential")


def test_seed_is_repeatable_and_told(inst):
    first = cs.packs.solve(inst, "random-pack-1", seed=5)
    repeated = cs.packs.solve(inst, "random-pack-1", seed=5)
    assert first.seed == 5
    assert first.pack_of.tolist() == repeated.pack_of.tolist()
    assert cs.packs.solve(inst, "random-pack-1").seed == 0
    values = {cs.packs.solve(inst, "random-pack-1", seed=s).value for s in range(20)}
    assert len(values) > 1


def test_gap_definition():
    bound = cs.Bound(10.0, "x")
    assert relative_gap(11, bound, False) == pytest.approx(0.1)
    assert relative_gap(10 - 1e-12, bound, False) == 0
    assert relative_gap(8, bound, True) == pytest.approx(0.25)
    assert relative_gap(0, bound, True) == math.inf
    assert relative_gap(0, cs.Bound(0.0, "x"), True) == 0
    assert math.isnan(relative_gap(11, None, False))
    for value, maximise in ((9.999, False), (10.001, True)):
        with pytest.raises(cs.InvalidBound, match=rf"value {value} .* bound 10 \(x\)"):
            relative_gap(value, bound, maximise)
    with pytest.raises(cs.InvalidBound):
        relative_gap(4.0, cs.Bound(999.0, "x"), False)
    with pytest.raises(cs.InvalidBound):  # a plan with profit where the bound says there is none
        relative_gap(1.0, cs.Bound(0.0, "x"), True)
    assert float(bound) == 10.0


def test_bound_beside_a_result_is_computed_once(inst):
    res = cs.packs.solve(inst, "sequential")
    assert res.bound is cs.packs.solve(inst, "pack-by-pack-1").bound
    assert res.bound.method == "columns"
    assert 0 < res.bound.value <= cs.packs.solve(inst, "optimal").value * (1 + 1e-9)
    assert res.gap == pytest.approx(res.value / res.bound.value - 1)


def test_compare_keeps_the_other_rows_when_one_fails(inst, own_algorithm):
    def broken(instance, *, seed):
        raise RuntimeError("a defect\nof two lines")

    def wrong(instance, *, seed):
        schedule = cs.packs.sequential(instance).schedule
        return cs.Schedule(
            instance,
            schedule.task,
            schedule.kind,
            schedule.unit_begin,
            schedule.unit,
            schedule.start / 2,
            schedule.end / 2,
        )

    def not_a_result(instance, *, seed):
        return 3

    def own_scheduler(instance, *, seed):
        return cs.packs.sequential(instance).schedule

    for name, function in (
        ("broken", broken),
        ("wrong", wrong),
        ("three", not_a_result),
        ("mine", own_scheduler),
    ):
        own_algorithm("packs", name, function)
    names = ["broken", "wrong", "three", "mine", "pairs", "sequential"]
    table = cs.packs.compare(inst, names).set_index("algorithm")
    assert table.loc["broken", "status"] == "error"
    assert "a defect of two lines" in table.loc["broken", "message"]
    assert table.loc["wrong", "status"] == "error"
    assert "InvalidSchedule" in table.loc["wrong", "message"]
    assert table.loc["three", "status"] == "error"
    assert table.loc["pairs", "status"] == "not_applicable"
    assert table.loc[["mine", "sequential"], "status"].tolist() == ["ok", "ok"]
    assert table.loc["mine", "value"] == table.loc["sequential", "value"]


def test_compare_shows_the_best_bound_beside_all_rows(inst, own_algorithm):
    def claims(name, value):
        def algorithm(instance, *, seed):
            return replace(cs.packs.solve(instance, name), own_bound=cs.Bound(value, "mine"))

        return algorithm

    def no_memory(instance, *, seed):
        raise MemoryError

    own_algorithm("packs", "broken", no_memory)
    names = ["sequential", "optimal", "pack-approx", "broken"]
    table = cs.packs.compare(inst, names).set_index("algorithm")
    assert table.loc["broken", ["status", "message"]].tolist() == ["error", "MemoryError"]
    best = table.loc["optimal", "value"]
    assert (table.bound == best).all()
    assert table.loc["optimal", "gap"] == 0
    assert table.loc["sequential", "gap"] == table.loc["sequential", "value"] / best - 1
    # What contradicts itself is alone to blame; a bound that another row passes is named there.
    own_algorithm("packs", "itself", claims("optimal", 1.01 * best))
    own_algorithm("packs", "others", claims("sequential", table.loc["sequential", "value"]))
    table = cs.packs.compare(inst, ["optimal", "itself", "sequential"]).set_index("algorithm")
    assert table.status.to_dict() == {"optimal": "ok", "itself": "error", "sequential": "ok"}
    assert "InvalidBound" in table.loc["itself", "message"]
    table = cs.packs.compare(inst, ["optimal", "others"]).set_index("algorithm")
    assert table.loc["optimal", "status"] == "error"
    assert "(mine)" in table.loc["optimal", "message"]


def test_compare_columns_and_order(inst):
    table = cs.packs.compare(inst)
    assert list(table.columns[:6]) == ["algorithm", "status", "value", "bound", "gap", "seconds"]
    assert table.algorithm.tolist() == [n for n in cs.packs.DEFAULT_COMPARE if n != "ilp"]
    ok = table[table.status == "ok"]
    assert (ok.bound <= ok.value * (1 + 1e-9)).all()
    assert ok.gap.tolist() == pytest.approx((ok.value / ok.bound - 1).tolist(), abs=1e-9)
    assert ok.packing_ratio.between(0, 1 + 1e-9).all()
    small = cs.packs.Instance([[2.0, 1.0], [3.0, 2.0]])
    assert "ilp" in cs.packs.compare(small).algorithm.tolist()


def test_compare_ends_an_algorithm_at_the_time_limit(own_algorithm):
    inst = cs.workloads.packs_ii(seed=1, max_tasks=4)

    def endless(instance, *, seed):
        while True:
            cs.packs.local_search(instance, seed=seed)

    own_algorithm("packs", "endless", endless)
    table = cs.packs.compare(inst, ["endless", "sequential"], time_limit=1.0)
    assert table.status.tolist() == ["time_limit", "ok"]
    assert np.isnan(table.value[0])


def test_compare_options(inst):
    table = cs.packs.compare(
        inst, ["pack-by-pack-9"], options={"pack-by-pack-9": {"epsilons": [0.5]}}
    )
    assert table.value[0] == cs.packs.solve(inst, "pack-by-pack-1").value
    with pytest.raises(ValueError, match="not compared"):
        cs.packs.compare(inst, ["sequential"], options={"pairs": {}})


def test_built_in_names_are_protected(own_algorithm):
    with pytest.raises(ValueError, match="built-in"):
        cs.register("packs", "pairs", lambda instance, *, seed: None)
    with pytest.raises(TypeError):
        cs.register("packs", "x", 3)
    own_algorithm("packs", "twice", lambda instance, *, seed: None)
    cs.register("packs", "twice", lambda instance, *, seed: None)


def test_instances_are_immutable_and_pickle(inst):
    with pytest.raises(AttributeError, match="immutable"):
        inst.max_tasks = 4
    with pytest.raises(AttributeError, match="immutable"):
        del inst.names
    with pytest.raises(ValueError, match="read-only"):
        inst.times[0, 0] = 1
    unpickled = pickle.loads(pickle.dumps(inst))
    assert unpickled == inst
    res = cs.packs.solve(inst, "pack-by-pack-9")
    copy = pickle.loads(pickle.dumps(res))
    assert copy.value == res.value
    copy.schedule.validate()


def test_views_outlive_their_instance():
    import gc

    times = cs.packs.Instance([[4.0, 2.0], [3.0, 2.0]]).times
    gc.collect()
    assert times.tolist() == [[4.0, 2.0], [3.0, 2.0]]


def test_schedule_frame_and_dict_round_trip(inst):
    res = cs.packs.solve(inst, "pack-by-pack-9")
    frame = res.schedule.to_frame()
    assert list(frame.columns) == ["task", "kind", "units", "start", "end", "name"]
    assert frame.name.tolist() == [inst.names[task] for task in frame.task]
    plain = cs.packs.solve(cs.packs.Instance(inst.times), "pack-by-pack-9")  # nobody named a task
    assert list(plain.schedule.to_frame().columns) == ["task", "kind", "units", "start", "end"]
    assert frame.units.map(len).sum() == res.procs.sum()
    restored_schedule = cs.Schedule.from_dict(inst, res.schedule.to_dict())
    restored_schedule.validate()
    assert restored_schedule.to_dict() == res.schedule.to_dict()


@pytest.mark.parametrize(
    ("change", "part"),
    [
        (lambda rows: rows.pop(), "not placed"),
        (lambda rows: rows[0].update(end=rows[0]["end"] * 2), "it needs"),
        (lambda rows: rows[0].update(units=[0, 0]), "twice|needs"),
        (lambda rows: rows[0].update(units=[99]), "unit 99"),
        (lambda rows: rows[0].update(task=99), "task 99"),
        (lambda rows: rows[0].update(task=1.5), "integer"),
        (lambda rows: rows[0].update(start="now"), "a number"),
        (lambda rows: rows[0].pop("units"), "expected task, kind, units"),
    ],
)
def test_a_broken_schedule_is_named(inst, change, part):
    data = cs.packs.solve(inst, "sequential").schedule.to_dict()
    change(data["placements"])
    with pytest.raises(cs.InvalidSchedule, match=part):
        cs.Schedule.from_dict(inst, data).validate()


def test_time_limit_and_ctrl_c_reach_the_solvers():
    program = (
        "import cosched as cs, signal, threading, os, time\n"
        "inst = cs.workloads.packs_iii(seed=1, max_tasks=8)\n"
        "threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
        "try:\n"
        "    while True: cs.packs.local_search(inst)\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=180, check=False
    )
    assert done.stdout.strip() == "interrupted", done.stderr


def test_import_is_light():
    program = (
        "import sys, cosched, cosched.packs\n"
        "print(sorted({'pandas', 'matplotlib', 'scipy', 'rich', 'click'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_compare_has_a_bound_even_when_the_best_one_takes_too_long():
    inst = cs.workloads.packs_iii(seed=1, max_tasks=8)
    table = cs.packs.compare(inst, ["sequential"], time_limit=0.2)
    assert table.bound[0] > 0
    assert table.bound[0] <= table.value[0]
