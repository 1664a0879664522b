"""Instances that begin with jobs that run: they hold their nodes, under every policy that can."""

from __future__ import annotations

import pytest

import cosched as cs
from cosched.errors import InvalidInstance

BATCH = ("FCFS", "EASY", "conservative")


def test_jobs_that_run_hold_their_nodes():
    jobs = {"id": ["a", "b"], "submit": [0, 0], "tasks": [3, 2], "cpu": [1, 1], "memory": [1, 1],
            "runtime": [600, 60], "estimate": [900, 120]}  # fmt: skip
    running = {"job": ["a"], "nodes": [[1, 2, 3]], "start": [-100], "limit": [900]}
    inst = cs.cluster.Instance(jobs, nodes=4, running=running)
    assert inst.column("runtime").tolist() == [500, 60]
    assert inst.column("ran").tolist() == [100, 0]
    for name in ("FCFS", "EASY", "conservative"):
        assert cs.cluster.solve(inst, name).jobs.start.tolist() == [0, 500], name
    result = cs.slurm.backfill(inst, controller_start=-50, epoch=0)
    result.schedule.validate()
    assert result.jobs.start.tolist() == [0, 501]
    assert result.schedule.to_frame().units[0] == (1, 2, 3)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"job": ["x"]}, "expected one of the jobs"),
        ({"start": [5]}, "expected seconds <= 0"),
        ({"job": ["a", "a"], "nodes": [[0], [1]], "start": [0, 0], "limit": [9, 9]}, "twice"),
        ({"nodes": ["n1"]}, "no such node"),
        ({"nodes": ["²"]}, "no such node"),
        ({"nodes": ["9"]}, r"running\[0\]: nodes: node '9': the machine has 2"),
        ({"nodes": [[2]]}, r"running\[0\]: nodes: node 2: the machine has 2"),
        ({"nodes": [[-1]]}, r"running\[0\]: nodes: node = -1: expected at least 0"),
        ({"nodes": [[0.5]]}, r"nodes: node = 0.5: expected an integer"),
        ({"nodes": [[0, 0]]}, "node 0 is there twice"),
        ({"nodes": [(0, 1)]}, r"nodes = \(0, 1\): job 'a' has 1 tasks: expected at most as many"),
        ({"nodes": [None]}, r"running\[0\]: nodes = None: expected a host list"),
        ({"nodes": [True]}, r"node = True: expected an integer"),
        ({"nodes": [{0: "x"}]}, r"cores of node 0 = 'x': expected an integer"),
        ({"start": ["x"]}, r"running\[0\]: start = 'x': expected a number"),
        ({"start": 0}, r"running\['start'\] = 0: expected one value per row"),
        ({"limit": [9, 9]}, "running: limit has 2 rows, job has 1"),
    ],
)
def test_bad_running_tables(change, said):
    jobs = {"id": ["a"], "submit": [0], "tasks": [1], "cpu": [1], "memory": [1], "runtime": [9]}
    running = {"job": ["a"], "nodes": [[0]], "start": [0], "limit": [9], **change}
    with pytest.raises(InvalidInstance, match=said):
        cs.cluster.Instance(jobs, nodes=2, running=running)


@pytest.mark.parametrize("column", ["submit", "runtime", "estimate", "id"])
def test_bad_jobs_beside_running_ones(column):
    jobs = {"id": [1, 2], "submit": [0, 0], "tasks": [1, 1], "cpu": [1, 1], "memory": [1, 1],
            "runtime": [9, 9], column: [[1], 0]}  # fmt: skip
    running = {"job": [1], "nodes": [0], "start": [0], "limit": [9]}
    with pytest.raises(InvalidInstance, match=column):
        cs.cluster.Instance(jobs, nodes=2, running=running)


@pytest.mark.parametrize("jobs", [[5, 5], "ab", 5, None, {"submit": [0]}])
def test_what_is_no_table_beside_running_jobs(jobs):
    running = {"job": [1], "nodes": [0], "start": [0], "limit": [9]}
    with pytest.raises(InvalidInstance, match=r"jobs: no column '(submit|runtime)': expected"):
        cs.cluster.Instance(jobs, nodes=2, running=running)


def test_a_node_that_the_machine_beside_it_lacks(tmp_path):
    machine = conf(tmp_path, "NodeName=n[1-2] CPUs=4\nPartitionName=p Nodes=ALL\n")
    running = {"job": [0], "nodes": [5], "start": [0], "limit": [9]}
    inst = cs.cluster.Instance(columns(tasks=[1], runtime=[9]), nodes=8, running=running)
    with pytest.raises(InvalidInstance, match="job 0: node 5: the machine has 2"):
        cs.slurm.backfill(inst, machine=machine)


def test_a_plain_number_is_that_node():
    jobs = {"submit": [0], "tasks": [1], "cpu": [1], "memory": [1], "runtime": [9]}
    running = {"job": [0], "nodes": [1], "start": [0], "limit": [9]}
    assert cs.cluster.Instance(jobs, nodes=2, running=running).held_units == [[1]]


def columns(**extra_columns):
    names = {"cpu": 1, "memory": 0.1}
    size = len(extra_columns["tasks"])
    return {"submit": [0] * size, **{k: [v] * size for k, v in names.items()}, **extra_columns}


def conf(tmp_path, text):
    path = tmp_path / "slurm.conf"
    path.write_text("SelectType=select/cons_tres\n" + text)
    return cs.cluster.Machine.read(path)


@pytest.mark.parametrize("name", BATCH)
def test_nodes_of_a_partition_are_taken(tmp_path, name):
    """Two nodes that all may use, and two of partition b alone. What runs is on the latter."""
    machine = conf(
        tmp_path,
        "NodeName=n[1-4] CPUs=1\nPartitionName=a Nodes=n[1-2] Default=YES\n"
        "PartitionName=b Nodes=n[1-4]\n",
    )
    jobs = columns(id=["r", "a", "b"], tasks=[2, 2, 2], runtime=[100, 50, 10],
                   partition=["b", "a", "b"])  # fmt: skip
    for nodes, starts in ((["n3", "n4"], [0, 0, 50]), (["n1", "n2"], [0, 100, 0])):
        running = {"job": ["r"], "nodes": [nodes], "start": [0], "limit": [100]}
        inst = cs.cluster.Instance(jobs, nodes=4, machine=machine, running=running)
        result = cs.cluster.solve(inst, name)
        result.schedule.validate()
        assert result.jobs.start.tolist() == starts, nodes
        assert result.schedule.to_frame().units[0] == ((2, 3) if nodes == ["n3", "n4"] else (0, 1))


@pytest.mark.parametrize("name", BATCH)
def test_gpus_and_memory_are_taken(tmp_path, name):
    """The node with a GPU is the second: a job that holds it is in the way of the next."""
    machine = conf(
        tmp_path,
        "SelectTypeParameters=CR_Core_Memory\nGresTypes=gpu\nNodeName=n1 CPUs=4 RealMemory=4096\n"
        "NodeName=n[2-3] CPUs=4 RealMemory=4096 Gres=gpu:1\n"
        "PartitionName=a Nodes=ALL Default=YES\n",
    )
    jobs = columns(id=["r", "g", "m"], tasks=[1, 1, 1], runtime=[100, 50, 10], gpus=[1, 1, 0],
                   memory_gb=[3, 1, 2], nodes=[1, 1, 1])  # fmt: skip
    running = {"job": ["r"], "nodes": [{"n3": 1}], "start": [0], "limit": [100]}
    inst = cs.cluster.Instance(jobs, nodes=12, machine=machine, running=running)
    result = cs.cluster.solve(inst, name)
    result.schedule.validate()
    assert result.jobs.start.tolist() == [0, 0, 0]
    assert result.schedule.to_frame().units[0] == (8,)
    both = {"job": ["r", "g"], "nodes": [{"n2": 1}, {"n3": 1}], "start": [0, 0], "limit": [100, 50]}
    all_columns = {**columns(tasks=[1] * 4, runtime=[100, 50, 10, 10]), "id": ["r", "g", "m", "x"],
            "gpus": [1, 1, 0, 1], "memory_gb": [3, 1, 4, 1], "nodes": [1] * 4}  # fmt: skip
    inst = cs.cluster.Instance(all_columns, nodes=12, machine=machine, running=both)
    result = cs.cluster.solve(inst, name)
    result.schedule.validate()
    assert result.jobs.start.tolist() == [0, 0, 0, 50]
    slurm = cs.slurm.backfill(inst, controller_start=-50, epoch=0)
    slurm.schedule.validate()
    assert slurm.jobs.start[3] > 50


def test_who_cannot_begin_with_them_says_so():
    jobs = columns(tasks=[1, 1], runtime=[10, 10])
    running = {"job": [0], "nodes": [[0]], "start": [0], "limit": [10]}
    inst = cs.cluster.Instance(jobs, nodes=2, running=running)
    for policy in (lambda: cs.cluster.dfrs(inst, "GreedyPM */per/opt=min"),
                   lambda: cs.cluster.python_policy(inst, lambda state, event: None)):  # fmt: skip
        with pytest.raises(
            InvalidInstance, match=r"cannot begin with jobs that run: expected fcfs"
        ):
            policy()


def test_more_than_there_is():
    jobs = columns(tasks=[1, 1], runtime=[10, 10])
    running = {"job": [0, 1], "nodes": [[0], [0]], "start": [0, 0], "limit": [10, 10]}
    inst = cs.cluster.Instance(jobs, nodes=2, running=running)
    with pytest.raises(InvalidInstance, match="others hold more"):
        cs.cluster.fcfs(inst)


@pytest.mark.parametrize("lacking", ["submit", "runtime"])
def test_jobs_without_a_column_beside_a_table_of_running_ones(lacking):
    jobs = {"submit": [0.0], "tasks": [1], "cpu": [1.0], "memory": [1.0], "runtime": [5.0]}
    del jobs[lacking]
    running = {name: [] for name in ("job", "nodes", "start", "limit")}
    for table in (jobs, []):
        with pytest.raises(cs.InvalidInstance, match="jobs: "):
            cs.cluster.Instance(table, 4, running=running)


@pytest.mark.parametrize("policy", ["FCFS", "EASY", "conservative"])
@pytest.mark.parametrize(
    ("column", "amount", "said"),
    [("memory_gb", 20.0, "8 GB of memory: job r and others hold 20"), ("gpus", 3, "2 GPUs")],
)
def test_more_than_its_node_has_is_refused(tmp_path, policy, column, amount, said):
    (tmp_path / "m.toml").write_text("[[nodes]]\ncount = 2\ncores = 4\nmemory_gb = 8\ngpus = 2\n")
    machine = cs.cluster.Machine.read(tmp_path / "m.toml")
    jobs = {
        "id": ["r", "a"], "submit": [0, 5], "tasks": [4, 4], "cpu": [1, 1], "memory": [1, 1],
        "runtime": [60, 60], column: [amount, 1],
    }  # fmt: skip
    running = {"job": ["r"], "nodes": [[0]], "start": [0], "limit": [100]}
    inst = cs.cluster.Instance(jobs, nodes=8, machine=machine, running=running)
    with pytest.raises(InvalidInstance, match=f"node 0 has {said}"):
        cs.cluster.solve(inst, policy)
