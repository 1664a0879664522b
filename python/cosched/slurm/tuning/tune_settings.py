"""``slurm.tune``: search settings of a slurm.conf, and test the best on weeks that did not choose
it."""

import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from cosched.cluster.analysis.what_if import on_machine
from cosched.cluster.instance import Instance
from cosched.cluster.judgement import LogJudgement, judge_log
from cosched.cluster.machine import Machine, machine_of
from cosched.core.arrays import flag, integer, seed_of, time_limit_of
from cosched.core.text import first_repeated, texts
from cosched.errors import CoschedError, InvalidInstance, shorten
from cosched.slurm.tuning.folds import FoldSearch, TuningProblem, search
from cosched.slurm.tuning.gains import CONFIDENCE, HeldOutGain, JudgedBlock, held_out_gain
from cosched.slurm.tuning.run_cache import Engine, RunCache, run_in_threads
from cosched.slurm.tuning.setting_simulation import (
    BlockSimulation,
    SimulationContext,
    drop_unstartable_jobs,
)
from cosched.slurm.tuning.space import (
    BASELINE,
    MeasureConstraint,
    Setting,
    TuningMeasure,
    dimensions_of,
    grid,
    what_if_text,
)
from cosched.slurm.tuning.tuned import Tuned
from cosched.slurm.tuning.weeks import Block, Weeks, weeks_of


def tune(
    instance: Instance,
    machine: Machine | str | PathLike[str] | None = None,
    *,
    vary: Mapping[str, object],
    objective: str | Iterable[str] = "mean_wait",
    constraint: str | Iterable[str] = (),
    weeks: str | None = None,
    days: float | None = None,
    budget: int = 200,
    draws: int = 4,
    seed: int | None = 0,
    time_limit: float | None = None,
    journal: str | PathLike[str] | None = None,
    resume: bool = False,
    judgement: LogJudgement | None = None,
    engine: Engine = run_in_threads,
    progress: Callable[[int, int, str], None] | None = None,
    subject: str | Iterable[str] | None = None,
) -> Tuned:
    """Search lines of a slurm.conf for a better setting; test it on weeks that did not choose it.

    All settings are simulated with the same jobs and the same random scheduler timing, so that
    differences between settings are not noise. In each of up to four folds of weeks the setting is
    tested that a search in the other weeks chose (cross-fitting). The winner is the setting that
    most folds chose. Its gain, with a 90% confidence interval, is that of the folds whose own
    search chose it. The gain is proven where the interval is above zero.

    Parameters
    ----------
    instance : Instance
        A log with at least two weeks of jobs.
    machine : Machine or path-like, optional
        A slurm.conf; default the instance's machine.
    vary : mapping
        Key of :func:`~cosched.cluster.audit`'s what-ifs -> ``"30,60,120"``, ``"0..200000"`` or a
        list of values.
    objective : str or two of them
        What is to be small: ``mean_wait``, ``p95_wait``, ``max_wait`` (s),
        ``mean_bounded_slowdown``; of a group ``by(partition).gpu.p95_wait``. With two there is a
        Pareto front, and the best has the smallest product.
    constraint : str or several
        What has to hold, relative to the current configuration:
        ``"by(size).wide.mean_wait<=1.1"`` (wide: the widest tenth of the jobs; narrow: the others;
        or a range of sizes as the audit names it).
    weeks : str, optional
        ``"train=1-3,test=4"``, counted from 1: one search, tested once. Default: cross-fitting.
    days : float, optional
        Length of a week (days); default 7, or a quarter of a log of less than four weeks.
    budget : int
        Settings that are tried at most.
    draws : int
        Replications of each week, with random scheduler timing.
    seed : int, optional
        Of the random scheduler timing and of the optimiser; None means 0.
    time_limit : float or None
        Seconds after which no further run begins; the best of the settings with all their runs is
        judged.
    journal : path-like, optional
        File that keeps every run, so that a search that was killed goes on; it is removed when the
        search ends.
    resume : bool
        Go on with the runs of the journal, if it is there. The result is the same as without the
        interruption.
    judgement : LogJudgement, optional
        How well the simulator explains the log; default: :func:`~cosched.cluster.judge_log` of
        `instance`.
    engine : callable
        Where runs happen: ``engine(context, tasks)`` yields (place in `tasks`, row) as runs end;
        default: threads on all processors.
    progress : callable, optional
        Called with the number of settings tried, the number of all, and the best so far in words.
    subject : str or several, optional
        Deprecated name of `constraint`.

    Returns
    -------
    Tuned
        The winner and its gain: ``best``, ``gain``, ``gain_p05``, ``gain_p95`` (shares of the
        first objective), ``verdict``, ``trials``, ``lines()``.

    Raises
    ------
    InvalidInstance
        A key, value, measure or week that there is not (near names are said); a machine that is no
        slurm.conf; a journal of another search.
    MissingExtra
        More settings than `budget`, and ``cosched-hpc[tune]`` is not installed.

    Notes
    -----
    O(budget x weeks x draws) runs of the simulator at most. Settings race: each heat has twice the
    runs of the heat before, and settings that lose a paired test, or are in the worse half, are
    given up. Lists of no more than `budget` settings are tried as a whole. Of more, or of ranges,
    Optuna's tree-structured Parzen estimator proposes `budget` settings in the first quarter of
    the weeks, which then judges nothing; the folds choose among the best eight. With two
    objectives the interval of each has 95% (Bonferroni).

    References
    ----------
    Chernozhukov et al. 2018, *Double/debiased machine learning for treatment and structural
    parameters* (cross-fitting); Jamieson, Talwalkar 2016, *Non-stochastic best arm identification*;
    Birattari et al. 2002, *A racing algorithm for configuring metaheuristics*; Bergstra et al. 2011
    (TPE).

    Examples
    --------
    >>> conf = pathlib.Path(tempfile.mkdtemp()) / "slurm.conf"
    >>> _ = conf.write_text("NodeName=n[1-8] CPUs=1\\nPartitionName=p Nodes=ALL Default=YES\\n")
    >>> inst = cs.cluster.Instance(cs.workloads.lublin(400, 8, seed=1), nodes=8)
    >>> tuned = cs.slurm.tune(inst, conf, vary={"bf_interval": [30, 31]}, draws=1)
    >>> tuned
    <Tuned: nothing of 2 settings is better than today>
    >>> str(tuned.verdict), tuned.lines()
    ('not better', [])
    """
    Instance.require(instance)
    baseline_instance = _instance_on_machine(instance, machine)
    if subject is not None:
        warnings.warn("tune(subject=) is now tune(constraint=)", DeprecationWarning, stacklevel=2)
        constraint = (*texts(constraint, "constraint"), *texts(subject, "subject"))
    objectives, constraints = _parse_measures(objective, constraint)
    measures = (*objectives, *(limited.measure for limited in constraints))
    dimensions = dimensions_of(baseline_instance, vary)
    max_settings = integer(budget, "budget", 1, 1_000_000)
    draw_count = integer(draws, "draws", 1, 10_000)
    seed_number = seed_of(seed)
    limit = time_limit_of(time_limit)
    # The weeks, and the machine as it is in those that judge.
    log_weeks = weeks_of(
        baseline_instance, weeks, days, proposes=grid(dimensions, max_settings) is None
    )
    _require_two_runs(log_weeks, draw_count)
    startable_blocks = [
        drop_unstartable_jobs(block, draw_count, seed_number + number)
        for number, block in enumerate(log_weeks.blocks)
    ]
    blocks = [startable.block for startable in startable_blocks]
    keys = tuple(dimension.key for dimension in dimensions)
    context = SimulationContext(keys, tuple(blocks), measures, draw_count, seed_number)
    # Nothing is simulated twice as the machine is: the search and the test use these, too.
    baselines_of_blocks = [startable.baseline for startable in startable_blocks]
    test_blocks = range(len(log_weeks.train), len(blocks))
    baselines = {number: baselines_of_blocks[number] for number in test_blocks}
    _require_waits(context, objectives, [*baselines.values()])
    # The search.
    head = [[str(part) for part in (*dimensions, *objectives, *constraints)], max_settings]
    path = None if journal is None else Path(journal)
    with RunCache(context, engine, path, flag(resume, "resume"), head) as runs:
        if limit is not None:
            runs.deadline = time.monotonic() + limit
        runs.keep_baselines(baselines_of_blocks[: len(log_weeks.train)])
        problem = TuningProblem(
            dimensions, max_settings, len(objectives), constraints, log_weeks, runs
        )
        outcome = search(problem, progress or (lambda *_: None))
    if outcome.trials and all(trial.why for trial in outcome.trials.values()):
        runs.remove_journal()
        raise _no_setting_can_be_had(outcome, keys)
    # The test.
    confidence = 1 - (1 - CONFIDENCE) / len(objectives)
    test = _test_winner(context, outcome, baselines, confidence)
    runs.remove_journal()
    return Tuned(
        instance=baseline_instance,
        dimensions=dimensions,
        objectives=objectives,
        constraints=constraints,
        weeks=log_weeks,
        all_trials=tuple(outcome.trials.values()),
        tried=outcome.tried,
        setting=test.setting,
        fold_settings=tuple(outcome.chosen),
        judged_weeks=tuple(week for number in test.folds for week in blocks[number].numbers),
        gains=test.gains,
        confidence=confidence,
        baseline=BlockSimulation.joined([block.today for block in test.blocks]),
        winner=BlockSimulation.joined([block.then for block in test.blocks]),
        runs=runs.count,
        draws=draw_count,
        seed=seed_number,
        judgement=judge_log(baseline_instance) if judgement is None else judgement,
        stop_reason=outcome.stopped,
        failure=test.failure,
        left_out=_count_left_out_jobs(log_weeks, blocks),
    )


def _parse_measures(
    objective: str | Iterable[str], constraint: str | Iterable[str]
) -> tuple[tuple[TuningMeasure, ...], tuple[MeasureConstraint, ...]]:
    """Return the objectives, one or two, and the constraints, each given once."""
    objectives = tuple(TuningMeasure.of_text(text) for text in texts(objective, "objective"))
    if not 1 <= len(objectives) <= 2:
        raise InvalidInstance(f"objective {shorten(objective)}: expected one or two")
    constraints = tuple(MeasureConstraint.of_text(text) for text in texts(constraint, "constraint"))
    for name, given_measures in (("objective", objectives), ("constraint", constraints)):
        repeated_measure = first_repeated(map(str, given_measures))
        if repeated_measure is not None:
            raise InvalidInstance(f"{name} {repeated_measure}: given twice")
    return objectives, constraints


def _no_setting_can_be_had(outcome: FoldSearch, keys: tuple[str, ...]) -> InvalidInstance:
    """Return the error that no setting of a search has a result, with the reason of the first."""
    first_trial = next(iter(outcome.trials.values()))
    return InvalidInstance(
        f"of {outcome.tried} settings none can be had, the first, "
        f"{what_if_text(keys, first_trial.setting)}: {first_trial.why}"
    )


class _Test(NamedTuple):
    """The winner of a search on weeks that did not choose it."""

    #: The winner; :data:`BASELINE` where none is better, or it cannot be simulated.
    setting: Setting
    #: Why the winner cannot be simulated in these weeks; empty: it can.
    failure: str
    #: Numbers of the test blocks.
    folds: list[int]
    #: These blocks as they are, and under the winner.
    blocks: list[JudgedBlock]
    #: Each objective, then each constraint.
    gains: tuple[HeldOutGain, ...]


def _test_winner(
    context: SimulationContext,
    outcome: FoldSearch,
    baselines: Mapping[int, BlockSimulation],
    confidence: float,
) -> _Test:
    """Simulate the winner in the test blocks of the folds whose own search has chosen it.

    Other folds had a say in the choice by their votes alone. Without a winner all folds judge.

    Parameters
    ----------
    baselines : mapping
        The test blocks as they are, by number.
    confidence : float
        Of the intervals.
    """
    winner = outcome.winner
    folds = [
        number
        for number, setting in zip(baselines, outcome.chosen, strict=True)
        if not any(winner) or setting == winner
    ]
    try:
        return _test_setting(context, winner, folds, baselines, confidence)
    except CoschedError as error:  # jobs that the weeks of the search did not have
        test = _test_setting(context, BASELINE, [*baselines], baselines, confidence)
        return test._replace(failure=str(error))


def _test_setting(
    context: SimulationContext,
    setting: Setting,
    folds: list[int],
    baselines: Mapping[int, BlockSimulation],
    confidence: float,
) -> _Test:
    """Return the gains of a setting in these test blocks."""
    blocks = [_judged_block(context, setting, number, baselines[number]) for number in folds]
    gains = tuple(held_out_gain(measure, blocks, confidence) for measure in context.measures)
    return _Test(setting, "", folds, blocks, gains)


def _judged_block(
    context: SimulationContext, setting: Setting, number: int, baseline: BlockSimulation
) -> JudgedBlock:
    """Return a test block as it is (`baseline`), and under a setting."""
    if not any(setting):
        return JudgedBlock(context.blocks[number], baseline, baseline)
    simulation = context.simulate(setting, number, 0, context.draws)
    return JudgedBlock(context.blocks[number], baseline, simulation)


def _count_left_out_jobs(weeks: Weeks, startable_blocks: Sequence[Block]) -> int:
    """Return how many jobs never start as the machine is, of all weeks that are searched or
    judged."""
    job_count = 0
    counted_weeks = set[int]()
    for block, startable_block in zip(weeks.blocks, startable_blocks, strict=True):
        if not counted_weeks.issuperset(block.numbers):
            job_count += _count_measured_jobs(block) - _count_measured_jobs(startable_block)
            counted_weeks.update(block.numbers)
    return job_count


def _require_two_runs(weeks: Weeks, draws: int) -> None:
    """Check that each search has two runs of a setting at least."""
    if draws * min(len(fold.train) for fold in weeks.folds) < 2:
        raise InvalidInstance(
            "draws = 1 of one week to search in: expected two runs of a setting at least, since a "
            "test over runs tells chance from gain (--draws 2, or more --weeks)"
        )


def _instance_on_machine(
    instance: Instance, machine: Machine | str | PathLike[str] | None
) -> Instance:
    """Return the instance on the machine that is tuned, which has to be a slurm.conf."""
    if machine is not None:
        instance, _ = on_machine(instance, machine_of(machine))
    tuned_machine = instance.machine
    if tuned_machine is None or tuned_machine.slurm is None or tuned_machine.slurm.source is None:
        raise InvalidInstance("tune: expected a machine that is a slurm.conf (--machine)")
    return instance.without_bound()


def _count_measured_jobs(block: Block) -> int:
    """Return how many jobs of a block count."""
    return len(block.measured_rows(block.instance))


def _require_waits(
    context: SimulationContext,
    objectives: Sequence[TuningMeasure],
    baselines: Sequence[BlockSimulation],
) -> None:
    """Check that all measures have jobs in all weeks, and that there is something to gain in those
    that judge."""
    for block in context.blocks:
        for measure in context.measures:
            measure.rows(block.instance.take(block.measured_rows(block.instance)))
    for measure in objectives:
        if not any(
            measure.evaluate(baseline.jobs, baseline.start, baseline.end).max() > 0
            for baseline in baselines
        ):
            hint = " (in one draw of the clocks; more may have waits: --draws)"
            raise InvalidInstance(
                f"{measure} is 0 in the weeks to judge by: there is nothing to gain"
                f"{hint if context.draws == 1 else ''}"
            )
