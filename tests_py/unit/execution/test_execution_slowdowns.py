"""Slow-downs of pairs: the file, its noise, and plans that know them."""

import datetime

import numpy as np
import pytest

import cosched as cs
from cosched.cli import main
from cosched.errors import InvalidInstance
from cosched.execution import Execution, Plan, TaskRun, plan
from cosched.execution.execution_measurements import append_execution
from cosched.execution.runs_file import corunners_of, read_runs
from cosched.execution.slowdowns import (
    COLUMNS,
    Pair,
    order_statistics,
    read_slowdowns,
    slowdown_tables,
)
from execution_codes import shell_notes, spans


def pair(task, co_located, slowdown, low=None, high=None, processors=1):
    low, high = slowdown if low is None else low, slowdown if high is None else high
    return Pair(task, co_located, slowdown, low, high, processors)


NOISE = [pair("a", "", 1.0, 0.95, 1.1), pair("b", "", 1.0, 0.9, 1.05)]


def test_what_is_noise_is_planned_as_one():
    pairs = [
        *NOISE,
        *(pair("a", "a", 1.08), pair("a", "b", 1.5, 1.4, 1.7)),
        *(pair("b", "a", 0.55), pair("b", "b", 1.0)),
    ]
    slow = slowdown_tables(pairs, ["a", "b"], 2)
    assert slow.planned.tolist() == [[1.0, 1.5], [1.0, 1.0]]
    assert (slow.low[0, 1], slow.high[0, 1]) == (1.4, 1.7)
    assert any("noise" in note and "b beside a 0.55" in note for note in slow.notes)
    assert any("inside the noise, planned as 1: a beside a" in note for note in slow.notes)
    high = slowdown_tables(pairs, ["a", "b"], 2, "high")
    assert high.planned.tolist() == [[1.08, 1.7], [1.0, 1.0]]


def test_pairs_that_are_missing():
    pairs = [*NOISE, pair("a", "b", 1.5)]
    assert slowdown_tables(pairs, ["a", "b"], 2).planned.tolist() == [[1.0, 1.5], [1.0, 1.0]]
    slow = slowdown_tables(pairs, ["a", "b"], 2, missing="worst")
    assert slow.planned.tolist() == [[1.5, 1.5], [1.0, 1.0]]
    assert "not measured, planned as the largest of their task: a beside a" in slow.notes[-1]
    for bad in ({"quantile": "mean"}, {"missing": "none"}):
        with pytest.raises(InvalidInstance):
            slowdown_tables(pairs, ["a"], 2, **bad)


def test_of_several_counts_the_one_next_to_half_of_the_machine():
    pairs = [pair("a", "a", 1.0 + q / 100, processors=q) for q in (1, 2, 4, 8)]
    assert slowdown_tables(pairs, ["a"], 8).planned[0, 0] == 1.04
    assert slowdown_tables([p for p in pairs if p.processors != 4], ["a"], 8).planned[0, 0] == 1.08


def test_order_statistics_hold_the_median():
    random = np.random.default_rng(0)
    inside = 0
    for _ in range(400):
        low, high = order_statistics(random.normal(size=9))
        inside += low <= 0 <= high
    assert inside >= 0.9 * 400
    assert order_statistics(np.array([2.0])) == (2.0, 2.0)


HEADER = "task,beside,processors,alone,together,slowdown"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("task,beside\na,b\n", "line 1: header"),
        (f"{HEADER}\na,b,1,1,1,x\n", "line 2, column 'slowdown'"),
        (f"{HEADER}\na,b,1,1,1,\n", "line 2, column 'slowdown': empty cell"),
        (f"{HEADER}\n,b,1,1,1,1\n", "line 2, column 'task'"),
    ],
)
def test_bad_files(tmp_path, text, says):
    path = tmp_path / "slowdowns.csv"
    path.write_text(text)
    with pytest.raises(InvalidInstance, match=says):
        read_slowdowns(path)


def test_a_plan_that_knows_slow_downs_is_never_worse_with_them(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = "abcd"
    rows = [
        f"{n},{q},{t / q**0.8:.4f}"
        for n, t in zip(names, (8, 7, 6, 5), strict=True)
        for q in (1, 2)
    ]
    (tmp_path / "runs.csv").write_text("task,processors,seconds\n" + "\n".join(rows) + "\n")
    bad = {("a", "b"), ("b", "a"), ("c", "d"), ("d", "c")}
    lines = [f"{i},{j},1,1,1,{1.9 if (i, j) in bad else 1.0}" for i in names for j in names]
    (tmp_path / "slowdowns.csv").write_text("\n".join([HEADER, *lines]) + "\n")
    advice = plan("runs.csv", slowdowns="slowdowns.csv")
    advice.result.schedule.validate()
    assert advice.isolated_makespan <= advice.result.value
    assert advice.result.value <= advice.interference_blind_makespan * (1 + 1e-9)
    assert advice.bound.value <= advice.result.value * (1 + 1e-9)
    assert "with slow-downs; as if alone" in "\n".join(advice.lines())
    assert main(["plan", "runs.csv", "--slowdowns", "slowdowns.csv", "-o", "plan.json"]) == 0
    assert "with slow-downs" in capsys.readouterr().out
    data = cs.io.read_json("plan.json")
    assert data["slowdowns"]["rule"] == "sum"
    assert COLUMNS[:6] == tuple(HEADER.split(","))


def finished_task(name, unit, start, end, task):
    return TaskRun(
        task=task, name=name, kind=0, units=(unit,), planned_start=0.0, planned_end=1.0,
        start=start, end=end, state="completed", exit_code=0, attempt=1,
    )  # fmt: skip


def test_times_taken_in_company_do_not_count_slow_downs_twice(tmp_path):
    """a runs 6 s, of which b is beside it for 3: alone it would take 6 / (1 + 0.5 * 0.6)."""
    tasks = (
        finished_task("a", 0, 0.0, 6.0, 0),
        finished_task("b", 1, 1.0, 4.0, 1),
        finished_task("c", 1, 6.0, 7.0, 2),
    )
    done = Execution(family="moldable", launcher="local", barrier=False, tasks=tasks)
    path = tmp_path / "runs.csv"
    when = datetime.datetime.now(datetime.timezone.utc)
    assert append_execution(done, path, when) == 3
    runs = {run.task: run for run in read_runs(path)}
    assert corunners_of(runs["a"]) == {"b": 0.5}
    assert corunners_of(runs["b"]) == {"a": 1.0}
    assert corunners_of(runs["c"]) == {}
    assert cs.packs.Instance.read(path).times.tolist() == [[6.0], [3.0], [1.0]]
    table = "\n".join([HEADER, "a,b,1,1,1,1.6", "b,a,1,1,1,1.2", "a,a,1,1,1,1"]) + "\n"
    (tmp_path / "slowdowns.csv").write_text(table)
    advice = plan(path, slowdowns=tmp_path / "slowdowns.csv", procs=1)
    times = advice.result.instance.times[:, 0].tolist()
    assert times == pytest.approx([6 / 1.3, 3 / 1.2, 1.0])
    assert any(note.startswith("2 times were taken in company") for note in advice.notes)


@pytest.mark.parametrize("cell", ["b", "[1]", '{"b": -1}', '{"b": "x"}'])
def test_a_bad_company_is_refused(cell, tmp_path):
    quoted = cell.replace('"', '""')
    path = tmp_path / "runs.csv"
    path.write_text(f'task,processors,seconds,beside\na,1,2.0,"{quoted}"\n')
    with pytest.raises(InvalidInstance, match="line 2, column 'beside'"):
        read_runs(path)


def test_a_task_that_waits_beside_idle_units_waits_for_the_one_it_would_slow(tmp_path):
    # The third starts with the end of the first, on a unit that is idle since that of the second.
    slow = [[1, 1, 3], [1, 1, 1], [3, 1, 1]]
    times = np.array([[0.4] * 3, [0.1] * 3, [0.1] * 3])
    rows = ([0, 1, 2], [0, 0, 0], [0, 1, 2, 3], [0, 1, 1], [0.0, 0.0, 0.4], [0.4, 0.1, 0.5])
    names = ["first", "second", "third"]
    plain, slowed = (
        Plan.of(
            cs.core.Schedule(cs.moldable.Instance(times, [1] * 3, names=names, **options), *rows)
        )
        for options in ({}, {"slowdowns": slow})
    )
    assert [step.name for step in plain.steps] == ["second", "first", "third"]
    assert plain.waits_for(False)[2] == {0}
    assert slowed.waits_for(False)[2] == {0, 1}
    seconds = {"first": 0.4, "second": 0.1, "third": 0.1}
    commands = {name: f"note start; sleep {t}; note end" for name, t in seconds.items()}
    codes = shell_notes(tmp_path, commands)
    cs.execution.run(slowed, codes, journal=tmp_path / "j.jsonl", oversubscribe=True)
    during = spans(tmp_path)
    assert during["third"][0][0] >= during["first"][0][1]


def test_what_a_plan_without_packs_comes_to_in_company_is_said(tmp_path):
    (tmp_path / "runs.csv").write_text("task,processors,seconds\na,1,4\nb,1,2\nc,1,2.5\n")
    lines = [f"{i},{j},1,1,1,{1.5 if i + j in 'aba' else 1.1}" for i in "abc" for j in "abc"]
    (tmp_path / "slowdowns.csv").write_text("\n".join([HEADER, *lines]) + "\n")
    advice = plan(tmp_path / "runs.csv", procs=2, slowdowns=tmp_path / "slowdowns.csv")
    assert advice.isolated_makespan == 4.5
    assert advice.interference_blind_makespan > 4.5
    assert advice.result.value <= advice.interference_blind_makespan * (1 + 1e-9)
    assert "and that plan would end after" in "\n".join(advice.lines())
