"""What people read: plans with names, tables that are whole, answers in words, exit codes."""

import csv
import json
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

import cosched as cs
from cosched.cli import main

TIMES = [[8.0, 4.5, 3.2, 2.6], [6.0, 3.4, 2.6, 2.1], [4.0, 2.6, 2.0, 1.8]]
NAMES = ["fft, real", "7", "v1[/a]"]
RUNS = """task,processors,seconds
cfd,1,820
cfd,4,251
cfd,16,118
fem,1,400
fem,8,88
fem,16,71
md,1,300
md,16,22
"""


def instances():
    edges = [(0, 1), (0, 2)]
    machines = {"machine_names": ["big", "small"]}
    bag = ([4, 3, 2], [2, 1], [[10, 5], [8, 12], [3, 4]], [[90, 200], [80, 100], [70, 60]], 9000)
    return {
        "packs": (cs.packs.Instance(TIMES, 2, names=NAMES), "pairs", ["--max-tasks", "2"]),
        "moldable": (cs.moldable.Instance(TIMES, [1, 2, 3], names=NAMES), "demt", []),
        "dags": (cs.dags.Instance(np.array(TIMES)[:, :2], edges, (2, 1), NAMES), "heft", []),
        "bags": (cs.bags.Instance(*bag, names=NAMES, **machines), "ttb", []),
    }


@pytest.mark.parametrize("name", ["packs", "moldable", "dags", "bags"])
def test_plans_carry_names_and_files_are_read_back(name, tmp_path, capsys):
    inst, algorithm, arguments = instances()[name]
    schedule = getattr(cs, name).solve(inst, algorithm).schedule
    frame = schedule.to_frame()
    number = "task_type" if name == "bags" else "task"
    assert frame.name.tolist() == [NAMES[k] for k in frame[number]]
    if name == "bags":
        kinds = [inst.machine_names[j] for j in frame.machine_type]
        assert frame.machine_name.tolist() == kinds
        tasks = schedule.expand()
        assert tasks.name.tolist() == [NAMES[k] for k in tasks.task_type]
    rows = schedule.to_dict()["placements"]
    assert [row["name"] for row in rows] == frame.name.tolist()
    restored_schedule = type(schedule).from_frame(inst, frame)
    restored_schedule.validate()
    pd.testing.assert_frame_equal(restored_schedule.to_frame(), frame)
    file = str(tmp_path / "instance.json")
    inst.write(file)
    for suffix in ("json", "csv"):
        plan = tmp_path / f"plan.{suffix}"
        solve = ["solve", name, file, *arguments, "--algorithm", algorithm, "-o", str(plan)]
        assert main(solve) == 0
        assert main(["validate", name, file, str(plan), *arguments]) == 0
        capsys.readouterr()
    with open(tmp_path / "plan.csv", newline="") as text:
        assert {row["name"] for row in csv.DictReader(text)} == set(NAMES)
    with open(tmp_path / "plan.json") as text:
        assert {row["name"] for row in json.load(text)["placements"]} == set(NAMES)


@pytest.mark.parametrize("name", ["packs", "moldable", "dags", "bags"])
def test_a_plan_of_other_tasks_is_refused(name):
    inst, algorithm, _ = instances()[name]
    schedule = getattr(cs, name).solve(inst, algorithm).schedule
    data = schedule.to_dict()
    data["placements"][0]["name"] = "lu"
    with pytest.raises(cs.InvalidSchedule, match=r"placements\[0\].name: 'lu': expected '"):
        type(schedule).from_dict(inst, data)


def test_who_gave_no_names_sees_numbers():
    inst = cs.packs.Instance(TIMES)
    assert "name" not in cs.packs.solve(inst, "sequential").schedule.to_frame()
    assert "name" not in cs.packs.solve(inst, "sequential").schedule.to_dict()["placements"][0]
    assert inst.names == ("task 0", "task 1", "task 2")


def test_names_of_numbers_that_are_no_tasks():
    inst = cs.packs.Instance([[4.0]], names=["a"])
    schedule = cs.Schedule(inst, [7, -1], [0, 0], [0, 1, 2], [0, 0], [0, 4], [4, 8])
    assert schedule.to_frame().name.tolist() == ["", ""]


@pytest.fixture
def runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs.csv").write_text(RUNS)
    return "runs.csv"


def test_solve_prints_the_plan_with_and_without_a_file(runs, capsys):
    solve = ["solve", "packs", runs, "--max-tasks", "2", "--algorithm", "random-proc-1"]
    assert main(solve) == 0
    printed = capsys.readouterr().out
    assert main([*solve, "-o", "plan.json"]) == 0
    assert capsys.readouterr().out == printed
    with open("plan.json") as file:
        placements = json.load(file)["placements"]
    for row in placements:  # every task with its processors, pack by pack
        assert f"{row['name']} on {len(row['units'])}" in printed
    packs = len({row["start"] for row in placements})
    assert f"packs {packs}" in printed
    inst = cs.packs.Instance.read(runs, max_tasks=2)
    res = cs.packs.solve(inst, "random-proc-1")
    value, bound, gap = printed.splitlines()[-3:]
    assert value == f"cost {res.value:.9g} s"
    assert bound.startswith(f"bound {float(res.bound):.9g} s ({res.bound.method}): no pack sch")
    percent = f"{100 * res.gap:.{0 if res.gap >= 1 else 2}f}%"
    assert gap == f"gap {percent}: at most {percent} above the best possible pack schedule"
    assert main([*solve[:-1], "optimal"]) == 0
    assert capsys.readouterr().out.endswith("this is the best possible pack schedule\n")


@pytest.mark.parametrize("name", ["packs", "moldable", "dags", "bags", "cluster"])
def test_solve_says_how_many_rows_there_are(name, tmp_path, capsys):
    file = str(tmp_path / "instance.json")
    algorithm, arguments = "demt", []
    if name == "packs":
        cs.packs.Instance(np.ones((50, 2)), 1, names=[f"j{k}" for k in range(50)]).write(file)
        algorithm, arguments = "sequential", ["--max-tasks", "1"]
    elif name == "moldable":
        cs.workloads.moldable("mixed", 50, 8, seed=1).write(file)
    elif name == "dags":
        cs.workloads.layered(50, 0.2, units=(4, 2), seed=1).write(file)
        algorithm = "heft"
    elif name == "bags":
        cs.workloads.bags_random(seed=1, q=3).write(file)
        algorithm = "ttb"
    else:
        jobs = cs.workloads.lublin(50, 8, seed=1)
        cs.cluster.Instance(jobs, 8).write(file)
        algorithm = "EASY"
    assert main(["solve", name, file, *arguments, "--algorithm", algorithm]) == 0
    printed = capsys.readouterr().out
    of = cs.registry.presentation(name)
    res = of.family.solve(of.family.instance_type.read(file), algorithm)
    plan = res.overview()
    assert len(plan.frame) == min(20, plan.total)
    if plan.total > 20:
        assert f"... and {plan.total - 20} more {plan.what}" in printed
    assert f"{of.objective} {res.value:.9g}{of.unit}\n" in printed
    assert f"({res.bound.method}): no {of.ideal} can be " in printed
    assert "\ngap " in printed


def test_an_overview_is_in_order_of_time_and_of_any_length():
    inst, _, _ = instances()["dags"]
    res = cs.dags.solve(inst, "heft")
    rows = res.overview().frame
    assert rows.start.is_monotonic_increasing
    assert rows.task.tolist()[0] == NAMES[0]
    assert set(rows.on) <= {"CPU", "GPU"}
    assert (len(res.overview(1).frame), res.overview(1).total) == (1, 3)
    assert len(res.overview(0).frame) == 0
    for bad in (-1, 1.5, "2", None):
        with pytest.raises(cs.CoschedError, match="most"):
            res.overview(bad)
    wide = cs.packs.Instance(np.ones((30, 30)), 30)
    (cell,) = cs.packs.solve(wide, "optimal").overview().frame["tasks on processors"]
    assert cell.endswith("task 11 on 1, and 18 more")


def words(text):
    return re.sub(r"[\s─]+", "", text)


@pytest.mark.parametrize("width", [40, 47, 60, 80, None])
def test_tables_are_whole_at_any_width(width, runs, capsys, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    if width:
        monkeypatch.setenv("COLUMNS", str(width))
    assert main(["compare", "packs", runs, "--max-tasks", "2,3", "-o", "table.csv"]) == 0
    printed = capsys.readouterr().out
    table = pd.read_csv("table.csv")
    assert "…" not in printed
    if width:
        line_beginnings = ("note:", "pairs:", "in all", "in some", "bound ", "a limit")
        rows = [line for line in printed.splitlines() if not line.startswith(line_beginnings)]
        assert max(map(len, rows)) <= width
    for name in table.algorithm.unique():
        assert name in printed
    for name in ("value", "bound", "gap", "packing ratio", "relative response time"):
        assert words(name) in words(printed) or all(word in printed for word in name.split())
    for number in table[["value", "bound", "packing_ratio"]].to_numpy().ravel():
        assert np.isnan(number) or f"{number:.6g}" in printed


def test_long_names_are_whole_in_narrow_tables(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    cs.cluster.Instance(cs.workloads.lublin(30, 8, seed=1), 8).write(tmp_path / "log.json")
    names = ["Greedy */opt=min", "GreedyPM */per/opt=min/minvt=600", "EASY"]
    assert main(["compare", "cluster", str(tmp_path / "log.json"), "--policies", *names]) == 0
    printed = capsys.readouterr().out
    cells = "".join(line[4:].split("  ")[0] for line in printed.splitlines()).replace(" ", "")
    for name in names:  # in each table, folded
        assert cells.count(name.replace(" ", "")) == printed.count("algorithm ")
    rows = [
        line
        for line in printed.splitlines()
        if not line.startswith(("in all rows: ", "in some: ", "bound "))
    ]
    assert max(map(len, rows)) <= 40


def test_compare_sorts_marks_and_leaves_out(runs, capsys):
    names = ["sequential", "pairs", "random-proc-1", "optimal"]
    compare = ["compare", "packs", runs, "--max-tasks", "2,3", "-o", "table.csv"]
    assert main([*compare, "--algorithms", *names]) == 0
    printed = capsys.readouterr().out
    table = pd.read_csv("table.csv")
    assert table.algorithm.tolist() == names * 2  # files: as they ran, every column
    assert {"seconds", "message", "packs", "status"} <= set(table.columns)
    summary_lines = [line for line in printed.splitlines() if line.startswith("in some: ")]
    assert not any(name in line for line in summary_lines for name in ("sequential", "random"))
    lines = [line for line in printed.splitlines() if any(name in line for name in names)]
    lines = [line for line in lines if line not in summary_lines]
    shown_rows = [re.split(r"  +", line.strip("* "))[:3] for line in lines if "not_app" not in line]
    for k in ("2", "3"):
        family_values = [(name, float(value)) for of, name, value in shown_rows if of == k]
        expected = table[(table.max_tasks == int(k)) & table.value.notna()]
        assert sorted(name for name, _ in family_values) == sorted(expected.algorithm)
        assert [value for _, value in family_values] == sorted(value for _, value in family_values)
    marked = [line for line in lines if line.startswith("*")]
    assert len(marked) == 2
    assert [line.split()[2] for line in marked] == ["pairs", "optimal"]
    assert "not_applicable" in lines[-2]  # of max_tasks = 3, after all that have a value
    assert lines[-1].startswith("pairs: not_applicable: ")

    assert main(["compare", "packs", runs, "--max-tasks", "2", "--algorithms", *names]) == 0
    printed = capsys.readouterr().out
    header = next(line for line in printed.splitlines() if "algorithm" in line)
    assert "bound" not in header  # one instance: the same in all rows, said once
    assert "status" not in header
    assert re.search(r"^bound [0-9.]+ s \(pairs\): no pack schedule", printed, re.MULTILINE)
    assert "stopped by proved (" in printed  # of the rows that proved something
    assert not re.search("in all rows:.*proved", printed)


def test_the_best_is_the_greatest_where_that_is_better(tmp_path, capsys):
    path = str(tmp_path / "bag.json")
    cs.workloads.bags_random(seed=2, q=2).write(path)
    assert main(["compare", "bags", path, "-o", str(tmp_path / "table.csv")]) == 0
    printed = capsys.readouterr().out
    table = pd.read_csv(tmp_path / "table.csv")
    (marked,) = [line for line in printed.splitlines() if re.match(r"\*  +", line)]
    assert table.set_index("algorithm").value[marked.split()[1]] == table.value.max()


def test_compare_without_a_result_exits_with_1(runs, capsys):
    compare = ["compare", "packs", runs, "--max-tasks", "3", "-o", "table.csv"]
    assert main([*compare, "--algorithms", "pairs"]) == 1
    printed = capsys.readouterr()
    assert "pairs: not_applicable: max_tasks = 3" in printed.out
    assert "*" not in printed.out
    assert printed.err == "cosched: no algorithm has a result: the lines above say why\n"
    assert pd.read_csv("table.csv").status.tolist() == ["not_applicable"]
    assert main([*compare, "--algorithms", "pairs", "optimal"]) == 0


SLOW = """
import time, pathlib, cosched as cs
def slow(instance, *, seed):
    pathlib.Path("started").write_text("")
    while True:
        time.sleep(0.01)
cs.register("packs", "slow", slow)
"""


def test_a_stopped_compare_prints_and_writes_what_it_has(runs, tmp_path):
    (tmp_path / "own.py").write_text(SLOW)
    command = [sys.executable, "-m", "cosched", "--import", "own.py", "compare", "packs", runs]
    names = ["sequential", "optimal", "slow", "pack-approx"]
    process = subprocess.Popen(
        [*command, "--time-limit", "none", "-o", "table.csv", "--algorithms", *names],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        end = time.monotonic() + 180
        while not (tmp_path / "started").exists() and time.monotonic() < end:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=180)
    finally:
        process.kill()
    assert process.returncode == 130, err
    assert "sequential" in out and "optimal" in out and "* the best cost" in out  # noqa: PT018
    assert pd.read_csv("table.csv").algorithm.tolist() == names[:2]
    assert err.endswith("the 2 finished rows are in table.csv; not run: slow, pack-approx\n")
    assert "Traceback" not in err


def test_a_compare_that_its_limit_stops_has_the_other_rows(runs, tmp_path, capsys):
    cs.register("packs", "hangs", _hangs)
    try:
        names = ["hangs", "optimal"]
        compare = ["compare", "packs", runs, "--time-limit", "0.2", "-o", "table.csv"]
        assert main([*compare, "--algorithms", *names]) == 0
        printed = capsys.readouterr().out
        assert pd.read_csv("table.csv").status.tolist() == ["time_limit", "ok"]
        assert printed.index("optimal") < printed.index("hangs")
        assert main([*compare, "--algorithms", "hangs"]) == 1
    finally:
        cs.packs.ALGORITHMS.pop("hangs")


def _hangs(instance, *, seed):
    while True:
        cs.packs.solve(instance, "local-search", seed=seed)
