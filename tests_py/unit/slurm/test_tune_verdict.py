"""What ``tune`` says of a setting: which direction, proven or not; and that its lines keep it."""

import json

import numpy as np
import pytest
from planted_slurm_logs import FAMILIES

import cosched as cs
from cosched.cli import main
from cosched.slurm.machines import slurm_machine
from cosched.slurm.tuning import run_cache
from cosched.slurm.tuning.gains import HeldOutGain
from cosched.slurm.tuning.race import Trial
from cosched.slurm.tuning.space import MeasureConstraint, TuningMeasure
from cosched.slurm.tuning.tuned import outcome_sentence
from cosched.slurm.tuning.verdict import (
    GainVerdict,
    held_out_sentence,
    no_better_setting_sentence,
    percent_interval,
    verdict_of,
    week_numbers,
)
from cosched.slurm.tuning.weeks import weeks_of
from support import REPO

OVERLOADED = REPO / "tests_py" / "fixtures" / "overloaded"


def gain_of(gain, low, high, measure="mean_wait"):
    return HeldOutGain(TuningMeasure.of_text(measure), 100.0, 100.0 * (1 - gain), gain, low, high)


@pytest.mark.parametrize(
    ("gains", "verdict"),
    [
        ([(0.3, 0.1, 0.5)], GainVerdict.PROVEN),
        ([(0.3, -0.1, 0.5)], GainVerdict.NOT_PROVEN),
        ([(0.3, 0.0, 0.5)], GainVerdict.NOT_PROVEN),
        ([(0.01, 0.005, 0.02)], GainVerdict.PROVEN),
        ([(0.009, 0.005, 0.02)], GainVerdict.NEGLIGIBLE),
        ([(0.009, 0.005, 0.02), (0.3, -0.1, 0.5)], GainVerdict.NEGLIGIBLE),
        ([(-0.1, -0.3, 0.2)], GainVerdict.NOT_BETTER),
        ([(-0.1, -0.3, -0.01)], GainVerdict.NOT_BETTER),
        ([(0.0, 0.0, 0.0)], GainVerdict.NO_EFFECT),
        ([(1e-16, -1e-16, 1e-16)], GainVerdict.NO_EFFECT),
        ([(0.0004, -0.0004, 0.0004)], GainVerdict.NO_EFFECT),
        ([(0.0, 0.0, 0.0), (0.3, -0.1, 0.5)], GainVerdict.NOT_PROVEN),
        ([(0.0004, -0.1, 0.1)], GainVerdict.NOT_PROVEN),
        ([(0.3, 0.1, 0.5), (-0.1, -0.3, 0.2)], GainVerdict.PROVEN),
        ([(0.3, 0.1, 0.5), (-0.1, -0.3, -0.01)], GainVerdict.NOT_PROVEN),
    ],
)
def test_the_verdict_follows_from_the_intervals(gains, verdict):
    assert verdict_of(("5",), [gain_of(*each) for each in gains], [], []) is verdict
    assert verdict_of((), [gain_of(*each) for each in gains], [], []) is GainVerdict.NOT_BETTER


def test_a_proven_gain_that_breaks_a_constraint_is_not_accepted():
    constraint = MeasureConstraint.of_text("by(size).wide.mean_wait<=1.1")
    gains = [gain_of(0.3, 0.1, 0.5)]
    for gain, verdict in ((-0.2, GainVerdict.CONSTRAINT_BROKEN), (-0.05, GainVerdict.PROVEN)):
        assert verdict_of(("5",), gains, [gain_of(gain, -1, 1)], [constraint]) is verdict


@pytest.mark.parametrize(
    ("gain", "says"),
    [
        ((0.33, -0.26, 0.92), "reduces the mean wait by 33.0% on test weeks 1-2, 90% interval "
         "-26.0% to 92.0%: not proven."),
        ((-0.05, -0.2, 0.1), "increases the mean wait by 5.0% on test weeks 1-2, 90% interval "
         "-10.0% to 20.0%: not better."),
        ((0.0004, -0.1, 0.1), "changes the mean wait by less than 0.1% on test weeks 1-2, 90% "
         "interval -10.0% to 10.0%: not proven."),
        ((0.2, -np.inf, 1.0), "reduces the mean wait by 20.0% on test weeks 1-2, 90% interval "
         "unbounded to 100.0%: not proven."),
        ((-0.2, -np.inf, 1.0), "increases the mean wait by 20.0% on test weeks 1-2, 90% interval "
         "-100.0% to unbounded: not better."),
    ],
)  # fmt: skip
def test_the_sentence_says_the_direction_and_whether_it_is_proven(gain, says):
    gains = [gain_of(*gain)]
    verdict = verdict_of(("5",), gains, [], [])
    assert held_out_sentence("x=5", gains, (1, 2), 0.9, verdict) == f"x=5 {says}"


@pytest.mark.parametrize("share", [0.0, 1e-16, -1e-16])
def test_a_setting_without_effect_is_neither_better_nor_not_proven(share):
    gains = [gain_of(share, share, share)]
    verdict = verdict_of(("5",), gains, [], [])
    assert held_out_sentence("x=5", gains, (1, 2), 0.9, verdict) == (
        "No effect: x=5 leaves the mean wait as it is on test weeks 1-2."
    )


def test_words_of_weeks_and_intervals():
    assert [week_numbers(weeks) for weeks in ([4], [1, 2, 3], [1, 3])] == [
        "week 4", "weeks 1-3", "weeks 1, 3",
    ]  # fmt: skip
    assert percent_interval(-0.5, 0.25) == "-50.0% to 25.0%"
    words = TuningMeasure.of_text("by(partition).gpu.p95_wait").words
    assert words == "the 95th-percentile wait of partition gpu"


@pytest.mark.parametrize(
    ("ratios", "broken", "says"),
    [
        ([(1.25,), (1.004,)], 0.0, "; the nearest, x=2, increases it by 0.4%."),
        ([(1.0,), (1.0,)], 0.0, "; x=1 changes nothing."),
        ([(1.25,), (1.0,)], 0.0, "; x=2 changes nothing; the nearest, x=1, increases it by 25.0%."),
        ([(1.25,), (0.9999,)], 0.0, "; the nearest, x=2, changes it by less than 0.1%."),
        ([(1.25,), (0.9,)], 0.0, " of a fold; the nearest, x=2, reduces it by 10.0% in all."),
        ([(0.5,), (0.6,)], 0.2, " and keeps the constraints."),
        ([], 0.0, "."),
    ],
)
def test_the_nearest_setting_is_said_where_none_is_better(ratios, broken, says):
    trials = [
        Trial((str(number),), ratio, violation=broken, runs=8, has_all_runs=True)
        for number, ratio in enumerate(ratios, 1)
    ]
    sentence = no_better_setting_sentence(2, trials, ["x"], [TuningMeasure("mean_wait")])
    single = no_better_setting_sentence(1, trials, ["x"], [TuningMeasure("mean_wait")])
    assert single == sentence.replace("2 settings", "1 setting")
    beginning = "Not better: of 2 settings none reduces the mean wait in the weeks of the search"
    assert sentence == beginning + says


def test_the_direction_of_a_dropped_setting_is_said_where_the_other_is_that_of_today():
    trials = [
        Trial(("0",), (1.0,), runs=16, has_all_runs=True),
        Trial(("1000",), (1.5,), runs=4),
        Trial(("2000",), (), why="no schedule"),
    ]
    sentence = no_better_setting_sentence(3, trials, ["x"], [TuningMeasure("mean_wait")])
    assert sentence == (
        "Not better: of 3 settings none reduces the mean wait in the weeks of the search; x=0 "
        "changes nothing; the nearest, x=1000, increases it by 50.0% in 4 runs, after which the "
        "search dropped it."
    )


@pytest.fixture(scope="module")
def overloaded_command(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tune")
    log, conf = OVERLOADED / "jobs.csv", OVERLOADED / "slurm.conf"
    return folder, f"tune {log} --machine {conf} --json {folder}/t.json -o {folder}/t.html "


def test_a_gain_in_one_busy_period_is_not_proven(overloaded_command, capsys):
    """Five hours of a backlog that only grows: no part of them is independent of the others."""
    folder, command = overloaded_command
    options = "--vary PriorityWeightJobSize=0,1000 --weeks train=1-3,test=4"
    assert main((command + options).split()) == 0
    first, *others = capsys.readouterr().out.splitlines()
    assert first.startswith("PriorityWeightJobSize=0 reduces the mean wait by 32.")
    assert first.endswith(": not proven.")
    assert "on test week 4, 90% interval -" in first
    assert "PriorityWeightJobSize=0" not in others  # no line to write
    data = json.loads((folder / "t.json").read_text())
    assert (data["verdict"], data["better"], data["lines"]) == ("not proven", False, [])
    assert data["best"] == {"PriorityWeightJobSize": "0"}
    assert data["gain_p05"] < 0 < data["gain"]
    assert "not proven" in (folder / "t.html").read_text()


def test_where_nothing_is_better_the_nearest_setting_is_said(overloaded_command, capsys):
    folder, command = overloaded_command
    assert main((command + "--vary PriorityWeightJobSize=1000,2000").split()) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first == (
        "Not better: of 2 settings none reduces the mean wait in the weeks of the search; "
        "PriorityWeightJobSize=1000 changes nothing."
    )
    assert json.loads((folder / "t.json").read_text())["verdict"] == "not better"


def test_the_deprecated_option_subject_is_a_constraint(overloaded_command, capsys):
    folder, command = overloaded_command
    options = "--vary PriorityWeightJobSize=1000 --draws 1 --subject mean_wait<=3"
    assert main((command + options).split()) == 0
    assert "--subject is deprecated: use --constraint" in capsys.readouterr().err
    measures = json.loads((folder / "t.json").read_text())["measures"]
    assert [measure["measure"] for measure in measures] == ["mean_wait", "mean_wait"]
    assert (
        main((command + "--vary PriorityWeightJobSize=1000 --constraint mean_wait<1").split()) == 2
    )
    assert "constraint 'mean_wait<1': expected a measure" in capsys.readouterr().err


@pytest.mark.parametrize("values", ["0,-5", "-5..60", "x,60"])
def test_values_that_slurm_does_not_take_are_refused(overloaded_command, capsys, values):
    folder, command = overloaded_command
    before = sorted(folder.iterdir())
    assert main([*command.split(), "--vary", f"bf_interval={values}"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "bf_interval" in line
    assert sorted(folder.iterdir()) == before


#: The family, what is varied, and further arguments of ``tune``: lists, ranges, two searches.
SEARCHES = [
    ("short jobs first", {"PriorityWeightPartition": [0, 1000], "bf_interval": [300, 310]}, {}),
    ("small jobs first", {"PriorityFavorSmall": ["NO", "YES"]}, {"weeks": "train=1-2,test=3-4"}),
    ("short jobs first", {"PriorityWeightPartition": "100..2000"}, {"budget": 9}),
]


@pytest.fixture(scope="module", params=SEARCHES, ids=["lists", "one test", "ranges"])
def planted_search(request):
    """A search that proves a planted gain, and the runs that it asked for."""
    name, vary, options = request.param
    family = FAMILIES[name]
    runs = []

    def engine(world, tasks):
        runs.extend(task_key(task) for task in tasks)
        return run_cache.run_in_threads(world, tasks)

    def tune(**changes):
        arguments = {"vary": vary, "draws": 2, "seed": 3, "engine": engine} | options | changes
        return cs.slurm.tune(family.instance(3), **arguments)

    return family, tune, tune(), runs


def task_key(task):
    return tuple(task["setting"]), task["block"], task["draw"]


def with_lines(conf, lines):
    """A slurm.conf with lines that take the place of those of the same key."""
    keys = {line.partition("=")[0] for line in lines}
    rest = [line for line in conf.splitlines() if line.partition("=")[0] not in keys]
    return "\n".join([*rest, *lines]) + "\n"


def test_the_lines_in_a_slurm_conf_give_the_gain_that_is_stated(planted_search, tmp_path):
    family, _, tuned, _ = planted_search
    assert tuned.better
    conf = tmp_path / "slurm.conf"
    conf.write_text(with_lines(family.conf, tuned.lines()))
    machines = slurm_machine(family.conf, "slurm.conf", "22.05"), cs.cluster.Machine.read(conf)
    waits = [[], []]
    for number, (fold, setting) in enumerate(
        zip(tuned.weeks.folds, tuned.fold_settings, strict=True)
    ):
        if setting != tuned.setting:
            continue
        block = fold.test
        for place, machine in enumerate(machines):
            jobs = {"id": block.instance.ids, **block.instance.raw_columns}
            inst = cs.cluster.Instance(jobs, block.instance.nodes, machine=machine)
            seed = tuned.seed + len(tuned.weeks.train) + number
            result = cs.cluster.solve(inst, "slurm-backfill", seed=seed, draws=tuned.draws)
            begin = inst.column("submit")
            wait = np.maximum(result.draws.starts - inst.column("eligible"), 0)
            counts = np.zeros(len(inst), dtype=bool)
            for low, high in block.spans:
                counts |= (begin >= low) & (begin < high)
            waits[place].append(wait[:, counts])
    today, then = (np.concatenate(each, axis=1).mean() for each in waits)
    assert tuned.gains[0].today == pytest.approx(today)
    assert tuned.gain == pytest.approx(1 - then / today)
    assert tuned.gain > 0.1


def test_a_search_that_was_killed_repeats_no_run(planted_search, tmp_path):
    _, tune, tuned, runs = planted_search
    # The search takes over the simulations of the machine as it is: the engine runs none of them.
    baseline_count = tuned.draws * len(tuned.weeks.train)
    assert len(runs) == len(set(runs)) == tuned.runs - baseline_count
    journal = tmp_path / "runs.jsonl"
    killed_runs, resumed_runs = [], []

    def dies(world, tasks):
        for place, row in run_cache.run_in_threads(world, tasks):
            killed_runs.append(task_key(tasks[place]))
            yield place, row
            if len(killed_runs) == len(runs) // 2:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tune(engine=dies, journal=journal)

    def goes_on(world, tasks):
        resumed_runs.extend(task_key(task) for task in tasks)
        return run_cache.run_in_threads(world, tasks)

    resumed = tune(engine=goes_on, journal=journal, resume=True)
    assert len(killed_runs) == len(runs) // 2
    assert sorted(killed_runs + resumed_runs) == sorted(set(runs))
    assert json.dumps(resumed.to_dict()) == json.dumps(tuned.to_dict())
    assert not journal.exists()


def test_the_winner_is_judged_by_the_weeks_whose_own_search_chose_it(planted_search):
    _, _, tuned, _ = planted_search
    pairs = [*zip(tuned.weeks.folds, tuned.fold_settings, strict=True)]
    judged = [fold.test.numbers for fold, setting in pairs if setting == tuned.setting]
    assert tuned.judged_weeks == tuple(number for numbers in judged for number in numbers)
    assert len(tuned.baseline.jobs) == tuned.baseline.waits.shape[1] == tuned.winner.waits.shape[1]
    assert tuned.gains[0].today == pytest.approx(tuned.baseline.waits.mean())
    assert tuned.gains[0].then == pytest.approx(tuned.winner.waits.mean())
    assert outcome_sentence(tuned).endswith(": proven.")


def test_the_jobs_of_a_test_week_have_no_say_in_what_is_tested_on_them():
    """Under an opposite last week its own search chooses the same, and the others may not."""
    family = FAMILIES["small jobs first"]
    inst = family.instance(3)
    last_week = np.flatnonzero(
        inst.column("submit") >= weeks_of(inst, None, None).train[3].spans[0][0]
    )
    tasks = inst.column("tasks").copy()
    tasks[last_week] = 1  # nobody waits, and no order is better
    chosen = []
    for log in (inst, inst.replace(tasks=tasks)):
        vary = {"PriorityFavorSmall": ["NO", "YES"], "PriorityWeightJobSize": [0, 100000]}
        tuned = cs.slurm.tune(log, vary=vary, draws=1)
        ratios = [trial.ratios for trial in tuned.all_trials]
        chosen.append((tuned.fold_settings[3], ratios))
    assert chosen[0][0] == chosen[1][0]
    assert chosen[0][1] != chosen[1][1]
