"""The whole chain on a real Slurm: load, `snapshot`, `when`, and the true starts afterwards."""

from __future__ import annotations

import csv
import json
import time

import pytest

import cosched as cs
from cosched.cli import main
from slurm_cluster import Cluster


@pytest.fixture
def cluster(tmp_path, monkeypatch):
    found = Cluster(tmp_path / "cluster", nodes=3, cpus=2)
    for name, value in found.environment.items():
        monkeypatch.setenv(name, value)
    yield found
    found.stop()


def submitted(cluster, folder, nodes, seconds):
    script = folder / f"job{nodes}_{seconds}.sh"
    script.write_text(f"#!/bin/sh\nsleep {seconds}\n")
    options = (f"--nodes={nodes}", "--exclusive", "--time=2")
    return cluster.submit(script, *options)


def start_of(cluster, job):
    text = cluster.run("scontrol", "--oneliner", "show", "job", job)
    found = dict(part.split("=", 1) for part in text.split() if "=" in part)
    local = time.strptime(found["StartTime"], "%Y-%m-%dT%H:%M:%S")
    return time.mktime(local)


def test_a_real_cluster_is_asked_and_does_as_it_was_said(cluster, tmp_path, capsys):
    runs = {3: 6, 2: 5, 1: 4}
    first, second, third = (submitted(cluster, tmp_path, n, s) for n, s in runs.items())
    cluster.until(lambda: cluster.state(first)[0] == "RUNNING", "the first runs")
    out = tmp_path / "now.json"
    assert main(["snapshot", "-o", str(out)]) == 0
    known = cs.slurm.Snapshot.read(out)
    assert [str(job["id"]) for job in known.running] == [first]
    assert known.machine.node_count == 3
    assert len(known.running[0]["holds"]) == 3
    assert {str(job["id"]) for job in known.pending} == {second, third}
    truth = tmp_path / "truth.csv"
    with truth.open("w") as file:
        rows = zip((first, second, third), runs.values(), strict=True)
        csv.writer(file).writerows([("job", "seconds"), *rows])
    capsys.readouterr()
    assert main(["when", str(out), "--run-times", str(truth), "--json", "--draws", "20"]) == 0
    answer = {str(row["job"]): row for row in json.loads(capsys.readouterr().out)["jobs"]}
    # Of a number that is no file, the Slurm here is asked.
    assert main(["when", second, "--json", "--draws", "20"]) == 0
    assert [row["job"] for row in json.loads(capsys.readouterr().out)["jobs"]] == [int(second)]
    for job in (second, third):
        cluster.until(lambda j=job: cluster.state(j)[0] in ("RUNNING", "COMPLETED"), f"job {job}")
        true = start_of(cluster, job) - known.time
        assert answer[job]["p05"] - 8 <= true <= answer[job]["p95"] + 8
        assert answer[job]["limit_based_start"] >= answer[job]["p50"]
