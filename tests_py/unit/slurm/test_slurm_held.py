"""The check of what jobs of slurm-backfill hold: memory, GPUs and cores of each node."""

from dataclasses import replace

import pytest

import cosched as cs
from cosched.cluster.schedule.held import check_held_by_cores


def jobs_of(tasks, **fields):
    """Ten minutes each, one after another."""
    ones = [1] * len(tasks)
    return {
        "submit": [9 * k for k in range(len(tasks))], "tasks": tasks, "cpu": ones, "memory": ones,
        "runtime": [300] * len(tasks), "estimate": [600] * len(tasks), **fields,
    }  # fmt: skip


def test_the_check_knows_memory_and_gpus_of_each_node(tmp_path):
    path = tmp_path / "slurm.conf"
    nodes = "NodeName=n[1-4] CPUs=4 RealMemory={} Gres=gpu:a100:{}\nPartitionName=a Nodes=ALL\n"
    head = "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core_Memory\nDefMemPerCPU=500\n"

    def machine(memory=4096, gpus=2):
        path.write_text(head + nodes.format(memory, gpus))
        return cs.cluster.Machine.read(path)

    jobs = jobs_of([1, 2, 3, 8], memory_gb=[3, 2, 0, 0.5], gpus=[2, 1, 0, 3])
    for on in (machine(), None):  # of the instance, or given beside it
        instance = cs.cluster.Instance(jobs, 16, machine=on)
        schedule = cs.cluster.solve(instance, "slurm-backfill", machine=machine(), seed=1).schedule
        schedule.validate()

        def checked(instance=instance, schedule=schedule, **less):
            check_held_by_cores(instance, schedule.rows, machine(**less))

        checked(memory=3072)
        with pytest.raises(cs.InvalidSchedule, match=r"node 0 at .* KB of memory"):
            checked(memory=3071)  # of the first job
        with pytest.raises(cs.InvalidSchedule, match="hold 2 GPUs, there are 1"):
            checked(gpus=1)
    instance = cs.cluster.Instance(jobs, 16, machine=machine())
    saved = cs.cluster.solve(instance, "slurm-backfill", seed=1).schedule.to_dict()
    assert saved["by_cores"] is True
    cs.cluster.Schedule.from_dict(instance, saved).validate()
    small = cs.cluster.Instance(jobs, 16, machine=machine(memory=3071))
    with pytest.raises(cs.InvalidSchedule, match="KB of memory"):
        cs.cluster.Schedule.from_dict(small, saved).validate()


def test_memory_that_nobody_asked_for_is_what_slurm_conf_says(tmp_path):
    path = tmp_path / "slurm.conf"
    path.write_text(
        "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core_Memory\nDefMemPerCPU=1024\n"
        "NodeName=n[1-2] CPUs=4 RealMemory=4096\nPartitionName=a Nodes=ALL\n"
    )
    machine = cs.cluster.Machine.read(path)
    jobs = jobs_of([3, 1, 1], memory_gb=[0, 1, 2])
    instance = cs.cluster.Instance(jobs, 8, machine=machine)
    rows = cs.cluster.solve(instance, "slurm-backfill").schedule.rows
    check_held_by_cores(instance, rows, machine)
    larger_default = replace(
        machine, slurm=replace(machine.slurm, default_memories={"": (1025, True)})
    )
    with pytest.raises(cs.InvalidSchedule, match="KB of memory"):
        check_held_by_cores(instance, rows, larger_default)
    every = replace(machine, slurm=replace(machine.slurm, default_memories={}))
    with pytest.raises(cs.InvalidSchedule, match="hold 5,242,880 KB"):  # all of the node, and 1 GB
        check_held_by_cores(instance, rows, every)


def test_nodes_are_numbered_part_by_part(tmp_path):
    path = tmp_path / "slurm.conf"
    path.write_text(
        "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nNodeName=n[1-6] CPUs=4\n"
        "PartitionName=a Nodes=n[1-2,5-6] Default=YES\nPartitionName=b Nodes=n[3-4]\n"
    )
    machine = cs.cluster.Machine.read(path)
    jobs = jobs_of([16, 8], partition=["a", "b"])
    instance = cs.cluster.Instance(jobs, 24, machine=machine)
    schedule = cs.cluster.solve(instance, "slurm-backfill").schedule
    schedule.validate()
    assert [schedule.units(row) for row in (0, 1)] == [tuple(range(16)), tuple(range(16, 24))]
