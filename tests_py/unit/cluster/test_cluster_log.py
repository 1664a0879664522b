"""A log's own names, what is assumed of its machine, what is left out."""

import pickle

import numpy as np
import pandas as pd
import pytest
from note_facts import counts, has_note

import cosched as cs
from cosched import NoteKind
from cosched.cli import main
from support import data

#: job, submit, wait, run, procs, requested time, status, user
ROWS = (
    (4711, 0, 5, 60, 4, 120, 1, 3),
    (4712, 10, 0, 0, 2, 120, 5, 4),
    (4720, 20, 90, 30, 8, -1, 0, 3),
)


def swf(path, rows=ROWS, header="; MaxProcs: 8\n; MaxNodes: 4\n; MaxMemory: 2097152\n"):
    lines = [f"{j} {s} {w} {r} {p} -1 -1 {p} {e} -1 {st} {u} 7 1 1 1 -1 -1" for
             j, s, w, r, p, e, st, u in rows]  # fmt: skip
    path.write_text(header + "".join(line + "\n" for line in lines))
    return path


def test_jobs_keep_the_names_of_their_log(tmp_path):
    inst = cs.cluster.from_swf(swf(tmp_path / "l.swf"), convention="rigid")
    jobs = inst.jobs
    assert jobs.id.tolist() == [4711, 4712, 4720]
    assert jobs.user.tolist() == [3, 4, 3]
    assert jobs.status.tolist() == ["completed", "cancelled", "failed"]
    assert jobs.line.tolist() == [4, 5, 6]
    assert jobs.wait.tolist() == [5, 0, 90]
    assert pickle.loads(pickle.dumps(inst)) == inst
    res = cs.cluster.solve(inst, "EASY", log=True)
    assert res.jobs.id.tolist() == jobs.id.tolist()
    assert res.schedule.to_frame().id.tolist() == [4711, 4712, 4720]
    assert cs.cluster.jobs_table(res).job_id.tolist() == [4711, 4712, 4720]
    assert [row["id"] for row in res.to_dict()["placements"]] == [4711, 4712, 4720]
    assert set(res.log.id) == {4711, 4712, 4720}
    for suffix in ("json", "csv"):
        inst.write(tmp_path / f"jobs.{suffix}")
        reread_instance = cs.cluster.Instance.read(tmp_path / f"jobs.{suffix}", 8)
        assert reread_instance == inst
        assert reread_instance.jobs.wait.tolist() == [5, 0, 90]
        assert reread_instance.jobs.status.tolist() == jobs.status.tolist()


def test_reasons_name_jobs_as_the_log_does():
    jobs = {"submit": [0, 1, 2], "tasks": [1, 2, 1], "cpu": [1] * 3, "memory": [1] * 3,
            "runtime": [9.0, 9.0, 9.0], "id": ["a_1", "a_2", "b"]}  # fmt: skip
    res = cs.cluster.solve(cs.cluster.Instance(jobs, 2), "FCFS", log=True)
    assert "a_2 is before it in the queue" in " ".join(res.log.reason)
    frame = res.schedule.to_frame().assign(start=lambda t: t.start + [0, 5, 0])
    with pytest.raises(cs.InvalidSchedule, match="job a_2 "):
        cs.cluster.Schedule.from_frame(res.instance, frame).validate()


def test_a_job_that_is_too_wide_is_named_and_can_be_dropped(tmp_path, capsys):
    path = swf(tmp_path / "l.swf")
    with pytest.raises(cs.InfeasibleError) as refused:
        cs.cluster.solve(cs.cluster.from_swf(path, 6, "rigid"), "FCFS")
    assert str(refused.value) == (
        "l.swf: job 4720 (line 6): needs 8 nodes, the machine has 6; drop it with --drop too-wide"
    )
    inst = cs.cluster.from_swf(path, 6, "rigid", drop="too-wide,cancelled")
    assert inst.jobs.id.tolist() == [4711]
    assert counts(inst.notes, NoteKind.DROPPED)["drop"] == 2
    command = ["compare", "cluster", str(path), "--nodes", "6", "--convention", "rigid"]
    assert main([*command, "--policies", "EASY", "--drop", "too-wide"]) == 0
    output = capsys.readouterr().out
    assert "assumed: left out: 1 too-wide" in output
    assert "6 processors (option)" in output
    assert "status completed 1, cancelled 1" in output
    with pytest.raises(cs.InvalidInstance, match=r"drop = 'wide': expected some of too-wide"):
        cs.cluster.from_swf(path, 6, "rigid", drop=["wide"])
    with pytest.raises(cs.InvalidInstance, match="no job is left"):
        cs.cluster.from_swf(path, 1, "rigid", drop="too-wide")


def test_the_machine_is_never_guessed(tmp_path):
    path = swf(tmp_path / "l.swf")
    inst = cs.cluster.from_swf(path)
    assert inst.nodes == 4  # MaxNodes; 2 cores
    assert inst.column("tasks").tolist() == [2, 1, 4]
    single = cs.cluster.from_swf(path, 8)  # MaxProcs / nodes = 1 core
    assert single.column("tasks").tolist() == [4, 2, 8]
    assert (single.column("cpu") == 1).all()
    quad = cs.cluster.from_swf(path, 2, cores_per_node=4, memory_per_node="4GB")
    assert quad.column("tasks").tolist() == [1, 2, 2]
    assert quad.column("cpu").tolist() == [1, 0.25, 1]
    assert any("4 cores a node (option), 4 GB a node (option)" in note for note in quad.notes)
    with pytest.raises(cs.InvalidInstance, match="MaxProcs 8 is no multiple of 3 nodes"):
        cs.cluster.from_swf(path, 3)
    bare = swf(tmp_path / "b.swf", header="; MaxProcs: 8\n")
    with pytest.raises(cs.InvalidInstance, match="nodes are missing"):
        cs.cluster.from_swf(bare)
    with pytest.raises(cs.InvalidInstance, match="--memory-per-node"):
        cs.cluster.from_swf(bare, 4)
    with pytest.raises(cs.InvalidInstance, match="--cores-per-node"):
        cs.cluster.from_swf(swf(tmp_path / "c.swf", header=""), 4, memory_per_node=1000)
    for wrong in ("2 potatoes", "0GB", -1, np.nan):
        with pytest.raises(cs.InvalidInstance, match="memory_per_node"):
            cs.cluster.from_swf(path, 4, memory_per_node=wrong)


def test_a_warm_start(tmp_path):
    rows = [(1, 0, 0, 100, 4, 150, 1, 1), (2, 10, 90, 50, 6, 60, 1, 1), (3, 60, 0, 20, 2, 20, 1, 1),
            (4, 500, 0, 20, 2, 20, 1, 1)]  # fmt: skip
    path = swf(tmp_path / "l.swf", rows)
    inst = cs.cluster.from_swf(path, convention="rigid", begin=50, until=400)
    jobs = inst.jobs
    assert jobs.id.tolist() == [1, 2, 3]  # running, waiting, later
    assert jobs.submit.tolist() == [0, 0, 10]
    assert jobs.runtime.tolist() == [50, 50, 20]
    assert jobs.estimate.tolist() == [100, 60, 20]
    assert jobs.wait.tolist() == [0, 50, 0]
    assert cs.cluster.solve(inst, "FCFS").jobs.start.tolist() == [0, 50, 50]
    assert has_note(inst.notes, NoteKind.KEPT, "part of the log")
    with pytest.raises(cs.InvalidInstance, match="expected from < until"):
        cs.cluster.from_swf(path, convention="rigid", begin=50, until=50)


@pytest.mark.data
def test_hpc2n_is_the_machine_of_the_paper():
    path = data("pwa", "HPC2N-2002-2.1-cln.swf.gz")
    inst = cs.cluster.from_swf(path, 120, week=5)
    table = cs.workloads.hpc2n_weeks(path)[5]
    for column in ("submit", "tasks", "cpu", "memory", "runtime"):
        assert np.array_equal(inst.column(column), table[column])
    assert cs.cluster.from_swf(path, week=5) == inst
    assert pd.Index(inst.ids).is_unique


@pytest.mark.data
def test_memory_of_archive_logs_has_a_source_or_is_asked_for():
    atlas = cs.cluster.from_swf(
        data("pwa", "LLNL-Atlas-2006-2.1-cln.swf.gz"), until=4e6, drop="too-wide"
    )
    assert atlas.nodes == 1152
    assert any("16 GB a node (known machine: https://" in note for note in atlas.notes)
    for name in ("CTC-SP2-1996-3.1-cln", "NASA-iPSC-1993-3.1-cln"):
        path = data("pwa", f"{name}.swf.gz")
        with pytest.raises(cs.InvalidInstance, match="memory_per_node \\(--memory-per-node"):
            cs.cluster.from_swf(path, until=7e5)
        assert len(cs.cluster.from_swf(path, until=7e5, memory_per_node="8MB")) > 100
