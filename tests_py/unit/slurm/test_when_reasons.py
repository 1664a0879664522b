"""The reason of each job that waits is its own, in Slurm's words."""

from __future__ import annotations

import json

import numpy as np
import pytest
from unit.slurm.test_when import CONFIG, JOBS, NODES, NOW, PARTITION, folder_of

import cosched as cs

RUNNING, WAITING = JOBS[0], {**JOBS[1], "start": 0, "nodes": 1, "limit": 3600}
MAINTENANCE = (
    "ReservationName=maint StartTime=2027-01-15T08:30:00 EndTime=2027-01-15T20:30:00 "
    "Duration=12:00:00\n   Nodes={nodes} NodeCnt=4 CoreCnt=16 Features=(null) PartitionName=main "
    "Flags={flags}\n   TRES=cpu=16\n   Users=root Accounts=(null) Licenses=(null) State=INACTIVE\n"
)


@pytest.fixture
def reasons(tmp_path):
    """Reason by job of a cluster whose jobs and texts are given; fields of squeue by job."""

    def answer(jobs, fields=None, **texts):
        folder = folder_of(tmp_path / "a", jobs=jobs, **texts)
        data = json.loads((folder / "squeue.json").read_text())
        for job in data["jobs"]:
            job.update((fields or {}).get(job["job_id"], {}))
        (folder / "squeue.json").write_text(json.dumps(data))
        return cs.slurm.when(folder, draws=2).set_index("job")

    return answer


def test_the_first_of_the_queue_waits_for_resources_and_others_for_priority(reasons):
    jobs = [RUNNING, {**WAITING, "nodes": 2}, {**WAITING, "id": 3}, {**WAITING, "id": 4}]
    reason = reasons(jobs).reason
    assert reason[2] == "Resources: it needs 2 nodes (1 idle)"
    assert reason[3] == "Priority: 1 job is before it; it needs 1 node (1 idle)"
    assert reason[4] == "Priority: 2 jobs are before it; it needs 1 node (1 idle)"


def test_jobs_that_cannot_start_are_not_before_others(reasons):
    jobs = [RUNNING, *({**WAITING, "id": job, "nodes": 2} for job in (2, 3, 4, 5))]
    fields = {
        2: {"state_reason": "JobHeldUser", "priority": 0},
        3: {"dependency": "afterany:1(unfulfilled)"},
        4: {"eligible_time": NOW + 7200},
    }
    reason = reasons(jobs, fields).reason
    assert reason[2] == "JobHeldUser: held by its user: never, unless it is released"
    assert reason[3] == "Dependency: it waits for job 1"
    assert reason[4] == "BeginTime: it may begin in 2 h 00 min"
    assert reason[5] == "Resources: it needs 2 nodes (1 idle)"


def test_licences_in_use_are_the_reason_of_who_needs_them(reasons):
    texts = {"scontrol_config.txt": CONFIG + "Licenses = solver:3,other:1\n"}
    jobs = [RUNNING, {**WAITING, "id": 2}, {**WAITING, "id": 3}, {**WAITING, "id": 4}]
    fields = {
        1: {"licenses": "solver:2"}, 2: {"licenses": "solver:2"}, 3: {"licenses": "solver"},
        4: {"licenses": "other"},
    }  # fmt: skip
    reason = reasons(jobs, fields, **texts).reason
    assert reason[2] == "Licenses: it needs 2 of solver (2 of 3 in use)"
    assert reason[3].startswith("Priority: ")
    assert reason[4].startswith("Priority: ")


def test_a_maintenance_that_a_job_would_run_into_is_named(reasons):
    """As operator/rv: twelve hours on all nodes, in half an hour."""
    jobs = [RUNNING, WAITING, {**WAITING, "id": 3, "limit": 600}, {**WAITING, "id": 4}]
    fields = {1: {"licenses": "sim"}, 4: {"licenses": "sim"}}
    texts = {
        "scontrol_reservation.txt": MAINTENANCE.format(nodes="n[1-4]", flags="MAINT,ALL_NODES"),
        "scontrol_config.txt": CONFIG + "Licenses = sim:1\n",
    }
    answer = reasons(jobs, fields, **texts)
    named = (
        "ReqNodeNotAvail, Reserved for maintenance: reservation maint has 4 nodes from "
        "2027-01-15 08:30:00 to 2027-01-15 20:30:00"
    )
    assert answer.reason[2] == named
    assert answer.reason[4] == f"Licenses: it needs 1 of sim (1 of 1 in use); {named}"
    assert answer.p05[2] >= 12.5 * 3600
    # Ten minutes end before the maintenance begins.
    assert answer.reason[3].startswith("Priority: ")
    assert answer.p95[3] < 1800


def test_a_reservation_of_a_few_nodes_is_no_reason_where_others_suffice(reasons):
    text = MAINTENANCE.format(nodes="n[3-4]", flags="SPEC_NODES").replace("maint", "course")
    jobs = [RUNNING, {**WAITING, "nodes": 3}, {**WAITING, "id": 3, "nodes": 2}]
    reason = reasons(jobs, **{"scontrol_reservation.txt": text}).reason
    message = "ReqNodeNotAvail, May be reserved for other job: reservation course has 2 nodes from"
    assert reason[2].startswith(message)
    assert reason[3].startswith("Priority: ")


def test_a_job_of_a_reservation_waits_for_it_and_starts_in_it(reasons):
    text = MAINTENANCE.format(nodes="n4", flags="SPEC_NODES").replace("maint", "course")
    jobs = [RUNNING, WAITING, {**WAITING, "id": 3}]
    answer = reasons(jobs, {2: {"resv_name": "course"}}, **{"scontrol_reservation.txt": text})
    assert answer.reason[2] == "Reservation: its reservation course begins in 30 min 00 s"
    assert 1800 <= answer.p05[2] <= answer.p95[2] <= 1900


def test_nodes_that_are_down_are_the_reason_where_the_others_are_too_few(reasons):
    nodes = NODES.replace("State=IDLE", "State=DOWN*")
    jobs = [RUNNING, {**WAITING, "nodes": 4}, {**WAITING, "id": 3}]
    reason = reasons(jobs, **{"scontrol_node.txt": nodes}).reason
    assert reason[2] == "ReqNodeNotAvail, UnavailableNodes:n4: it needs 4 nodes, 3 in service"
    assert reason[3].startswith("Priority: ")


def test_a_partition_that_is_down_or_a_limit_above_its_own_never_ends(reasons):
    shut = PARTITION.replace("State=UP", "State=DOWN")
    answer = reasons([RUNNING, WAITING], **{"scontrol_partition.txt": shut})
    assert answer.reason[2] == "PartitionDown: State of partition main lets no job start"
    assert np.isinf(answer.p05[2])
    short = PARTITION.replace("MaxTime=UNLIMITED", "MaxTime=00:30:00")
    state_fields = {2: {"state_reason": "PartitionTimeLimit"}}
    answer = reasons([RUNNING, WAITING], state_fields, **{"scontrol_partition.txt": short})
    assert answer.reason[2].startswith("PartitionTimeLimit: its limit of 1 h 00 min is above")
    assert np.isinf(answer.p05[2])


def test_tasks_of_an_array_wait_for_each_other(reasons):
    jobs = [RUNNING, WAITING]
    array = {"array_job_id": 1, "array_max_tasks": 1}
    reason = reasons(jobs, {1: array, 2: {**array, "array_task_string": "5"}}).reason
    assert reason[2] == "JobArrayTaskLimit: 1 of 1 tasks of array 1 run"


def test_what_slurm_says_of_limits_that_are_not_shown_is_repeated(reasons):
    reason = reasons([RUNNING, WAITING], {2: {"state_reason": "QOSMaxJobsPerUserLimit"}}).reason
    assert reason[2] == "QOSMaxJobsPerUserLimit: as Slurm said last"


def test_a_job_of_several_partitions_waits_in_those_that_could_run_it(reasons):
    small = PARTITION.replace("=main", "=small").replace("Default=YES", "Default=NO")
    texts = {"scontrol_partition.txt": PARTITION + small.replace("n[1-4]", "n4")}
    jobs = [RUNNING, {**WAITING, "nodes": 2}, {**WAITING, "id": 3, "nodes": 9}]
    fields = {2: {"partition": "small,main"}, 3: {"partition": "small,main"}}
    answer = reasons(jobs, fields, **texts)
    assert np.isfinite(answer.p95[2])
    assert answer.reason[2].startswith("Resources: it needs 2 nodes")
    assert np.isinf(answer.p05[3])
    assert answer.reason[3] == "BadConstraints: no node has what it asks for"


def test_a_job_that_no_node_can_hold_waits_for_ever_and_is_not_before_others(reasons):
    jobs = [RUNNING, *({**WAITING, "id": job, "nodes": 2} for job in (2, 3, 4, 5))]
    fields = {
        2: {"features": "no_such_feature"},
        3: {"tres_per_node": "gres:gpu:4"},
        4: {"memory_per_node": {"set": True, "infinite": False, "number": 900_000}},
    }
    answer = reasons(jobs, fields)
    assert answer.reason[2].startswith("BadConstraints: Invalid feature specification: ")
    assert answer.reason[3].startswith(
        "BadConstraints: Requested node configuration is not available: 4 GPUs of each node"
    )
    assert answer.reason[4].startswith(
        "BadConstraints: Requested node configuration is not available: 900000 MB of each node"
    )
    assert answer.reason[5] == "Resources: it needs 2 nodes (1 idle)"
    assert np.isinf(answer.loc[[2, 3, 4], ["p05", "p95", "limit_based_start"]]).all(axis=None)
    assert np.isfinite(answer.p95[5])
