"""Tasks that the limit of their array keeps: they age with their array, whatever sacct shows.

A real Slurm 22.05.8 did so (notebooks/cluster, job 70): a task that became eligible 43 minutes
after its array started before jobs that were submitted in the meantime.
"""

import pytest

import cosched as cs

PRIORITIES = {
    "basic": "PriorityType=priority/basic",
    "ages": "PriorityType=priority/multifactor\nPriorityWeightAge=100000\nPriorityMaxAge=1-0\n"
    "AccountingStorageType=accounting_storage/slurmdbd",
    "ages without a slurmdbd": "PriorityType=priority/multifactor\nPriorityWeightAge=100000",
}
CONF = """\
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=bf_interval=30
NodeName=n1 CPUs=1
PartitionName=main Nodes=ALL Default=YES
"""
HEADER = (
    "JobID|User|Partition|State|Submit|Eligible|Start|End|Elapsed|Timelimit|NNodes|NCPUS|SubmitLine"
)


def clock(second):
    return f"2026-03-01T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"


def log_row(job, submit, eligible, start, options="", runtime=600):
    times = "|".join(map(clock, (submit, eligible, start, start + runtime)))
    return f"{job}|ada|main|COMPLETED|{times}|00:10:00|00:20:00|1|1|sbatch {options} x.sh"


def simulated_starts(folder, rows, priority="ages"):
    (folder / "slurm.conf").write_text(f"{CONF}{PRIORITIES[priority]}\n")
    (folder / "sacct.txt").write_text("\n".join([HEADER, *rows]) + "\n")
    machine = cs.cluster.Machine.read(folder / "slurm.conf")
    log = cs.cluster.from_sacct(folder / "sacct.txt", machine)
    schedule = cs.cluster.solve(log, "slurm-backfill", seed=0).schedule.to_frame()
    starts = schedule.set_index("task")["start"]
    return {str(job): float(starts[row]) for row, job in enumerate(log.jobs["id"])}


@pytest.mark.parametrize("priority", PRIORITIES)
@pytest.mark.parametrize("other_submit", [60, 590])
def test_a_task_that_its_array_kept_goes_before_a_job_that_is_younger_than_the_array(
    tmp_path, other_submit, priority
):
    starts = simulated_starts(tmp_path, [
        log_row("7_1", 0, 0, 0),
        log_row("7_2", 0, 600, 600),
        log_row("9", other_submit, other_submit, 1200),
    ], priority)  # fmt: skip
    assert starts["7_2"] < starts["9"]
    assert starts["7_2"] == pytest.approx(600, abs=40)


def test_a_job_that_is_older_than_the_array_goes_first(tmp_path):
    starts = simulated_starts(tmp_path, [
        log_row("5", 0, 0, 0),
        log_row("6", 10, 10, 600),
        log_row("7_1", 20, 20, 1200),
        log_row("7_2", 20, 1800, 1800),
    ])  # fmt: skip
    assert starts["6"] < starts["7_1"] < starts["7_2"]


def test_a_job_that_waited_for_another_one_has_no_age_from_before(tmp_path):
    starts = simulated_starts(tmp_path, [
        log_row("7", 0, 0, 0),
        log_row("8", 0, 600, 1200),  # --dependency=afterany:7
        log_row("9", 60, 60, 600),
    ])  # fmt: skip
    assert starts["9"] < starts["8"]


def test_the_run_of_a_requeued_task_has_a_new_age(tmp_path):
    starts = simulated_starts(tmp_path, [
        log_row("6", 0, 0, 0),
        log_row("7_1", 5, 5, 600),
        log_row("9", 1100, 1100, 1200),
        log_row("7_2", 1150, 1180, 1800),  # submitted anew: its array's age does not count
    ])  # fmt: skip
    assert starts["9"] < starts["7_2"]


def test_a_task_behind_the_same_task_of_another_array_has_no_age_from_before(tmp_path):
    behind = "--array=1-2 --dependency=aftercorr:6"
    starts = simulated_starts(tmp_path, [
        log_row("6_1", 0, 0, 0),
        log_row("6_2", 0, 0, 600),
        log_row("7_1", 10, 600, 1800, behind),
        log_row("7_2", 10, 1200, 2400, behind),
        log_row("9", 900, 900, 1200),
    ])  # fmt: skip
    assert starts["9"] < starts["7_2"]
