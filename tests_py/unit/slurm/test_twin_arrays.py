"""The twin on arrays, on rows in any order, and on jobs that run already."""

from __future__ import annotations

import numpy as np
import pytest

import cosched as cs
from cosched.errors import InvalidInstance

CONF = """ClusterName=t
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
NodeName=n[1-10] CPUs=4 RealMemory=16000
PartitionName=normal Nodes=ALL Default=YES
"""


def solved(instance, **options):
    result = cs.cluster.solve(instance, "slurm-backfill", **options)
    result.schedule.validate()
    return result


def arrays(tmp_path, number, tasks, memory=4.0, **extra_columns):
    """Three arrays of ten tasks, of which three may run at once, submitted at second 0; `memory` of
    a core (GB)."""
    (tmp_path / "slurm.conf").write_text(CONF)
    machine = cs.cluster.Machine.read(tmp_path / "slurm.conf")
    runtime = 60.0 + 7 * (np.arange(30) * 11 % 30)
    jobs = {
        "submit": np.zeros(30), "tasks": tasks, "cpu": np.ones(30), "memory": np.ones(30),
        "memory_gb": memory * tasks, "memory_per": ["core"] * 30,
        "runtime": runtime, "estimate": np.full(30, 400.0), "partition": ["normal"] * 30,
        "array": [f"{number + row // 10}%3" for row in range(30)],
    }  # fmt: skip
    return cs.cluster.Instance(jobs | extra_columns, nodes=machine.cores, machine=machine)


def most_at_once(placed, kind_of):
    """Of the jobs of a kind, at the start of one of them."""
    return max(
        sum(
            kind_of(k) == kind_of(row)
            and placed[k]["start"] <= placement["start"] < placed[k]["end"]
            for k in placed
        )
        for row, placement in placed.items()
    )


def test_arrays_are_numbered_anew(tmp_path):
    """A cluster's two-billionth job is an array: no memory by its number."""
    first_twin, other = (
        solved(arrays(tmp_path, number, np.full(30, 5))).schedule for number in (10, 2**31 - 4)
    )
    np.testing.assert_array_equal(first_twin.start, other.start)


@pytest.mark.parametrize("changed", ["tasks", "memory"])
@pytest.mark.parametrize("seed", range(10))
def test_tasks_of_an_array_that_were_changed_later(tmp_path, seed, changed):
    """They ask for other cores or memory than the first, and get these."""
    random = np.random.default_rng(seed)
    tasks, memory = np.full(30, 5), np.full(30, 1.0)
    if changed == "tasks":
        tasks = random.integers(4, 7, 30)
    else:
        memory = random.choice([1.0, 15.0], 30)
    schedule = solved(arrays(tmp_path, 10, tasks, memory)).schedule
    placed = {p["task"]: p for p in schedule.to_dict()["placements"]}
    assert [len(placed[row]["units"]) for row in range(30)] == tasks.tolist()
    for row, placement in placed.items():
        assert memory[row] == 1 or len(placement["hosts"]) == tasks[row]
    assert most_at_once(placed, lambda row: (row // 10, tasks[row], memory[row])) <= 3


def test_tasks_that_run_already_count_for_the_limit_of_their_array(tmp_path):
    """Whatever nodes they have got."""
    running = np.arange(30) % 10 < 2
    inst = arrays(tmp_path, 10, np.full(30, 2), running=running, ran=10.0 * running)
    placed = {p["task"]: p for p in solved(inst).schedule.to_dict()["placements"]}
    assert most_at_once(placed, lambda row: row // 10) == 3


PAIR = "SelectType=select/linear\nNodeName=a[1-2] CPUs=1\nPartitionName=p Nodes=ALL\n"


def twin_of(tmp_path, conf, **columns):
    """The schedule of jobs by columns; processors are cores."""
    (tmp_path / "slurm.conf").write_text(conf)
    machine = cs.cluster.Machine.read(tmp_path / "slurm.conf")
    n = len(columns["submit"])
    jobs = {"cpu": np.ones(n), "memory": np.ones(n)} | columns
    return solved(cs.cluster.Instance(jobs, nodes=machine.cores, machine=machine), seed=1)


def starts(result):
    placed = {p["task"]: p["start"] for p in result.schedule.to_dict()["placements"]}
    return [placed[row] for row in sorted(placed)]


@pytest.mark.parametrize(
    "priority", ["", "PriorityType=priority/multifactor\nPriorityWeightAge=9\n"]
)
@pytest.mark.parametrize("seed", range(10))
def test_rows_may_come_in_any_order(tmp_path, seed, priority):
    """Tasks follow each other as they were submitted, whatever rows are between them."""
    random = np.random.default_rng(seed)
    of = np.sort(random.integers(0, 12, 30))  # which submission
    runtime = random.integers(10, 300, 30).astype(float)
    jobs = {
        "submit": 7.0 * of, "tasks": 1 + of % 2, "runtime": runtime, "estimate": 300.0 - of,
        "array": ["" if number % 3 == 0 else f"{number}%0" for number in of], "id": np.arange(30),
    }  # fmt: skip
    expected = starts(twin_of(tmp_path, PAIR + priority, **jobs))
    key = random.permutation(12)[of]  # submissions in another order
    order = np.lexsort((np.arange(30), key))
    turned = {name: np.asarray(column)[order] for name, column in jobs.items()}
    start_times = starts(twin_of(tmp_path, PAIR + priority, **turned))
    np.testing.assert_array_equal(start_times, np.asarray(expected)[order])


def test_a_running_job_between_tasks(tmp_path):
    """It is never submitted."""
    rows = {"task": (0, 120, "5%0", False), "begun": (0, 120, "5%0", True),
            "other": (0, 120, "", True), "later": (5, 120, "", False)}  # fmt: skip
    for names in (["begun", "other", "task", "task"], ["begun", "task", "other", "task"]):
        submit, estimate, array, running = zip(
            *[rows[name] for name in [*names, "later"]], strict=True
        )
        start_times = starts(
            twin_of(
                tmp_path, PAIR, submit=submit, estimate=estimate, array=array, running=running,
                ran=50.0 * np.array(running), tasks=np.ones(5, int), runtime=np.full(5, 100.0),
            )
        )  # fmt: skip
        assert sorted(start_times) == [0, 0, 101, 101, 202]
        assert start_times[4] == 202


def test_tasks_whose_partitions_were_changed(tmp_path):
    conf = "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n" + "".join(
        f"NodeName={name}1 CPUs=2\nPartitionName={name} Nodes={name}1\n" for name in "pab"
    )
    result = twin_of(
        tmp_path, conf, submit=np.zeros(4), tasks=np.full(4, 2), array=["6%2"] * 4,
        runtime=[100.0, 81.0, 100.0, 100.0], estimate=[200.0, 181.0, 200.0, 200.0],
        partition=["p", "p,a", "p", "p,a,b"],
    )  # fmt: skip
    assert starts(result) == [0, 0, 102, 0]  # validated: each on nodes of its own partitions


def test_a_task_whose_limit_was_changed_takes_no_shorter_ones_place(tmp_path):
    jobs = {"submit": [0, 1, 2, 2], "tasks": [1, 2, 1, 1], "runtime": [600.0, 100.0, 3000.0, 50.0],
            "estimate": [600.0, 120.0, 3600.0, 60.0]}  # fmt: skip
    conf = PAIR + "SchedulerParameters=bf_resolution=1,bf_interval=30\n"
    alone = starts(twin_of(tmp_path, conf, **jobs))
    assert starts(twin_of(tmp_path, conf, array=["", "", "5%0", "5%0"], **jobs)) == alone


@pytest.mark.parametrize(
    ("partition", "notes"), [("big,small", 1), ("small,big", 1), ("small,like", 0)]
)
def test_whole_nodes_of_several_partitions(tmp_path, partition, notes):
    """A job gets one number of nodes: those of other sizes than the first's are left out."""
    conf = (
        "SelectType=select/linear\nNodeName=a[1-4] CPUs=4\nNodeName=b1 CPUs=8\n"
        "PartitionName=small Nodes=a[1-2]\nPartitionName=like Nodes=a[3-4]\n"
        "PartitionName=big Nodes=b1\n"
    )
    result = twin_of(
        tmp_path, conf, submit=[0, 0], tasks=[8, 8], runtime=[60.0, 60.0], estimate=[120.0, 120.0],
        partition=[partition] * 2,
    )  # fmt: skip
    assert starts(result) == ([0, 61] if notes else [0, 0])
    placement_notes = [
        note for note in result.instance.notes if "other nodes than the first of 2 jobs" in note
    ]
    assert len(placement_notes) == notes


@pytest.mark.parametrize("partition", ["p,", ",a", "p,,a"])
def test_empty_names_of_partitions(tmp_path, partition):
    conf = PAIR + "PartitionName=a Nodes=a2\n"
    jobs = {"submit": [0], "tasks": [1], "runtime": [9.0], "partition": [partition]}
    with pytest.raises(InvalidInstance, match="partition ''"):
        twin_of(tmp_path, conf, **jobs)


TIERED = """SelectType=select/linear
PreemptType=preempt/partition_prio
PreemptMode={}
NodeName=a[1-2] CPUs=1
PartitionName=low Nodes=ALL PriorityTier=1 Default=YES
PartitionName=high Nodes=ALL PriorityTier=2
"""


@pytest.mark.parametrize("draws", [1, 3])
def test_a_job_that_ran_is_sent_away_and_runs_anew(tmp_path, draws):
    """From its beginning, on other nodes perhaps: what it did before second 0 is lost."""
    (tmp_path / "slurm.conf").write_text(TIERED.format("REQUEUE"))
    machine = cs.cluster.Machine.read(tmp_path / "slurm.conf")
    jobs = {
        "submit": [0, 5, 0], "tasks": [1, 1, 1], "cpu": np.ones(3), "memory": np.ones(3),
        "runtime": [300.0, 50.0, 900.0], "estimate": [600.0, 60.0, 1000.0],
        "partition": ["low", "high", "low"], "running": [1, 0, 1], "ran": [10.0, 0, 10.0],
        "held": ["0:0", "", "1:0"],
    }  # fmt: skip
    inst = cs.cluster.Instance(jobs, nodes=machine.cores, machine=machine)
    result = solved(inst, seed=1, draws=draws)
    start, end = (result.jobs[name].tolist() for name in ("start", "end"))
    assert start[1] < start[0]
    assert start[2] == 0
    assert np.subtract(end, start).tolist() == [310, 50, 900]


def test_of_equal_victims_the_first_that_was_submitted_goes(tmp_path):
    jobs = {"id": [1, 2, 3], "submit": [0, 10, 20], "tasks": [1, 1, 1],
            "runtime": [500.0, 500.0, 60.0], "estimate": [600.0, 600.0, 100.0],
            "partition": ["low", "low", "high"]}  # fmt: skip
    conf = TIERED.format("CANCEL")
    schedules = []
    for order in ([0, 1, 2], [1, 0, 2], [2, 1, 0]):
        turned = {name: [column[row] for row in order] for name, column in jobs.items()}
        twin_jobs = twin_of(tmp_path, conf, **turned).jobs
        schedules.append(
            sorted(zip(twin_jobs["id"], twin_jobs["start"], twin_jobs["end"], strict=True))
        )
    assert schedules[0] == schedules[1] == schedules[2]


@pytest.mark.parametrize(
    ("cores", "held", "seed"),
    [(3, "4:3", 0), *((12, "3:4;4:4;5:4", seed) for seed in range(12))],
)
def test_a_task_that_was_sent_away_takes_no_other_ones_place(tmp_path, cores, held, seed):
    """It ran in another partition, with fewer cores perhaps, and waits among its array again."""
    runtime = np.array([200.0, 293.0, 46.0, 171.0, 269.0, 99.0])
    runtime = np.random.default_rng(seed).permutation(runtime) if seed else runtime
    conf = """SelectType=select/cons_tres
SelectTypeParameters=CR_Core
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
NodeName=a[1-6] CPUs=4
NodeName=b[1-3] CPUs=8
NodeName=c[1-2] CPUs=4
PartitionName=all Nodes=ALL Default=YES
PartitionName=small Nodes=a[1-6] PriorityTier=2
PartitionName=gpu Nodes=b[1-3]
PartitionName=ex Nodes=a[4-6],c[1-2]
"""
    result = twin_of(
        tmp_path, conf, submit=[0, 76, 101, 111, 136, 198], tasks=[cores, 12, 12, 12, 12, 12],
        runtime=runtime, estimate=[408.0] + [445.0] * 5,
        partition=["ex"] + ["gpu,small,ex"] * 5, running=[1, 0, 0, 0, 0, 0],
        ran=[37.0] + [0.0] * 5, held=[held] + [""] * 5,
        array=["10%3", "10%0", "10%0", "10%0", "10%3", "10%3"],
    )  # fmt: skip
    assert [len(units) for units in result.schedule.to_frame()["units"]] == [cores] + [12] * 5
