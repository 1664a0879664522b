"""A search over lines of a slurm.conf: what was hidden is found, nothing where there is nothing."""

import json
import os
import pickle
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import cosched as cs
from cosched.cli import main
from cosched.cluster.analysis.what_if import what_if
from cosched.errors import InvalidInstance, StudyError
from cosched.reports.tune import tuning_report
from cosched.slurm.machines import slurm_machine
from cosched.slurm.tuning import (
    gains,
    run_cache,
    setting_simulation,
    tune_settings,
    tuned as tune_page,
)
from cosched.slurm.tuning.gains import JudgedBlock, held_out_gain
from cosched.slurm.tuning.space import BASELINE, MeasureConstraint, TuningMeasure
from cosched.slurm.tuning.weeks import weeks_of

DAY = 86400.0
CONF = """ClusterName=c
SlurmctldHost=h
AccountingStorageType=accounting_storage/slurmdbd
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
PriorityType=priority/multifactor
PriorityWeightAge=1000
PriorityMaxAge=7-0
PriorityWeightPartition=0
SchedulerParameters=bf_interval=30,bf_window=2880
NodeName=n[1-8] CPUs=4
PartitionName=long Nodes=ALL Default=YES MaxTime=2-0
PartitionName=short Nodes=ALL MaxTime=4:00:00 PriorityJobFactor=10
"""
ACCOUNTS = """Account|User|ParentName|Share
root|||
phys||root|10
phys|ada||1
Name|Priority
normal|0
"""
OBJECTIVE = "mean_bounded_slowdown"


def jobs(count=600, days=16, seed=6):
    random = np.random.default_rng(seed)
    short = random.random(count) < 0.8
    runtime = np.where(short, random.lognormal(7, 0.8, count), random.lognormal(10, 0.5, count))
    runtime = np.minimum(runtime, np.where(short, 14_000, 90_000)).round()
    return {
        "submit": np.sort(random.uniform(0, days * DAY, count)).round(),
        "tasks": np.where(short, random.integers(1, 5, count), random.choice([8, 16], count)),
        "cpu": np.ones(count), "memory": np.ones(count), "runtime": runtime,
        "estimate": (runtime * random.uniform(1, 3, count)).round() + 60,
        "partition": np.where(short, "short", "long"),
        "user": random.choice(["ada", "bob"], count),
    }  # fmt: skip


@pytest.fixture(scope="module")
def inst():
    return cs.cluster.Instance(jobs(), 32, machine=slurm_machine(CONF, "slurm.conf", "22.05"))


def search(inst, vary=None, **more_options):
    """One search in three weeks, judged by the fourth, unless `weeks` says otherwise."""
    weeks = {"weeks": "train=1-3,test=4"}
    options = {"objective": OBJECTIVE, "draws": 2, "budget": 6} | weeks | more_options
    return cs.slurm.tune(inst, vary=vary or {"PriorityWeightPartition": [500, 1000]}, **options)


@pytest.fixture(scope="module")
def found(inst):
    vary = {"PriorityWeightPartition": "0..2000", "bf_interval": "30,60"}
    return search(inst, vary, constraint="by(size).wide.mean_wait<=3")


@pytest.fixture(scope="module")
def usual(inst):
    """A grid of two settings, as most tests here have it."""
    return search(inst)


def test_a_weight_that_was_set_wrongly_is_found(found):
    assert found.better
    assert found.gain_p05 > 0
    assert int(found.best["PriorityWeightPartition"]) > 0
    assert f"PriorityWeightPartition={found.best['PriorityWeightPartition']}" in found.lines()
    assert found.gain == pytest.approx(1 - found.gains[0].then / found.gains[0].today)
    # What changes nothing is not in the lines, though every setting of the search had one of it.
    assert "bf_interval" not in found.best
    assert set(found.trials["bf_interval"]) == {"30", "60", ""}


def test_half_of_a_race_is_given_up(found):
    table = found.trials
    proposed = table.iloc[:6]
    assert not proposed["whole"].all()
    assert (table["runs"][table["whole"]] == 3 * 2).all()
    best = table[table["whole"]][OBJECTIVE].min()
    assert best < 1


def test_lines_keep_what_stands_beside_them(found):
    assert found._config_lines_for(("800", "60")) == [
        "PriorityWeightPartition=800",
        "SchedulerParameters=bf_window=2880,bf_interval=60",
    ]


def test_runs_are_those_of_the_twin_on_the_same_clocks(inst):
    block = weeks_of(inst, "train=1,test=2-4", None).folds[0].test
    world = setting_simulation.SimulationContext(("PriorityWeightPartition",), (block,), (), 3, 7)
    ours = world.simulate(("500",), 0, 1, 3)
    changed, _ = what_if(block.instance, "PriorityWeightPartition=500")
    theirs = cs.cluster.solve(changed, "slurm-backfill", seed=7, draws=3)
    rows = block.measured_rows(changed)
    np.testing.assert_array_equal(ours.start, theirs.draws.starts[1:, rows])
    assert (ours.jobs.column("submit") >= block.spans[0][0]).all()
    assert len(rows) < len(block.instance)


def test_nothing_is_simulated_twice(inst, usual):
    """As the machine is, the search and the test use the runs that have shown which jobs start."""
    run_tasks = []

    def recording_engine(context, tasks):
        run_tasks.extend((tuple(task["setting"]), task["block"], task["draw"]) for task in tasks)
        return run_cache.run_in_threads(context, tasks)

    tuned = search(inst, engine=recording_engine)
    assert {setting for setting, _, _ in run_tasks} == {("500",), ("1000",)}
    assert len(run_tasks) == len(set(run_tasks))
    assert tuned.runs == usual.runs == len(run_tasks) + 3 * 2
    assert tuned.all_trials == usual.all_trials


def test_a_block_as_the_machine_is_has_the_runs_of_the_context(inst):
    block = weeks_of(inst, "train=1,test=2-4", None).folds[0].test
    startable = setting_simulation.drop_unstartable_jobs(block, 3, 7)
    objectives = (TuningMeasure.of_text(OBJECTIVE), TuningMeasure.of_text("mean_wait"))
    world = setting_simulation.SimulationContext((), (startable.block,), objectives, 3, 7)
    expected = world.simulate(BASELINE, 0, 0, 3)
    np.testing.assert_array_equal(startable.baseline.start, expected.start)
    np.testing.assert_array_equal(startable.baseline.end, expected.end)
    assert startable.baseline.jobs == expected.jobs
    assert startable.baseline.notes == expected.notes
    for draw in range(3):
        row = world.run({"setting": BASELINE, "block": 0, "draw": draw})
        assert world.measure(startable.baseline.draw(draw)) == row["values"]


def test_measures_are_those_of_results(inst):
    result = cs.cluster.solve(inst, "slurm-backfill", seed=1)
    start, end = (np.asarray(result.outcome[name])[None] for name in ("start", "end"))
    for name in ("mean_wait", "p95_wait", OBJECTIVE):
        assert TuningMeasure.of_text(name).evaluate(result.instance, start, end)[
            0
        ] == pytest.approx(result.metrics()[name])
    by = result.by("partition").set_index("partition")
    values = TuningMeasure.of_text("by(partition).short.mean_wait").evaluate(
        result.instance, start, end
    )
    assert values[0] == pytest.approx(by["mean_wait"]["short"])
    wide = TuningMeasure.of_text("by(size).wide.max_wait").evaluate(result.instance, start, end)[0]
    assert wide == result.waits[inst.column("tasks") == 16].max()


def test_of_two_equal_settings_none_wins(inst):
    tuned = search(inst, {"bf_interval": [30, 31]})
    assert not tuned.better
    assert tuned.lines() == []
    assert "nothing" in repr(tuned)


def test_a_constraint_that_does_not_hold_leaves_nothing(inst):
    tuned = search(inst, constraint=f"{OBJECTIVE}>=1")
    assert tuned.best == {}
    assert not tuned.better
    assert (tuned.trials[OBJECTIVE] < 1).all()


def test_jobs_that_would_never_start_are_no_gain(inst):
    tuned = search(inst, {"partition.long.MaxNodes": [1, 8]})
    assert tuned.best == {}
    assert "never start" in tuned.trials["why"][0]


def test_work_that_a_new_limit_ends_is_no_gain(inst, tmp_path):
    vary = {"partition.long.MaxTime": ["1:00:00", "2-1"]}
    tuned = search(inst, vary, objective="mean_wait")
    assert not tuned.better
    runtime, before = tuned.instance.column("runtime"), weeks_of(inst, None, None).train[0]
    cut = before.instance.column("runtime") > 3600
    cut &= before.instance.column("partition") == "long"
    lost = ((before.instance.column("runtime") - 3600) * before.instance.column("tasks"))[cut]
    why = f"{cut.sum():,} jobs would end at the new limit, {lost.sum() / 3600:,.0f} core-hours"
    assert why in tuned.to_dict()["trials"][0]["why"]
    tuned.write(tmp_path / "page.html")
    assert why in (tmp_path / "page.html").read_text()
    assert why in tune_page.outcome_sentence(tuned)
    assert runtime.max() > 3600


def test_where_no_setting_can_be_had_it_is_an_error(inst, tmp_path):
    vary = {"partition.long.MaxNodes": [1], "bf_interval": [30, 60]}
    with pytest.raises(InvalidInstance, match=r"of 2 settings none can be had, .* never start"):
        search(inst, vary, journal=tmp_path / "runs.jsonl")
    assert not list(tmp_path.iterdir())


def test_nobody_waits_for_less_than_nothing(inst):
    start = np.floor(inst.column("submit") - 0.5)[None]
    assert TuningMeasure.of_text("mean_wait").evaluate(inst, start, start + 1)[0] == 0
    assert not setting_simulation.BlockSimulation(inst, start, start + 1, (), "").waits.any()


def test_of_a_group_in_one_part_of_the_weeks_nothing_is_sure(inst):
    block = weeks_of(inst, "train=1-3,test=4", None).folds[0].test
    rows = block.measured_rows(block.instance)
    low, high = gains.part_edges(block, 14)[2:4]
    submit = block.instance.column("submit")
    is_in_part = (submit >= low) & (submit < high)
    jobs = block.instance.replace(partition=np.where(is_in_part, "short", "long")).take(rows)
    start = jobs.column("submit")[None] + 100
    today, then = (
        setting_simulation.BlockSimulation(jobs, start + delay, start, (), "") for delay in (100, 0)
    )
    measure = TuningMeasure.of_text("by(partition).short.mean_wait")
    gain = held_out_gain(measure, [JudgedBlock(block, today, then)])
    assert (gain.gain, gain.low, gain.high) == (0.5, -np.inf, 1)
    assert not gain.is_proven


@pytest.mark.parametrize(("shorter", "is_proven"), [("one job", False), ("all jobs", True)])
def test_the_longest_wait_of_one_job_proves_nothing(inst, shorter, is_proven):
    block = weeks_of(inst, "train=1-3,test=4", None).folds[0].test
    jobs = block.instance.take(block.measured_rows(block.instance))
    waits = np.random.default_rng(5).uniform(5000, 6000, (2, len(jobs)))
    waits[:, 40] = 9000
    then_waits = waits / 2
    if shorter == "one job":
        then_waits = waits.copy()
        then_waits[:, 40] = 5000
    begin = jobs.column("eligible")
    today, then = (
        setting_simulation.BlockSimulation(jobs, begin + each, begin + each + 10, (), "")
        for each in (waits, then_waits)
    )
    gain = held_out_gain(TuningMeasure.of_text("max_wait"), [JudgedBlock(block, today, then)])
    assert gain.gain > 0.3
    assert gain.low <= gain.gain <= gain.high
    assert gain.is_proven is is_proven


def test_two_objectives_have_a_front(inst):
    both = ("mean_wait", "by(partition).long.mean_wait")
    tuned = search(inst, {"PriorityWeightPartition": [0, 100, 300, 1000]}, objective=both)
    ratios = sorted(trial.ratios for trial in tuned.front)
    assert ratios
    assert ratios == sorted(ratios, key=lambda pair: -pair[1])


def test_killed_and_resumed_it_is_the_same(inst, tmp_path):
    vary = {"PriorityWeightPartition": [200, 400, 800]}
    uninterrupted = search(inst, vary)
    journal = tmp_path / "runs.jsonl"

    def dies(world, tasks):
        for number, row in run_cache.run_in_threads(world, tasks):
            yield number, row
            if journal.read_text().count("\n") > 5:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        search(inst, vary, journal=journal, engine=dies)
    with journal.open("ab") as file:
        file.write(b'5\nnull\n\xff\xfe\n[[["30"],0,0,2],{"values":[],"why":""}]\n')
        file.write(
            b'[[["30"],0,0,1],{"values":[["x"]],"why":""}]\n[[5,0,0,1],{"values":[],"why":"x"}]\n'
        )
        file.write(b'[["1"], ')  # killed while it wrote
    with pytest.raises(InvalidInstance, match="did not end: --resume"):
        search(inst, vary, journal=journal)
    with pytest.raises(InvalidInstance, match="another search"):
        search(inst, vary, journal=journal, resume=True, seed=2)
    task_log = []

    def counts(world, tasks):
        task_log.extend(tasks)
        return run_cache.run_in_threads(world, tasks)

    resumed = search(inst, vary, journal=journal, resume=True, engine=counts)
    assert json.dumps(resumed.to_dict()) == json.dumps(uninterrupted.to_dict())
    assert not journal.exists()
    everything = []
    search(
        inst, vary, engine=lambda w, t: (everything.extend(t), run_cache.run_in_threads(w, t))[1]
    )
    assert len(task_log) == len(everything) - 5


def test_no_file_is_loaded_that_the_search_did_not_write(inst, tmp_path, monkeypatch):
    from cosched.experiments import engines, tuning

    executed = tmp_path / "executed"

    class Hostile:
        def __reduce__(self):
            return os.mkdir, (str(executed),)

    hostile = pickle.dumps(Hostile())
    for name in ("tune.runs.pickle", "world.pickle", ".cosched-0123456789abcdef.world"):
        (tmp_path / name).write_bytes(hostile)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    worlds = []

    def in_process(context, tasks, address):
        ((_, task), *_) = tasks
        worlds.append(Path(task["world"]))
        assert worlds[-1].stat().st_mode & 0o777 == 0o600
        return engines.in_process(context, tasks)

    monkeypatch.setattr(engines, "dask", in_process)
    with tuning.engine(tmp_path, "host:1", 1) as engine:
        search(inst, engine=engine)
    assert len(set(worlds)) == 1
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before

    def exchanged(context, tasks, address):
        """Somebody else writes to the file before a worker looks at it."""
        ((_, task), *_) = tasks
        Path(task["world"]).write_bytes(hostile)
        return engines.in_process(context, tasks)

    monkeypatch.setattr(engines, "dask", exchanged)
    with (
        pytest.raises(StudyError, match="not what this search has written"),
        tuning.engine(tmp_path, "host:1", 1) as engine,
    ):
        search(inst, engine=engine)
    assert not executed.exists()
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_workers_of_studies_give_the_same(inst, usual, tmp_path, monkeypatch):
    from cosched.experiments import engines, tuning

    addresses = []

    def in_process(context, tasks, address):
        addresses.append(address)
        return engines.in_process(context, tasks)

    monkeypatch.setattr(engines, "dask", in_process)
    with tuning.engine(tmp_path, "host:1", 1) as engine:
        by_workers = search(inst, engine=engine)
    assert json.dumps(by_workers.to_dict()) == json.dumps(usual.to_dict())
    assert set(addresses) == {"host:1"}
    assert not list(tmp_path.iterdir())


@pytest.fixture
def runs_are_seconds(monkeypatch):
    """The runs of an engine, one after another, each of which takes a second."""
    run_tasks = []

    def engine(world, tasks):
        for place, task in enumerate(tasks):
            run_tasks.append(task)
            yield place, world.run(task)

    clock = SimpleNamespace(monotonic=lambda: float(len(run_tasks)))
    monkeypatch.setattr(run_cache, "time", clock)
    monkeypatch.setattr(tune_settings, "time", clock)
    return run_tasks, engine


def test_no_run_begins_behind_the_time_limit(inst, runs_are_seconds):
    run_tasks, engine = runs_are_seconds
    tuned = search(inst, {"bf_interval": [30, 40, 50, 60]}, engine=engine, time_limit=5)
    assert len(run_tasks) == 6
    assert tuned.runs == 6 + 2  # with two as the machine is, which were there before
    assert tuned.stop_reason == "after 3 of 4 settings, at the time limit"
    assert tuned.best == {}


def test_a_time_limit_ends_the_search_and_not_the_judgement(inst, runs_are_seconds):
    run_tasks, engine = runs_are_seconds
    vary, behind = {"PriorityWeightPartition": "0..2000"}, {}
    search(
        inst,
        vary,
        budget=8,
        engine=engine,
        progress=lambda n, *_: behind.update({n: len(run_tasks)}),
    )
    run_tasks.clear()
    limit = behind[8] + 2
    tuned = search(inst, vary, budget=100, engine=engine, time_limit=limit)
    assert len(run_tasks) == limit + 1
    assert tuned.stop_reason.endswith("of 100 settings, at the time limit")
    assert tuned.best
    assert tuned.trials.whole.any()
    assert not tuned.trials.whole.all()


def test_no_setting_is_tried_where_the_time_is_over_at_once(inst, tmp_path):
    tuned = search(inst, {"bf_interval": range(30, 40)}, budget=100, time_limit=1e-9)
    assert tuned.stop_reason == "after 0 of 10 settings, at the time limit"
    assert (tuned.best, tuned.tried, tuned.runs) == ({}, 0, 0)
    tuned.write(tmp_path / "tune.html")


def test_a_grid_that_was_tried_was_not_stopped(inst, runs_are_seconds):
    run_tasks, engine = runs_are_seconds
    vary, behind = {"PriorityWeightPartition": [500, 1000], "bf_interval": [30, 60]}, {}
    options = {"engine": engine, "progress": lambda n, *_: behind.update({n: len(run_tasks)})}
    all_settings = search(inst, vary, budget=100, **options)
    assert len(all_settings.trials) == 5  # one with what was made simpler
    run_tasks.clear()
    tuned = search(inst, vary, budget=100, time_limit=behind[4] - 0.5, engine=engine)
    assert tuned.stop_reason == ""
    assert tuned.tried == len(tuned.trials) == 4


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"vary": {"PriorityWeightAg": [1]}}, "near: PriorityWeightAge"),
        ({"vary": {"bf_interval": ["x"]}}, "bf_interval"),
        ({"vary": {"partition.shor.MaxTime": [1]}}, "near: short"),
        ({"vary": {"bf_interval": "9..3"}}, "LOW < HIGH"),
        ({"vary": {"bf_interval": [30, 30]}}, "different values"),
        ({"vary": {}}, "expected KEY: values"),
        ({"objective": "mean_wai"}, "near: mean_wait"),
        ({"objective": "by(siz).wide.mean_wait"}, "near: size"),
        ({"objective": "by(partition).shrt.mean_wait"}, "near: short"),
        ({"objective": "by(qos).high.mean_wait"}, "does not say the qos"),
        ({"objective": ["mean_wait"] * 2}, "given twice"),
        ({"constraint": "mean_wait<1"}, "<= or >="),
        ({"constraint": "__import__('os').mean_wait<=1"}, "expected mean_wait"),
        ({"weeks": "train=1-3"}, "expected train=1-3,test=4"),
        ({"weeks": "train=1-3,test=3"}, "week 3 is in both"),
        ({"weeks": "train=1-3,test=9"}, "weeks 1 to 4"),
        ({"weeks": "train=1;test=2"}, "expected train=1-3,test=4"),
        ({"days": 30}, "two weeks"),
        ({"budget": 0}, "budget"),
        ({"vary": {"bf_interval": [60], "BF_Interval": [30]}}, "'bf_interval': given twice"),
        ({"vary": {"bf_interval": "30,bf_window=90"}}, "bf_window=90': a key of its own"),
        ({"vary": {"bf_interval": ["30,bf_window=90"]}}, "bf_window=90': a key of its own"),
        ({"vary": {"bf_interval": "30,030"}}, "different values"),
        ({"vary": {"bf_interval": "3-0..9"}}, "bf_interval"),
        ({"vary": {"bf_interval": f"1..{'9' * 400}"}}, "expected ends up to"),
        ({"constraint": ["mean_wait<=1"] * 2}, "given twice"),
        ({"weeks": "train=1,train=2,test=4"}, "expected train=1-3,test=4"),
        ({"days": 1e-318}, "at most 10,000"),
        ({"days": 1e-9}, "at most 10,000"),
        ({"days": 0}, "a positive number"),
        ({"days": np.nan}, "a positive number"),
    ],
)
def test_refusals(inst, given, says):
    with pytest.raises(InvalidInstance, match="(?s)" + says.replace("(", r"\(")):
        cs.slurm.tune(inst, **{"vary": {"bf_interval": [60]}} | given)


def test_a_log_of_one_moment_is_refused(inst):
    for days in (None, 1):
        with pytest.raises(InvalidInstance, match="came at once"):
            weeks_of(inst.take(np.array([0])), None, days)


def test_a_machine_has_to_be_a_slurm():
    with pytest.raises(InvalidInstance, match="expected a machine that is a slurm"):
        cs.slurm.tune(cs.cluster.Instance(jobs(), 32), vary={"bf_interval": [60]})


def test_one_search_sees_no_job_that_judges(inst):
    weeks = weeks_of(inst, "train=1-3,test=4", None)
    (fold,) = weeks.folds
    assert [block.numbers for block in weeks.train] == [(1,), (2,), (3,)]
    assert (fold.test.numbers, fold.train, weeks.explored) == ((4,), (0, 1, 2), (0, 1, 2))
    seen = [counted_ids(block) for block in weeks.train]
    judges = counted_ids(fold.test)
    assert not any(ids & judges for ids in seen)
    assert len(set().union(judges, *seen)) == len(inst)
    chosen = weeks_of(inst, "test=1-2,5,train=3", 1)
    assert (chosen.folds[0].test.numbers, chosen.count) == ((1, 2, 5), 16)


def counted_ids(block):
    return set(block.instance.ids[block.measured_rows(block.instance)].tolist())


@pytest.mark.parametrize(
    ("days", "proposes", "tests", "explored"),
    [
        (None, False, [(1,), (2,), (3,), (4,)], 0),
        (None, True, [(2,), (3,), (4,)], 1),
        (8, False, [(1,), (2,)], 0),
        (8, True, [(2,)], 1),
        (5, False, [(1,), (2,), (3,)], 0),
        (1, False, [(1, 2, 3, 4), (5, 6, 7, 8), (9, 10, 11, 12), (13, 14, 15, 16)], 0),
        (1, True, [(5, 6, 7, 8), (9, 10, 11, 12), (13, 14, 15, 16)], 4),
    ],
)
def test_no_fold_judges_a_choice_that_its_weeks_have_taken_part_in(
    inst, days, proposes, tests, explored
):
    weeks = weeks_of(inst, None, days, proposes=proposes)
    assert [fold.test.numbers for fold in weeks.folds] == tests
    assert weeks.explored == tuple(range(explored))
    for fold in weeks.folds:
        trained = [weeks.train[place] for place in fold.train]
        assert len(trained) + len(fold.test.numbers) == weeks.count
        assert set(weeks.explored) <= set(fold.train)
        judges = counted_ids(fold.test)
        assert not any(counted_ids(block) & judges for block in trained)


def test_subject_is_a_deprecated_name_of_constraint(inst):
    with pytest.warns(DeprecationWarning, match=r"tune\(constraint=\)"):
        tuned = search(inst, subject="by(size).wide.mean_wait<=3")
    assert list(map(str, tuned.constraints)) == ["by(size).wide.mean_wait<=3"]
    with pytest.warns(DeprecationWarning, match="Tuned.constraints"):
        assert tuned.subjects == tuned.constraints


def test_constraints():
    assert MeasureConstraint.of_text("mean_wait <= 1.1").violation(1.2) == pytest.approx(0.1)
    assert MeasureConstraint.of_text("mean_wait<=1.1").violation(1.1) == 0
    assert MeasureConstraint.of_text("p95_wait>=2").violation(1.5) == 0.5


@pytest.mark.parametrize(("like", "least"), [(0.0, 0.88), (0.3, 0.83)])
def test_the_interval_holds_as_often_as_it_says(like, least):
    """Of the ratio of two means: parts that are independent, and some like their neighbours."""
    random = np.random.default_rng(3)
    holds = 0
    for _ in range(400):
        noise = random.normal(size=(2, 30))
        for k in range(1, 30):
            noise[:, k] = like * noise[:, k - 1] + np.sqrt(1 - like**2) * noise[:, k]
        before, after = 4 + noise[0] + noise[1], 3 + noise[0]
        low, high = gains.ratio_interval(before, after)
        holds += low <= 0.75 <= high
    assert least * 400 <= holds <= 0.95 * 400


def test_the_interval_ends_where_the_paired_test_does():
    """At a ratio of 1 it is the t test of the differences: both say the same on every sample."""
    from scipy.stats import ttest_1samp

    random = np.random.default_rng(4)
    outcomes = set()
    for _ in range(200):
        before = random.exponential(size=12) + 1
        after = before * random.uniform(0.5, 1.3, 12)
        differences = before - after
        centred = differences - differences.mean()
        if centred[1:] @ centred[:-1] > 0:
            continue  # neighbours widen the interval
        pvalue = ttest_1samp(differences, 0, alternative="greater").pvalue
        _, high = gains.ratio_interval(before, after)
        assert (high < 1) == (pvalue < 0.05)
        outcomes.add(high < 1)
    assert outcomes == {True, False}


def test_neighbours_that_are_alike_widen_the_interval():
    before = np.full(12, 4.0) + np.tile([0.1, -0.1], 6)
    together, alternating = np.repeat([1.0, -1.0], 6), np.tile([1.0, -1.0], 6)
    low, high = gains.ratio_interval(before, 3 + together)
    closer_low, closer_high = gains.ratio_interval(before, 3 + alternating)
    assert low < closer_low < closer_high < high


def test_intervals_that_the_data_do_not_bound():
    assert gains.ratio_interval(np.array([1.0]), np.array([0.5])) == (0, np.inf)
    assert gains.ratio_interval(np.zeros(5), np.ones(5)) == (0, np.inf)
    rare = np.array([0.0, 0, 0, 0, 0, 9])
    assert gains.ratio_interval(rare, rare / 2) == (0, np.inf)
    assert gains.ratio_interval(rare, rare) == (1, 1)


@pytest.fixture
def site(inst, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "slurm.conf").write_text(CONF)
    (tmp_path / "accounts.txt").write_text(ACCOUNTS)
    cs.cluster.Instance(jobs(), 32).write("log.json")
    return "tune log.json --machine slurm.conf --draws 2 -o tune.html "


def test_the_command(site, tmp_path, capsys):
    line = f"{site} --vary PriorityWeightPartition=400,800 --objective {OBJECTIVE} --json t.json"
    assert main(line.split()) == 0
    out = capsys.readouterr().out
    assert "reduces the mean bounded slowdown by" in out
    assert "% on test weeks 1-4, 90% interval " in out
    assert "%: proven." in out
    assert "\nPriorityWeightPartition=" in out
    page = (tmp_path / "tune.html").read_text()
    for text in (
        "Lines to write",
        "Groups of jobs that change most",
        "partition short",
        OBJECTIVE,
        "<svg",
        "weeks that the search did not see",
    ):
        assert text in page
    assert "<script" not in page
    assert "<link" not in page
    data = json.loads((tmp_path / "t.json").read_text())
    assert data["better"]
    assert data["gain_p05"] < data["gain"] < data["gain_p95"]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "accounts.txt", "log.json", "slurm.conf", "t.json", "tune.html",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ("--vary bf_intervall=60", "near: bf_interval"),
        ("--vary bf_interval", "expected KEY=A,B,C or KEY=LOW..HIGH"),
        ("--vary bf_interval=60 --vary bf_interval=30", "given twice"),
        ("--vary bf_interval=60 --days 0", "a positive number"),
        ("--vary bf_interval=60 --engine dusk", "near: dask"),
        ("--vary bf_interval=60 --engine dask", "expected --dask with --engine dask"),
        ("--vary bf_interval=60 --budget x", "--budget"),
    ],
)
def test_the_command_refuses(site, tmp_path, capsys, more, says):
    before = sorted(tmp_path.iterdir())
    assert main((site + more).split()) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert says in line
    assert sorted(tmp_path.iterdir()) == before


def test_settings_of_accounts_are_told_to_sacctmgr(site):
    machine = cs.cluster.Machine.read("slurm.conf", accounts="accounts.txt")
    inst = cs.cluster.Instance(jobs(), 32, machine=machine)
    vary = {"qos.normal.MaxTRESPU": ["cpu=24"], "users.ada": ["-50%"]}
    tuned = search(inst, vary, objective="mean_wait")
    assert tuned._config_lines_for(("cpu=24", "-50%")) == [
        "sacctmgr -i modify qos normal set MaxTRESPU=cpu=24",
        "# users.ada=-50%",
    ]
    assert tuned._config_lines_for(BASELINE) == []


def test_work_is_lost_where_the_log_does_not_say_partitions(inst):
    columns = {name: column for name, column in jobs(200).items() if name != "partition"}
    bare = cs.cluster.Instance(columns, 32, machine=inst.machine)
    with pytest.raises(InvalidInstance, match="would end at the new limit"):
        search(bare, {"partition.long.MaxTime": ["1:00:00"]}, objective="mean_wait", draws=1)


def test_a_key_without_effect_is_said():
    conf = CONF.replace("accounting_storage/slurmdbd", "accounting_storage/none")
    instance = cs.cluster.Instance(jobs(), 32, machine=slurm_machine(conf, "slurm.conf", "22.05"))
    vary = {"PriorityWeightAge": [0, 9000], "bf_interval": [30, 60]}
    tuned = search(instance, vary)
    why = "PriorityWeightAge has no effect: AccountingStorageType is not"
    assert [reason.startswith(why) for reason in tuned.keys_without_effect] == [True]
    assert tuned.keys_without_effect[0] in tuning_report(tuned).to_html()


def test_one_run_of_a_setting_is_too_few(inst):
    with pytest.raises(InvalidInstance, match=r"expected two runs .* \(--draws 2, or more --weeks"):
        search(inst, draws=1, weeks="train=1,test=2")


def test_where_one_draw_has_no_waits_more_are_advised(inst):
    short_jobs = inst.replace(runtime=np.full(len(inst), 1.0))
    with pytest.raises(InvalidInstance, match=r"nothing to gain \(in one draw .*--draws\)"):
        search(short_jobs, draws=1, objective="mean_wait")
