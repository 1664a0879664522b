"""Jobs ended at their limit: files, logs and checks say so. Warm starts keep their jobs."""

import json

import pytest

import cosched as cs
from cosched.cli import main

SWF = """; MaxProcs: 8
1 0 0 1000 8 -1 -1 8 1200 -1 1 1 1 1 1 1 -1 -1
2 50 950 30 4 -1 -1 4 60 -1 1 2 1 1 1 1 -1 -1
3 60 940 20 4 -1 -1 4 20 -1 1 2 1 1 1 1 -1 -1
4 200 830 20 4 -1 -1 4 10 -1 1 2 1 1 1 1 -1 -1
"""


@pytest.fixture
def log(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "w.swf").write_text(SWF)
    return tmp_path / "w.swf"


@pytest.mark.parametrize("name", ["FCFS", "EASY", "conservative"])
def test_outputs_name_the_job_that_was_ended(log, name):
    inst = cs.cluster.from_swf(log, convention="rigid")
    result = cs.cluster.solve(inst, name, kill=True, log=True)
    assert result.metrics()["killed"] == 1  # job 3 needs its limit to the second
    table = cs.cluster.jobs_table(result)
    assert table.success.tolist() == [1, 1, 1, 0]
    assert table.final_state.tolist()[2:] == [
        "COMPLETED_SUCCESSFULLY",
        "COMPLETED_WALLTIME_REACHED",
    ]
    last = result.log[result.log.action == "finish"].groupby("id").reason.last()
    assert last.to_dict() == {
        **dict.fromkeys((1, 2, 3), "its work is done"),
        4: "ended at its limit",
    }


def test_the_bound_of_a_run_that_ended_jobs_is_its_own_and_waits_until_it_is_asked_for(log):
    inst = cs.cluster.from_swf(log, convention="rigid")
    result = cs.cluster.solve(inst, "FCFS", kill=True)
    assert result.instance.cached("bound") is None
    own_bound, full_bound = cs.cluster.bound(result.instance), cs.cluster.bound(inst)
    assert own_bound != full_bound
    assert result.bound == own_bound
    options = {"FCFS": {"kill": True}}
    frame = cs.cluster.compare(inst, ["FCFS", "EASY"], options=options).set_index("algorithm")
    assert frame.bound.to_dict() == {"FCFS": own_bound.value, "EASY": full_bound.value}


@pytest.mark.parametrize("name", ["EASY", "slurm-backfill"])
@pytest.mark.parametrize("suffix", ["json", "csv"])
def test_a_schedule_with_ended_jobs_is_valid_when_read_again(log, name, suffix, capsys):
    kill = ["--option", "kill=true"] if name == "EASY" else []
    where = ["cluster", "w.swf", "--convention", "rigid"]
    assert main(["solve", *where, "--algorithm", name, *kill, "-o", f"x.{suffix}"]) == 0
    capsys.readouterr()
    assert main(["validate", "cluster", "w.swf", f"x.{suffix}", *where[2:]]) == 0
    assert "valid: 4 placements" in capsys.readouterr().out


def test_a_schedule_may_not_end_a_job_before_its_limit(log, capsys):
    inst = cs.cluster.from_swf(log, convention="rigid")
    result = cs.cluster.solve(inst, "EASY", kill=True)
    data = result.schedule.to_dict()
    assert data["killed"] == [3]
    restored_schedule = cs.cluster.Schedule.from_dict(inst, data)
    restored_schedule.validate()
    assert restored_schedule.to_dict() == data
    with pytest.raises(cs.InvalidSchedule, match="job 2 is ended at its limit after 30 s: exp"):
        cs.cluster.Schedule.from_dict(inst, {**data, "killed": [1, 3]})
    with pytest.raises(cs.InvalidSchedule, match="killed"):
        cs.cluster.Schedule.from_dict(inst, {**data, "killed": [4]})
    with pytest.raises(cs.InvalidSchedule, match="job 4 gets 10 s of its 20 s"):
        cs.cluster.Schedule.from_dict(inst, {**data, "killed": []}).validate()


def test_the_bound_is_that_of_the_times_that_were_run(log):
    jobs = {"submit": [0, 0], "tasks": [1, 1], "cpu": [1, 1], "memory": [1, 1],
            "runtime": [1000.0, 1000.0], "estimate": [1000.0, 10.0]}  # fmt: skip
    inst = cs.cluster.Instance(jobs, nodes=1)
    options = {"EASY": {"kill": True, "priority": "shortest"}}
    row = cs.cluster.compare(inst, ["EASY"], options=options)
    assert row.status.tolist() == ["ok"]
    # above 1.01 of the job that the other delays, far below 4/3 of both whole
    assert row.value[0] == pytest.approx(1.01)
    assert row.bound[0] == pytest.approx(1.01)


def test_no_bound_holds_for_ended_jobs_too(log, capsys):
    where = ["cluster", "w.swf", "--convention", "rigid", "--no-bound", "--option", "kill=true"]
    assert main(["solve", *where, "--algorithm", "EASY", "-o", "x.json"]) == 0
    assert "no bound" in capsys.readouterr().out
    assert json.loads((log.parent / "x.json").read_text())["bound"] is None


@pytest.mark.parametrize("name", ["FCFS", "EASY", "conservative"])
@pytest.mark.parametrize("priority", ["fcfs", "shortest", "smallest", "wfp3", "own"])
def test_who_runs_at_the_begin_keeps_its_nodes_under_any_order(log, name, priority, tmp_path):
    order = (lambda jobs: -jobs.id) if priority == "own" else priority
    inst = cs.cluster.from_swf(log, convention="rigid", begin=100)
    assert inst.jobs.running.tolist() == [True, False, False, False]
    assert cs.cluster.solve(inst, name, priority=order).jobs.start[0] == 0
    for file in ("x.json", "x.csv"):
        inst.write(tmp_path / file)
        reread_instance = cs.cluster.Instance.read(tmp_path / file, nodes=8)
        assert cs.cluster.solve(reread_instance, name, priority=order).jobs.start[0] == 0


def test_who_runs_at_the_begin_goes_before_partitions_of_a_greater_priority(log, tmp_path):
    (tmp_path / "m.toml").write_text(
        '[[nodes]]\ncount = 8\ncores = 1\n[[partitions]]\nname = "1"\n'
        '[[partitions]]\nname = "2"\npriority = 5\n'
    )
    (tmp_path / "p.swf").write_text(
        SWF.replace("60 -1 1 2 1 1 1 1 -1", "60 -1 1 2 1 1 1 2 -1")  # job 2: of partition 2
    )
    inst = cs.cluster.Instance.read(
        tmp_path / "p.swf", machine=tmp_path / "m.toml", convention="rigid", begin=100
    )
    assert cs.cluster.solve(inst, "EASY").jobs.start.tolist()[:2] == [0, 900]


@pytest.mark.parametrize("name", ["FCFS", "EASY", "conservative"])
def test_jobs_without_estimates_are_refused_whatever_the_order(name):
    """In the order of the shortest it was a KeyError."""
    jobs = {"submit": [0], "tasks": [1], "cpu": [1], "memory": [1], "runtime": [9]}
    inst = cs.cluster.Instance(jobs, 2)
    with pytest.raises(cs.InvalidInstance, match="the jobs have no estimate column"):
        cs.cluster.solve(inst, name, estimates="requested", priority="shortest")
