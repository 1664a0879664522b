"""Factors and priorities beside recorded jobs that shared nodes."""

import numpy as np

import cosched as cs
from cosched.slurm.recordings.agreement import read_recording, retraced
from cosched.slurm.recordings.recorded_runs import node_shares, shares_of


def association(account, user="", parent=""):
    return {"Cluster": "mini", "Account": account, "User": user, "Share": "1", "ParentName": parent}


def a_recording(path, alloc):
    """Two users, one node of four cores: three of one, one of the other, and who waits for them."""
    jobs = [
        {
            "submit": 0,
            "cores": 3,
            "limit": 600,
            "runtime": 300,
            "user": "ann",
            "account": "a",
            "qos": "normal",
        },
        {
            "submit": 0,
            "cores": 1,
            "limit": 600,
            "runtime": 300,
            "user": "bob",
            "account": "a",
            "qos": "normal",
        },
        {
            "submit": 10,
            "cores": 4,
            "limit": 600,
            "runtime": 100,
            "user": "ann",
            "account": "a",
            "qos": "normal",
        },
        {
            "submit": 10,
            "cores": 4,
            "limit": 600,
            "runtime": 100,
            "user": "bob",
            "account": "a",
            "qos": "normal",
        },
    ]
    jobs = [{**job, "account": "a", "qos": "normal"} for job in jobs]
    times = ((0, 300), (0, 300), (402, 502), (301, 401))
    run = [
        {"submit": job["submit"], "start": start, "end": end, "state": "COMPLETED",
         "nodelist": "n1", **({"alloc": {"n1": share}} if share else {})}
        for job, (start, end), share in zip(jobs, times, alloc, strict=True)
    ]  # fmt: skip
    cs.io.write_json(
        {
            "config": {
                "SelectType": "select/cons_tres", "SelectTypeParameters": "CR_Core", "speed": 1,
                "PriorityType": "priority/multifactor", "PriorityWeightFairshare": 1000,
                "PriorityCalcPeriod": 1, "PriorityDecayHalfLife": "1-0",
                "NodeNames": ["NodeName=n1 CPUs=4"], "Partitions": ["PartitionName=p Nodes=ALL"],
            },
            "nodes": 1, "slurm": "22.05.8", "jobs": jobs, "runs": [run],
            "associations": [
                association("root"), association("root", "root"), association("a", "", "root"),
                association("a", "ann"), association("a", "bob"),
            ],
            "qos": [{"Name": "normal", "Priority": "0"}],
            "phases": [{"epoch": 1000, "controller_start": -20.0, "decay_thread_start": -15.0}],
        },
        path,
    )  # fmt: skip
    return read_recording(path)


def test_users_are_charged_for_the_cores_that_they_had(tmp_path):
    for first, second in (({"cpus": "0-2"}, {"cpus": "3"}), ({}, {})):  # told, and by their tasks
        recording = a_recording(tmp_path / "shared.json", [first, second, {}, {}])
        (sample,) = retraced(recording, recording.runs[0], [200.0])
        factors, priorities = sample.factors, sample.priorities
        ann, bob = factors[3], factors[4]
        assert ann < bob  # three times the usage for the same share
        assert np.isnan(priorities[:2]).all()  # they run
        assert [int(priority) for priority in priorities[2:]] == [int(1000 * ann), int(1000 * bob)]
    recording = a_recording(tmp_path / "other.json", [{"cpus": "0"}, {"cpus": "1-3"}, {}, {}])
    (sample,) = retraced(recording, recording.runs[0], [200.0])
    assert sample.factors[3] > sample.factors[4]


def test_what_jobs_had_of_nodes():
    machine = cs.cluster.Machine((cs.cluster.NodeType("n", 3, 8, 16.0, 4, gpu_type="a100"),), ())
    node_cells = shares_of({
        "n[1,3]": {"cpus": "0-1,4", "mem": 500, "gres": "gpu:a100:2(IDX:0-1)"},
        "n2": {"cpus": "7", "gres": "gpu:1"}, "*": {"cpus": "", "gres": "gpu:a100:5"},
    })  # fmt: skip
    names = ["n1", "n2", "n3"]
    assert node_shares(machine, node_cells, names, 7, names) == (
        [(0, 3, 500), (1, 1, 0), (2, 3, 500)], [(0, 0, 2), (1, 0, 1), (2, 0, 2)],
    )  # fmt: skip
    assert node_shares(machine, {}, ["n1", "n3"], 11, names) == ([(0, 8, 0), (2, 3, 0)], [])
    assert node_shares(machine, {}, ["n1", "n3"], 2, names) == ([(0, 1, 0), (2, 1, 0)], [])
