"""The one shape, checked for every family in the registry with a small instance of each."""

import json
import pickle

import pytest

import cosched as cs
from cosched.cli import main
from cosched.registry import FAMILIES, family

#: family -> (instance, arguments of Instance.read that its file needs on the command line).
SAMPLES = {
    "packs": lambda: (
        cs.workloads.packs_ii(tasks=4, nodes=4, seed=1, max_tasks=2),
        ["--max-tasks", "2"],
    ),
    "dags": lambda: (
        cs.dags.Instance(
            [[4, 1], [6, 2], [3, float("inf")], [4, 2], [1, 1]],
            [(0, 1), (0, 2), (1, 3)],
            units=(2, 1),
        ),
        ["--units", "2,1"],
    ),
    "cluster": lambda: (
        cs.cluster.Instance(cs.workloads.lublin(25, 8, seed=1), 8),
        ["--nodes", "8"],
    ),
    "moldable": lambda: (cs.workloads.moldable("mixed", 8, 6, seed=1), []),
    "bags": lambda: (
        cs.workloads.bags_random(2, seed=1, task_types=4, machine_types=3, machines_per_type=2),
        [],
    ),
}


@pytest.fixture(params=FAMILIES)
def sample(request):
    assert request.param in SAMPLES, (
        f"tests_py/properties/test_all_families.py: add an instance of {request.param} to SAMPLES"
    )
    return family(request.param), *SAMPLES[request.param]()


def results(of, instance):
    for name in of.default_names(instance) if of.default_names else of.algorithms:
        try:
            yield name, of.solve(instance, name, seed=1)
        except cs.InvalidInstance:
            continue  # does not apply; compare says so


def test_every_algorithm(sample):
    of, instance, _ = sample
    seen = 0
    for name, res in results(of, instance):
        seen += 1
        assert (res.algorithm, res.seed, res.status) == (name, 1, "ok")
        assert res.instance is instance
        res.schedule.validate()
        bound = res.bound
        if bound is not None:
            better = res.value - bound.value if of.maximise else bound.value - res.value
            assert better <= 1e-6 * abs(bound.value)
        metrics = res.metrics()
        assert metrics.pop("stopped_by", None) == res.stopped_by
        assert metrics.pop("estimates", "none") in ("requested", "perfect", "none")
        assert all(isinstance(v, (int, float)) for v in metrics.values())
        assert res.value == of.solve(instance, name, seed=1).value
        frame = res.schedule.to_frame()
        assert {"start", "end"} <= set(frame.columns)
        copy = pickle.loads(pickle.dumps(res))
        assert copy.value == res.value
        copy.schedule.validate()
        data = json.loads(json.dumps(res.schedule.to_dict()))
        restored_schedule = of.schedule_type.from_dict(instance, data)
        restored_schedule.validate()
        assert of.result_of(instance, restored_schedule).value == pytest.approx(res.value, rel=1e-9)
    assert seen >= 3


def test_every_bound_is_on_the_right_side(sample):
    of, instance, _ = sample
    values = [res.value for _, res in results(of, instance)]
    default = of.bound(instance)
    assert default.value == of.bound(instance, of.default_bound).value
    limit = float(default)
    for value in values:
        assert (value <= limit * (1 + 1e-9)) if of.maximise else (value >= limit * (1 - 1e-9))


def test_compare_runs_all(sample):
    of, instance, _ = sample
    table = of.compare(instance)
    assert set(table.status) <= {"ok", "time_limit", "not_applicable"}, table.message.tolist()
    assert (table.status == "ok").sum() >= 3


def test_command_line_round_trip(sample, tmp_path, capsys):
    of, instance, arguments = sample
    if not hasattr(instance, "write"):
        pytest.skip("no file format of its own")
    path = str(tmp_path / "instance.json")
    instance.write(path)
    name = next(name for name, _ in results(of, instance))
    plan = str(tmp_path / "plan.json")
    assert main(["solve", of.name, path, *arguments, "--algorithm", name, "-o", plan]) == 0
    assert main(["validate", of.name, path, plan, *arguments]) == 0
    assert main(["bound", of.name, path, *arguments]) == 0
    table = str(tmp_path / "table.csv")
    assert main(["compare", of.name, path, *arguments, "-o", table]) == 0
    capsys.readouterr()


def test_a_registered_algorithm_takes_part(sample, own_algorithm):
    of, instance, _ = sample
    name, best = next(results(of, instance))
    own_algorithm(of.name, "mine", lambda given_instance, *, seed: best.schedule)
    table = of.compare(instance, ["mine", name], seed=1).set_index("algorithm")
    assert table.loc["mine", "status"] == "ok", table.loc["mine", "message"]
    assert table.loc["mine", "value"] == pytest.approx(table.loc[name, "value"], rel=1e-9)
