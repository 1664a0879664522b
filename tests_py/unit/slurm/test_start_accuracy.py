"""Measures of predicted starts, and the simulated snapshots that they are measured on."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from simulated_snapshots import EPOCH, SimulatedHistory
from snapshot_fields import compare_snapshots

import cosched as cs
from cosched.slurm.live.start_accuracy import (
    WAIT_CLASSES,
    accuracy_table,
    plan_table,
    start_accuracy,
)

#: True waits of one job per class but the last, with errors of 10, 60, 600, 601 and 9,000 s.
TRUE = [60.0, 600.0, 3_600.0, 14_400.0, 86_400.0]
MEDIANS = [50.0, 660.0, 3_000.0, 15_001.0, 77_400.0]


def predictions(**columns):
    """Predictions whose 50% intervals reach 60 s to both sides of the median, 90% ones 900 s."""
    medians = np.array(columns.get("p50", MEDIANS))
    return {
        "true": TRUE, "p05": medians - 900, "p25": medians - 60, "p50": medians,
        "p75": medians + 60, "p95": medians + 900, "plan": [np.nan] * len(medians), **columns,
    }  # fmt: skip


def test_classes_end_with_their_limits():
    accuracies = start_accuracy(predictions())
    names = [name for _, name in WAIT_CLASSES[:5]]
    assert [accuracy.wait_class for accuracy in accuracies] == [*names, "all"]
    assert [accuracy.predicted.jobs for accuracy in accuracies] == [1, 1, 1, 1, 1, 5]
    *_, last, _ = start_accuracy(predictions(true=[60.0, 600.0, 3_600.0, 14_400.0, 86_401.0]))
    assert last.wait_class == "above 24 h"


def test_shares_and_errors_of_all():
    predicted = start_accuracy(predictions())[-1].predicted
    # An error of exactly 1 or 10 minutes is within them.
    assert (predicted.within_1_minute, predicted.within_10_minutes) == (2 / 5, 3 / 5)
    assert predicted.mean_error == pytest.approx((10 + 60 + 600 + 601 + 9_000) / 5)
    assert predicted.median_error == 600


def test_coverage_counts_whole_seconds():
    both = start_accuracy(predictions())[-1]
    assert (both.coverage50, both.coverage90) == (2 / 5, 4 / 5)
    (one, _) = start_accuracy(predictions(true=[111.0], p50=[50.0]))
    assert one.coverage50 == 1.0  # a second after the end of the interval
    (one, _) = start_accuracy(predictions(true=[111.5], p50=[50.0]))
    assert one.coverage50 == 0.0


def test_a_plan_is_compared_on_its_own_jobs():
    nan = math.nan
    all_waits = start_accuracy(predictions(plan=[nan, nan, nan, 26_401.0, 110_400.0]))[-1]
    assert all_waits.plan.jobs == all_waits.predicted_with_plan.jobs == 2
    assert all_waits.plan.median_error == (12_001 + 24_000) / 2
    assert all_waits.predicted_with_plan.median_error == (601 + 9_000) / 2
    assert all_waits.improvement == pytest.approx(18_000.5 / 4_800.5)
    first = start_accuracy(predictions(plan=[nan, nan, nan, 26_401.0, 110_400.0]))[0]
    assert first.plan is first.predicted_with_plan is None
    assert math.isnan(first.improvement)


def test_a_plan_in_the_past_is_one_of_now():
    accuracy = start_accuracy(predictions(true=[60.0], p50=[50.0], plan=[-5_000.0]))[-1]
    assert accuracy.plan.mean_error == 60


def test_jobs_that_should_never_start_are_counted():
    accuracy = start_accuracy(predictions(p50=[50.0, math.inf, 3_000.0, math.inf, math.inf]))[-1]
    assert accuracy.predicted.never == 3
    assert accuracy.predicted.mean_error == (10 + 600) / 2  # of the two that have an error
    assert math.isinf(accuracy.predicted.median_error)
    record = json.loads(json.dumps(accuracy.to_dict(), allow_nan=False))
    assert record["predicted"]["median_error"] is record["improvement"] is None


def test_tables_have_a_row_per_class():
    plan = [math.nan, math.nan, math.nan, math.nan, 110_400.0]
    accuracies = start_accuracy(predictions(plan=plan))
    assert accuracy_table(accuracies)["wait"].tolist()[-1] == "all"
    assert len(accuracy_table(accuracies)) == 6
    assert plan_table(accuracies)["wait"].tolist() == ["4 to 24 h", "all"]
    assert plan_table(accuracies)["improvement"].tolist() == ["2.7", "2.7"]  # 24,000 s and 9,000 s


CONF = (
    "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core_Memory\n"
    "NodeName=n[1-4] CPUs=4 RealMemory=8000\n"
    "PartitionName=a Nodes=ALL Default=YES MaxTime=1-0 PriorityJobFactor=10\n"
    "PriorityType=priority/multifactor\nPriorityWeightFairshare=1000\nPriorityWeightAge=100\n"
    "PriorityWeightPartition=5000\nPriorityWeightJobSize=2000\n"
    "AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageEnforce=limits\n"
    "SchedulerParameters=bf_interval=30\n"
)
#: With shares so unequal that users never change their order.
ACCOUNTS = (
    "Account|User|Share|MaxJobs\nroot||1|\nbio||1|\nchem||9|\nbio|ann|9|\nbio|bob|1|\nchem|eve|1|\n"
)
JOBS = 120
#: Second of the history at which snapshots are compared.
MOMENT = 9_000.0


def history(folder, change=None):
    """A simulated history of three users; `change`: changes its run times."""
    (folder / "slurm.conf").write_text(CONF)
    (folder / "accounts.txt").write_text(ACCOUNTS)
    machine = cs.cluster.Machine.read(
        folder / "slurm.conf", slurm_version="22.05", accounts=folder / "accounts.txt"
    )
    rng = np.random.default_rng(3)
    user = rng.choice(["ann", "bob", "eve"], JOBS)
    limit = 600.0 * rng.integers(1, 13, JOBS)
    runtime = np.ceil(limit * rng.beta(1, 2, JOBS))
    columns = {
        "submit": np.floor(np.sort(rng.uniform(0, 20_000, JOBS))),
        "tasks": rng.choice([1, 2, 4, 8], JOBS), "estimate": limit,
        "runtime": runtime if change is None else change(runtime.copy()),
        "cpu": np.ones(JOBS), "memory": np.full(JOBS, 0.01),
        "memory_gb": rng.choice([0.5, 1.0, 3.0], JOBS), "nodes": np.zeros(JOBS, dtype=int),
        "gpus": np.zeros(JOBS, dtype=int), "user": user, "partition": np.full(JOBS, "a"),
        "account": np.where(user == "eve", "chem", "bio"), "qos": np.full(JOBS, ""),
        "constraint": np.full(JOBS, ""), "exclusive": np.full(JOBS, ""),
        "memory_per": np.full(JOBS, ""), "gpus_per": np.full(JOBS, ""),
    }  # fmt: skip
    instance = cs.cluster.Instance(columns, nodes=machine.cores, machine=machine)
    return SimulatedHistory(instance, machine)


@pytest.fixture(scope="module")
def simulated(tmp_path_factory):
    return history(tmp_path_factory.mktemp("history"))


def test_a_snapshot_shows_what_is_known_at_its_moment(simulated):
    (snapshot,) = simulated.snapshots([MOMENT])
    assert len(snapshot.pending) > 3
    assert len(snapshot.running) > 2
    assert len(snapshot.history) > 20
    assert max(job.submit for job in snapshot.jobs) <= snapshot.time
    assert max(job.start for job in snapshot.running) <= snapshot.time
    assert max(job.end for job in snapshot.history) <= snapshot.time
    assert min(simulated.true_starts(snapshot).values()) > 0
    assert any(job.start and job.start >= snapshot.time for job in snapshot.pending)  # planned


def test_no_snapshot_knows_what_comes_later(simulated, tmp_path):
    """Other run times of all jobs that have not ended leave the snapshot as it is."""
    unfinished = simulated.end > MOMENT

    def longer(runtime):
        runtime[unfinished] += 300
        return runtime

    other_future = history(tmp_path, longer)
    assert not np.array_equal(other_future.start, simulated.start)
    (snapshot,), (other_snapshot,) = (one.snapshots([MOMENT]) for one in (simulated, other_future))
    comparison = compare_snapshots(snapshot, other_snapshot)
    assert comparison.count > 1_000
    assert comparison.differences == {}


def test_from_a_snapshot_the_history_goes_on_as_it_did(simulated):
    """With the true run times and submissions: priorities, usage and nodes are those of then.

    Ties that the simulator breaks otherwise may put a few jobs elsewhere.
    """
    errors: list[float] = []
    for moment in (6_000.0, MOMENT, 12_000.0):
        (snapshot,) = simulated.snapshots([moment])
        answer = cs.slurm.when(
            snapshot,
            draws=3,
            run_times=simulated.run_times(),
            arrivals=simulated.later_submissions(snapshot),
        )
        true_starts = simulated.true_starts(snapshot)
        errors += [abs(row["p50"] - true_starts[row["job"]]) for row in answer.to_dict("records")]
    assert len(errors) > 30
    assert np.mean(np.array(errors) <= 60) >= 0.85


def test_priorities_are_those_of_sprio(simulated):
    """Their parts that change are in them, and the rest is that of partition and size."""
    (snapshot,) = simulated.snapshots([MOMENT])
    machine = snapshot.machine
    for job in snapshot.pending:
        parts = snapshot.priorities[job.id]
        size = (1 / machine.node_count + job.cpus / machine.cores) / 2  # -N 1 is the default
        rest = parts["PRIORITY"] - parts["AGE"] - parts["FAIRSHARE"]
        assert rest == pytest.approx(5_000 + 2_000 * size, abs=2)
    assert snapshot.time == EPOCH + MOMENT
