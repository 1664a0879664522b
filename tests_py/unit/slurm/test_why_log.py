"""The why-log tells jobs that wait for a reservation from those that wait for resources."""

import numpy as np
import pytest

import cosched as cs
from cosched.cluster.analysis.what_if import what_if

CONF = """SelectType=select/linear
NodeName=n[1-4] CPUs=1
PartitionName=main Nodes=ALL Default=YES MaxTime=1-0
"""
RESERVED = "ReqNodeNotAvail, May be reserved for other job: a reservation has nodes that it needs"
MAINTENANCE = "Reservation: its own has not begun, or one has all nodes of its partition"
RESOURCES = "Resources: the first of its partition, too few idle nodes"


def instance(folder, widths, limit=7200.0):
    (folder / "slurm.conf").write_text(CONF)
    machine = cs.cluster.Machine.read(folder / "slurm.conf", slurm_version="22.05")
    count = len(widths)
    columns = {
        "submit": np.arange(count) + 10.0, "tasks": widths, "cpu": [1.0] * count,
        "memory": [1.0] * count, "runtime": [600.0] * count, "estimate": [limit] * count,
    }  # fmt: skip
    return cs.cluster.Instance(columns, nodes=4, machine=machine)


def reasons_of(log, job):
    return set(log.reason[(log.job == job) & (log.action == "wait")])


@pytest.mark.parametrize(
    ("reservation", "widths", "reasons"),
    [
        ("3600/2h/n[1-2]", [3], {RESERVED}),  # it would run into the reservation
        ("3600/2h/ALL", [3], {MAINTENANCE}),
        ("3600/2h/n[1-2]", [2], set()),
        ("90000/2h/n[1-2]", [3, 3], {RESOURCES}),  # too late for these jobs
    ],
)
def test_a_job_that_waits_for_a_reservation_says_so(tmp_path, reservation, widths, reasons):
    changed, _ = what_if(instance(tmp_path, widths), f"reservation={reservation}")
    log = cs.cluster.solve(changed, "slurm-backfill", log=True).log
    assert reasons_of(log, len(widths) - 1) == reasons


@pytest.mark.parametrize("seed", range(3))
def test_the_log_changes_no_start(tmp_path, seed):
    widths = np.random.default_rng(seed).integers(1, 5, 40)
    changed, _ = what_if(instance(tmp_path, widths), "reservation=3600/2h/n[1-2]")
    starts = [
        cs.cluster.solve(changed, "slurm-backfill", log=log).jobs.start.tolist()
        for log in (False, True)
    ]
    assert starts[0] == starts[1]
