"""``cosched batch --nodes 2`` on a real Slurm: to its end, and when a node goes down."""

import json
import os
import subprocess

import pytest

from cosched.cli import main
from cosched.execution import batches
from slurm_cluster import Cluster


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    slurm_cluster = Cluster(tmp_path_factory.mktemp("slurm") / "cluster", nodes=2, cpus=2)
    yield slurm_cluster
    slurm_cluster.stop()


def submitted(cluster, folder, rows):
    """The number of the allocation of two nodes that runs these tasks."""
    (folder / "list.csv").write_text("command,seconds,cores,after,name\n" + "\n".join(rows) + "\n")
    arguments = [
        "--nodes",
        "2",
        "--time",
        "5:00",
        "--cores-per-node",
        "2",
        "-o",
        str(folder / "jobs"),
    ]
    assert main(["batch", str(folder / "list.csv"), *arguments]) == 0
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
    starts = {entry["start"]: entry for entry in journal if "start" in entry}
    ends = {entry["end"]: entry for entry in journal if "end" in entry}
    assert journal[0]["hosts"] == [None, "n2"]
    assert len({entry["node"] for entry in starts.values()}) == 2
    assert set(ends) == set(starts) == {*state.completed}
    assert starts["last"]["t"] >= max(ends["t0"]["t"], ends["t7"]["t"])
    outputs = (tmp_path / "jobs" / "part-001.outputs").glob("t*.out")
    assert {output.read_text().split()[2] for output in outputs} == {"n1", "n2"}


def test_the_other_node_goes_on_when_one_is_down(cluster, tmp_path):
    rows = [f"echo $SLURMD_NODENAME >> {tmp_path}/ran; sleep 4,4,1,,t{k}" for k in range(8)]
    job = submitted(cluster, tmp_path, rows)
    run_file = tmp_path / "ran"
    cluster.until(
        lambda: run_file.exists() and len(run_file.read_text().split()) == 4, "four tasks run"
    )
    cluster.run("scontrol", "update", "nodename=n2", "state=down", "reason=test")
    try:
        assert cluster.ended(job) == ("COMPLETED", "0:0")
    finally:
        cluster.run("scontrol", "update", "nodename=n2", "state=resume", check=False)
    (state,) = batches.status(tmp_path / "jobs")
    assert len(state.completed) == 8
    assert len([entry for entry in entries(tmp_path) if "cut" in entry]) == 2


def planned(folder, rows, *options):
    """A folder of these tasks, `command,seconds,cores,after,name`, and how the planner ended."""
    (folder / "list.csv").write_text("command,seconds,cores,after,name\n" + "\n".join(rows) + "\n")
    arguments = ["--cores-per-node", "2", "--spread", "0", *options, "-o", str(folder / "jobs")]
    return folder / "jobs", main(["batch", str(folder / "list.csv"), *arguments])


def use(cluster, monkeypatch):
    """Commands of Slurm ask this cluster."""
    for name, value in cluster.environment.items():
        if os.environ.get(name) != value:
            monkeypatch.setenv(name, value)


def test_a_part_is_submitted_from_any_folder_and_runs_in_an_allocation(cluster, tmp_path):
    note = f"echo $COSCHED_TASK >> {tmp_path}/ran"
    jobs, _ = planned(tmp_path, [f"{note},1,1,,a", f"{note},1,1,,b"], "--time", "2:00")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = subprocess.run(
        ["sbatch", "--parsable", jobs / "part-001.sh"],
        cwd=elsewhere, env=cluster.environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert cluster.ended(done.stdout.strip()) == ("COMPLETED", "0:0")
    assert sorted((tmp_path / "ran").read_text().split()) == ["a", "b"]
    assert list(elsewhere.iterdir()) == []
    assert (jobs / "part-001.log").exists()
    (jobs / "part-001.journal.jsonl").unlink()
    subprocess.run(
        ["salloc", "-n1", "bash", jobs / "part-001.sh"],
        cwd=elsewhere, env=cluster.environment, capture_output=True, check=True, timeout=120,
    )  # fmt: skip
    assert sorted((tmp_path / "ran").read_text().split()) == ["a", "a", "b", "b"]


def test_what_waits_for_a_part_that_failed_is_cancelled_and_planned_again(
    cluster, tmp_path, monkeypatch, capsys
):
    use(cluster, monkeypatch)
    rows = ["exit 3,80,1,,a", "true,80,1,a,b"]
    jobs, _ = planned(tmp_path, rows, "--time", "2:00")
    subprocess.run(["bash", jobs / "submit.sh"], capture_output=True, check=True)
    cluster.until(lambda: not batches.rounds(jobs).is_active, "both parts leave the queue", 120)
    capsys.readouterr()
    assert main(["batch", str(jobs), "--status"]) == 1
    output = capsys.readouterr().out
    assert "part-001.sh: 1 failed\n" in output
    assert "part-002.sh: 1 waiting; job " in output
    assert "before it began" in output
    second_folder = tmp_path / "again"
    assert main(["batch", str(jobs), "--rest", "-o", str(second_folder)]) == 0
    plan = json.loads((second_folder / "batch.json").read_text())["allocations"]
    assert [[task["name"] for task in part["tasks"]] for part in plan] == [["a"], ["b"]]


@pytest.mark.thorough
def test_the_runner_ends_its_tasks_before_the_limit_and_the_rest_gets_more_time(
    cluster, tmp_path, monkeypatch, capsys
):
    use(cluster, monkeypatch)
    slow = f"touch {tmp_path}/begun; exec sleep 55"
    jobs, code = planned(tmp_path, [f"{slow},30,1,,a", "true,1,1,,b"], "--time", "1:00")
    assert code == 0
    subprocess.run(["bash", jobs / "submit.sh"], capture_output=True, check=True)
    cluster.until(lambda: (tmp_path / "begun").exists(), "the task runs")
    capsys.readouterr()
    assert main(["batch", str(jobs), "--wait"]) == 1
    output = capsys.readouterr().out
    assert "part-001.sh: 1 completed, 1 cut off\n" in output
    entries = [json.loads(line) for line in (jobs / "part-001.journal.jsonl").open()]
    assert {"stop": "limit", "left": ["a"]}.items() <= (entries[-3] | entries[-1]).items()
    second_folder = tmp_path / "again"
    assert main(["batch", str(jobs), "--rest", "-o", str(second_folder)]) == 0
    assert "note: the limit cut off 1 task: allocations last 2 min instead of 1" in (
        capsys.readouterr().out
    )
    subprocess.run(["bash", second_folder / "submit.sh"], capture_output=True, check=True)
    cluster.until(lambda: batches.rounds(second_folder).is_active, "it runs")
    assert main(["batch", str(second_folder), "--wait"]) == 0
    assert main(["batch", str(jobs), "--status"]) == 0


def test_two_long_tasks_do_not_fit_an_allocation_that_has_to_end(cluster, tmp_path, capsys):
    _, code = planned(tmp_path, ["sleep 100,100,1,,a", "sleep 100,100,1,,b"], "--time", "2:00")
    assert code == 2
    assert "longer than the 90 s that tasks may take in an allocation of 2 min" in (
        capsys.readouterr().err
    )
