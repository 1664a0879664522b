"""The report of an audit: one set of numbers for the page, JSON and the terminal."""

import json
import re
from datetime import datetime

import pytest

import cosched as cs
from cosched.cluster.analysis.audit import analyse_runs
from cosched.cluster.analysis.simulate_audit import simulate_audit
from cosched.cluster.analysis.what_if import scenario_of
from cosched.notes import Note, NoteKind
from cosched.reports.audit import audit_report
from cosched.reports.document import Table

HOUR = 3600.0


def log(**extra_columns):
    """Three users on two nodes; ada's second job waits 30 hours."""
    jobs = {
        "submit": [0.0, 0.0, 60.0, 120.0],
        "tasks": [2, 2, 1, 1],
        "cpu": [1] * 4,
        "memory": [1] * 4,
        "runtime": [HOUR, HOUR, HOUR, 2 * HOUR],
        "wait": [0.0, 30 * HOUR, 32 * HOUR, 31 * HOUR],
        "estimate": [2 * HOUR] * 4,
        "user": ["ada", "ada", "bob", "cleo"],
        "account": ["physics", "physics", "physics", "biology"],
    }
    return cs.cluster.Instance(jobs, 2, begins=datetime(2026, 3, 1), **extra_columns)


def analysis(instance, *changes):
    scenarios = [scenario_of(instance, change) for change in changes]
    return analyse_runs(simulate_audit(instance, scenarios, None))


def test_key_figures_are_those_of_the_log():
    figures = analysis(log()).key_figures
    assert figures.jobs == 4
    assert figures.core_hours == 2 + 2 + 1 + 2
    assert figures.median_wait == 30.5 * HOUR
    assert figures.max_wait == 32 * HOUR
    assert figures.jobs_with_long_wait == 3
    assert figures.used_time == pytest.approx((2 * 1 + 2 * 1 + 1 * 1 + 1 * 2) / (2 * 6))
    assert figures.is_observed


def test_page_json_and_terminal_have_the_same_numbers(tmp_path):
    page, numbers, printed = tmp_path / "a.html", tmp_path / "a.json", []
    cs.cluster.audit(log(), page, json=numbers, what_if=["nodes=+2"], say=printed.append)
    report = json.loads(numbers.read_text())["report"]
    figures = {figure["label"]: figure for figure in report["key_figures"]}
    assert figures["node-hours"]["value"] == 7
    assert figures["median wait"]["value"] == 30.5 * HOUR
    # Broken at the blank, not within a word.
    assert '<td class="phrase">current configuration</td>' in page.read_text()
    for figure in figures.values():
        assert figure["text"] in page.read_text()
        assert any(re.match(rf"{re.escape(figure['label'])}\s+{re.escape(figure['text'])}", line)
                   for line in printed)  # fmt: skip
    (policies,) = (table for table in report["tables"] if table["rows"][0].get("estimates"))
    logged = next(row for row in policies["rows"] if row["policy"] == "as-logged")
    assert logged["median_wait"] == 30.5 * HOUR


def test_each_user_has_one_row_of_longest_waits():
    waits = analysis(log()).longest_waits
    assert [(wait.user, wait.wait) for wait in waits] == [
        ("bob", 32 * HOUR), ("cleo", 31 * HOUR), ("ada", 30 * HOUR),
    ]  # fmt: skip


def test_the_best_scenario_is_a_clear_one_with_the_same_jobs():
    audit = analysis(log(), "nodes=+2", "users.ada=-50%")
    assert audit.best_scenario is None  # EASY has no replications: no difference is clear
    assert "shortens the mean wait most" not in audit_report(audit).lead


@pytest.mark.parametrize("file", ["page", "numbers"])
def test_an_anonymous_report_names_no_user_and_no_account(tmp_path, file):
    instance = log().with_notes([Note(NoteKind.REMARK, "job 2 of bob (/site/bob/log.txt) is odd")])
    files = {"page": tmp_path / "a.html", "numbers": tmp_path / "a.json"}
    cs.cluster.audit(instance, files["page"], json=files["numbers"], what_if=["users.ada=-50%"],
                     anonymise=True)  # fmt: skip
    text = files[file].read_text()
    assert not re.search(r"\b(ada|bob|cleo|physics|biology)\b", text)
    for name in ("user1", "user2", "user3", "account1", "account2", "users.user1=-50%"):
        assert name in text


def test_no_path_of_the_machine_is_on_the_page(tmp_path):
    note = Note(NoteKind.REMARK, "1/2 of the fields").with_place("/site/logs/sacct.txt:7")
    instance = log().with_notes([note])
    report = audit_report(analysis(instance))
    assert "sacct.txt:7: 1/2 of the fields" in report.to_html()
    assert "/site" not in report.to_html()
    (record,) = [row for row in report.to_dict()["note_records"] if row["kind"] == "remark"]
    assert record["where"] == "sacct.txt:7"


def test_all_rows_of_a_table_have_a_value_per_column():
    report = audit_report(analysis(log(), "nodes=+1"))
    tables = [
        block for part in report.sections for block in part.blocks if isinstance(block, Table)
    ]
    assert len(tables) >= 5
    for table in tables:
        assert {len(row) for row in table.rows} == {len(table.columns)}
        assert len(table.texts()) == len(table.records()) == len(table.rows)
