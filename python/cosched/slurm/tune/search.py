"""The search as a whole."""

import time
from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from cosched.cluster.instance import Instance
from cosched.cluster.instance.usage import has_waits
from cosched.cluster.machine import Machine, machine_of
from cosched.cluster.page.what_if import on_machine
from cosched.cluster.result.log_fit import fit_of
from cosched.core.arrays import flag, integer, seed_of, time_limit_of
from cosched.core.text import first_repeated, texts
from cosched.errors import CoschedError, InvalidInstance, shorten
from cosched.slurm.tune.race import Trial, batches, order, race, simplest
from cosched.slurm.tune.space import (
    TODAY,
    Block,
    Measure,
    Setting,
    Subject,
    change_of,
    dimensions_of,
    grid,
    weeks_of,
)
from cosched.slurm.tune.trials import Engine, Runs, Simulated, World, judged, startable, threads
from cosched.slurm.tune.tuned import Tuned
from cosched.slurm.twin.backfill import slurm_backfill


def tune(
    instance: Instance,
    machine: Machine | str | PathLike[str] | None = None,
    *,
    vary: Mapping[str, Any],
    objective: str | Iterable[str] = "mean_wait",
    subject: str | Iterable[str] = (),
    weeks: str | None = None,
    days: float | None = None,
    budget: int = 200,
    draws: int = 4,
    seed: int | None = 0,
    time_limit: float | None = None,
    journal: str | PathLike[str] | None = None,
    resume: bool = False,
    engine: Engine = threads,
    progress: Callable[[int, int, str], None] | None = None,
) -> Tuned:
    """Search lines of a slurm.conf for a better setting, and judge it on weeks unseen.

    Settings race over weeks and draws of the clocks, which are the same for all: differences
    count, not levels. Losers are given up early (successive halving, and a paired test); Optuna's
    tree-structured Parzen estimator proposes the next ones, or all are tried where they are few.
    The winner alone is then measured, once, on the weeks that the search did not see.

    Parameters
    ----------
    machine : Machine or path-like, optional
        A slurm.conf; default the instance's machine.
    vary : mapping
        Key of :func:`audit`'s what-ifs -> ``"30,60,120"``, ``"0..200000"`` or a list of values.
    objective : str or two of them
        What is to be small: ``mean_wait``, ``p95_wait``, ``max_wait``,
        ``mean_bounded_slowdown``; of a group ``by(partition).gpu.p95_wait``. With two there is a
        Pareto front, and the best has the smallest product.
    subject : str or several
        What has to hold, against today's: ``"by(size).wide.mean_wait<=1.1"`` (wide: the widest
        tenth of the jobs; narrow: the others; or a range of sizes as the audit names it).
    weeks : str, optional
        ``"train=1-3,test=4"``, counted from 1; default: the last quarter judges.
    days : float, optional
        Of a week; default 7, or a quarter of a log of less than four weeks.
    budget : int
        Settings that are tried.
    draws : int
        Of the clocks, for each week.
    time_limit : float or None
        Seconds after which no further run begins; the best of the settings that have all theirs
        is judged.
    journal : path-like, optional
        Keeps every run, so that a search that was killed goes on; it is gone when the search ends.
    resume : bool
        Go on with the runs of the journal, if it is there. What comes out is the same as without
        the interruption.
    engine : callable
        Where runs happen: ``engine(world, tasks)`` yields (place, row); default: threads on all
        processors.
    progress : callable, optional
        Called with settings tried, the budget, and the best so far in words.

    Returns
    -------
    Tuned
        ``best``, ``gain``, ``gain_p05``, ``gain_p95``, ``better``, ``trials``, ``lines()``.

    Raises
    ------
    InvalidInstance
        A key, value, measure or week that there is not (near names are said); a machine that is no
        slurm.conf; a journal of another search.
    MissingExtra
        More settings than `budget`, and ``cosched-hpc[tune]`` is not installed.

    Notes
    -----
    O(budget x weeks x draws) runs of the twin at most, about half of them where the race is clear.

    References
    ----------
    Jamieson, Talwalkar 2016, *Non-stochastic best arm identification*; Birattari et al. 2002, *A
    racing algorithm for configuring metaheuristics*; Bergstra et al. 2011 (TPE).

    Examples
    --------
    >>> conf = pathlib.Path(tempfile.mkdtemp()) / "slurm.conf"
    >>> _ = conf.write_text("NodeName=n[1-8] CPUs=1\\nPartitionName=p Nodes=ALL Default=YES\\n")
    >>> inst = cs.cluster.Instance(cs.workloads.lublin(400, 8, seed=1), nodes=8)
    >>> found = cs.cluster.tune(inst, conf, vary={"bf_interval": [30, 31]}, draws=1)
    >>> found
    <Tuned: nothing of 2 settings is better than today>
    >>> found.best, found.lines()
    ({}, [])
    """
    Instance.require(instance)
    based = _on(instance, machine)
    objectives = [Measure.of_text(one) for one in texts(objective, "objective")]
    if not 1 <= len(objectives) <= 2:
        raise InvalidInstance(f"objective {shorten(objective)}: expected one or two")
    subjects = [Subject.of_text(one) for one in texts(subject, "subject")]
    measures = (*objectives, *(one.measure for one in subjects))
    for name, given in (("objective", objectives), ("subject", subjects)):
        if (twice := first_repeated(map(str, given))) is not None:
            raise InvalidInstance(f"{name} {twice}: given twice")
    dimensions = dimensions_of(based, vary)
    tries = integer(budget, "budget", 1, 1_000_000)
    count = integer(draws, "draws", 1, 10_000)
    own = seed_of(seed)
    limit = time_limit_of(time_limit)
    parts = weeks_of(based, weeks, days)
    if count * len(parts.train) < 2:
        raise InvalidInstance(
            "draws = 1 of one week to search in: expected two runs of a setting at least, since a "
            "test over runs tells luck from gain (--draws 2, or more --weeks)"
        )
    whole = (*parts.train, parts.test)
    blocks = [startable(block, count, own + number) for number, block in enumerate(whole)]
    left_out = sum(map(_size, whole)) - sum(map(_size, blocks))
    keys = tuple(one.key for one in dimensions)
    world = World(keys, tuple(blocks), measures, count, own)
    head = [[str(one) for one in (*dimensions, *objectives, *subjects)], tries]
    path = None if journal is None else Path(journal)
    runs = Runs(world, engine, path, flag(resume, "resume"), head)
    last = len(parts.train)
    today = world.simulated(TODAY, last, 0, count)
    _require_waits(world, objectives, today)
    if limit is not None:
        runs.until = time.monotonic() + limit
    trials, stopped = _searched(
        runs, dimensions, tries, objectives, subjects, progress or (lambda *_: None)
    )
    tried = len(trials)
    if trials and all(one.why for one in trials):
        runs.close()
        raise InvalidInstance(
            f"of {tried} settings none can be had, the first, "
            f"{change_of(keys, trials[0].setting)}: {trials[0].why}"
        )
    # Of those with all runs that keep what they must and are better beyond chance.
    able = [one for one in trials if one.whole and not one.broken and one.sure]
    best = order(able)[0] if able else None
    if best is not None:
        own_trials = simplest(runs, best, len(parts.train), len(objectives), subjects)
        trials += own_trials[1:]
        best = own_trials[-1]
    winner, why = best.setting if best is not None else TODAY, ""
    try:
        then = world.simulated(winner, last, 0, count) if any(winner) else today
        verdicts = tuple(judged(one, blocks[last], today, then) for one in measures)
    except CoschedError as error:  # jobs that the weeks of the search did not have
        winner, then, why = TODAY, today, str(error)
        verdicts = tuple(judged(one, blocks[last], today, today) for one in measures)
    runs.close()
    near = None
    if has_waits(blocks[last].instance):
        near = fit_of(slurm_backfill(blocks[last].instance, seed=own + last, approximate=True))
    return Tuned(
        based, dimensions, tuple(objectives), tuple(subjects), parts, tuple(trials), tried, winner,
        verdicts, today, then, runs.count, count, own, near, stopped, why,
        left_out,
    )  # fmt: skip


def _on(instance: Instance, machine: Machine | str | PathLike[str] | None) -> Instance:
    if machine is not None:
        instance, _ = on_machine(instance, machine_of(machine))
    own = instance.machine
    if own is None or own.slurm is None or own.slurm.source is None:
        raise InvalidInstance("tune: expected a machine that is a slurm.conf (--machine)")
    return instance._without_bound()


def _size(block: Block) -> int:
    return len(block.counted(block.instance))


def _require_waits(world: World, objectives: list[Measure], today: Simulated) -> None:
    """All measures have jobs in all weeks, and there is something to gain."""
    for block in world.blocks:
        for measure in world.measures:
            measure.rows(block.instance.take(block.counted(block.instance)))
    for measure in objectives:
        if not measure.of(today.jobs, today.start, today.end).max() > 0:
            more = " (in one draw of the clocks; more may have waits: --draws)"
            raise InvalidInstance(
                f"{measure} is 0 in the weeks to judge by: there is nothing to gain"
                f"{more if world.draws == 1 else ''}"
            )


def _searched(
    runs: Runs,
    dimensions: Any,
    budget: int,
    objectives: list[Measure],
    subjects: list[Subject],
    progress: Callable[[int, int, str], None],
) -> tuple[list[Trial], str]:
    """Every setting once, in the order in which they were tried; why it stopped before the end."""
    found: dict[Setting, Trial] = {}
    blocks = len(runs.world.blocks) - 1
    every = grid(dimensions, budget)
    total = budget if every is None else len(every)
    progress(0, total, "")
    asked = 0
    for settings, tell in batches(dimensions, budget, runs.world.seed, len(objectives)):
        trials = race(runs, settings, blocks, len(objectives), subjects)
        found |= {one.setting: one for one in trials}
        asked += len(trials)
        leaders = order([one for one in found.values() if one.whole] or trials)
        best = [f"best {one.ratios[0]:.3f} of today's" for one in leaders[:1] if one.runs]
        progress(asked, total, "".join(best))
        if not runs.cut:
            tell(trials)
        if runs.cut or (runs.late and asked < total):
            return [*found.values()], f"after {asked} of {total} settings, at the time limit"
    return [*found.values()], ""
