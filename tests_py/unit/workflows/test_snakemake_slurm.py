"""``snakemake --executor cosched`` on a real Slurm: what is lost there starts again."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from slurm_cluster import Cluster
from stub_snakemake import StubWorkflow
from support import library

pytestmark = pytest.mark.skipif(sys.version_info < (3, 11), reason="Snakemake 9 needs Python 3.11")

#: The first run of `long` lasts until its runner or node is gone; `third` fails twice.
WORKFLOW = """
rule all:
    input: "long", "third"
rule long:
    output: touch("long")
    shell: "test -e begun || {{ echo $SLURMD_NODENAME > node; touch begun; exec sleep 300; }}"
rule third:
    output: touch("third")
    resources: attempt=lambda wildcards, attempt: attempt
    shell: "echo {resources.attempt} >> attempts; test {resources.attempt} -gt 2"
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    found = Cluster(tmp_path_factory.mktemp("slurm") / "cluster", nodes=2, cpus=2)
    yield found
    found.stop()


@pytest.mark.parametrize("loss", ["runner", "node"])
def test_what_is_lost_and_what_fails_twice_starts_again(cluster, tmp_path, loss):
    library("snakemake")
    (tmp_path / "Snakefile").write_text(WORKFLOW)
    command = [
        *(sys.executable, "-m", "snakemake", "--executor", "cosched", "--jobs", "100"),
        *("--nocolor", "--latency-wait", "5", "--retries", "2"),
        *("--cosched-cores", "2", "--cosched-time", "10m"),
    ]
    environment = {**cluster.environment, "TMPDIR": str(tmp_path)}  # what is killed leaves files
    node = ""
    with open(tmp_path / "said", "w") as said:
        running = subprocess.Popen(command, cwd=tmp_path, stderr=said, env=environment)
    try:
        cluster.until((tmp_path / "begun").exists, "the long job begins", 180)
        node = (tmp_path / "node").read_text().strip()
        if loss == "runner":
            os.kill(runner_in(tmp_path), signal.SIGKILL)
        else:
            cluster.run("scontrol", "update", f"nodename={node}", "state=down", "reason=test")
        code = running.wait(timeout=200)
    finally:
        running.kill()
        if node and loss == "node":
            cluster.run("scontrol", "update", f"nodename={node}", "state=resume", check=False)
    text = (tmp_path / "said").read_text()
    assert code == 0, text
    assert "part-001 is gone (" in text
    assert (tmp_path / "long").exists()
    assert (tmp_path / "attempts").read_text().split()[-3:] == ["1", "2", "3"]


def runner_in(folder: Path) -> int:
    """The number of the process that works off the workflow in a folder."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
            where = os.readlink(process / "cwd")
        except OSError:
            continue
        if where.startswith(str(folder)) and b"part-001.json" in words:
            return int(process.name)
    raise AssertionError("no runner")


def test_what_slurm_refuses_for_a_while_runs_later(cluster, tmp_path, monkeypatch):
    """Slurm refuses jobs for an inactive partition; an unknown one is refused for good."""
    library("snakemake")
    for name, value in cluster.environment.items():
        monkeypatch.setenv(name, value)
    cluster.run("scontrol", "update", "partitionname=main", "state=inactive")
    try:
        with StubWorkflow(tmp_path / "refused") as workflow:
            file = workflow.start(f"touch {tmp_path}/started")
            workflow.until(lambda: sum(": the next try is in" in m for m in workflow.messages) > 1)
            cluster.run("scontrol", "update", "partitionname=main", "state=up")
            (ending,) = workflow.endings([file])
    finally:
        cluster.run("scontrol", "update", "partitionname=main", "state=up")
    assert ending.code == 0
    assert any("Required partition not available" in message for message in workflow.messages)
    assert (tmp_path / "started").exists()
    with StubWorkflow(tmp_path / "unknown", partition="none") as workflow:
        (ending,) = workflow.endings([workflow.start("true")])
    assert ending.is_final
    assert "invalid partition specified: none" in ending.reason
    assert "(1 submission in " in ending.reason


def test_jobs_of_a_dead_snakemake_have_ended_when_the_next_one_begins(
    cluster, tmp_path, monkeypatch
):
    library("snakemake")
    from snakemake_executor_plugin_cosched import leftovers

    for name, value in cluster.environment.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "jobs").mkdir()
    folder = tmp_path / "jobs" / f"20260101-000000-1@{leftovers.gethostname()}"
    folder.mkdir()
    script = folder / "part-001.sh"
    script.write_text(
        f"#!/bin/bash\ntrap '' TERM\nwhile :; do date +%s.%N > {tmp_path}/alive; sleep 0.1; done\n"
    )
    job = cluster.submit(script)
    (folder / "jobs").write_text(f"{job}\n")
    cluster.until((tmp_path / "alive").exists, "the job of the dead Snakemake runs", 180)
    leftovers.end_leftovers(tmp_path / "jobs")
    last = (tmp_path / "alive").read_text()
    assert cluster.state(job)[0] == "CANCELLED"
    assert not folder.exists()
    assert (tmp_path / "alive").read_text() == last
