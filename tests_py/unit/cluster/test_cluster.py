"""The cluster family from Python: names, results, measures, outputs, policies of one's own."""

import numpy as np
import pandas as pd
import pytest
from note_facts import counts

import cosched as cs
from cosched import NoteKind
from cosched.cli import main
from support import data, library

BEST = "GreedyPM */per/opt=min/minvt=600"


@pytest.fixture(scope="module")
def inst():
    return cs.cluster.Instance(cs.workloads.lublin(120, 16, seed=2), 16)


def test_the_116_policies_and_spellings(inst):
    names = cs.cluster.paper_policies()
    assert len(set(names)) == 116
    assert set(names) <= set(cs.cluster.ALGORITHMS)
    short = cs.cluster.solve(inst, BEST.replace(" ", ""))
    assert short.value == cs.cluster.solve(inst, BEST).value
    assert cs.cluster.solve(inst, "GreedyP */minvt=37.5").value >= 1
    for bad in ("GreedyQ */per", "Greedy", "*", "Greedy */opt=max", "MCB8/per/minvt=0"):
        with pytest.raises(ValueError, match="unknown cluster algorithm"):
            cs.cluster.solve(inst, bad)


@pytest.mark.parametrize("name", cs.cluster.DEFAULT_COMPARE)
def test_every_policy_of_table_2(inst, name):
    res = cs.cluster.solve(inst, name)
    frame = res.schedule.to_frame()
    res.schedule.validate()
    assert res.value == res.max_stretch == res.jobs.stretch.max()
    assert res.value >= float(cs.cluster.bound(inst)) * (1 - 1e-9)
    assert res.underutilisation >= -1e-9
    work = (frame.end - frame.start) * frame.progress
    done = work.groupby(frame.task).sum().reindex(range(len(inst)), fill_value=0.0)
    assert np.allclose(done, inst.column("runtime"), rtol=1e-6, atol=1e-6)
    if name in ("FCFS", "EASY"):
        assert res.jobs.preemptions.sum() == res.jobs.migrations.sum() == 0


def test_by_hand():
    jobs = {"submit": [0, 0], "tasks": [1, 1], "cpu": [1, 1], "memory": [0.5, 0.5],
            "runtime": [100.0, 100.0]}  # fmt: skip
    two = cs.cluster.Instance(jobs, 1)
    assert cs.cluster.solve(two, "FCFS").jobs.end.tolist() == [100, 200]
    shared = cs.cluster.solve(two, "Greedy */opt=min")
    assert shared.jobs.end.tolist() == [200, 200]
    assert float(cs.cluster.bound(two)) == pytest.approx(2.0)
    heavy = cs.cluster.Instance({**jobs, "memory": [0.6, 0.6]}, 1)
    assert cs.cluster.solve(heavy, "Greedy */opt=min").jobs.end.tolist() == [100, 200]
    assert shared.underutilization == pytest.approx(0)
    metrics = shared.metrics()
    assert metrics["underutilisation"] == metrics["underutilization"] == shared.underutilisation


def test_refusals():
    good = {"submit": [0.0], "tasks": [2], "cpu": [1.0], "memory": [0.5], "runtime": [10.0]}
    for change, part in (
        ({"cpu": [0.0]}, "cpu"), ({"cpu": [1.5]}, "cpu"), ({"memory": [np.nan]}, "memory"),
        ({"tasks": [0]}, "tasks"), ({"tasks": [1.5]}, "tasks"), ({"runtime": [-1.0]}, "runtime"),
        ({"submit": [np.inf]}, "submit"), ({"submit": [0.0, 1.0]}, "rows"),
        ({"submit": ["x"]}, "submit"),
    ):  # fmt: skip
        with pytest.raises(cs.InvalidInstance, match=part):
            cs.cluster.Instance({**good, **change}, 4)
    with pytest.raises(cs.InvalidInstance, match="'runtime'"):
        cs.cluster.Instance({k: v for k, v in good.items() if k != "runtime"}, 4)
    for nodes in (0, -1, 1.5, 10_000_001):
        with pytest.raises(cs.InvalidInstance, match="nodes"):
            cs.cluster.Instance(good, nodes)
    small = cs.cluster.Instance(good, 1)
    with pytest.raises(cs.InfeasibleError):
        cs.cluster.solve(small, "EASY")
    inst = cs.cluster.Instance(good, 4)
    for options in ({"period": 0}, {"penalty": -1}, {"threshold": 0}, {"period": "x"}):
        with pytest.raises(cs.InvalidInstance):
            cs.cluster.solve(inst, BEST, **options)
    with pytest.raises(cs.InvalidInstance, match="estimates"):
        cs.cluster.solve(inst, "EASY", estimates="good")


def test_yields_and_mcb8():
    mapping, cpu = [[0, 1], [0], [1], [2]], [0.5, 1.0, 0.8, 0.4]
    base = cs.cluster.yields(mapping, cpu, 3)
    assert np.allclose(base, 1 / 1.5)
    best = cs.cluster.yields(mapping, cpu, 3, opt="min")
    assert best.min() == pytest.approx(base[0])
    average = cs.cluster.yields(mapping, cpu, 3, opt="avg")
    assert average.min() >= base[0] - 1e-9
    assert average.mean() >= best.mean() - 1e-9
    for shares in (base, best, average):
        load = np.zeros(3)
        for job, nodes in enumerate(mapping):
            np.add.at(load, nodes, cpu[job] * shares[job])
        assert (load <= 1 + 1e-9).all()
    assert cs.cluster.mcb8([3], [1.0], [0.5], 1) is None
    assert cs.cluster.mcb8([2], [1.0], [0.5], 1, yield_=0.5) == [[0, 0]]
    for bad in (
        {"tasks": [0]},
        {"cpu": [0.0]},
        {"memory": [2.0]},
        {"nodes": 0},
        {"nodes": 10_000_001},
        {"yield_": 2},
    ):
        arguments = {"tasks": [1], "cpu": [0.5], "memory": [0.5], "nodes": 2, **bad}
        with pytest.raises(cs.InvalidInstance):
            cs.cluster.mcb8(**arguments)


def test_decision_log(inst):
    res = cs.cluster.solve(inst, BEST, log=True)
    assert list(res.log.columns) == ["time", "job", "id", "action", "reason"]
    assert (res.log.action == "finish").sum() == len(inst)
    assert (res.log.action == "pause").sum() == res.jobs.preemptions.sum()
    assert (res.log.action == "move").sum() == res.jobs.migrations.sum()
    assert cs.cluster.solve(inst, BEST).log is None


@pytest.mark.parametrize("name", ["EASY", "Greedy *", "GreedyPM */per", "MCB8 *", "/per"])
def test_the_log_says_why_a_job_waits(name):
    columns = ("submit", "tasks", "cpu", "memory", "runtime")
    jobs = dict(zip(columns, ([0, 0, 0], [1] * 3, [1] * 3, [0.9] * 3, [50.0] * 3), strict=True))
    res = cs.cluster.solve(cs.cluster.Instance(jobs, 1), name, log=True)
    waits = res.log[res.log.action == "wait"]
    assert set(waits.job) == set(np.flatnonzero(res.jobs.start > 0))
    assert (waits.reason.str.len() > 10).all()


class Fcfs:
    """First come, first served in Python."""

    def on_event(self, event, state):
        free = set(range(state.nodes))
        runs = {}
        for job in state.jobs.values():
            if job.status == "running":
                runs[job.number] = (job.nodes, 1.0)
                free -= set(job.nodes)
        for job in sorted(state.jobs.values(), key=lambda job: (job.submit, job.number)):
            if job.status == "running":
                continue
            if job.tasks > len(free):
                break
            job_nodes = sorted(free)[: job.tasks]
            free -= set(job_nodes)
            runs[job.number] = (job_nodes, 1.0)
        return runs


class TooMuch:
    def on_event(self, event, state):
        return {number: ([0] * job.tasks, 1.0) for number, job in state.jobs.items()}


def test_a_name_that_no_policy_has_is_not_repeated(inst):
    with pytest.raises(cs.InvalidInstance, match="expected the name of a policy") as error:
        cs.cluster.dfrs(inst, name="x" * 5000)
    assert len(str(error.value)) < 200


def test_a_policy_of_ones_own(inst, own_algorithm):
    for name, policy in (("mine", Fcfs), ("too much", TooMuch)):
        cs.cluster.register_policy(name, policy)
        own_algorithm("cluster", name, cs.cluster.ALGORITHMS[name])
    own_result, built_in = cs.cluster.solve(inst, "mine"), cs.cluster.solve(inst, "FCFS")
    assert own_result.jobs.start.tolist() == built_in.jobs.start.tolist()
    own_result.schedule.validate()
    table = cs.cluster.compare(inst, ["mine", "too much", "FCFS"]).set_index("algorithm")
    assert table.status.tolist() == ["ok", "error", "ok"]
    assert "InvalidSchedule" in table.loc["too much", "message"]


def test_outputs_of_the_ecosystem(inst, tmp_path):
    res = cs.cluster.solve(inst, "EASY")
    cs.cluster.write_jobs_csv(res, tmp_path / "jobs.csv")
    jobs = pd.read_csv(tmp_path / "jobs.csv", dtype={"allocated_resources": str})
    assert (jobs.finish_time - jobs.submission_time - jobs.turnaround_time).abs().max() < 1e-6
    widths = [
        sum(int(b or a) - int(a) + 1 for a, _, b in (part.partition("-") for part in text.split()))
        for text in jobs.allocated_resources
    ]
    assert widths == jobs.requested_number_of_resources.tolist()


@pytest.mark.filterwarnings("ignore")  # evalys is older than what pandas deprecates
@pytest.mark.parametrize("policy", ["EASY", "GreedyPM */per/opt=min/minvt=600"])
def test_evalys_loads_the_jobs(policy, tmp_path):
    jobset = library("evalys.jobset")
    inst = cs.cluster.Instance(cs.workloads.lublin(60, 16, seed=3), 16)
    res = cs.cluster.solve(inst, policy)
    cs.cluster.write_jobs_csv(res, tmp_path / "jobs.csv")
    read = jobset.JobSet.from_csv(tmp_path / "jobs.csv", resource_bounds=(0, 15))
    assert read.MaxProcs == 16
    assert read.df.jobID.tolist() == [str(name) for name in inst.ids]
    assert read.df.waiting_time.tolist() == pytest.approx(res.waits, abs=1e-6)
    assert read.df.finish_time.tolist() == pytest.approx(res.jobs.end, abs=1e-5)
    has_place = read.df.proc_alloc > 0
    assert (
        has_place.all() if policy == "EASY" else 0 < has_place.sum() < 60
    )  # moved jobs have no one place
    if policy == "EASY":
        assert read.df.proc_alloc.tolist() == inst.jobs.tasks.tolist()
        span = res.jobs.end.max() - inst.jobs.submit.min()
        work = (inst.jobs.tasks * (res.jobs.end - res.jobs.start)).sum()
        assert read.mean_utilisation() == pytest.approx(work / span, rel=1e-3)


def test_files_and_command_line(inst, tmp_path, capsys):
    for name in ("jobs.json", "jobs.csv"):
        inst.write(tmp_path / name)
        assert np.allclose(
            cs.cluster.Instance.read(tmp_path / name, 16).column("runtime"), inst.column("runtime")
        )
    arguments = ["compare", "cluster", str(tmp_path / "jobs.csv"), "--nodes", "16"]
    out = tmp_path / "t.csv"
    assert main([*arguments, "--policies", "FCFS", "EASY", BEST, "-o", str(out)]) == 0
    assert pd.read_csv(out).algorithm.tolist() == ["FCFS", "EASY", BEST]
    assert main(["compare", "cluster", str(tmp_path / "jobs.csv")]) == 2
    assert "nodes" in capsys.readouterr().err


def test_files_of_solve(inst, tmp_path, capsys):
    inst.write(tmp_path / "jobs.json")
    source, plan = str(tmp_path / "jobs.json"), str(tmp_path / "plan.json")
    log, jobs = tmp_path / "log.csv", tmp_path / "rows.csv"
    command = ["solve", "cluster", source, "--algorithm", BEST, "-o", plan]
    assert main([*command, "--log", str(log), "--jobs", str(jobs)]) == 0
    log_rows = pd.read_csv(log)
    res = cs.cluster.solve(inst, BEST, log=True)
    pd.testing.assert_frame_equal(log_rows, res.log)
    assert (log_rows.action == "start").sum() == len(inst)
    assert log_rows.reason.notna().all()
    pd.testing.assert_frame_equal(
        pd.read_csv(jobs, keep_default_na=False)[["job_id", "finish_time", "allocated_resources"]],
        cs.cluster.jobs_table(res)[["job_id", "finish_time", "allocated_resources"]],
    )
    assert main(["validate", "cluster", source, plan]) == 0
    shown = capsys.readouterr().out
    assert f"gap {100 * res.gap:.0f}%)" in shown
    assert "underutilization" in shown
    for other_name in ("underutilisation", "max stretch", "mean stretch"):
        assert other_name not in shown
    for flag, name in (("--log", "log.json"), ("--jobs", "no/rows.csv")):
        assert main([*command, flag, str(tmp_path / name)]) == 2
        assert not (tmp_path / name).exists()
    with pytest.raises(cs.InvalidInstance, match="log=True"):
        cs.cluster.write_log_csv(cs.cluster.solve(inst, "EASY"), log)


@pytest.mark.parametrize(
    ("change", "part"),
    [
        (lambda d: d["placements"][1].update(kind=1), "placement 1: kind 1"),
        (lambda d: d.update(penalty=-1), "penalty = -1"),
        (lambda d: d.update(penalty=float("nan")), "penalty = nan"),
        (lambda d: d.update(threshold=0), "threshold = 0"),
        (lambda d: d["jobs"]["migrations"].__setitem__(3, 1), "job 3 has 0 pauses and 0 moves"),
        (lambda d: d["placements"].pop(), "job"),
    ],
)
def test_changed_schedules_are_refused(inst, change, part):
    data = cs.cluster.solve(inst, "EASY").schedule.to_dict()
    cs.cluster.Schedule.from_dict(inst, data).validate()
    change(data)
    with pytest.raises(cs.InvalidSchedule, match=part):
        cs.cluster.Schedule.from_dict(inst, data).validate()


def test_a_schedule_of_a_table(inst, own_algorithm):
    res = cs.cluster.solve(inst, BEST)
    frame = res.schedule.to_frame()
    schedule = cs.cluster.Schedule.from_frame(inst, frame.drop(columns=["kind", "nodes"]))
    schedule.validate()
    pd.testing.assert_frame_equal(schedule.to_frame(), frame)
    own_algorithm("cluster", "as before", lambda instance, *, seed: schedule)
    repeated = cs.cluster.solve(inst, "as before")
    assert repeated.value == res.value
    assert repeated.jobs.equals(res.jobs)
    for broken in (
        frame.assign(yield_=frame.yield_ * 0.9, progress=frame.progress * 0.9),
        frame[frame.task != 3],
        frame.drop(columns="cause"),
    ):
        with pytest.raises(cs.InvalidSchedule):
            cs.cluster.Schedule.from_frame(inst, broken).validate()
    with pytest.raises(cs.InvalidSchedule, match=r"cluster\.Schedule\.from_frame"):
        cs.Schedule.from_frame(inst, frame).validate()


@pytest.mark.parametrize("name", ["EASY", "GreedyP */per"])
def test_the_bound_beside_a_result_is_that_of_its_threshold(name, tmp_path):
    jobs = {"submit": [0] * 8, "tasks": [1] * 8, "cpu": [1] * 8, "memory": [0.1] * 8}
    instance = cs.cluster.Instance({**jobs, "runtime": [20.0] * 8}, 1)
    res = cs.cluster.solve(instance, name, threshold=100)
    assert res.value == pytest.approx(1.6)  # 160 s over 100 s; with 10 s the bound is 8
    assert res.bound.value == pytest.approx(1.6)
    assert res.bound == cs.cluster.bound(instance, threshold=100)
    table = cs.cluster.compare(instance, [name], options={name: {"threshold": 100}})
    assert table.bound[0] == res.bound.value
    assert cs.cluster.solve(instance, name).bound.value == pytest.approx(8)
    instance.write(tmp_path / "jobs.json")
    files = [str(tmp_path / "jobs.json"), str(tmp_path / "plan.json")]
    command = ["--algorithm", name, "--option", "threshold=100", "-o", files[1]]
    assert main(["solve", "cluster", files[0], *command]) == 0
    assert main(["validate", "cluster", *files]) == 0


@pytest.mark.parametrize(
    ("row", "part"),
    [
        ("0,1,1,1.5,10", r"line 4: jobs.memory\[1\] = 1.5"),
        ("0,1.5,1,1,10", r"line 4: jobs\['tasks'\]\[1\] = 1.5"),
        ("0,1,1,0.5,x", r"line 4, column 'runtime': 'x'"),
    ],
)
def test_bad_cells_are_named_by_their_line(tmp_path, row, part):
    path = tmp_path / "jobs.csv"
    path.write_text(f"submit,tasks,cpu,memory,runtime\n0,1,1,1,5\n\n{row}\n")
    with pytest.raises(cs.InvalidInstance, match=rf"jobs.csv: {part}: expected"):
        cs.cluster.Instance.read(path, 4)


@pytest.mark.parametrize("column", ["memory_gb", "gpus", "nodes", "threads", "wait", "priority"])
@pytest.mark.parametrize("cell", ["1e300", "-1", "many"])
def test_facts_that_cannot_be_are_named_by_their_line(tmp_path, column, cell):
    path = tmp_path / "jobs.csv"
    path.write_text(f"submit,tasks,cpu,memory,runtime,{column}\n0,1,1,1,5,1\n0,1,1,1,5,{cell}\n")
    with pytest.raises(cs.InvalidInstance, match=rf"jobs.csv: line 3.*{column}.*: expected .*>= 0"):
        cs.cluster.Instance.read(path, 4)


def test_files_without_a_usable_job(tmp_path):
    log = tmp_path / "bad.swf"
    log.write_text("1 0 -1 -1 2 -1 -1 2 -1 -1 1 1 1 1 1 1 -1 -1\nhello\n")
    with pytest.raises(cs.InvalidInstance, match=r"bad.swf: no usable job: .*line 2.*run < 0"):
        cs.cluster.Instance.read(log, 4)
    table = tmp_path / "twice.csv"
    table.write_text("submit,tasks,cpu,memory,runtime,Submit\n0,1,1,1,5,9\n")
    with pytest.raises(cs.InvalidInstance, match="2 columns 'submit'"):
        cs.cluster.Instance.read(table, 4)


def test_an_interrupted_comparison_keeps_its_rows(inst, tmp_path, own_algorithm, capsys):
    def interrupted(instance):
        raise KeyboardInterrupt

    own_algorithm("cluster", "interrupted", interrupted)
    inst.write(tmp_path / "jobs.json")
    out = tmp_path / "table.csv"
    command = ["compare", "cluster", str(tmp_path / "jobs.json"), "-o", str(out), "--policies"]
    assert main([*command, "interrupted", "EASY"]) == 130
    assert not out.exists()
    assert main([*command, "FCFS", "EASY", "interrupted", BEST]) == 130
    assert pd.read_csv(out).algorithm.tolist() == ["FCFS", "EASY"]
    captured = capsys.readouterr()
    assert "FCFS" in captured.out
    assert captured.err.splitlines()[-1] == (
        f"cosched: interrupted: the 2 finished rows are in {out}; not run: interrupted, {BEST}"
    )


def test_one_week_of_a_log(tmp_path, capsys):
    week = 604800
    path = tmp_path / "log.swf"
    path.write_text(
        "; MaxProcs: 16\n; MaxMemory: 2097152\n"
        + "".join(
            f"{k} {submit} 0 100 2 -1 -1 2 200 -1 1 1 1 1 1 1 -1 -1\n"
            for k, submit in enumerate([5, 2 * week, 2 * week + 7])
        )
    )
    for convention, tasks in (("dfrs", 1), ("rigid", 2)):
        inst = cs.cluster.from_swf(path, 8, convention, week=2)
        assert inst.column("submit").tolist() == [0, 7]
        assert inst.column("tasks").tolist() == [tasks] * 2
        assert counts(inst.notes, NoteKind.KEPT)["week 2"] == 2
    with pytest.raises(cs.InvalidInstance, match="week 1 has no job: the last week is 2"):
        cs.cluster.from_swf(path, 8, week=1)
    with pytest.raises(cs.InvalidInstance, match="week"):
        cs.cluster.from_swf(path, 8, week=-1)
    command = ["compare", "cluster", str(path), "--nodes", "8", "--policies", "EASY"]
    out = tmp_path / "t.csv"
    assert main([*command, "--week", "0,2", "-o", str(out)]) == 0
    assert pd.read_csv(out).week.tolist() == [0, 2]
    assert "memory unknown: 0.1 taken" in capsys.readouterr().out
    cs.cluster.Instance({"submit": [0], "tasks": [1], "cpu": [1], "memory": [1], "runtime": [1]},
                        2).write(tmp_path / "jobs.json")  # fmt: skip
    assert main(["bound", "cluster", str(tmp_path / "jobs.json"), "--week", "0"]) == 2
    assert ".swf logs only" in capsys.readouterr().err


@pytest.mark.data
def test_both_readings_of_hpc2n():
    path = data("pwa", "HPC2N-2002-2.1-cln.swf.gz")
    nodes = cs.cluster.from_swf(path, 120)
    processors = cs.cluster.from_swf(path, convention="rigid")
    assert len(nodes) == len(processors) == 202_876
    assert (nodes.nodes, processors.nodes) == (120, 240)
    for inst in (nodes, processors):
        for name in ("FCFS", "EASY"):
            assert cs.cluster.solve(inst, name).max_stretch > 1000


def test_periods_that_would_never_end_are_refused():
    jobs = {"submit": [0, 5], "tasks": [1, 2], "cpu": [1, 0.5], "memory": [0.1, 0.3]}
    inst = cs.cluster.Instance(jobs | {"runtime": [10.0, 300.0]}, 2)
    for period in (5e-324, 1e-9):
        with pytest.raises(cs.InvalidInstance, match=r"period = .*: expected at most 1e8 periods"):
            cs.cluster.dfrs(inst, "MCB8 */per", period=period)
        assert cs.cluster.dfrs(inst, "MCB8 *", period=period).max_stretch >= 1  # no period in it
    late_jobs = cs.cluster.Instance(jobs | {"submit": [0, 1e300], "runtime": [10.0, 300.0]}, 2)
    with pytest.raises(cs.InvalidInstance, match="too short for a clock at 1e"):
        cs.cluster.solve(late_jobs, "MCB8 */per")


def test_yields_need_no_memory_for_idle_nodes():
    far = cs.cluster.yields([[0, 7], [2**31 - 2]], [1.0, 0.5], 2**31 - 1, opt="avg")
    assert far.tolist() == cs.cluster.yields([[0, 1], [2]], [1.0, 0.5], 3, opt="avg").tolist()


@pytest.mark.parametrize(
    ("rows", "ids"),
    [([2, 0], [2, 0]), (np.array([True, False, True]), [0, 2]), ([-1], [2]), (range(2), [0, 1])],
)
def test_rows_taken(rows, ids):
    columns = {"submit": [0, 1, 2], "tasks": [1] * 3, "cpu": [1] * 3, "memory": [0.1] * 3}
    jobs = cs.cluster.Instance({**columns, "runtime": [1, 2, 3]}, 4)
    assert jobs.take(rows).ids.tolist() == ids


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([4.89], r"rows\[0\] = 4.89: expected an integer in -3..2"),
        ([0, 3], r"rows\[1\] = 3: expected"),
        ([True, False], "rows: 2 of bool, expected one for each of 3 jobs"),
        ([1, [2]], "rows: expected 1-dimensional numbers"),
        ([False] * 3, "expected at least one job"),
    ],
)
def test_rows_that_are_not_there(rows, said):
    columns = {"submit": [0, 1, 2], "tasks": [1] * 3, "cpu": [1] * 3, "memory": [0.1] * 3}
    jobs = cs.cluster.Instance({**columns, "runtime": [1, 2, 3]}, 4)
    with pytest.raises(cs.errors.InvalidInstance, match=said):
        jobs.take(rows)
