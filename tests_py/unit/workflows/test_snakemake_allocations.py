"""Allocations of ``snakemake --executor cosched``: time limits, agents that are broken."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import pytest

import stub_slurm
from cosched.errors import InvalidInstance
from leavers import alive
from stub_snakemake import StubWorkflow
from support import library

pytestmark = pytest.mark.skipif(sys.version_info < (3, 11), reason="Snakemake 9 needs Python 3.11")


@pytest.fixture(autouse=True)
def nothing_is_left(tmp_path, monkeypatch):
    library("snakemake")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    yield
    assert not alive(str(tmp_path))


def journals(folder: Path) -> list[list[dict]]:
    """The entries of each allocation."""
    paths = sorted(folder.glob("jobs/*/part-*.journal.jsonl"))
    return [[json.loads(line) for line in path.read_text().splitlines()] for path in paths]


def test_a_local_allocation_ends_before_its_limit_and_jobs_go_on_in_the_next(tmp_path):
    with StubWorkflow(tmp_path, local=True, time="12s", cores=1) as workflow:
        files = [workflow.start("sleep 3") for _ in range(4)]
        endings = workflow.endings(files)
    assert [ending.code for ending in endings] == [0, 0, 0, 0]
    allocations = journals(tmp_path)
    assert len(allocations) >= 2
    assert all(entries[-1]["t"] - entries[0]["t"] < 16 for entries in allocations)


def test_a_job_that_needs_more_than_the_limit_fails_with_that_reason(tmp_path):
    with StubWorkflow(tmp_path, local=True, time="8s", cores=1) as workflow:
        (ending,) = workflow.endings([workflow.start("echo begin >> starts; sleep 300")])
    assert ending.code < 0
    assert ending.reason.endswith("s until its allocation ended: longer than --cosched-time 8s")
    assert (tmp_path / "starts").read_text().split() == ["begin"]


def test_a_job_that_began_late_has_another_allocation(tmp_path):
    """The second job is cut off by the limit, and has enough time in the next allocation."""
    with StubWorkflow(tmp_path, local=True, time="24s", cores=1) as workflow:
        first = workflow.start("sleep 8", runtime=1)
        second = workflow.start("echo begin >> starts; sleep 14")
        endings = workflow.endings([first, second])
    assert [ending.code for ending in endings] == [0, 0]
    assert len((tmp_path / "starts").read_text().split()) <= 2


def test_a_lost_job_starts_again_when_its_first_run_has_ended(tmp_path):
    """The agent outlives its runner by seconds: its job heeds no SIGTERM."""
    command = (
        "test -e first || { touch first; trap 'touch told' TERM; "
        "while :; do date +%s.%N > alive; sleep 0.05; done; }; date +%s.%N > again"
    )
    with StubWorkflow(tmp_path, local=True) as workflow:
        file = workflow.start(command)
        workflow.until((tmp_path / "alive").exists)
        (processes,) = tmp_path.glob("jobs/*/processes")
        os.kill(int(processes.read_text()), signal.SIGKILL)
        (ending,) = workflow.endings([file])
    assert ending.code == 0
    assert (tmp_path / "told").exists()
    assert float((tmp_path / "again").read_text()) > float((tmp_path / "alive").read_text())
    assert any("starts again" in message for message in workflow.messages)


def test_words_on_standard_output_do_no_harm(tmp_path, monkeypatch):
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text('print("welcome to this site")\n')
    monkeypatch.setenv("PYTHONPATH", str(site))
    with StubWorkflow(tmp_path, local=True) as workflow:
        (ending,) = workflow.endings([workflow.start("true")])
    assert ending.code == 0


@pytest.mark.parametrize("is_local", [True, False])
def test_agents_that_are_broken_end_the_jobs_that_wait_for_them(tmp_path, monkeypatch, is_local):
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(
        'import os, sys\nif "--agent" in sys.orig_argv:\n'
        '    os.write(2, b"no licence for this Python\\n")\n    os._exit(3)\n'
    )
    monkeypatch.setenv("PYTHONPATH", str(site))
    environment = stub_slurm.install(tmp_path / "slurm", ["grant"])
    monkeypatch.setenv("PATH", environment["PATH"])
    with StubWorkflow(tmp_path, local=is_local) as workflow:
        (ending,) = workflow.endings([workflow.start("true")])
    assert ending.is_final
    assert ending.reason.startswith("no allocation starts it: 3 allocations in a row did not, ")
    assert "no licence for this Python" in ending.reason
    assert "this node gets no more tasks" in ending.reason
    assert len(journals(tmp_path)) == 3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"nodes": 0}, "--cosched-nodes 0: expected at least 1"),
        ({"cores": -1}, "--cosched-cores -1: expected at least 1"),
        ({"allocations": 0}, "--cosched-allocations 0: expected at least 1"),
        ({"submit_retries": -1}, "--cosched-submit-retries -1: expected at least 0"),
        ({"grain": 0.0}, "--cosched-grain 0: expected seconds above 0"),
        ({"time": "0m"}, "--cosched-time 0m: expected a limit, as 4h or 90m"),
        ({"time": "soon"}, "--cosched-time"),
        ({"memory": -2.0}, "memory"),
        ({"partition": "x$(date)"}, "partition"),
    ],
)
def test_options_that_describe_no_allocation_are_refused(tmp_path, options, words):
    with pytest.raises(InvalidInstance) as refusal:
        StubWorkflow(tmp_path, **options)
    assert words in str(refusal.value)
    assert not (tmp_path / "jobs").exists()
