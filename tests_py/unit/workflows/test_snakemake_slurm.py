"""``snakemake --executor cosched`` on a real Slurm: what is lost there starts again."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from slurm_cluster import Cluster
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
