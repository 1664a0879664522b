"""What a resumed run appends to the measurements: what its own driver ran, once."""

import csv

from cosched.cli import main

CODES = """procs = 2
[task.a]
command = "sleep 0.2"
counts = [1]
[task.b]
command = "test -e {flag}"
counts = [1]
"""
RUNS = "task,processors,seconds\na,1,0.2\nb,1,0.2\n"


def rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def test_each_driver_appends_what_it_ran(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    flag = tmp_path / "there"
    (tmp_path / "codes.toml").write_text(CODES.replace("{flag}", str(flag)))
    (tmp_path / "runs.csv").write_text(RUNS)
    assert main(["plan", "runs.csv", "--codes", "codes.toml", "-o", "plan.json"]) == 0
    command = ["run", "plan.json", "--codes", "codes.toml", "--measure", "new.csv",
               "--oversubscribe"]  # fmt: skip
    assert main(command) == 1  # b fails
    assert [row["task"] for row in rows("new.csv")] == ["a"]
    flag.touch()
    resumed = [*command, "--resume"]
    assert main(resumed) == 0
    assert [row["task"] for row in rows("new.csv")] == ["a", "b"]
    ends = (tmp_path / "new.executions.csv").read_text()
    for _ in range(2):  # all is done: nothing runs, nothing is appended
        assert main(resumed) == 0
        assert [row["task"] for row in rows("new.csv")] == ["a", "b"]
        assert (tmp_path / "new.executions.csv").read_text() == ends
