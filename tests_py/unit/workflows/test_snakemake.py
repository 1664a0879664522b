"""``snakemake --scheduler cosched`` with Snakemake itself, on six workflows."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from cosched.execution import Execution
from support import REPO, library

WORKFLOWS = REPO / "tests_py" / "fixtures" / "snakemake"

pytestmark = pytest.mark.skipif(sys.version_info < (3, 11), reason="Snakemake 9 needs Python 3.11")


def snakemake(
    folder: Path, name: str, *options: str, cores: int = 2, short: float = 0.1, long: float = 0.3
) -> subprocess.CompletedProcess[str]:
    """Run a workflow in a folder; the record is in record.json, the times in history.json."""
    library("snakemake")
    command = [
        *(sys.executable, "-m", "snakemake", "--snakefile", str(WORKFLOWS / f"{name}.smk")),
        *("--cores", str(cores), "--nocolor", "--config", f"short={short}", f"long={long}"),
        *("--scheduler", "cosched", "--scheduler-cosched-report", "record.json"),
        *("--scheduler-cosched-history", "history.json", *options),
    ]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)


def record(folder: Path) -> Execution:
    return Execution.read(folder / "record.json")


def starts(execution: Execution) -> list[str]:
    """Names in the order of their starts."""
    return [task.name for task in sorted(execution.tasks, key=lambda task: task.start)]


def in_use(execution: Execution) -> int:
    """The most cores in use at a time."""
    steps = sorted(
        step
        for task in execution.tasks if task.end > task.start
        for step in ((task.start, len(task.units)), (task.end, -len(task.units)))
    )  # fmt: skip
    used = most = 0
    for _, change in steps:
        used += change
        most = max(most, used)
    return most


def test_chain_goes_first(tmp_path):
    run = snakemake(tmp_path, "chain")
    assert run.returncode == 0, run.stderr
    done = record(tmp_path)
    assert 0 < done.bound <= done.makespan
    assert f"ends before {done.bound:.1f} s" in run.stderr
    assert done.good
    assert len(done.tasks) == 13
    assert in_use(done) <= 2
    # Nothing is known of the times: the chain has more jobs behind it, so each of its jobs starts
    # with the first selection after the one before it.
    by_name = {task.name: task for task in done.tasks}
    chain = ["begin c0", "chain c1", "chain c2", "chain c3"]
    for before, after in pairwise(chain):
        late = [t for t in done.tasks if by_name[before].end < t.start < by_name[after].start]
        assert not late, (before, after, [t.name for t in late])
    assert starts(done)[0] == "begin c0"
    assert "no schedule on these resources ends before" in run.stderr
    assert "13 jobs took" in run.stderr
    assert " s expected if each job takes 1 s, since no times are known)" in run.stderr


def test_times_are_learned_for_the_next_run(tmp_path):
    assert snakemake(tmp_path, "chain").returncode == 0
    run = snakemake(tmp_path, "chain", "--forceall")
    assert run.returncode == 0, run.stderr
    assert " s expected if jobs take as long as in earlier runs" in run.stderr


def test_an_end_is_noticed_when_no_job_waits(tmp_path):
    run = snakemake(tmp_path, "tail", short=1.5, long=4.0)
    assert run.returncode == 0, run.stderr
    brief = next(task for task in record(tmp_path).tasks if task.name.startswith("brief"))
    assert brief.end - brief.start < 3.0


@pytest.mark.thorough
def test_benchmark_files_say_which_branch_is_long(tmp_path):
    assert snakemake(tmp_path, "fork_join").returncode == 0
    (tmp_path / "history.json").unlink()
    run = snakemake(tmp_path, "fork_join", "--forceall")
    assert run.returncode == 0, run.stderr
    assert "if 7 take as long as their benchmark files say, and " in run.stderr
    order = starts(record(tmp_path))
    assert order[:2] == ["prepare prepared", "map mapped5"]


def test_memory_is_never_overbooked(tmp_path):
    run = snakemake(tmp_path, "memory", "--resources", "mem_mb=1000", cores=4)
    assert run.returncode == 0, run.stderr
    assert (
        "if 8 take their limits (runtime), and 1 without a known time the mean of the others"
        in run.stderr
    )
    done = record(tmp_path)
    needs = {"big": 600, "small": 200, "threads": 100, "all": 0}
    for task in done.tasks:
        beside = [t for t in done.tasks if t.start <= task.start < t.end or t is task]
        assert sum(needs[t.name.split()[0]] for t in beside) <= 1000
        assert sum(len(t.units) for t in beside if not t.name.startswith("all")) <= 4
    assert len(next(t for t in done.tasks if t.name == "threads threads").units) == 2
    assert starts(done)[0].startswith("big")  # the longest by its runtime


def test_jobs_of_a_checkpoint_are_noticed(tmp_path):
    run = snakemake(tmp_path, "checkpoint")
    assert run.returncode == 0, run.stderr
    names = {task.name for task in record(tmp_path).tasks}
    assert {f"work done{i}" for i in range(1, 5)} <= names
    assert "greedy scheduler" not in run.stderr


#: A cluster of one host: starts the job script, prints a number for it.
SUBMIT = """#!/bin/sh
sh "$1" >"$1.out" 2>&1 &
echo $!
"""


def test_groups_start_as_one_where_cores_are_not_counted(tmp_path):
    library("snakemake_executor_plugin_cluster_generic")
    submit = tmp_path / "submit.sh"
    submit.write_text(SUBMIT)
    submit.chmod(0o755)
    cluster = ("--executor", "cluster-generic", "--cluster-generic-submit-cmd", str(submit))
    run = snakemake(tmp_path, "group", *cluster, "--jobs", "10")
    assert run.returncode == 0, run.stderr
    done = record(tmp_path)
    names = starts(done)
    together = [f"first a{i} + second b{i}" for i in range(3)]
    assert sorted(names[:4]) == [*together, "single single"]
    assert in_use(done) == 4
    assert "greedy scheduler" not in run.stderr


def test_failing_jobs(tmp_path):
    run = snakemake(tmp_path, "failing", "--keep-going", "--retries", "1")
    assert run.returncode == 1
    tasks = {task.name: task for task in record(tmp_path).tasks}
    assert tasks["never never"].state == "failed"
    assert tasks["never never"].attempt == 2
    assert tasks["second_try second_try"].state == "completed"
    assert all(tasks[f"fine fine{i}"].state == "completed" for i in range(3))
    assert "4 jobs (1 more failed) took" in run.stderr  # the final line
    assert record(tmp_path).bound > 0


def test_report_of_an_unknown_form_is_refused_before_anything_runs(tmp_path):
    run = snakemake(tmp_path, "chain", "--scheduler-cosched-report", "page.txt")
    assert run.returncode != 0
    assert "page.txt: expected .html, .json, .png, .svg or .pdf" in run.stderr + run.stdout
    assert not (tmp_path / "c0").exists()
