"""Cross-fitting: each fold has a setting that a search in other weeks than its own has chosen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

from cosched.slurm.tuning.race import (
    RaceSetup,
    Trial,
    propose_batches,
    race_settings,
    rank_trials,
    simplify,
)
from cosched.slurm.tuning.run_cache import RunCache
from cosched.slurm.tuning.space import BASELINE, Dimension, MeasureConstraint, Setting, grid
from cosched.slurm.tuning.weeks import Weeks

#: Settings that an optimiser has proposed in weeks of its own, and among which folds choose.
_SHORTLIST = 8


@dataclass(frozen=True)
class TuningProblem:
    """What is searched, and where."""

    #: Keys that are varied, with their values.
    dimensions: tuple[Dimension, ...]
    #: Settings that may be tried.
    budget: int
    #: How many objectives there are: the first measures of a run.
    objectives: int
    #: What has to hold.
    constraints: tuple[MeasureConstraint, ...]
    #: Weeks in which settings are searched and judged.
    weeks: Weeks
    #: All runs so far.
    runs: RunCache

    @property
    def settings(self) -> list[Setting] | None:
        """All settings, where they are few enough to be tried; else an optimiser proposes some."""
        return grid(self.dimensions, self.budget)

    def race_setup(self, blocks: tuple[int, ...]) -> RaceSetup:
        """Return the setup of a race in some of the training weeks."""
        return RaceSetup(self.runs, blocks, self.objectives, self.constraints)


@dataclass
class FoldSearch:
    """What a search has tried and chosen.

    Attributes
    ----------
    trials : dict
        Setting -> its trial in all weeks in which settings were compared.
    tried : int
        Trials without those by which a chosen setting was made simpler.
    chosen : list of tuple of str
        The setting of each fold; ``()`` where none is better than today in the fold's search.
    stopped : str
        Why the search ended early.
    """

    trials: dict[Setting, Trial] = field(default_factory=dict)
    tried: int = 0
    chosen: list[Setting] = field(default_factory=list)
    stopped: str = ""

    def add(self, trials: Sequence[Trial]) -> None:
        """Keep trials; a later one of the same setting has at least as many runs."""
        self.trials |= {trial.setting: trial for trial in trials}

    @property
    def winner(self) -> Setting:
        """The setting that most folds have chosen; of equally many the best in all weeks."""
        votes = Counter(setting for setting in self.chosen if any(setting))
        if not votes:
            return BASELINE
        most_votes = max(votes.values())
        candidates = [setting for setting in votes if votes[setting] == most_votes]
        ranked = rank_trials([self.trials[s] for s in candidates if s in self.trials])
        return ranked[0].setting if ranked else candidates[0]


#: It is called with settings tried, how many there are, and the best so far in words.
Progress = Callable[[int, int, str], None]


def search(problem: TuningProblem, progress: Progress) -> FoldSearch:
    """Try settings and choose one for each fold."""
    search_result = FoldSearch()
    explored = problem.weeks.explored
    settings = problem.settings
    is_single_search = [fold.train for fold in problem.weeks.folds] == [explored]
    if explored:
        with nullcontext() if is_single_search else problem.runs.half_of_the_time():
            _explore(problem, search_result, progress)
        ranked = rank_trials(
            [trial for trial in search_result.trials.values() if trial.has_all_runs]
        )
        candidates = [trial.setting for trial in ranked if not trial.violation]
    else:
        assert settings is not None
        candidates = settings
    folds = problem.weeks.folds
    if is_single_search:
        trials_of_folds = [[*search_result.trials.values()]]
    elif explored:
        trials_of_folds = _race_in_folds(problem, candidates[:_SHORTLIST], explored)
    else:
        trials_of_folds = _race_grid_in_folds(problem, candidates, search_result, progress)
    for fold, trials in zip(folds, trials_of_folds, strict=True):
        race_setup = problem.race_setup(fold.train)
        candidate_trials = [trial for trial in trials if trial.is_candidate]
        if not candidate_trials:
            search_result.chosen.append(BASELINE)
            continue
        simplified = simplify(race_setup, rank_trials(candidate_trials)[0])
        search_result.chosen.append(simplified[-1].setting)
        if fold.train == explored:
            search_result.add(simplified[1:])
    if (
        not explored
        and any(search_result.winner)
        and search_result.winner not in search_result.trials
    ):
        race_setup = problem.race_setup(_all_weeks(problem))
        search_result.add(race_settings(race_setup, [search_result.winner]))
    return search_result


def _all_weeks(problem: TuningProblem) -> tuple[int, ...]:
    """Return the positions of all training weeks."""
    return tuple(range(len(problem.weeks.train)))


def _explore(problem: TuningProblem, search_result: FoldSearch, progress: Progress) -> None:
    """Race settings that an optimiser proposes, or a list, in the explored weeks."""
    race_setup = problem.race_setup(problem.weeks.explored)
    for trials in _race_batches(problem, race_setup, search_result, progress):
        search_result.add(trials)
    search_result.tried = len(search_result.trials)


def _race_batches(
    problem: TuningProblem, race_setup: RaceSetup, search_result: FoldSearch, progress: Progress
) -> Iterator[list[Trial]]:
    """Yield the trials of one batch after the other, until all are tried or the time is over."""
    settings = problem.settings
    total = problem.budget if settings is None else len(settings)
    runs = problem.runs
    progress(0, total, "")
    tried_count = 0
    proposals: Iterator[tuple[list[Setting], Any]] = propose_batches(
        problem.dimensions, problem.budget, runs.context.seed, problem.objectives
    )
    for batch, tell in proposals:
        trials = race_settings(race_setup, batch)
        tried_count += len(trials)
        yield trials
        finished = [
            trial for trial in search_result.trials.values() if trial.has_all_runs
        ] or trials
        best = [f"best {t.ratios[0]:.3f} of today's" for t in rank_trials(finished)[:1] if t.runs]
        progress(tried_count, total, "".join(best))
        if not runs.is_cut_short:
            tell(trials)
        if runs.is_cut_short or (runs.is_past_deadline and tried_count < total):
            search_result.stopped = f"after {tried_count} of {total} settings, at the time limit"
            return


def _race_in_folds(
    problem: TuningProblem, settings: Sequence[Setting], explored: tuple[int, ...]
) -> list[list[Trial]]:
    """Return the trials of each fold; where the time was over, those of the explored weeks."""
    trials_of_folds = []
    for fold in problem.weeks.folds:
        trials = race_settings(problem.race_setup(fold.train), settings)
        if not any(trial.has_all_runs for trial in trials):
            trials = race_settings(problem.race_setup(explored), settings)
        trials_of_folds.append(trials)
    return trials_of_folds


def _race_grid_in_folds(
    problem: TuningProblem,
    settings: Sequence[Setting],
    search_result: FoldSearch,
    progress: Progress,
) -> list[list[Trial]]:
    """Return the trials of each fold, of a list of settings that no data have proposed.

    A batch of settings races in all weeks, for the table of trials, and in those of each fold: no
    run is repeated. Were losers of the race in all weeks given up in a fold, too, the fold's own
    weeks would have a say in what is tested on them.
    """
    trials_of_folds: list[list[Trial]] = [[] for _ in problem.weeks.folds]
    race_setup = problem.race_setup(_all_weeks(problem))
    for trials in _race_batches(problem, race_setup, search_result, progress):
        search_result.add(trials)
        batch = [trial.setting for trial in trials]
        for fold, fold_trials in zip(problem.weeks.folds, trials_of_folds, strict=True):
            fold_trials.extend(race_settings(problem.race_setup(fold.train), batch))
    search_result.tried = len(search_result.trials)
    return trials_of_folds
