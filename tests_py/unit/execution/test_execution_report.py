"""The report of a run: page, figure and record."""

import json

import pytest

import cosched as cs
from cosched.execution import Execution, TaskRun
from cosched.reports.execution import execution_report, write_execution


@pytest.fixture
def execution():
    times = {"planned_start": 0.0, "planned_end": 2.0, "start": 0.1, "attempt": 1}
    tasks = (
        TaskRun(task=0, name="<fem>", kind=0, units=(0,), end=2.5, state="completed", **times),
        TaskRun(task=1, name="cfd", kind=0, units=(1, 2), end=3.0, state="failed", **times),
    )
    return Execution(
        family="packs", launcher="local", barrier=True, tasks=tasks, host="n1", bound=1.5
    )


def test_key_figures_are_those_of_the_record(execution):
    figures = {
        figure.label: (figure.value, figure.text)
        for figure in execution_report(execution).key_figures
    }
    assert figures == {
        "tasks completed": ("1 of 2", "1 of 2"),
        "measured makespan": (3.0, "3 s"),
        "planned makespan": (2.0, "2 s"),
        "lower bound": (1.5, "1.5 s"),
    }


@pytest.mark.parametrize("suffix", [".html", ".json", ".png", ".svg"])
def test_the_suffix_chooses_the_form(execution, tmp_path, suffix):
    path = tmp_path / f"run{suffix}"
    write_execution(execution, path)
    assert path.stat().st_size > 400
    if suffix == ".html":
        page = path.read_text()
        assert "&lt;fem&gt;</td>" in page
        assert "<fem>" not in page
        assert "measured" in page
    if suffix == ".json":
        assert json.loads(path.read_text())["makespan"] == 3.0


def test_another_suffix_is_refused(execution, tmp_path):
    with pytest.raises(cs.InvalidInstance, match=r"run\.txt"):
        write_execution(execution, tmp_path / "run.txt")


def test_a_run_without_tasks_has_no_figure():
    empty = Execution(family="packs", launcher="local", barrier=True, tasks=())
    assert "<svg" not in execution_report(empty).to_html()
