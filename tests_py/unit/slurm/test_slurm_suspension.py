"""PreemptMode=SUSPEND,GANG: jobs that stand still, in schedules and files; what is refused."""

import numpy as np
import pytest

import cosched as cs
from cosched.cluster import Machine

GANG = "PreemptType=preempt/partition_prio\nPreemptMode=SUSPEND,GANG\n"
CORES = "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n"
HIGH = "PartitionName=high Nodes=n[1-2] PriorityTier=9\n"


def machine_of(tmp_path, head, partitions=HIGH, low="PriorityTier=1"):
    (tmp_path / "slurm.conf").write_text(
        f"{head}NodeName=n[1-2] CPUs=4\nPartitionName=low Nodes=ALL Default=YES {low}\n{partitions}"
    )
    return Machine.read(tmp_path / "slurm.conf")


def solve(machine, rows, **options):
    """(submit, cores, seconds, limit, partition) of each job."""
    submit, tasks, runtime, limit, partition = zip(*rows, strict=True)
    ones = np.ones(len(rows))
    jobs = {
        "submit": submit, "tasks": tasks, "cpu": ones, "memory": ones, "runtime": runtime,
        "estimate": limit, "partition": partition,
    }  # fmt: skip
    inst = cs.cluster.Instance(jobs, machine.cores, machine=machine)
    options = {"controller_start": -30.0, "epoch": 0, **options}
    return cs.slurm.backfill(inst, **options)


ROWS = [(0, 6, 300, 600, "low"), (40, 5, 100, 300, "high"), (50, 2, 60, 120, "low")]


def test_a_job_stands_still_and_goes_on(tmp_path):
    res = solve(machine_of(tmp_path, CORES + GANG), ROWS, log=True)
    res.schedule.validate()
    frame = res.schedule.to_frame()
    job_rows = frame[frame.task == 0]
    assert job_rows.cause.tolist() == ["start", "resume"]
    assert job_rows.units.tolist() == [tuple(range(6))] * 2
    high = frame[frame.task == 1].iloc[0]
    assert high.units == (0, 1, 2, 3, 4)
    assert job_rows.end.iloc[0] == high.start
    assert 0 <= job_rows.start.iloc[1] - high.end < 2
    assert (job_rows.end - job_rows.start).sum() == pytest.approx(300)
    assert res.jobs.preemptions.tolist() == [1, 0, 0]
    assert res.jobs.end[0] == job_rows.end.iloc[1]
    low = frame[frame.task == 2].iloc[0]  # on the cores beside them
    assert low.units == (6, 7)
    reasons = res.log.query("job == 0").reason.tolist()
    assert any(text.startswith("SUSPENDED") for text in reasons)
    assert any(text.startswith("RUNNING") for text in reasons)


def test_a_job_whose_work_is_done_as_it_is_suspended_has_no_more_to_do(tmp_path):
    # Its end is known 0.77 s later: until then it can be sent to sleep, and wakes only to end.
    rows = [(0, 6, 39.5, 600, "low"), (39, 5, 100, 300, "high")]
    res = solve(machine_of(tmp_path, CORES + GANG), rows)
    res.schedule.validate()
    first, second = res.schedule.to_frame().itertuples()
    assert first.end == first.start + 39.5 < second.start < first.end + 0.77
    assert res.jobs.preemptions.tolist() == [0, 0]


def test_the_draws_know_it_too(tmp_path):
    rows = [(0, 6, 39.5, 600, "low"), (39, 5, 100, 300, "high")]
    late_count = 0
    for seed in range(12):
        res = solve(machine_of(tmp_path, CORES + GANG), rows, draws=2, seed=seed)
        assert res.draws.values[0] == pytest.approx(res.value, abs=0.1)
        late_count += res.value < 1.1 and res.jobs.start[1] < res.jobs.end[0] + 1
    assert late_count


@pytest.mark.parametrize("seconds", [500, 500.5], ids=["whole seconds", "instants"])
def test_a_job_that_is_ended_while_it_stands_still_had_its_end_when_it_stopped(tmp_path, seconds):
    head = f"{CORES}{GANG}AccountingStorageType=accounting_storage/slurmdbd\n"
    (tmp_path / "accounts.txt").write_text(
        "Account|User|Share\nroot||1\na||1\na|u|1\nName|Priority|GrpTRESMins\nnormal|0|cpu=8\nhigh|0|\n"
    )
    machine_of(tmp_path, f"{head}AccountingStorageEnforce=limits\n")
    machine = Machine.read(tmp_path / "slurm.conf", accounts=tmp_path / "accounts.txt")
    ones = {
        "cpu": [1, 1],
        "memory": [1, 1],
        "user": ["u", "u"],
        "account": ["a", "a"],
        "qos": ["normal", "high"],
    }
    inst = cs.cluster.Instance(
        ones | {"submit": [0, 60], "tasks": [8, 8], "runtime": [seconds, 300],
                "estimate": [600, 600], "partition": ["low", "high"]},
        machine.cores, machine=machine,
    )  # fmt: skip
    res = cs.slurm.backfill(inst, controller_start=-30.0, epoch=0)
    res.schedule.validate()
    job_row = res.schedule.to_frame().iloc[0]
    assert res.metrics()["killed"] == 1
    assert 60 <= job_row.end == res.jobs.end[0] < 63


def test_it_may_stand_still_again_when_it_would_have_been_done_without(tmp_path):
    rows = [(0, 8, 100, 600, "low"), (20, 8, 200, 300, "high"), (250, 8, 50, 300, "high")]
    res = solve(machine_of(tmp_path, CORES + GANG), rows)
    res.schedule.validate()
    frame = res.schedule.to_frame()
    job_rows = frame[frame.task == 0]
    assert job_rows.cause.tolist() == ["start", "resume", "resume"]
    assert (job_rows.end - job_rows.start).sum() == pytest.approx(100)


def test_without_it_nobody_does(tmp_path):
    res = solve(machine_of(tmp_path, CORES), ROWS)
    assert res.jobs.preemptions.sum() == 0
    assert res.jobs.start[1] >= res.jobs.end[0]


def test_its_file_and_its_draws(tmp_path):
    rows = [*ROWS, (60, 3, 400, 240, "low"), (200, 8, 60, 120, "high"), (380, 2, 30, 60, "high")]
    res = solve(machine_of(tmp_path, CORES + GANG), rows, draws=5, seed=3)
    assert res.metrics()["killed"] == 1
    assert res.jobs.preemptions[0] == 2
    back = cs.cluster.Schedule.from_dict(res.instance, res.schedule.to_dict())
    back.validate()
    assert back.to_dict() == res.schedule.to_dict()
    cs.cluster.Schedule.from_frame(res.instance, res.schedule.to_frame()).validate()
    assert res.draws.starts.shape == (5, len(rows))
    assert res.draws.values.min() >= res.value * 0.8


def test_memory_of_who_stands_still_is_held(tmp_path):
    """Of 16 GB a node: who wants more than is left waits for the end of who stood still."""
    head = (CORES + GANG).replace("CR_Core", "CR_Core_Memory") + "DefMemPerCPU=1000\n"
    machine_of(tmp_path, head)
    (tmp_path / "slurm.conf").write_text(
        (tmp_path / "slurm.conf").read_text().replace("CPUs=4", "CPUs=4 RealMemory=16384")
    )
    machine = Machine.read(tmp_path / "slurm.conf")
    ones = np.ones(3)
    jobs = {
        "submit": [0, 40, 50], "tasks": [8, 4, 4], "cpu": ones, "memory": ones,
        "runtime": [300, 100, 60], "estimate": [600, 120, 120], "memory_gb": [24, 4, 10],
        "partition": ["low", "high", "high"],
    }  # fmt: skip
    inst = cs.cluster.Instance(jobs, machine.cores, machine=machine)
    res = cs.slurm.backfill(inst, controller_start=-30.0, epoch=0)
    res.schedule.validate()
    assert res.jobs.start[1] < 60
    assert res.jobs.start[2] >= res.jobs.end[0]
    frame = res.schedule.to_frame()
    early = frame.copy()
    early.loc[early.task == 2, ["start", "end"]] = [50.0, 110.0]
    with pytest.raises(cs.InvalidSchedule, match="KB of memory"):
        cs.cluster.schedule.held.check_held_by_cores(
            res.instance, cs.cluster.Schedule.from_frame(res.instance, early).rows, machine
        )


def test_limits_count_what_has_run(tmp_path):
    rows = [(0, 8, 500, 120, "low"), (60, 8, 300, 600, "high")]
    res = solve(machine_of(tmp_path, CORES + GANG), rows)
    res.schedule.validate()
    job_rows = res.schedule.to_frame().query("task == 0")
    assert 120 <= (job_rows.end - job_rows.start).sum() <= 155
    assert job_rows.start.iloc[1] >= 360


def test_requeued_jobs_have_no_pauses(tmp_path):
    head = CORES + GANG.replace("SUSPEND,GANG", "REQUEUE")
    res = solve(machine_of(tmp_path, head), ROWS)
    res.schedule.validate()
    assert res.outcome["restarts"].tolist() == [1, 0, 0]
    assert res.jobs.preemptions.sum() == 0


def test_what_runs_at_the_beginning_may_share_cores(tmp_path):
    """The lower one stands still from before it, until the other is over."""
    machine = machine_of(tmp_path, CORES + GANG)
    ones = np.ones(2)
    jobs = {
        "submit": [0, 0], "tasks": [4, 2], "cpu": ones, "memory": ones, "runtime": [100.0, 50.0],
        "estimate": [300, 300], "partition": ["low", "high"], "running": [True, True],
        "ran": [60.0, 30.0], "held": ["0:4", "0:2"],
    }  # fmt: skip
    inst = cs.cluster.Instance(jobs, machine.cores, machine=machine)
    res = cs.slurm.backfill(inst, controller_start=-100.0, epoch=0)
    res.schedule.validate()
    assert res.jobs.end.tolist() == pytest.approx([150, 50], abs=2)
    assert res.jobs.preemptions.tolist() == [0, 0]
    plain = machine_of(tmp_path, CORES)
    inst = cs.cluster.Instance(jobs, plain.cores, machine=plain)
    with pytest.raises(cs.InvalidInstance, match="and others hold more"):
        cs.slurm.backfill(inst)


def test_who_was_cancelled_is_preempted_in_its_file(tmp_path):
    head = CORES + GANG.replace("SUSPEND,GANG", "CANCEL")
    rows = [*ROWS, (300, 8, 400, 60, "high")]
    res = solve(machine_of(tmp_path, head), rows)
    res.schedule.validate()
    data = res.schedule.to_dict()
    assert (data["killed"], data["preempted"]) == ([0, 3], [0])
    back = cs.cluster.Schedule.from_dict(res.instance, data)
    back.validate()
    assert back.to_dict() == data
    cs.cluster.Schedule.from_frame(res.instance, res.schedule.to_frame()).validate()
    with pytest.raises(cs.InvalidSchedule, match="ended at its limit"):
        cs.cluster.Schedule.from_dict(res.instance, data | {"preempted": []})


@pytest.mark.parametrize(
    ("head", "partitions", "low", "said"),
    [
        ("SelectType=select/linear\n" + GANG, HIGH, "", "ends what was suspended"),
        (CORES + GANG.replace(",GANG", ""), HIGH, "", "GANG beside it"),
        (CORES.replace("Core", "Memory") + GANG, HIGH, "", "cores alone"),
        (CORES.replace("Core", "CPU") + GANG, HIGH, "", "without a TaskPlugin"),
        (CORES + GANG, HIGH, "OverSubscribe=FORCE:1", "one OverSubscribe"),
        (CORES + GANG, HIGH, "OverSubscribe=YES", "one OverSubscribe"),
        (CORES + GANG, HIGH, "PreemptMode=REQUEUE", "whose PreemptMode"),
        (CORES + GANG, HIGH, "PriorityTier=9", "one tier"),
        (CORES + GANG, HIGH, "PriorityTier=9 PreemptMode=OFF", "one tier"),
    ],
)
def test_what_is_refused(tmp_path, head, partitions, low, said):
    machine = machine_of(tmp_path, head, partitions, low)
    with pytest.raises(cs.InvalidInstance, match=f"PreemptMode=.*{said}"):
        solve(machine, ROWS)
    res = solve(machine, ROWS, approximate=True)
    assert any("nobody is preempted" in note for note in res.instance.notes)


@pytest.mark.parametrize(
    ("head", "partitions", "low"),
    [
        (CORES + GANG, HIGH.replace("[1-2]", "2"), "PreemptMode=OFF"),
        (CORES.replace("Core", "CPU") + GANG + "TaskPlugin=task/affinity\n", HIGH, ""),
        (GANG, HIGH, "PriorityTier=2 PreemptMode=SUSPEND"),
        (CORES + GANG, HIGH + "PreemptMode=OFF", "PriorityTier=9 PreemptMode=OFF"),
        (CORES + GANG, "PartitionName=other Nodes=n2\n", "Nodes=n1"),
    ],
)
def test_what_is_followed(tmp_path, head, partitions, low):
    machine = machine_of(tmp_path, head, partitions, low)
    assert not machine.slurm.refused
