"""Tables for people are safe to open; files that are read again come back as they were."""

import csv
import json
import os
from contextlib import closing

import numpy as np
import pandas as pd
import pytest

import cosched as cs
from cosched.cli import main
from cosched.execution import execution_measurements, runs_file
from cosched.execution.runs_file import MeasuredRun, RunsFile, read_runs
from cosched.io import append_only, write_frame
from cosched.io.append_only import AppendOnlyFile, AppendOnlyTable

NAMES = [
    "=1+1", "=HYPERLINK(\"http://x\",\"y\")", "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1",
    "\uff1d1", "<script>alert(1)</script>", "</td><img src=x onerror=alert(1)>",
    "[a](javascript:alert(1))", "\x1b[31mred\x1b[0m", "a|b", "'quoted", "fem", "-1.5", "+7", "a, b",
    "\u202eabc", "<0.01%", "a < b",
]  # fmt: skip


def people(path):
    with open(path, newline="") as file:
        return list(csv.reader(file))


def test_a_csv_for_people_has_no_formulas_and_no_escapes(tmp_path):
    frame = pd.DataFrame({"=name": NAMES, "value": np.linspace(-1, 1, len(NAMES))})
    write_frame(frame, tmp_path / "a.csv")
    rows = people(tmp_path / "a.csv")
    assert rows[0] == ["'=name", "value"]
    cells = [row[0] for row in rows[1:]]
    for cell, name in zip(cells, NAMES, strict=True):
        assert cell.isprintable()
        assert cell[0] not in "=@\t\r\uff1d" and (cell[0] not in "+-" or float(cell))  # noqa: PT018
        assert cell.removeprefix("'") == name.removeprefix("'") or not name.isprintable()
    assert cells[-6:-4] == ["-1.5", "+7"]  # numbers are no formulas
    assert [float(row[1]) for row in rows[1:]] == frame.value.tolist()


def test_markdown_has_no_tags_and_no_links_of_cells(tmp_path):
    frame = pd.DataFrame({"<b>": NAMES, "value": range(len(NAMES))})
    write_frame(frame, tmp_path / "a.md")
    text = (tmp_path / "a.md").read_text()
    lines = text.splitlines()
    assert len(lines) == len(NAMES) + 2
    assert not [part for part in ("<script", "</", "<img", "<b>", "](", "\x1b") if part in text]
    assert "&lt;script>alert(1)" in text
    assert "| <0.01%" in text
    assert "| a < b" in text


def test_json_is_for_machines(tmp_path):
    frame = pd.DataFrame({"name": NAMES})
    write_frame(frame, tmp_path / "a.json")
    assert [row["name"] for row in json.loads((tmp_path / "a.json").read_text())] == NAMES
    write_frame(frame, tmp_path / "exact.csv", exact=True)
    assert [row[0] for row in people(tmp_path / "exact.csv")[1:]] == NAMES


@pytest.fixture
def kept():
    return [name for name in NAMES if name == name.strip()]  # readers strip cells


def test_what_is_read_again_is_as_it_was(kept, tmp_path):
    times = np.linspace(4, 1, 2 * len(kept)).reshape(-1, 2)
    instances = [
        cs.packs.Instance(times, names=kept),
        cs.moldable.Instance(times, np.ones(len(kept)), names=kept),
    ]
    for instance in instances:
        for suffix in (".csv", ".json"):
            path = tmp_path / f"{instance.family}{suffix}"
            instance.write(path)
            reread_instance = type(instance).read(path)
            assert list(reread_instance.names) == kept
            np.testing.assert_array_equal(reread_instance.times, instance.times)
    for suffix in (".csv", ".json"):
        out = tmp_path / f"plan{suffix}"
        solve = ["solve", "packs", str(tmp_path / "packs.csv"), "--algorithm", "sequential"]
        assert main([*solve, "-o", str(out)]) == 0
        assert main(["validate", "packs", str(tmp_path / "packs.csv"), str(out)]) == 0
    file = RunsFile(tmp_path / "runs.csv")
    file.add([MeasuredRun(name, 1, 2.0, "completed", "", "h", 1) for name in kept])
    file.close()
    assert [run.task for run in read_runs(tmp_path / "runs.csv")] == kept


def test_compare_writes_tables_for_people(tmp_path, capsys):
    (tmp_path / "times.csv").write_text("task,1,2\na,3,2\n")
    hostile = "=cmd<script>"
    cs.register("packs", hostile, cs.packs.sequential)
    try:
        for suffix in (".csv", ".md"):
            out = tmp_path / f"table{suffix}"
            compare = ["compare", "packs", str(tmp_path / "times.csv"), "--algorithms", hostile]
            assert main([*compare, "-o", str(out)]) == 0
            text = out.read_text()
            assert ("'=cmd" in text) == (suffix == ".csv")
            assert ("<script" in text) == (suffix == ".csv")  # a cell, nobody's page
    finally:
        cs.packs.ALGORITHMS.pop(hostile)


def test_pages_keep_no_tags_of_names(tmp_path):
    jobs = {
        "submit": [0.0, 1.0], "tasks": [2, 2], "cpu": [1.0, 1.0], "memory": [0.5, 0.5],
        "runtime": [9.0, 9.0], "estimate": [10.0, 10.0], "wait": [0.0, 9.0],
        "user": ["<script>alert(1)</script>", "<img src=x>"], "id": ["<b>1</b>", "2"],
    }  # fmt: skip
    cs.cluster.audit(cs.cluster.Instance(jobs, nodes=2), tmp_path / "a.html", time_limit=5)
    text = (tmp_path / "a.html").read_text()
    assert "&lt;script&gt;alert(1)" in text
    assert "<script>alert" not in text
    assert "<img src=x" not in text
    assert "<b>" not in text


@pytest.mark.parametrize("columns", [execution_measurements.EXECUTION_COLUMNS, runs_file.COLUMNS])
def test_a_table_of_something_else_is_not_appended_to(columns, tmp_path):
    path = tmp_path / "some.csv"
    path.write_text("a,b\n1,2\n3")
    with pytest.raises(cs.InvalidInstance, match="line 1: header 'a,b': expected"):
        AppendOnlyTable(path, columns)
    assert path.read_text() == "a,b\n1,2\n3"


def test_a_row_that_was_cut_short_is_taken_away(tmp_path):
    path = tmp_path / "some.csv"
    for text in ("", "a,", "a,b\n", "a,b\n1"):
        path.write_text(text)
        with closing(AppendOnlyTable(path, ("a", "b"))) as table:
            assert table.is_empty
            table.append([("x, y", 2)])
        assert path.read_text() == 'a,b\n"x, y",2\n'


def test_a_file_that_another_process_replaced_is_opened_anew(tmp_path, monkeypatch):
    """Opened before the replacement and locked after it: a line would go to the former file."""
    path = tmp_path / "rows.jsonl"
    writer = AppendOnlyFile(path)
    writer.append(b"old\n")
    lock, calls = append_only.fcntl.flock, []

    def lock_late(handle, how):
        calls.append(handle)
        if len(calls) == 1:
            (tmp_path / "new").write_bytes(b"new\n")
            os.replace(tmp_path / "new", path)
            writer.close()
        lock(handle, how)

    monkeypatch.setattr(append_only.fcntl, "flock", lock_late)
    reader = AppendOnlyFile(path)
    reader.append(b"line\n")
    reader.close()
    assert path.read_bytes() == b"new\nline\n"
    assert len(calls) == 2
