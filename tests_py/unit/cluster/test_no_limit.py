"""Jobs without a time limit: no plan expects an end of them, of a policy or of the simulator."""

import os
from dataclasses import replace

import numpy as np
import pytest
from naive_nodes import Naive

import cosched as cs
from cosched.cluster import Machine
from cosched.cluster.machine.node_types import NodeType, Partition
from cosched.slurm.recordings.agreement import agreement, read_recording
from support import FIXTURES

#: COSCHED_TRACES=2000 for the whole campaign.
TRACES = int(os.environ.get("COSCHED_TRACES", "150"))
KB = 2**20
INF = float("inf")
#: Constraints, and which nodes have them: Slurm reads from left to right.
CONSTRAINTS = {
    "x": lambda has: has("x"),
    "x&y": lambda has: has("x") and has("y"),
    "x,y": lambda has: has("x") and has("y"),
    "x|y&z": lambda has: (has("x") or has("y")) and has("z"),
    "x|(y&z)": lambda has: has("x") or (has("y") and has("z")),
    "(x|y)&z": lambda has: (has("x") or has("y")) and has("z"),
    "[x|z]": lambda has: has("x") or has("z"),
}


def random_machine(rng):
    kinds = tuple(
        NodeType(
            f"t{k}", int(rng.integers(1, 4)), int(rng.integers(1, 9)),
            float(rng.choice([8, 16, 32])), 0, weight=int(rng.choice([1, 1, 2])),
            features=tuple(name for name in "xyz" if rng.random() < 0.6),
        )
        for k in range(rng.integers(1, 5))
    )  # fmt: skip
    count = sum(kind.count for kind in kinds)
    parts = [Partition("all", ((0, count),), np.inf, 0.0)]
    if rng.random() < 0.4:
        first = int(rng.integers(0, count))
        parts.append(Partition("some", ((first, count),), np.inf, 0.0))
    return Machine(kinds, tuple(parts))


def plain_nodes(machine):
    """The nodes in the order in which they are filled, as the naive plan has them."""
    each = [kind for kind in machine.nodes for _ in range(kind.count)]
    order = sorted(range(len(each)), key=lambda k: (each[k].weight, each[k].memory_gb, k))
    return order, [
        (each[k].cores, int(each[k].memory_gb * KB), 0, "",
         [part.name for part in machine.partitions if part.nodes[0][0] <= k < part.nodes[0][1]])
        for k in order
    ], [each[k].features for k in order]  # fmt: skip


def random_jobs(rng, machine, count):
    _, nodes, features = plain_nodes(machine)
    jobs = []
    known_features = {name for kind in machine.nodes for name in kind.features}
    texts = [text for text in CONSTRAINTS if {c for c in text if c.isalpha()} <= known_features]
    for _ in range(200):
        if len(jobs) == count:
            break
        runtime = float(rng.choice([0, *rng.integers(1, 60, 6)]))
        text = str(rng.choice(texts)) if texts and rng.random() < 0.6 else ""
        meets = CONSTRAINTS.get(text, lambda _: True)
        job = {
            "submit": float(rng.integers(0, 4 * count)),
            "runtime": runtime,
            "expected": INF if rng.random() < 0.4 else max(0.0, runtime + rng.integers(-9, 40)),
            "cores": int(rng.integers(1, 12)),
            "kb": int(rng.integers(0, 24 * KB)),
            "gpus": 0,
            "type": "",
            "partition": str(rng.choice([part.name for part in machine.partitions])),
            "nodes": 1 if text.startswith("[") or rng.random() < 0.5 else 0,
            "may": [
                k for k, node_features in enumerate(features) if meets(node_features.__contains__)
            ],
            "text": text,
        }
        if Naive(nodes, [job], "FCFS").fits[0]:
            jobs.append(job)
    return sorted(jobs, key=lambda job: job["submit"])


def instance_of(jobs, machine):
    def column(name):
        return [job[name] for job in jobs]

    table = {
        "submit": column("submit"), "tasks": column("cores"), "cpu": np.ones(len(jobs)),
        "memory": np.ones(len(jobs)), "runtime": column("runtime"),
        "estimate": column("expected"), "memory_gb": np.array(column("kb")) / KB,
        "partition": column("partition"), "nodes": column("nodes"), "constraint": column("text"),
    }  # fmt: skip
    return cs.cluster.Instance(table, machine.cores, machine=machine)


@pytest.mark.parametrize("seed", range(TRACES))
def test_starts_are_those_of_a_naive_plan(seed):
    rng = np.random.default_rng(seed)
    machine = random_machine(rng)
    jobs = random_jobs(rng, machine, int(rng.integers(2, 25)))
    if not jobs:
        return
    inst = instance_of(jobs, machine)
    if inst.core_nodes is None:
        return
    nodes = plain_nodes(machine)[1]
    for name in ("FCFS", "EASY", "conservative"):
        result = cs.cluster.solve(inst, name, estimates="requested")
        assert result.jobs.start.tolist() == Naive(nodes, jobs, name).run(), name
        result.schedule.validate()
        assert float(result.bound) <= result.value * (1 + 1e-9)


def blocked_pair(last_limit, **columns):
    """A job on one of two nodes, one for both that waits, and another for one node."""
    jobs = {
        "submit": [0, 1, 2], "tasks": [1, 2, 1], "cpu": [1] * 3, "memory": [1] * 3,
        "runtime": [100.0, 10.0, 50.0], "estimate": [120.0, 20.0, last_limit],
    }  # fmt: skip
    return cs.cluster.Instance(jobs | columns, 2)


@pytest.mark.parametrize("name", ["EASY", "conservative"])
def test_a_job_without_a_limit_does_not_pass_one_that_waits(name):
    def starts(inst):
        return cs.cluster.solve(inst, name, estimates="requested").jobs.start.tolist()

    assert starts(blocked_pair(50.0)) == [0, 100, 2]
    assert starts(blocked_pair(INF)) == [0, 100, 110]
    # Nor where the one that waits does so for a job without a limit, which starts at once.
    waits_for_ever = blocked_pair(INF, submit=[0, 0, 0], estimate=[INF, 20.0, INF])
    assert starts(waits_for_ever) == [0, 100, 110]
    # One with a limit ends at some time, and does pass it.
    assert starts(blocked_pair(50.0, estimate=[INF, 20.0, 50.0])) == [0, 100, 2]


@pytest.mark.parametrize("name", ["EASY", "conservative"])
def test_the_log_of_decisions_names_a_wait_without_an_end(name):
    inst = blocked_pair(50.0, estimate=[INF, 20.0, 50.0])
    log = cs.cluster.solve(inst, name, estimates="requested", log=True).log
    assert log.reason.str.contains("a job without a time limit").any()
    assert not log.reason.str.contains("inf").any()


def test_other_orders_and_kills_have_jobs_without_a_limit():
    inst = blocked_pair(INF)
    for priority in ("shortest", "smallest", "wfp3"):
        for name in ("EASY", "conservative", "FCFS"):
            result = cs.cluster.solve(inst, name, estimates="requested", priority=priority)
            assert np.isfinite(result.jobs.start).all()
    killed = cs.cluster.solve(blocked_pair(INF, runtime=[500, 10, 1e6]), "EASY", kill=True)
    assert killed.jobs.end.tolist()[0] == 120
    assert killed.metrics()["killed"] == 1


@pytest.mark.parametrize("text", ["inf", "UNLIMITED", "Infinite"])
def test_files_say_that_there_is_no_limit(tmp_path, text):
    path = tmp_path / "jobs.csv"
    path.write_text(f"submit,tasks,cpu,memory,runtime,estimate\n0,1,1,1,9,{text}\n0,1,1,1,9,\n")
    inst = cs.cluster.Instance.read(path, nodes=1)
    assert inst.column("estimate").tolist() == [INF, 9]
    for suffix in ("csv", "json"):
        inst.write(tmp_path / f"again.{suffix}")
        reread_instance = cs.cluster.Instance.read(tmp_path / f"again.{suffix}", nodes=1)
        assert reread_instance.column("estimate").tolist() == [INF, 9]


CONF = """SelectType=select/cons_tres
NodeName=n[1-2] CPUs=8
PartitionName=main Nodes=ALL Default=YES
PartitionName=capped Nodes=ALL MaxTime=60
PartitionName=usual Nodes=ALL MaxTime=60 DefaultTime=30
"""
SACCT = """JobID|Partition|State|Submit|Start|Elapsed|Timelimit|NCPUS|NNodes
1|main|COMPLETED|2026-04-16T08:00:00|2026-04-16T08:00:10|01:00:00|UNLIMITED|8|1
2|main|COMPLETED|2026-04-16T08:00:00|2026-04-16T08:00:10|01:00:00|Partition_Limit|8|1
3|capped|COMPLETED|2026-04-16T08:00:00|2026-04-16T08:00:10|00:50:00|Partition_Limit|8|1
4|capped|COMPLETED|2026-04-16T08:00:00|2026-04-16T08:00:10|00:50:00|UNLIMITED|8|1
5|usual|COMPLETED|2026-04-16T08:00:00|2026-04-16T08:00:10|00:10:00|Partition_Limit|8|1
6|main|COMPLETED|2026-04-16T08:00:00|2026-04-16T08:00:10|01:00:00||8|1
"""


def test_limits_of_sacct_are_those_of_slurm(tmp_path):
    (tmp_path / "slurm.conf").write_text(CONF)
    (tmp_path / "log.txt").write_text(SACCT)
    inst = cs.cluster.Instance.read(tmp_path / "log.txt", machine=tmp_path / "slurm.conf")
    # The last one's limit is not known: its run time is taken, which the notes say.
    assert inst.column("estimate").tolist() == [INF, INF, 3600, 3600, 1800, 3600]
    (limit_note,) = [note for note in inst.notes if "without estimate" in note]
    assert "1 without estimate (their run time is taken)" in limit_note
    assert "3 without a time limit (plans expect no end of them)" in limit_note
    raw = SACCT.replace("Timelimit", "TimelimitRaw")
    (tmp_path / "log.txt").write_text(raw)
    reread_instance = cs.cluster.Instance.read(
        tmp_path / "log.txt", machine=tmp_path / "slurm.conf"
    )
    assert reread_instance.column("estimate").tolist() == inst.column("estimate").tolist()


EVENT = "-dt {} -e submit_batch_job | -jid {} -sim-walltime {} --uid=u {} job.sh\n"


def simulated(folder, events, **options):
    (folder / "slurm.conf").write_text(CONF)
    (folder / "week.events").write_text("".join(EVENT.format(*event) for event in events))
    inst = cs.cluster.Instance.read(folder / "week.events", machine=folder / "slurm.conf")
    result = cs.cluster.solve(inst, "slurm-backfill", **options)
    result.schedule.validate()
    return result.jobs.set_index("id").start


@pytest.mark.parametrize("asks", ["", "-t UNLIMITED", "-t 0", "-t 365-00:00:00"])
def test_the_simulator_does_not_backfill_a_job_without_a_limit(tmp_path, asks):
    events = [
        (0, 1, 3600, "-N 1 -n 8 -t 120"), (60, 2, 600, "-N 2 -n 16 -t 120"),
        (120, 3, 1800, f"-N 1 -n 8 {asks}"), (180, 4, 60, "-N 1 -n 8 -t 30"),
    ]  # fmt: skip
    start = simulated(tmp_path, events, seed=1)
    assert start[2] < 3700
    assert start[3] >= start[2] + 600
    assert start[4] < 3600


@pytest.mark.parametrize("seed", range(40))
def test_no_limit_reaches_into_a_reservation(tmp_path, seed):
    """Who is on reserved nodes is there after it, or has a limit that ends before it."""
    rng = np.random.default_rng(seed)
    (tmp_path / "slurm.conf").write_text(CONF.replace("n[1-2]", "n[1-3]"))
    machine = cs.cluster.Machine.read(tmp_path / "slurm.conf")
    begin, end = 1800, 1800 + int(rng.integers(60, 3600))
    nodes, reserved = (("ALL", {0, 1, 2}), ("n[1-2]", {0, 1}))[int(rng.integers(2))]
    machine = replace(machine, slurm=replace(machine.slurm, reserved=((begin, end, nodes),)))
    jobs = 12
    limit = np.where(rng.random(jobs) < 0.4, INF, rng.integers(2, 40, jobs) * 60.0)
    tasks = rng.choice([4, 8, 16], jobs)
    inst = cs.cluster.Instance({
        "submit": np.sort(rng.integers(0, 2400, jobs)), "tasks": tasks, "cpu": [1] * jobs,
        "memory": [1] * jobs, "runtime": np.minimum(limit, rng.integers(20, 900, jobs)),
        "estimate": limit,
    }, 24, machine=machine)  # fmt: skip
    result = cs.cluster.solve(inst, "slurm-backfill", seed=seed)
    result.schedule.validate()
    frame = result.schedule.to_frame().set_index("task").sort_index()
    for job, (start, units) in enumerate(zip(frame.start, frame.units, strict=True)):
        if {unit // 8 for unit in units} & reserved:
            assert start + limit[job] <= begin + 1 or start >= end - 1


def test_a_run_of_more_than_a_year_is_not_ended(tmp_path):
    year = 365 * 86400
    jobs = {"submit": [0], "tasks": [8], "cpu": [1], "memory": [1], "runtime": [year + 1000.0]}
    (tmp_path / "slurm.conf").write_text(CONF)
    machine = cs.cluster.Machine.read(tmp_path / "slurm.conf")
    for limit, killed in ((INF, 0), (float(year), 1)):
        inst = cs.cluster.Instance(jobs | {"estimate": [limit]}, 16, machine=machine)
        result = cs.cluster.solve(inst, "slurm-backfill", seed=1)
        assert result.metrics()["killed"] == killed


@pytest.mark.parametrize("name", ["unlimited_a", "unlimited_resv"])
def test_a_real_slurm_has_jobs_without_a_limit_when_the_simulator_has(name):
    """Recorded on 22.05.8: behind one that waits, behind a reservation, and, where the one that
    waits does so for another without a limit (its plan is beyond bf_window), before it."""
    recording = read_recording(FIXTURES / "slurm" / f"{name}.json.gz")
    (run,) = recording.runs
    run_agreement = agreement(recording, run)
    assert (run_agreement.off_by_60, run_agreement.good) == (0, len(run.start))
