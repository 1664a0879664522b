"""``snakemake --executor cosched`` where sbatch refuses allocations, or its answer is lost."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import stub_slurm
from leavers import alive
from stub_snakemake import StubWorkflow
from support import library

pytestmark = pytest.mark.skipif(sys.version_info < (3, 11), reason="Snakemake 9 needs Python 3.11")


@pytest.fixture
def slurm(tmp_path, monkeypatch):
    """Programs of Slurm that answer as they are told: a function that takes the answers."""
    library("snakemake")

    def install(*answers: str) -> Path:
        folder = tmp_path / "slurm"
        environment = stub_slurm.install(folder, list(answers))
        monkeypatch.setenv("PATH", environment["PATH"])
        monkeypatch.setenv("TMPDIR", str(tmp_path))
        return folder

    yield install
    assert not alive(str(tmp_path))


def pauses(workflow: StubWorkflow) -> list[str]:
    """Seconds until the next try, of each refusal."""
    begin = "cosched: the next try is in "
    lines = [line for line in workflow.messages if line.startswith(begin)]
    return [line.removeprefix(begin).split()[0] for line in lines]


def test_jobs_go_on_in_the_allocation_that_runs_while_others_are_refused(tmp_path, slurm):
    slurm("grant", stub_slurm.REFUSAL)
    with StubWorkflow(tmp_path, grain=0.1, cores=1) as workflow:
        command = "echo begin >> starts; sleep 1"
        endings = workflow.endings([workflow.start(command) for _ in range(4)])
    assert [ending.code for ending in endings] == [0, 0, 0, 0]
    assert (tmp_path / "starts").read_text().split() == ["begin"] * 4
    assert pauses(workflow)[:2] == ["2", "4"]
    assert any("1 allocation can take them" in line for line in workflow.messages)


def test_pauses_grow_until_an_allocation_is_granted(tmp_path, slurm):
    folder = slurm(stub_slurm.REFUSAL, stub_slurm.REFUSAL, "grant")
    with StubWorkflow(tmp_path, allocations=1) as workflow:
        (ending,) = workflow.endings([workflow.start("echo begin >> starts")])
    assert ending.code == 0
    assert pauses(workflow) == ["2", "4"]
    assert (tmp_path / "starts").read_text().split() == ["begin"]
    assert stub_slurm.submissions(folder) == 3
    assert "after 2 refusals" in workflow.messages[-1]


@pytest.mark.parametrize(
    ("refusal", "tries"),
    [
        (stub_slurm.REFUSAL, 2),
        ("sbatch: error: invalid partition specified: none", 1),
    ],
)
def test_jobs_that_no_allocation_takes_fail_with_the_words_of_sbatch(
    tmp_path, slurm, refusal, tries
):
    """A refusal that lasts is not tried again."""
    folder = slurm(refusal)
    with StubWorkflow(tmp_path, submit_retries=1) as workflow:
        endings = workflow.endings([workflow.start("touch started") for _ in range(2)])
    assert [ending.is_final for ending in endings] == [True, True]
    assert all(ending.reason.startswith("no allocation can take it: ") for ending in endings)
    assert all(refusal in ending.reason for ending in endings)
    assert not (tmp_path / "started").exists()
    assert stub_slurm.submissions(folder) == tries


def test_jobs_wait_as_long_as_an_allocation_runs_and_fail_after_it(tmp_path, slurm):
    folder = slurm("grant", stub_slurm.REFUSAL)
    with StubWorkflow(tmp_path, grain=0.1, cores=1, submit_retries=0) as workflow:
        files = [workflow.start("echo $$ >> started; sleep 300") for _ in range(2)]
        workflow.until(lambda: stub_slurm.submissions(folder) == 3)  # more than one refusal
        assert workflow.pool.take_endings() == {}
        (runner,) = (folder / "jobs").iterdir()
        subprocess.run(["scancel", runner.name], check=True)
        endings = workflow.endings(files)
    assert all(stub_slurm.REFUSAL in ending.reason for ending in endings)
    assert len((tmp_path / "started").read_text().split()) == 1


def test_an_allocation_is_used_when_only_the_answer_of_sbatch_is_lost(tmp_path, slurm):
    folder = slurm("lose", "grant")
    with StubWorkflow(tmp_path, allocations=1) as workflow:
        (ending,) = workflow.endings([workflow.start("sleep 4")])
    assert ending.code == 0
    assert any("though sbatch failed" in line for line in workflow.messages)
    assert stub_slurm.submissions(folder) == 1


def test_what_was_never_started_does_not_start_after_the_end(tmp_path, slurm):
    """An allocation that begins when Snakemake has ended finds nothing."""
    slurm(stub_slurm.REFUSAL)
    with StubWorkflow(tmp_path) as workflow:
        workflow.start("true")
        workflow.until(lambda: pauses(workflow))
    (folder,) = (tmp_path / "jobs").iterdir()
    assert not list((folder / "new").iterdir())
    assert len(list((folder / "withdrawn").iterdir())) == 1


def test_a_missing_sbatch_is_said(tmp_path, monkeypatch):
    library("snakemake")
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    with StubWorkflow(tmp_path) as workflow:
        (ending,) = workflow.endings([workflow.start("true")])
    assert ending.is_final
    assert "sbatch: [Errno 2] No such file or directory" in ending.reason


def test_snakemake_repeats_no_job_that_no_allocation_takes(tmp_path):
    """And one that waited for an allocation is at its first attempt when it starts."""
    library("snakemake")
    (tmp_path / "Snakefile").write_text(
        "rule piece:\n"
        '    output: touch("piece")\n'
        "    resources: attempt=lambda wildcards, attempt: attempt\n"
        '    shell: "echo {resources.attempt} > attempt"\n'
    )
    command = [
        *(sys.executable, "-m", "snakemake", "--executor", "cosched", "--jobs", "100"),
        *("--nocolor", "--latency-wait", "5", "--retries", "2", "--cosched-cores", "2"),
    ]

    def run(name: str, answers: list[str], *options: str) -> subprocess.CompletedProcess[str]:
        environment = {**stub_slurm.install(tmp_path / name, answers), "TMPDIR": str(tmp_path)}
        return subprocess.run(
            [*command, *options, "piece"],
            cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300,
        )  # fmt: skip

    done = run("refusing", [stub_slurm.REFUSAL], "--cosched-submit-retries", "0")
    assert done.returncode == 1
    words = f"message: cosched: no allocation can take it: {stub_slurm.REFUSAL}"
    assert done.stderr.count(words) == 1
    assert "Trying to restart" not in done.stderr
    done = run("granting", [stub_slurm.REFUSAL, "grant"])
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "attempt").read_text().strip() == "1"
    assert os.path.exists(tmp_path / "piece")
