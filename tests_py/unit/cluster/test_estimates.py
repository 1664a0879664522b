"""Run-time estimates: ``EASY`` means the same in every command."""

import json

import pytest

import cosched as cs
from cosched.cli import main


def guessed_jobs(**extra_columns):
    """Two jobs on two nodes, and a third that starts at once only where its run time is known."""
    jobs = {"submit": [0, 0, 0], "tasks": [1, 2, 1], "cpu": [1, 1, 1], "memory": [0.3, 0.3, 0.3],
            "runtime": [60.0, 60.0, 30.0]}  # fmt: skip
    return cs.cluster.Instance(jobs | extra_columns, nodes=2)


GUESSED = {"estimate": [60.0, 60.0, 90.0]}


@pytest.mark.parametrize("name", ["EASY", "conservative"])
def test_requested_time_limits_are_the_default_where_the_log_has_any(name):
    instance = guessed_jobs(**GUESSED)
    default = cs.cluster.solve(instance, name)
    requested = cs.cluster.solve(instance, name, estimates="requested")
    perfect = cs.cluster.solve(instance, f"{name} (perfect estimates)")
    assert default.jobs.start.tolist() == requested.jobs.start.tolist() == [0.0, 60.0, 120.0]
    assert perfect.jobs.start.tolist() == [0.0, 60.0, 0.0]
    assert default.metrics()["estimates"] == "requested"
    assert perfect.metrics()["estimates"] == "perfect"


@pytest.mark.parametrize(
    "columns", [{}, {"estimate": [float("inf")] * 3}, {"estimate": [float("nan")] * 3}]
)
def test_without_time_limits_the_estimates_are_perfect(columns):
    result = cs.cluster.solve(guessed_jobs(**columns), "EASY")
    assert result.metrics()["estimates"] == "perfect"
    assert cs.cluster.solve(guessed_jobs(**columns), "FCFS").metrics()["estimates"] == "none"


def test_compare_and_audit_have_the_same_numbers_for_easy(tmp_path, capsys):
    log = tmp_path / "log.json"
    instance = guessed_jobs(**GUESSED, wait=[0.0, 60.0, 0.0])
    instance.write(log)
    names = "as-logged,FCFS,EASY,EASY (perfect estimates)"
    assert main(["compare", "cluster", str(log), "--policies", names, "--json"]) == 0
    compared = {row["algorithm"]: row for row in json.loads(capsys.readouterr().out)}
    page, audit = tmp_path / "audit.html", tmp_path / "audit.json"
    assert main(["audit", str(log), "-o", str(page), "--json", str(audit)]) == 0
    tables = json.loads(audit.read_text())["report"]["tables"]
    (policies,) = (table for table in tables if table["rows"][0].get("estimates"))
    audited = {row["policy"]: row for row in policies["rows"]}
    for name in ("EASY", "EASY (perfect estimates)", "FCFS"):
        assert audited[name]["max_bounded_slowdown"] == compared[name]["value"]
        assert audited[name]["mean_wait"] == compared[name]["mean_wait"]
        assert audited[name]["estimates"] == compared[name]["estimates"]
    assert audited["EASY"]["mean_wait"] > audited["EASY (perfect estimates)"]["mean_wait"]


def test_tables_say_the_gap_in_percent_however_far_it_is(tmp_path, capsys):
    log = tmp_path / "log.json"
    guessed_jobs(**GUESSED).write(log)
    assert main(["compare", "cluster", str(log), "--policies", "FCFS,EASY"]) == 0
    output = capsys.readouterr().out
    gap = cs.cluster.solve(guessed_jobs(**GUESSED), "FCFS").gap
    assert gap > 1
    assert f"{100 * gap:,.0f}%" in output
    assert " x " not in output
    assert "estimates" in output
    assert "P95 wait" in output
    assert "utilisation" not in output
