"""Nodes that a slurm.conf calls DOWN or DRAIN take no jobs, whatever the policy."""

import pytest

import cosched as cs

POLICIES = ("FCFS", "EASY", "conservative", "slurm-backfill")
CONF = """SelectType=select/cons_tres
SelectTypeParameters={select}
NodeName=n[1-3] CPUs=2 RealMemory=2000
NodeName=n4 CPUs=2 RealMemory=2000 State={state}
PartitionName=main Nodes=ALL Default=YES MaxTime=1-0
PartitionName=other Nodes=n[3-4] MaxTime=1-0
"""


def instance(folder, state, tasks=(2, 2, 2, 2), select="CR_Core", **columns):
    (folder / "slurm.conf").write_text(CONF.format(state=state, select=select))
    machine = cs.cluster.Machine.read(folder / "slurm.conf")
    count = len(tasks)
    jobs = {
        "submit": [0.0] * count, "tasks": list(tasks), "cpu": [1.0] * count,
        "memory": [1.0] * count, "runtime": [600.0] * count, "estimate": [900.0] * count,
        **columns,
    }  # fmt: skip
    return cs.cluster.Instance(jobs, nodes=machine.cores, machine=machine)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    "columns",
    [
        {},
        {"partition": ["main"] * 4},
        {"memory_gb": [1.0] * 4, "partition": ["main"] * 4},
        {"memory_gb": [1.0] * 4},
    ],
)
@pytest.mark.parametrize("state", ["DOWN", "DRAIN", "UNKNOWN"])
def test_no_policy_uses_them(tmp_path, policy, state, columns):
    select = "CR_Core_Memory" if "memory_gb" in columns else "CR_Core"
    result = cs.cluster.solve(instance(tmp_path, state, select=select, **columns), policy)
    result.schedule.validate()
    waiting = sorted(result.jobs.start)[3]
    assert (waiting >= 600) == (state != "UNKNOWN")


@pytest.mark.parametrize("policy", POLICIES)
def test_a_job_that_the_other_nodes_cannot_hold_is_refused(tmp_path, policy):
    wide = instance(tmp_path, "DOWN", tasks=(8,), partition=["main"])
    with pytest.raises(cs.InfeasibleError):
        cs.cluster.solve(wide, policy)
    narrow = instance(tmp_path, "DOWN", tasks=(2, 2), partition=["other"] * 2)
    starts = cs.cluster.solve(narrow, policy).jobs.start
    assert max(starts) >= 600


COLUMNS = ("submit", "tasks", "cpu", "memory", "runtime", "estimate")


@pytest.mark.parametrize("policy", ["FCFS", "EASY", "conservative"])
@pytest.mark.parametrize("more", [{}, {"partition": ["main"] * 5}, {"memory_gb": [1.0] * 5}])
def test_a_job_that_runs_on_a_node_that_drains_keeps_it(tmp_path, policy, more):
    """As in a snapshot: node n4 takes no other job, and its job runs on."""
    select = "CR_Core_Memory" if "memory_gb" in more else "CR_Core"
    plain = instance(tmp_path, "DRAIN", tasks=(2, 2, 2, 2, 2), select=select, **more)
    running = {"job": [0], "nodes": [[3]], "start": [-100], "limit": [900]}
    columns = {name: plain.column(name) for name in (*COLUMNS, *more)}
    log = cs.cluster.Instance(columns, plain.nodes, machine=plain.machine, running=running)
    result = cs.cluster.solve(log, policy)
    result.schedule.validate()
    assert result.jobs.start.tolist()[0] == 0
    assert sorted(result.jobs.start)[:4] == [0, 0, 0, 0]
    assert sorted(result.jobs.start)[4] >= 600
