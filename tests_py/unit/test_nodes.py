"""Batch policies on nodes with cores, memory and GPUs, against a naive plan."""

import os

import numpy as np
import pytest
from naive_nodes import Naive

import cosched as cs
from cosched.cluster import Machine
from cosched.cluster.node_types import NodeType, Partition

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
    if inst.site() is None:  # no job needs more than cores
        return
    lowest = np.inf
    for name in ("FCFS", "EASY", "conservative"):
        for estimates in ("perfect", "requested"):
            known = "runtime" if estimates == "perfect" else "estimate"
            told = [{**job, "expected": job[known]} for job in jobs]
            result = cs.cluster.solve(inst, name, estimates=estimates)
            assert result.jobs.start.tolist() == Naive(nodes, told, name).run(), (name, estimates)
            result.schedule.validate()
            lowest = min(lowest, result.value)
    assert 1 <= float(result.bound) <= lowest * (1 + 1e-9)
