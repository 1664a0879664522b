"""Batch policies on nodes with cores, memory and GPUs, against a naive plan."""

import os

import numpy as np
import pytest
from naive_nodes import Naive

import cosched as cs
from cosched.cluster import Machine
from cosched.cluster.machine.node_types import NodeType, Partition

#: COSCHED_TRACES=2000 for the whole campaign.
TRACES = int(os.environ.get("COSCHED_TRACES", "150"))
KB = 2**20


def random_site(rng):
    """A machine, and its nodes for the naive plan in the order in which they are filled."""
    kinds = []
    for k in range(rng.integers(1, 4)):
        gpus = int(rng.choice([0, 0, 2, 4]))
        kinds.append(
            NodeType(
                f"t{k}", int(rng.integers(1, 4)), int(rng.integers(2, 9)),
                float(rng.choice([8, 16, 32])), gpus,
                gpu_type=str(rng.choice(["a", "b"])) * (gpus > 0),
                weight=int(rng.choice([1, 1, 2])),
            )
        )  # fmt: skip
    count = sum(kind.count for kind in kinds)
    parts = [Partition("all", ((0, count),), np.inf, 0.0)]
    if rng.random() < 0.5:
        first = int(rng.integers(0, count))
        last = int(rng.integers(first + 1, count + 1))
        parts.append(Partition("some", ((first, last),), np.inf, 0.0))
    if rng.random() < 0.2:
        parts = []
    each = [kind for kind in kinds for _ in range(kind.count)]
    nodes = [
        (kind.cores, int(kind.memory_gb * KB), kind.gpus, kind.gpu_type,
         [p.name for p in parts if p.nodes[0][0] <= k < p.nodes[0][1]] or [""])
        for k, kind in enumerate(each)
    ]  # fmt: skip
    order = sorted(range(count), key=lambda k: (each[k].weight, each[k].gpus, each[k].memory_gb, k))
    return Machine(tuple(kinds), tuple(parts)), [nodes[k] for k in order]


def random_jobs(rng, machine, nodes, count):
    jobs = []
    queues = [part.name for part in machine.partitions] or [""]
    know_nodes = rng.random() < 0.75
    while len(jobs) < count:
        many = int(rng.integers(1, 4)) if rng.random() < 0.4 else 1
        runtime = float(rng.choice([0, *rng.integers(1, 60, 6)]))
        gpus = int(rng.integers(1, 5)) if rng.random() < 0.3 else 0
        job = {
            "submit": float(rng.integers(0, 12 * count)),
            "runtime": runtime,
            "estimate": max(0.0, runtime + float(rng.integers(-20, 40))),
            "cores": int(rng.integers(1, 12)),
            "kb": int(rng.integers(0, 24 * KB)),
            "gpus": gpus,
            "type": str(rng.choice(["", "a", "b", "c"])) if gpus else "",
            "partition": str(rng.choice(queues)),
            "nodes": many if know_nodes and rng.random() < 0.9 else 0,
        }
        if Naive(nodes, [job], "FCFS").fits[0]:
            jobs.append(job)
    return sorted(jobs, key=lambda job: job["submit"])


def instance_of(jobs, machine):
    def column(name):
        return [job[name] for job in jobs]

    table = {
        "submit": column("submit"), "tasks": column("cores"), "cpu": np.ones(len(jobs)),
        "memory": np.ones(len(jobs)), "runtime": column("runtime"), "estimate": column("estimate"),
        "memory_gb": np.array(column("kb")) / KB, "gpus": column("gpus"),
        "gpu_type": column("type"), "partition": column("partition"), "nodes": column("nodes"),
    }  # fmt: skip
    return cs.cluster.Instance(table, machine.cores, machine=machine)


@pytest.mark.parametrize("seed", range(TRACES))
def test_every_start_is_that_of_a_naive_plan(seed):
    rng = np.random.default_rng(seed)
    machine, nodes = random_site(rng)
    jobs = random_jobs(rng, machine, nodes, int(rng.integers(2, 30)))
    inst = instance_of(jobs, machine)
    if inst.core_nodes is None:  # no job needs more than cores
        return
    lowest = np.inf
    for name in ("FCFS", "EASY", "conservative"):
        for estimates in ("perfect", "requested"):
            length_column = "runtime" if estimates == "perfect" else "estimate"
            expected_jobs = [{**job, "expected": job[length_column]} for job in jobs]
            result = cs.cluster.solve(inst, name, estimates=estimates)
            assert result.jobs.start.tolist() == Naive(nodes, expected_jobs, name).run(), (
                name,
                estimates,
            )
            result.schedule.validate()
            lowest = min(lowest, result.value)
    assert 1 <= float(result.bound) <= lowest * (1 + 1e-9)


# --- by hand ------------------------------------------------------------------------------------

TWO = Machine(
    (NodeType("thin", 2, 8, 16.0, 0), NodeType("fat", 1, 8, 64.0, 4, gpu_type="a100")), ()
)


def jobs_on(machine, **columns):
    n = len(columns["tasks"])
    usual = {"submit": np.zeros(n), "cpu": np.ones(n), "memory": np.ones(n), "nodes": np.ones(n),
             "runtime": np.full(n, 60.0), "memory_gb": np.ones(n), "gpus": np.zeros(n)}  # fmt: skip
    return cs.cluster.Instance(usual | columns, machine.cores, machine=machine)


def starts(instance, name="FCFS"):
    result = cs.cluster.solve(instance, name)
    result.schedule.validate()
    return result.jobs.start.tolist()


@pytest.mark.parametrize("name", ["FCFS", "EASY", "conservative"])
def test_what_a_node_has(name):
    for memory, expected in (([16, 16, 16], [0, 0, 0]), ([40, 40, 40], [0, 60, 120])):
        assert starts(jobs_on(TWO, tasks=[1, 1, 1], memory_gb=memory), name) == expected
    # 16 GB are free, and no node has them.
    assert starts(jobs_on(TWO, tasks=[1] * 4, memory_gb=[10, 10, 60, 12]), name) == [0, 0, 0, 60]
    # On two nodes in equal parts: three cores of each, four of one.
    inst = jobs_on(TWO, tasks=[6, 6, 7], nodes=[1, 1, 2], memory_gb=[1, 1, 2])
    assert starts(inst, name) == [0, 0, 60]
    # Nothing is known of its nodes: as much of everything as is free anywhere.
    assert starts(jobs_on(TWO, tasks=[5, 5, 14], nodes=[1, 1, 0]), name) == [0, 0, 0]
    assert starts(jobs_on(TWO, tasks=[5, 5, 15], nodes=[1, 1, 0]), name) == [0, 0, 60]


@pytest.mark.parametrize("name", ["FCFS", "EASY", "conservative"])
def test_gpus_and_their_types(name):
    assert starts(jobs_on(TWO, tasks=[1] * 3, gpus=[2, 2, 1]), name) == [0, 0, 60]
    machine = Machine(
        (NodeType("a", 1, 8, 0.0, 4, gpu_type="a100"), NodeType("v", 1, 8, 0.0, 4, gpu_type="v100"))
    )
    types = ["a100", "v100", "a100", "", "h100"]  # no node has h100s: any
    inst = jobs_on(machine, tasks=[1] * 5, gpus=[4, 2, 1, 1, 1], gpu_type=types)
    assert starts(inst, name)[:3] == [0, 0, 60]
    assert starts(jobs_on(machine, tasks=[1, 1], gpus=[4, 4], gpu_type=["", "h100"]), name) == [
        0,
        0,
    ]


def test_nodes_without_gpus_are_filled_first():
    result = cs.cluster.solve(jobs_on(TWO, tasks=[1, 1, 1], gpus=[0, 0, 1]), "EASY")
    cores = result.schedule.to_frame().set_index("task").units
    assert [cores[job][0] // 8 for job in range(3)] == [0, 0, 2]
    heavy = Machine(tuple(NodeType(k.name, k.count, k.cores, k.memory_gb, k.gpus, weight=9 - 8 * (
        k.gpus > 0)) for k in TWO.nodes))  # fmt: skip
    result = cs.cluster.solve(jobs_on(heavy, tasks=[1, 1], gpus=[0, 1]), "EASY")
    assert result.schedule.to_frame().units.tolist() == [(16,), (17,)]


def test_what_both_say_counts():
    wide = {"tasks": [8, 8, 8], "memory_gb": [64, 64, 64]}
    silent = Machine((NodeType("n", 3, 8, 0.0, 0),))
    assert jobs_on(silent, **wide).core_nodes is None
    assert starts(jobs_on(silent, **wide)) == [0, 0, 0]
    assert starts(jobs_on(TWO, **wide)) == [0, 60, 120]
    unknown = jobs_on(TWO, tasks=[8, 8, 8], memory_gb=[np.nan] * 3)
    assert unknown.core_nodes is None
    assert float(jobs_on(TWO, **wide).raw_columns["nodes"].sum()) == 3


@pytest.mark.parametrize(
    ("select", "counts"),
    [("CR_Core", ("gpus",)), ("CR_Core_Memory", ("memory_gb", "gpus")), ("CR_CPU", ("gpus",))],
)
def test_memory_counts_where_slurm_hands_it_out(tmp_path, select, counts):
    (tmp_path / "slurm.conf").write_text(
        f"SelectType=select/cons_tres\nSelectTypeParameters={select}\n"
        "NodeName=n[1-2] CPUs=4 RealMemory=8192 Gres=gpu:2\nPartitionName=a Nodes=ALL\n"
    )
    machine = Machine.read(tmp_path / "slurm.conf")
    assert machine.counts == counts
    assert not any("SelectTypeParameters" in note for note in machine.notes)


def test_a_job_that_no_empty_node_holds(tmp_path):
    inst = jobs_on(TWO, tasks=[1, 4], memory_gb=[1, 128], nodes=[1, 1], gpus=[0, 2])
    reason = (
        "job 1: needs 4 cores, 128 GB of memory, 2 GPUs on 1 node: the machine has 3 nodes, none "
        "with 128 GB of memory; drop it with --drop too-wide"
    )
    with pytest.raises(cs.InfeasibleError, match=reason):
        starts(inst)
    (tmp_path / "m.toml").write_text("[[nodes]]\ncount = 3\ncores = 8\nmemory_gb = 16\n")
    inst.jobs.to_csv(tmp_path / "jobs.csv", index=False)
    remaining_log = cs.cluster.Instance.read(
        tmp_path / "jobs.csv", machine=tmp_path / "m.toml", drop="too-wide"
    )
    assert len(remaining_log) == 1
    # Unequal parts, evidently: two nodes of 8 cores do not hold 18 in equal ones.
    assert starts(jobs_on(TWO, tasks=[18], nodes=[2], memory_gb=[20])) == [0]


def test_the_bound_counts_gpus_and_memory():
    eight_jobs = jobs_on(TWO, tasks=[1] * 8, gpus=[4] * 8)
    assert float(cs.cluster.max_stretch_bound(eight_jobs)) == pytest.approx(8)
    assert cs.cluster.solve(eight_jobs, "EASY").value == 8
    memory = jobs_on(TWO, tasks=[1] * 8, memory_gb=[48] * 8)
    assert float(cs.cluster.max_stretch_bound(memory)) == pytest.approx(4)
    machine = Machine(
        (NodeType("a", 1, 8, 0.0, 4, gpu_type="a100"), NodeType("v", 9, 8, 0.0, 4, gpu_type="v100"))
    )
    typed = jobs_on(machine, tasks=[1] * 8, gpus=[4] * 8, gpu_type=["a100"] * 8)
    assert float(cs.cluster.max_stretch_bound(typed)) == pytest.approx(8)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"memory_gb": [40, 40]}, "node 2 at 0 s: jobs hold 83,886,080 KB of memory, there are"),
        ({"gpus": [3, 3]}, "node 2 at 0 s: jobs hold 6 GPUs, there are 4"),
        ({"memory_gb": [50, 50], "nodes": [0, 0]}, "3 nodes at 0 s: jobs hold 104,857,600 KB"),
    ],
)
def test_the_validator_looks_at_every_start(columns, said):
    inst = jobs_on(TWO, tasks=[2, 2], **columns)
    frame = cs.cluster.solve(inst, "EASY").schedule.to_frame()
    assert sorted(frame.start) == [0, 60]
    starts_at_60 = frame.start == 60
    frame.loc[starts_at_60, ["start", "end"]] = [0.0, 60.0]
    free = [core for core in range(23, 15, -1) if core not in frame.units[~starts_at_60].iloc[0]][
        :2
    ]
    frame.loc[starts_at_60, "units"] = frame.loc[starts_at_60, "units"].map(
        lambda _: tuple(sorted(free))
    )
    with pytest.raises(cs.InvalidSchedule, match=said):
        cs.cluster.Schedule.from_frame(inst, frame.drop(columns="nodes")).validate()


def test_the_validator_knows_parts_and_types():
    inst = jobs_on(TWO, tasks=[4], nodes=[2])
    frame = cs.cluster.solve(inst, "EASY").schedule.to_frame().drop(columns="nodes")
    frame["units"] = [(0, 1, 2, 8)]
    with pytest.raises(cs.InvalidSchedule, match="expected equal parts on 2"):
        cs.cluster.Schedule.from_frame(inst, frame).validate()
    machine = Machine(
        (NodeType("a", 1, 8, 0.0, 4, gpu_type="a"), NodeType("b", 1, 8, 0.0, 4, gpu_type="b"))
    )
    inst = jobs_on(machine, tasks=[1], gpus=[1], gpu_type=["b"])
    frame = cs.cluster.solve(inst, "EASY").schedule.to_frame().drop(columns="nodes")
    assert frame.units.tolist() == [(8,)]
    frame["units"] = [(0,)]
    with pytest.raises(cs.InvalidSchedule, match="job 0 is on node 0, which has no GPUs b"):
        cs.cluster.Schedule.from_frame(inst, frame).validate()


def test_plans_and_logs_of_decisions():
    inst = jobs_on(TWO, tasks=[2, 2, 2], memory_gb=[60, 60, 10], runtime=[60, 60, 60])
    log = cs.cluster.solve(inst, "EASY", log=True).log
    reason = log[(log.job == 1) & (log.action == "wait")].reason.iloc[0]
    assert reason == "20 cores free, but not on nodes with all that it needs of each"
    other_estimates = inst.replace(estimate=[100.0, 70.0, 60.0])
    for name in ("EASY", "conservative"):
        for options in ({"kill": True}, {"priority": "wfp3"}, {"priority": "smallest"}):
            result = cs.cluster.solve(other_estimates, name, estimates="requested", **options)
            result.schedule.validate()
            assert result.jobs.start.tolist() == [0, 60, 0]


# --- which resource jobs waited for ---------------------------------------------------------------


def waited_by_second(inst, result, names):
    """Second by second: what the first of each queue lacks, for all that wait in it."""
    jobs = inst.jobs.assign(start=result.jobs.start, end=result.jobs.end)
    jobs["cores"] = jobs.tasks
    capacity = {
        name: {"cores": inst.machine.cores, "memory_gb": inst.machine.memory_gb,
               "gpus": inst.machine.gpus}[name]
        for name in names
    }  # fmt: skip
    waited = dict.fromkeys(names, 0.0)
    for now in range(int(jobs.end.max())):
        waiting = jobs[(jobs.submit <= now) & (now < jobs.start)]
        if not len(waiting):
            continue
        head = waiting.sort_values("submit", kind="stable").iloc[0]
        running = jobs[(jobs.start <= now) & (now < jobs.end)]
        lacks = [name for name in names if capacity[name] - running[name].sum() < head[name]]
        for name in lacks:
            waited[name] += len(waiting) / len(lacks)
    return waited


@pytest.mark.parametrize("seed", range(4))
def test_what_jobs_waited_for(seed):
    rng = np.random.default_rng(seed)
    n = 30
    inst = jobs_on(
        TWO, submit=np.sort(rng.integers(0, 200, n)).astype(float), tasks=rng.integers(1, 9, n),
        memory_gb=rng.integers(1, 17, n), runtime=rng.integers(1, 50, n), nodes=np.zeros(n),
        gpus=rng.integers(0, 3, n) * (rng.random(n) < 0.5), wait=rng.integers(0, 60, n),
    )  # fmt: skip
    for name in ("EASY", "as-logged"):
        result = cs.cluster.solve(inst, name)
        table = result.by("resource").set_index("resource")
        expected = waited_by_second(inst, result, ["cores", "memory_gb", "gpus"])
        for resource, seconds in expected.items():
            assert table.waited_hours[resource] * 3600 == pytest.approx(seconds)
        np.testing.assert_allclose(table.waited, table.waited_hours * 3600 / result.waits.sum())
    assert table.waited.sum() <= 1


def test_each_queue_has_its_own_head():
    parts = (Partition("cpu", ((0, 2),), np.inf, 0.0), Partition("gpu", ((2, 3),), np.inf, 0.0))
    inst = jobs_on(
        Machine(TWO.nodes, parts), tasks=[1, 1, 8, 8, 8], gpus=[4, 2, 0, 0, 0],
        gpu_type=["a100", "a100", "", "", ""], partition=["gpu", "gpu", "cpu", "cpu", "cpu"],
    )  # fmt: skip
    table = cs.cluster.solve(inst, "EASY").by("resource").set_index("resource")
    assert (table.waited_hours * 60).to_dict() == pytest.approx(
        {"cores": 1, "memory_gb": 0, "gpus": 0, "gpus:a100": 1}
    )
    assert table.waited["cores"] == pytest.approx(0.5)
