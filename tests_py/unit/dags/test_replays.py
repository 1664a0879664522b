"""What resumes or appends, done twice, gives what once gives."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time

import pytest

import cosched as cs
from cosched.cli import main
from cosched.execution.execution_measurements import executions_path


@pytest.fixture
def case(tmp_path, monkeypatch):
    """Two tasks side by side; b fails until `good` is there."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "codes.toml").write_text(
        'procs = 2\n[task.a]\ncommand = "sleep 0.2"\n'
        '[task.b]\ncommand = "sleep 0.1; test -e good"\n'
        '[task.c]\ncommand = "sleep 0.1; test -e good"\n'
    )
    inst = cs.packs.Instance([[0.2, 0.2], [0.1, 0.1], [0.1, 0.1]], 3, names=list("abc"))
    result = cs.packs.co_schedule(inst, [0, 0, 1], [1, 1, 2])
    cs.io.write_json(result.to_dict(), "plan.json")
    return ["run", "plan.json", "--codes", "codes.toml", "--oversubscribe", "--measure", "runs.csv"]


def rows():
    with open("runs.csv", newline="") as file:
        return list(csv.DictReader(file))


def test_measure_appends_what_this_driver_ran(case, tmp_path, capsys):
    assert main(case) == 1
    assert sorted(row["task"] for row in rows()) == ["a"]
    assert not executions_path("runs.csv").exists()
    (tmp_path / "good").touch()
    assert main([*case, "--resume"]) == 0
    assert sorted(row["task"] for row in rows()) == ["a", "b", "c"]
    assert json.loads(rows()[0]["beside"])["b"] > 0.2
    original_files = ((tmp_path / "runs.csv").read_text(), executions_path("runs.csv").read_text())
    capsys.readouterr()
    for _ in range(2):
        assert main([*case, "--resume"]) == 0
        assert "appended" not in capsys.readouterr().out
        assert (
            (tmp_path / "runs.csv").read_text(),
            executions_path("runs.csv").read_text(),
        ) == original_files
    assert main([*case, "--again"]) == 0
    assert sorted(row["task"] for row in rows()) == list("aabbcc")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_driver_keeps_what_it_measured(case, tmp_path, number):
    text = (tmp_path / "codes.toml").read_text()
    long = "touch begun; until test -e good; do sleep 0.02; done"
    (tmp_path / "codes.toml").write_text(text.replace("sleep 0.1; test -e good", long, 1))
    driver = subprocess.Popen([sys.executable, "-m", "cosched", *case], stderr=subprocess.DEVNULL)
    ended = '"state": "completed"'
    journal = tmp_path / "plan.journal.jsonl"
    deadline = time.monotonic() + 60
    while not (journal.exists() and ended in journal.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    driver.send_signal(number)
    assert driver.wait(60) == 128 + number
    assert sorted(row["task"] for row in rows()) == ["a"]
    assert json.loads(rows()[0]["beside"]) == {"b": pytest.approx(1, abs=0.5)}
    (tmp_path / "good").touch()
    assert main([*case, "--resume"]) == 0
    assert sorted(row["task"] for row in rows()) == ["a", "b", "c"]
    assert os.path.exists(executions_path("runs.csv"))


def test_a_dry_run_of_a_resume_shows_what_is_left(case, tmp_path, capsys):
    dry = [*case, "--resume", "--dry-run"]

    def output_of_dry_run():
        capsys.readouterr()
        assert main(dry) == 0
        return capsys.readouterr().out

    assert [f" {name} " in output_of_dry_run() for name in "abc"] == [
        True
    ] * 3  # nothing has run yet
    assert main(case) == 1
    text = (tmp_path / "plan.journal.jsonl").read_text()
    assert "1 of 3 tasks completed" in output_of_dry_run()
    assert [f" {name} " in output_of_dry_run() for name in "abc"] == [False, True, True]
    assert main([*case, "--dry-run"]) == 0  # of a run from nothing
    assert " a " in capsys.readouterr().out
    assert (tmp_path / "plan.journal.jsonl").read_text() == text
    (tmp_path / "good").touch()
    assert main([*case, "--resume"]) == 0
    assert output_of_dry_run() == "3 of 3 tasks completed: plan.journal.jsonl\n"
    other = cs.packs.sequential(cs.packs.Instance([[1.0]], names=["a"]))
    cs.io.write_json(other.to_dict(), "plan.json")
    assert main(dry) == 2
    assert "another plan" in capsys.readouterr().err
