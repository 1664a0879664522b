"""machine.toml, and partitions that batch policies respect."""

from itertools import pairwise

import numpy as np
import pytest
from note_facts import counts, has_note

import cosched as cs
from cosched import NoteKind
from cosched.cli import main
from cosched.cluster.machine.parts import cells

TOML = """
[[nodes]]
name = "thin"
count = 4
cores = 2
memory_gb = 8

[[nodes]]
name = "fat"
count = 2
cores = 4
gpus = 1

[[partitions]]
name = "main"

[[partitions]]
name = "short"
nodes = ["thin"]
max_time = "0-00:02:00"
priority = 5

[[partitions]]
name = "gpu"
nodes = "4-5"
"""


@pytest.fixture
def machine(tmp_path):
    path = tmp_path / "machine.toml"
    path.write_text(TOML)
    return cs.cluster.Machine.read(path)


def test_read(machine):
    assert (machine.cores, machine.node_count) == (16, 6)
    assert [part.nodes for part in machine.partitions] == [((0, 6),), ((0, 4),), ((4, 6),)]
    assert [part.max_time for part in machine.partitions] == [np.inf, 120, np.inf]
    sizes, masks = cells(machine)
    assert sizes.tolist() == [8, 8]
    assert masks == {"main": 3, "short": 1, "gpu": 2}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[nodes]]\ncount = 4", r"nodes 1: no 'cores'"),
        ("[[nodes]]\ncount = 0\ncores = 1", r"nodes 1: count = 0"),
        ("[[nodes]]\ncount = 1\ncores = 1\nspeed = 2", r"unknown 'speed'"),
        ("nodes = 3", r"expected tables \[\[nodes\]\]"),
        ("", r"no \[\[nodes\]\]"),
        ("[[nodes]\n", "not TOML"),
        (TOML + '[[partitions]]\nname = "gpu"', "two of the same name"),
        (TOML + '[[partitions]]\nname = "x"\nnodes = "2-9"', "expected numbers from 0 to 5"),
        (TOML + '[[partitions]]\nname = "x"\nnodes = ["thick"]', "no type 'thick'"),
        (TOML + '[[partitions]]\nname = "x"\nmax_time = "soon"', "expected seconds or"),
        (TOML + '[[partitions]]\nname = "x"\npriority = "high"', "expected a number"),
        (TOML + '[[partitions]]\nname = "x"\npriority = nan', "expected a number"),
        (TOML + '[[partitions]]\nname = "x"\nnodes = []', "expected at least one type"),
        (TOML + '[[nodes]]\nname = "thin"\ncount = 1\ncores = 1', "nodes: two of the same name"),
        ("[[nodes]]\ncount = 1\ncores = 1\nmemory_gb = 1e18", r"memory_gb of all nodes = 1e\+18"),
        ("[[nodes]]\ncount = 9999999\ncores = 999999", "cores of all nodes = .*: expected at most"),
        ("[[nodes]]\ncount = 2\ncores = 1\ngpus = 2147483647", "gpus of all nodes = .* at most"),
    ],
)
def test_what_is_no_machine(tmp_path, text, said):
    (tmp_path / "m.toml").write_text(text)
    with pytest.raises(cs.InvalidInstance, match=said):
        cs.cluster.Machine.read(tmp_path / "m.toml")


def stream(seed, n=30):
    random = np.random.default_rng(seed)
    runtime = random.integers(1, 60, n).astype(float)
    return {
        "submit": random.integers(0, 200, n).astype(float),
        "tasks": random.integers(1, 9, n),
        "cpu": np.ones(n),
        "memory": np.ones(n),
        "runtime": runtime,
        "estimate": runtime + random.integers(0, 60, n),
        "partition": random.choice(["main", "short", "gpu", ""], n),
        "wait": random.integers(0, 100, n).astype(float),
    }


@pytest.mark.parametrize("seed", range(20))
def test_jobs_stay_in_their_partition(machine, seed):
    inst = cs.cluster.Instance(stream(seed), 16, machine=machine)
    parts = inst.jobs.partition.to_numpy()
    for name in ("FCFS", "EASY", "conservative"):
        for options in ({}, {"estimates": "requested"}, {"priority": "wfp3"}, {"kill": True}):
            res = cs.cluster.solve(inst, name, **options)
            res.schedule.validate()
            for row, job in enumerate(res.schedule.task):
                units = res.schedule.units(row)
                if parts[job] == "short":
                    assert max(units) < 8
                if parts[job] == "gpu":
                    assert min(units) >= 8
            assert res.gap >= 0
    logged = cs.cluster.solve(inst, "as-logged")
    logged.schedule.validate()
    # The naive count: at each moment, jobs of a partition (main has all nodes) and its nodes.
    start, end = (logged.jobs[c].to_numpy() for c in ("start", "end"))
    times = np.unique(np.concatenate([start, end]))
    excess = 0.0
    for now, then in pairwise(times):
        run = (start <= now) & (end > now)
        tasks = inst.jobs.tasks.to_numpy()
        used = {name: tasks[run & (parts == name)].sum() for name in ("short", "gpu")}
        if tasks[run].sum() > 16 or used["short"] > 8 or used["gpu"] > 8:
            excess += then - now
    assert logged.metrics()["overcommitted_hours"] * 3600 == pytest.approx(excess)


def test_what_the_log_ran_is_in_its_partition(machine):
    jobs = {"submit": [0, 0, 5], "tasks": [4, 6, 2], "cpu": [1] * 3, "memory": [1] * 3,
            "runtime": [100.0, 60.0, 10.0], "wait": [0.0, 0.0, 0.0],
            "partition": ["gpu", "gpu", "main"]}  # fmt: skip
    inst = cs.cluster.Instance(jobs, 16, machine=machine)
    res = cs.cluster.solve(inst, "as-logged")
    assert res.metrics()["overcommitted_hours"] * 3600 == 60  # 10 on gpu's 8, though 4 are free
    frame = res.schedule.to_frame().set_index("task")
    assert frame.units[0] == (8, 9, 10, 11) or frame.units[1] == (8, 9, 10, 11, 12, 13)
    assert frame.units[2] == (0, 1)
    res.schedule.validate()
    moved = res.schedule.to_frame()
    moved["units"] = [(0, 1, 2, 3) if job == 0 else nodes
                      for job, nodes in zip(moved.task, moved.units, strict=True)]  # fmt: skip
    wrong = cs.cluster.Schedule.from_frame(inst, moved)
    wrong.recorded = True
    with pytest.raises(cs.InvalidSchedule, match="job 0 is on node 0, which its partition"):
        wrong.validate()


def test_a_node_of_another_partition_is_no_valid_place(machine):
    jobs = {"submit": [0], "tasks": [1], "cpu": [1], "memory": [1], "runtime": [9.0],
            "partition": ["gpu"], "id": [77]}  # fmt: skip
    inst = cs.cluster.Instance(jobs, 16, machine=machine)
    frame = cs.cluster.solve(inst, "EASY").schedule.to_frame()
    assert frame.units.tolist() == [(8,)]
    wrong = cs.cluster.Schedule.from_frame(inst, frame.assign(units=[(3,)]))
    with pytest.raises(cs.InvalidSchedule, match="job 77 is on node 3, which its partition"):
        wrong.validate()


def test_priority_of_partitions_and_separate_queues(machine):
    jobs = {"submit": [0, 1, 2, 3], "tasks": [16, 4, 4, 4], "cpu": [1] * 4, "memory": [1] * 4,
            "runtime": [50.0, 20.0, 20.0, 20.0],
            "partition": ["main", "main", "gpu", "short"]}  # fmt: skip
    inst = cs.cluster.Instance(jobs, 16, machine=machine)
    assert cs.cluster.solve(inst, "FCFS").jobs.start.tolist() == [0, 50, 50, 50]
    wide = inst.replace(tasks=[12, 8, 4, 8])
    # short comes first though it was submitted last; then main takes the fat nodes before gpu
    assert cs.cluster.solve(wide, "FCFS").jobs.start.tolist() == [0, 50, 70, 50]


def test_what_is_refused(machine, tmp_path, capsys):
    inst = cs.cluster.Instance(stream(1), 16, machine=machine)
    assert cs.cluster.FAMILY.names_of(inst, None) == ["as-logged", "FCFS", "EASY", "conservative"]
    with pytest.raises(cs.InvalidInstance, match="DFRS policies know no partitions"):
        cs.cluster.solve(inst, "GreedyPM */per/opt=min")
    odd = cs.cluster.Instance(stream(1) | {"partition": ["night"] * 30}, 16, machine=machine)
    with pytest.raises(cs.InvalidInstance, match=r"partition 'night': the machine has main, short"):
        cs.cluster.solve(odd, "EASY")
    jobs = {"submit": [0], "tasks": [9], "cpu": [1], "memory": [1], "runtime": [9.0],
            "partition": ["short"]}  # fmt: skip
    with pytest.raises(cs.InfeasibleError, match="job 0: needs 9 cores, its partition has 8"):
        cs.cluster.solve(cs.cluster.Instance(jobs, 16, machine=machine), "conservative")
    capped = cs.cluster.Instance(jobs | {"tasks": [1], "estimate": [999.0]}, 16, machine=machine)
    assert capped.column("estimate").tolist() == [120]
    (tmp_path / "machine.toml").write_text(TOML)
    inst.write(tmp_path / "jobs.csv")
    command = ["compare", "cluster", str(tmp_path / "jobs.csv"), "--policies", "EASY"]
    assert main([*command, "--machine", str(tmp_path / "machine.toml")]) == 0
    assert "EASY" in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["swf", "sacct", "csv"])
def test_a_job_too_wide_for_its_partition_can_be_dropped(machine, tmp_path, kind):
    files = {
        "swf": "1 0 0 9 12 -1 -1 12 9 -1 1 1 1 1 1 1 -1 -1\n"
        "2 0 0 9 12 -1 -1 12 9 -1 1 1 1 1 1 2 -1 -1\n; Partition: 1 main\n; Partition: 2 short\n",
        "txt": "JobID|Partition|State|Submit|Start|Elapsed|NCPUS\n"
        "1|main|COMPLETED|2026-03-01T10:00:00|2026-03-01T10:00:00|00:00:09|12\n"
        "2|short|COMPLETED|2026-03-01T10:00:00|2026-03-01T10:00:00|00:00:09|12\n",
        "csv": "id,partition,submit,tasks,cpu,memory,runtime\n"
        "1,main,0,12,1,1,9\n2,short,0,12,1,1,9\n",
    }
    suffix = "txt" if kind == "sacct" else kind
    path = tmp_path / f"log.{suffix}"
    path.write_text(files[suffix])
    inst = cs.cluster.Instance.read(path, machine=machine)
    message = "job 2.*needs 12 cores, its partition has 8; drop it with --drop too-wide"
    with pytest.raises(cs.InfeasibleError, match=message):
        cs.cluster.solve(inst, "EASY")
    remaining_log = cs.cluster.Instance.read(
        path, machine=machine, drop="cancelled, too-wide", min_runtime=5
    )
    assert [str(job_id) for job_id in remaining_log.ids] == ["1"]
    assert cs.cluster.solve(remaining_log, "EASY").value == 1
    assert counts(remaining_log.notes, NoteKind.DROPPED)["drop"] == 1
    assert counts(remaining_log.notes, NoteKind.MEASURED_JOBS) == {"min_runtime": 1}


def test_an_option_that_the_machine_overrules_is_named(machine, tmp_path):
    path = tmp_path / "log.swf"
    partitions = "; Partition: 1 main\n; Partition: ² none\n"
    path.write_text("1 0 0 9 12 -1 -1 12 9 -1 1 1 1 1 1 1 -1 -1\n" + partitions)
    inst = cs.cluster.Instance.read(path, 5, machine=machine, cores_per_node=3)
    assert inst.nodes == 16
    for argument in ("cores_per_node = 3", "nodes = 5"):
        assert has_note(inst.notes, NoteKind.ASSUMED, argument)
