"""``cosched validate`` takes what ``solve -o`` wrote, of every family, and nothing else."""

import json

import pandas as pd
import pytest

import cosched as cs
from cosched.cli import main

JOBS = {
    "submit": [0, 0, 5, 9, 9, 12],
    "tasks": [2, 1, 3, 1, 1, 4],
    "cpu": [1, 0.5, 1, 0.25, 1, 1],
    "memory": [0.3, 0.1, 0.6, 0.5, 0.2, 0.4],
    "runtime": [60, 30, 100, 0, 20, 2000],
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cs.workloads.packs_ii(tasks=5, seed=1).write("packs.csv")
    cs.workloads.moldable("mixed", 6, 4, seed=1).write("moldable.csv")
    cs.workloads.bags_random(seed=1, q=2).write("bags.json")
    cs.cluster.Instance(JOBS, 4).write("cluster.json")
    graph = cs.workloads.cholesky(3, seed=1)
    cs.dags.Instance(graph.times, graph.edges, (2, 1)).write("dags.json")
    return tmp_path


CALLS = [
    ("packs", "packs.csv", "pairs", ["--max-tasks", "2"], []),
    ("moldable", "moldable.csv", "demt", [], []),
    ("bags", "bags.json", "ttb", [], []),
    ("dags", "dags.json", "heft", [], []),
    ("cluster", "cluster.json", "FCFS", [], []),
    ("cluster", "cluster.json", "EASY", [], []),
    ("cluster", "cluster.json", "/per/opt=min", [], ["--option", "period=50"]),
    ("cluster", "cluster.json", "GreedyPM */opt=min", [], ["--option", "penalty=0"]),
    ("cluster", "cluster.json", "/per/opt=min", [], ["--option", "penalty=7"]),
]


@pytest.mark.parametrize("suffix", ["json", "csv"])
@pytest.mark.parametrize("call", CALLS, ids=lambda call: f"{call[0]} {call[2]}")
def test_what_solve_writes_is_read(call, suffix, folder, capsys):
    family, file, algorithm, arguments, options = call
    solve = ["solve", family, file, *arguments, "--algorithm", algorithm, *options]
    assert main([*solve, "-o", f"plan.{suffix}"]) == 0
    capsys.readouterr()
    assert main(["validate", family, file, f"plan.{suffix}", *arguments]) == 0
    rows = cs.registry.family(family)
    instance = rows.instance_type.read(file, **({"max_tasks": 2} if arguments else {}))
    plain = {"period": 50} if "period=50" in options else {}
    plain |= {"penalty": int(options[1][8:])} if "penalty" in "".join(options) else {}
    value = rows.solve(instance, algorithm, **plain).value
    assert f"{value:.9g}" in capsys.readouterr().out


@pytest.mark.parametrize("call", CALLS[:5], ids=lambda call: call[0])
def test_a_changed_table_is_refused(call, folder, capsys):
    family, file, algorithm, arguments, _ = call
    main(["solve", family, file, *arguments, "--algorithm", algorithm, "-o", "plan.csv"])
    capsys.readouterr()
    plan_table = pd.read_csv("plan.csv", dtype=str)
    first = plan_table.columns[0]
    for change, part in (
        (lambda frame: frame.drop(index=0), ""),
        (lambda frame: frame.assign(end=frame["start"]), ""),
        (lambda frame: frame.drop(columns="start"), "start"),
        (lambda frame: frame.assign(start="x"), "line 2, column 'start': 'x': expected a number"),
        (lambda frame: frame.assign(**{first: "0.5"}), f"line 2, column '{first}': '0.5'"),
        (lambda frame: frame.assign(**{first: "99999"}), ""),
        (lambda frame: frame.assign(end="inf"), "line 2, column 'end'"),
    ):
        change(plan_table.copy()).to_csv("broken.csv", index=False)
        assert main(["validate", family, file, "broken.csv", *arguments]) == 2
        error = capsys.readouterr().err
        assert error.startswith("cosched: error: broken.csv: ")
        assert error.count("broken.csv") == error.count("\n") == 1
        assert part in error


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"version": 7}, "version = 7: this cosched reads version 1"),
        ({"version": None}, "version = None"),
        ({"version": True}, "version = True"),
        ({"version": "1"}, "version = '1'"),
        ({"format": "gantt"}, "format = 'gantt'"),
        ({"value": 10**400}, "value = "),
        ({"value": "3"}, "value = '3'"),
        ({"value": None}, "states cost None"),
        ({"times": [[1] * 16] * 5}, "times[0][0] = 1: it is "),
        ({"times": 3}, "times = 3: it is"),
        ({"bound": {"value": 10**400}}, "bound = "),
        ({"bound": {"value": "3"}}, "bound = '3'"),
        ({"placements": [3]}, "placements[0]"),
    ],
    ids=str,
)
def test_what_a_file_may_not_state(change, part, folder, capsys):
    main(["solve", "packs", "packs.csv", "--algorithm", "optimal", "-o", "plan.json"])
    with open("plan.json") as file:
        data = json.load(file)
    with open("broken.json", "w") as file:
        json.dump(data | change, file)
    capsys.readouterr()
    assert main(["validate", "packs", "packs.csv", "broken.json"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("cosched: error: broken.json: ")
    assert part in error
    for missing in ("version", "format", "family", "value", "bound"):  # written by hand
        data.pop(missing)
    with open("plan.json", "w") as file:
        json.dump(data, file)
    assert main(["validate", "packs", "packs.csv", "plan.json"]) == 0


@pytest.mark.parametrize(
    "change",
    [{"penalty": 10**400}, {"penalty": "3"}, {"penalty": -1}, {"exclusive": "maybe"},
     {"threshold": 0}, {"threshold": None}, {"jobs": {}}, {"jobs": 3}],
    ids=str,
)  # fmt: skip
def test_what_a_cluster_file_may_not_state(change, folder, capsys):
    main(["solve", "cluster", "cluster.json", "--algorithm", "EASY", "-o", "plan.json"])
    with open("plan.json") as file:
        data = json.load(file)
    with open("broken.json", "w") as file:
        json.dump(data | change, file)
    capsys.readouterr()
    assert main(["validate", "cluster", "cluster.json", "broken.json"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("cosched: error: broken.json: ")
    assert error.count("\n") == 1


def test_other_files_are_no_schedules(folder, capsys):
    (folder / "twice.csv").write_text("task,task,start\n0,0,0\n")
    (folder / "now.json").write_text('{"cosched_snapshot": 1, "version": "22.05.8"}')
    (folder / "lists.csv").write_text("task,kind,units,start,end\n0,0,[0; 1],0,1\n")
    for name, part in (
        ("plan.md", "ends in .json or .csv"),
        ("now.json", "not a schedule of the family packs"),
        ("packs.csv", "line 2, column 'task'"),
        ("twice.csv", "line 1: 2 columns 'task': expected one"),
        ("lists.csv", "line 2, column 'units': '[0; 1]': expected integers"),
    ):
        assert main(["validate", "packs", "packs.csv", name]) == 2
        error = capsys.readouterr().err
        assert error.startswith(f"cosched: error: {name}: ")
        assert part in error


@pytest.mark.parametrize("policy", ["FCFS", "EASY"])
def test_a_table_of_a_batch_policy_gets_the_full_check(policy, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    # Two jobs that would fit on one node together: a batch policy gives each its own.
    jobs = {"id": [7, 8], "submit": [0, 0], "tasks": [1, 1], "cpu": [0.4, 0.4],
            "memory": [0.2, 0.2], "runtime": [30, 60]}  # fmt: skip
    cs.cluster.Instance(jobs, 2).write("jobs.json")
    main(["solve", "cluster", "jobs.json", "--algorithm", policy, "-o", "plan.csv"])
    plan_table = pd.read_csv("plan.csv", dtype=str)
    assert plan_table.exclusive.tolist() == ["True", "True"]
    assert plan_table.name.tolist() == ["7", "8"]
    assert main(["validate", "cluster", "jobs.json", "plan.csv"]) == 0
    capsys.readouterr()
    for change, part in (
        ({"units": "(0,)", "nodes": "(0,)"}, "node 0"),
        ({"exclusive": ["True", "False"]}, "exclusive: True and False: expected one"),
        ({"exclusive": "yes"}, "line 2, column 'exclusive': 'yes': expected True or False"),
        ({"name": "9"}, "placements[0].name: '9': expected '7'"),
    ):
        plan_table.assign(**change).to_csv("broken.csv", index=False)
        assert main(["validate", "cluster", "jobs.json", "broken.csv"]) == 2
        assert part in capsys.readouterr().err
    shared = plan_table.assign(units="(0,)", nodes="(0,)", exclusive="False")
    shared.to_csv("shared.csv", index=False)  # allowed where nodes are shared
    assert main(["validate", "cluster", "jobs.json", "shared.csv"]) == 0


@pytest.mark.parametrize("family", ["packs", "moldable"])
@pytest.mark.parametrize(
    ("part", "name", "value"),
    [
        ("capacity", "memory", 99.0),
        ("resources", "memory", [0.0, 0.0]),
        ("slowdowns", "table", [[1, 9], [1.2, 1]]),
        ("slowdowns", "rule", "max"),
        ("bandwidth", "capacity", 50.0),
    ],
)
def test_a_schedule_of_other_sharing_is_refused(family, part, name, value, tmp_path, capsys):
    shared = {
        "resources": {"memory": [4.0, 3.0]},
        "capacity": {"memory": 8.0},
        "slowdowns": [[1.0, 1.5], [1.2, 1.0]],
        "bandwidth": cs.profiles.Bandwidth([5.0, 6.0], 10.0, [1.0, 0.5]),
    }
    module = getattr(cs, family)
    weights = {"weights": [1, 1]} if family == "moldable" else {}
    inst = module.Instance([[4.0, 3.0], [3.0, 2.0]], **weights, **shared)
    file, plan, plain = (str(tmp_path / name) for name in ("i.json", "p.json", "plain.json"))
    inst.write(file)
    assert main(["solve", family, file, "--algorithm", "sequential", "-o", plan]) == 0
    assert main(["validate", family, file, plan]) == 0
    module.Instance(inst.times, **weights).write(plain)
    capsys.readouterr()
    assert main(["validate", family, plain, plan]) == 2
    assert "states resources, of which the instance knows nothing" in capsys.readouterr().err
    with open(plan) as source:
        stated = json.load(source)
    stated[part][name] = value
    with open(plan, "w") as target:
        json.dump(stated, target)
    assert main(["validate", family, file, plan]) == 2
    assert f"{part}.{name}" in capsys.readouterr().err
