"""What the log records, beside policies; metrics that operators read."""

import numpy as np
import pandas as pd
import pytest

import cosched as cs
from cosched.cli import main
from support import data


def logged(**columns):
    jobs = {"submit": [0, 0, 10, 200], "tasks": [2, 3, 1, 4], "cpu": [1] * 4, "memory": [1] * 4,
            "runtime": [100.0, 50.0, 0.0, 30.0], "wait": [5.0, 80.0, 4.0, 0.0],
            "user": ["ada", "bob", "ada", "cyd"], "id": [11, 12, 13, 14],
            "status": ["completed", "completed", "cancelled", "failed"]}  # fmt: skip
    return cs.cluster.Instance(jobs | columns, 4)


def test_the_schedule_of_the_log():
    res = cs.cluster.solve(logged(), "as-logged")
    assert res.jobs.start.tolist() == [5, 80, 14, 200]
    assert res.jobs.end.tolist() == [105, 130, 14, 230]
    metrics = res.metrics()
    assert metrics["overcommitted_hours"] * 3600 == pytest.approx(25)  # 80 to 105: 5 of 4
    assert metrics["most_nodes_in_use"] == 5
    assert metrics["unknown_waits"] == 0
    assert res.gap >= 0
    assert res.calibration() == {
        "median": 0, "p95": 0, "within_minute": 1, "rank_correlation": pytest.approx(1)
    }  # fmt: skip
    res.schedule.validate()
    frame = res.schedule.to_frame()
    assert frame.id.tolist() == [11, 13, 12, 14]
    restored_schedule = cs.cluster.Schedule.from_dict(res.instance, res.schedule.to_dict())
    restored_schedule.validate()
    changed = res.schedule.to_dict()
    changed["jobs"]["start"][1] += 10
    with pytest.raises(cs.InvalidSchedule, match="job 12 has start 90 s: the log has 80 s"):
        cs.cluster.Schedule.from_dict(res.instance, changed).validate()


def test_a_log_without_waits_is_refused():
    for wait in ([np.nan] * 4, None):
        inst = logged(wait=wait) if wait else cs.cluster.Instance(
            logged().jobs.drop(columns="wait"), 4)  # fmt: skip
        with pytest.raises(cs.InvalidInstance, match="the log has no waits"):
            cs.cluster.solve(inst, "as-logged")
        with pytest.raises(cs.InvalidInstance, match="the log has no waits"):
            cs.cluster.solve(inst, "FCFS").calibration()
        assert "as-logged" not in cs.cluster.FAMILY.names_of(inst, None)
    jobs_with_gaps = logged(wait=[5.0, np.nan, 4.0, 0.0])
    assert cs.cluster.FAMILY.names_of(jobs_with_gaps, None)[0] == "as-logged"
    assert cs.cluster.solve(jobs_with_gaps, "as-logged").metrics()["unknown_waits"] == 1


def test_waits_and_groups():
    res = cs.cluster.solve(logged(), "FCFS")
    assert res.jobs.start.tolist() == [0, 100, 100, 200]
    metrics = res.metrics()
    assert metrics["mean_wait"] == pytest.approx(190 / 4)
    assert metrics["median_wait"] == 45
    assert metrics["p95_wait"] == pytest.approx(np.percentile([0, 100, 90, 0], 95))
    assert metrics["mean_bounded_slowdown"] == pytest.approx((1 + 3 + 9 + 1) / 4)
    assert metrics["utilisation"] == pytest.approx((200 + 150 + 120) / (4 * 230))
    users = res.by("user").set_index("user")
    assert users.jobs.to_dict() == {"ada": 2, "bob": 1, "cyd": 1}
    assert users.mean_wait.to_dict() == {"ada": 45, "bob": 100, "cyd": 0}
    assert res.by("size")["size"].tolist() == ["1", "2", "3-4"]
    assert res.by("size").jobs.tolist() == [1, 1, 2]
    assert res.by("status").jobs.sum() == 4
    assert res.by("size").cpu_hours.sum() == pytest.approx(470 / 3600)
    with pytest.raises(cs.InvalidInstance, match="by partition: the log does not say it"):
        res.by("partition")
    with pytest.raises(cs.InvalidInstance, match="by 'colour': expected user"):
        res.by("colour")
    apart = res.calibration()
    assert apart["median"] == pytest.approx(np.median([5, 20, 86, 0]))
    assert apart["within_minute"] == 0.75


def test_jobs_that_ran(tmp_path, capsys):
    plain, min_runtime_log = logged(), cs.cluster.Instance(logged().jobs, 4, min_runtime=30)
    all_jobs, counted = (cs.cluster.solve(inst, "FCFS") for inst in (plain, min_runtime_log))
    assert all_jobs.value == 9  # the job of run time 0
    assert counted.value == 3
    assert counted.jobs.start.tolist() == all_jobs.jobs.start.tolist()
    assert counted.metrics()["mean_bounded_slowdown"] == pytest.approx(5 / 3)
    assert 1 <= counted.bound.value <= 3
    assert counted.by("user").jobs.sum() == 3
    with pytest.raises(cs.InvalidInstance, match="the longest job runs for 100 s"):
        cs.cluster.Instance(logged().jobs, 4, min_runtime=101)
    path, out = tmp_path / "jobs.json", tmp_path / "table.csv"
    plain.write(path)
    command = ["compare", "cluster", str(path), "--min-runtime", "30", "-o", str(out)]
    assert main([*command, "--policies", "as-logged", "FCFS", "EASY"]) == 0
    table = pd.read_csv(out).set_index("algorithm")
    assert table.loc["FCFS", "value"] == 3
    assert table.loc["as-logged", "overcommitted_hours"] > 0
    page = capsys.readouterr().out
    for word in ("mean wait", "P95 wait", "utilization"):
        assert word in page


@pytest.mark.data
@pytest.mark.parametrize("log", ["CTC-SP2-1996-3.1-cln", "HPC2N-2002-2.1-cln"])
def test_archive_logs(log):
    inst = cs.cluster.from_swf(data("pwa", f"{log}.swf.gz"), convention="rigid", until=30 * 86400)
    res = cs.cluster.solve(inst, "as-logged")
    wait = np.nan_to_num(inst.column("wait"))
    assert np.array_equal(res.jobs.start, inst.column("submit") + wait)
    assert res.metrics()["mean_wait"] == pytest.approx(wait.mean())
    assert res.value >= res.bound.value
    res.schedule.validate()
    assert len(res.schedule.rows) == len(inst)


def test_no_bound(tmp_path):
    logged().write(tmp_path / "jobs.json")
    inst = cs.cluster.Instance.read(tmp_path / "jobs.json", no_bound=True)
    res = cs.cluster.solve(inst, "EASY")
    assert res.bound is None
    assert np.isnan(res.gap)
    assert main(["compare", "cluster", str(tmp_path / "jobs.json"), "--no-bound"]) == 0


@pytest.mark.parametrize("seed", range(3))
def test_the_bound_of_a_long_stream_is_that_of_its_worst_part(seed):
    jobs = cs.workloads.lublin(3000, 16, seed=seed)
    inst = cs.cluster.Instance(jobs, 16)
    bound_of_log = cs.cluster.bound(inst).value
    assert cs.cluster.solve(inst, "GreedyPM *").value >= bound_of_log
    for first in range(0, 3000, 500):  # a part alone is never worse
        part = cs.cluster.Instance(jobs.iloc[first : first + 700], 16)
        assert cs.cluster.bound(part).value <= bound_of_log * (1 + 1e-9)


def test_options_of_compare(tmp_path, capsys):
    jobs = logged(estimate=[100.0, 500.0, 900.0, 30.0])
    jobs.write(tmp_path / "jobs.json")
    out = tmp_path / "table.csv"
    command = ["compare", "cluster", str(tmp_path / "jobs.json"), "--policies", "EASY", "as-logged"]
    assert main([*command, "--option", "estimates=requested", "-o", str(out)]) == 0
    easy = cs.cluster.solve(jobs, "EASY", estimates="requested")
    table = pd.read_csv(out).set_index("algorithm")
    assert table.loc["EASY", "mean_wait"] == easy.metrics()["mean_wait"]
    assert main([*command, "--option", "estimate=requested"]) == 2
    assert "--option estimate: none of the algorithms takes it" in capsys.readouterr().err
    capsys.readouterr()
    assert main([*command, "--option", "estimates=requested", "--option", "kill=true"]) == 0
    output = capsys.readouterr().out
    assert "without kill, which they do not take: as-logged\n" in output
    assert "without estimates, which they do not take: as-logged\n" in output
    many = [
        "compare",
        "cluster",
        command[2],
        "--policies",
        "EASY",
        *cs.cluster.paper_policies()[:7],
    ]
    assert main([*many, "--option", "kill=true"]) == 0
    assert f"{cs.cluster.paper_policies()[4]} and 2 more\n" in capsys.readouterr().out


def test_what_happened_stands_first_and_the_best_is_marked(tmp_path, capsys):
    logged(wait=[1e6, 0.0, 0.0, 0.0]).write(tmp_path / "jobs.json")
    command = ["compare", "cluster", str(tmp_path / "jobs.json"), "--policies"]
    assert main([*command, "EASY", "as-logged", "FCFS"]) == 0
    lines = capsys.readouterr().out.splitlines()
    at = next(k for k, line in enumerate(lines) if "as-logged" in line)
    assert not lines[at].startswith("*")
    assert lines[at + 1].startswith("*")
    assert main([*command, "as-logged"]) == 0
    assert "*   as-logged" in capsys.readouterr().out


def test_a_policy_that_never_runs_a_job_is_an_error():
    class Idle:
        def on_event(self, event, state):
            return {}

    class Fractions:
        def on_event(self, event, state):
            return {job: ([0.7], 0.1) for job in state.jobs}

    for name, policy in (("idle", Idle), ("fractions", Fractions)):
        cs.cluster.register_policy(name, policy)
        try:
            row = cs.cluster.compare(logged(), [name]).iloc[0]
        finally:
            del cs.cluster.FAMILY.algorithms[name]
        assert row.status == "error"
    assert "0.7" in row.message


def test_a_resumption_at_the_instant_of_the_pause_says_what_it_costs():
    same_count = 0
    for seed in range(6):
        inst = cs.cluster.Instance(cs.workloads.lublin(60, 6, seed=seed), 6)
        inst = inst.replace(submit=np.floor(inst.column("submit") / 3600) * 3600)
        log = cs.cluster.solve(inst, "GreedyP */per/opt=min", log=True).log
        for _, rows in log.groupby("job"):
            times, actions, reasons = (rows[c].tolist() for c in ("time", "action", "reason"))
            for k in range(1, len(rows)):
                same = (actions[k - 1], actions[k]) == ("pause", "resume")
                same = same and times[k] == times[k - 1]
                assert same == ("costs the penalty" in reasons[k])
                same_count += same
    assert same_count > 0


def test_the_screen_says_what_is_the_same_and_what_was_overcommitted(tmp_path, capsys):
    logged().write(tmp_path / "log.json")
    compare = ["compare", "cluster", str(tmp_path / "log.json"), "--policies", "as-logged", "EASY"]
    assert main(compare) == 0
    sentence = (
        "as-logged: for 0.006944 h the log has more nodes in use than the machine or a partition"
    )
    assert sentence in capsys.readouterr().out
    waits = logged().jobs.drop(columns="wait")
    cs.cluster.Instance(waits, 4).write(tmp_path / "log.json")
    assert main(compare) == 0
    printed = capsys.readouterr().out  # as-logged is not_applicable, and its row comes first
    value = cs.cluster.solve(cs.cluster.Instance(waits, 4), "EASY").value
    assert any(line.split()[:3] == ["*", "EASY", f"{value:.6g}"] for line in printed.splitlines())
    assert "median wait" in printed
    assert "more nodes in use" not in printed


def test_a_log_with_too_many_jobs_at_once_may_pass_the_bound(tmp_path, capsys):
    jobs = {"submit": [0] * 4, "tasks": [2] * 4, "cpu": [1] * 4, "memory": [1] * 4,
            "runtime": [100.0] * 4, "wait": [0.0] * 4}  # fmt: skip
    inst = cs.cluster.Instance(jobs, 2)
    frame = cs.cluster.compare(inst, ["as-logged", "EASY"]).set_index("algorithm")
    assert frame.status.tolist() == ["ok", "ok"]
    assert frame.value.tolist() == [1, 4]
    assert frame.bound.tolist() == [4, 4]
    assert np.isnan(frame.gap["as-logged"])
    assert frame.overcommitted_hours["as-logged"] == pytest.approx(100 / 3600)
    inst.write(tmp_path / "log.json")
    log, plan = str(tmp_path / "log.json"), str(tmp_path / "plan.json")
    assert main(["solve", "cluster", log, "--algorithm", "as-logged", "-o", plan]) == 0
    assert "no gap: this is what was recorded" in capsys.readouterr().out
    assert main(["validate", "cluster", log, plan]) == 0
    assert main(["compare", "cluster", log, "--policies", "as-logged", "EASY"]) == 0
    marked = [line for line in capsys.readouterr().out.splitlines() if line.startswith("*  ")]
    assert [line.split()[1] for line in marked] == ["EASY"]
    spread = inst.replace(wait=[0.0, 100, 200, 300])  # as many as there are: the bound holds
    assert cs.cluster.solve(spread, "as-logged").gap == 0
