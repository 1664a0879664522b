"""``cosched batch --nodes 2`` on a real Slurm: to its end, and when a node goes down."""

import json
import subprocess

import pytest

from cosched.cli import main
from cosched.execution import batches
from slurm_cluster import Cluster


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    found = Cluster(tmp_path_factory.mktemp("slurm") / "cluster", nodes=2, cpus=2)
    yield found
    found.stop()


def submitted(cluster, folder, rows):
    """The number of the allocation of two nodes that runs these tasks."""
    (folder / "list.csv").write_text("command,seconds,cores,after,name\n" + "\n".join(rows) + "\n")
    given = ["--nodes", "2", "--time", "5:00", "--cores-per-node", "2", "-o", str(folder / "jobs")]
    assert main(["batch", str(folder / "list.csv"), *given]) == 0
    done = subprocess.run(
        ["bash", str(folder / "jobs" / "submit.sh")],
        env=cluster.environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    (line,) = done.stdout.splitlines()
    return line.split()[-1]


def entries(folder):
    text = (folder / "jobs" / "part-001.journal.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def test_two_nodes_of_one_allocation(cluster, tmp_path):
    rows = [f"echo {k} on $SLURMD_NODENAME; sleep 1,1,1,,t{k}" for k in range(8)]
    job = submitted(cluster, tmp_path, [*rows, "true,1,2,t0 t7,last"])
    assert cluster.ended(job) == ("COMPLETED", "0:0")
    (state,) = batches.status(tmp_path / "jobs")
    assert sorted(state.completed) == ["last", *(f"t{k}" for k in range(8))]
    journal = entries(tmp_path)
    starts = {one["start"]: one for one in journal if "start" in one}
    ends = {one["end"]: one for one in journal if "end" in one}
    assert journal[0]["hosts"] == [None, "n2"]
    assert len({one["node"] for one in starts.values()}) == 2
    assert set(ends) == set(starts) == {*state.completed}
    assert starts["last"]["t"] >= max(ends["t0"]["t"], ends["t7"]["t"])
    outputs = (tmp_path / "jobs" / "part-001.outputs").glob("t*.out")
    assert {output.read_text().split()[2] for output in outputs} == {"n1", "n2"}


def test_the_other_node_goes_on_when_one_is_down(cluster, tmp_path):
    rows = [f"echo $SLURMD_NODENAME >> {tmp_path}/ran; sleep 4,4,1,,t{k}" for k in range(8)]
    job = submitted(cluster, tmp_path, rows)
    ran = tmp_path / "ran"
    cluster.until(lambda: ran.exists() and len(ran.read_text().split()) == 4, "four tasks run")
    cluster.run("scontrol", "update", "nodename=n2", "state=down", "reason=test")
    try:
        assert cluster.ended(job) == ("COMPLETED", "0:0")
    finally:
        cluster.run("scontrol", "update", "nodename=n2", "state=resume", check=False)
    (state,) = batches.status(tmp_path / "jobs")
    assert len(state.completed) == 8
    assert len([one for one in entries(tmp_path) if "cut" in one]) == 2
