"""Settings are proposed, and race on common clocks: losers are given up early."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosched.errors import optional
from cosched.slurm.tuning.run_cache import RunCache
from cosched.slurm.tuning.space import BASELINE, Dimension, MeasureConstraint, Setting, grid

#: A setting is given up where a paired test says so with this chance of being wrong.
ALPHA = 0.05
#: Of a race, the part of all runs that its first and second heat have.
_HEATS = (4, 2, 1)


@dataclass(frozen=True)
class Trial:
    """A setting, and its measures in the weeks of a search."""

    #: The value of each dimension; an empty one is as today.
    setting: Setting
    #: Each objective over today's on the same clocks; below 1 is better.
    ratios: tuple[float, ...]
    #: The measure of each constraint over today's.
    constraints: tuple[float, ...] = ()
    #: By how much constraints do not hold; 0: all hold.
    violation: float = 0.0
    #: Draws of weeks that ran.
    runs: int = 0
    #: Whether all runs of the race were made; a race gives up losers before that.
    has_all_runs: bool = False
    #: Whether a paired test says that it is better than today in the weeks of the search.
    beats_baseline: bool = False
    #: Why there are no numbers; empty where there are.
    why: str = ""

    @property
    def is_candidate(self) -> bool:
        """Whether all runs were made, all constraints hold, and it is better than today."""
        return self.has_all_runs and not self.violation and float(np.prod(self.ratios)) < 1


@dataclass(frozen=True)
class RaceSetup:
    """Where settings race: the runs, the blocks of the search, and what is compared."""

    #: All runs so far.
    runs: RunCache
    #: Numbers of the blocks in which settings race.
    blocks: tuple[int, ...]
    #: How many of the measures are objectives; the others are of the constraints.
    objectives: int
    #: What a setting has to keep.
    constraints: tuple[MeasureConstraint, ...]

    @property
    def size(self) -> int:
        """Runs of a setting that are all there are."""
        return len(self.blocks) * self.runs.context.draws

    def counts(self, total: int) -> list[int]:
        """Draws of each block of the context, `total` in all, spread evenly over `blocks`."""
        counts = [0] * len(self.runs.context.blocks)
        for place, block in enumerate(self.blocks):
            counts[block] = total // len(self.blocks) + (place < total % len(self.blocks))
        return counts

    def values(
        self, settings: Sequence[Setting], total: int
    ) -> list[NDArray[np.float64] | str | None]:
        """Return the measures of settings on as many draws; see :meth:`RunCache.evaluate`."""
        return self.runs.evaluate(settings, self.counts(total))

    def is_worse(self, values: NDArray[np.float64], other_values: NDArray[np.float64]) -> bool:
        """Whether a paired test finds some objective larger in the first values."""
        return any(
            is_significantly_greater(values[:, k], other_values[:, k])
            for k in range(self.objectives)
        )


def race_settings(race_setup: RaceSetup, settings: Sequence[Setting]) -> list[Trial]:
    """Return a trial for each setting, in their order; for the first of them where the time is
    over.

    In each heat they have twice the runs of the heat before; of the settings that no paired test
    finds worse than another at most half go on.
    """
    trials: dict[Setting, Trial] = {}
    contenders = list(dict.fromkeys(settings))
    for share in _HEATS:
        size = min(max(-(-race_setup.size // share), 2), race_setup.size)
        today, *values = race_setup.values([BASELINE, *contenders], size)
        if today is None:
            break
        assert not isinstance(today, str)
        values_of = dict(zip(contenders, values, strict=True))
        for setting, value in values_of.items():
            if isinstance(value, str):
                ratios = (np.inf,) * race_setup.objectives
                trials[setting] = Trial(setting, ratios, violation=np.inf, why=value)
            elif value is not None:
                trials[setting] = _make_trial(race_setup, setting, value, today)
        if size == race_setup.size:
            break
        arrays = {s: value for s, value in values_of.items() if isinstance(value, np.ndarray)}
        contenders = _keep_survivors([trials[setting] for setting in arrays], arrays, race_setup)
    return [trials[setting] for setting in settings if setting in trials]


def _make_trial(
    race_setup: RaceSetup, setting: Setting, value: np.ndarray, today: np.ndarray
) -> Trial:
    """Return the trial of a setting from its measures and today's, a row per run."""
    means, today_means = value.mean(axis=0), today.mean(axis=0)
    without_today = np.where(means > 0, np.inf, 1.0)
    ratios = np.divide(means, today_means, out=without_today, where=today_means > 0).tolist()
    objective_ratios, constraint_ratios = (
        ratios[: race_setup.objectives],
        ratios[race_setup.objectives :],
    )
    violation = sum(
        constraint.violation(ratio)
        for constraint, ratio in zip(race_setup.constraints, constraint_ratios, strict=True)
    )
    return Trial(
        setting,
        tuple(objective_ratios),
        tuple(constraint_ratios),
        violation,
        len(value),
        len(value) == race_setup.size,
        race_setup.is_worse(today, value),
    )


def is_significantly_greater(
    values: NDArray[np.float64], other_values: NDArray[np.float64]
) -> bool:
    """Whether a paired test finds larger values than the others, run by run on the same clocks."""
    from scipy.stats import ttest_rel

    differences = values - other_values
    if np.ptp(differences) == 0:
        return bool(differences[0] > 0)
    return len(differences) > 1 and bool(
        ttest_rel(values, other_values, alternative="greater").pvalue < ALPHA
    )


def simplify(race_setup: RaceSetup, best: Trial) -> list[Trial]:
    """Return the setting with one value after the other as it is today, as long as that is no
    worse.

    Values that change nothing are in the best setting by chance. The last trial is the simplest.
    """
    trials = [best]
    for place in range(len(best.setting)):
        setting = trials[-1].setting
        simpler_setting = (*setting[:place], "", *setting[place + 1 :])
        if simpler_setting == setting or not any(simpler_setting):
            continue
        for trial in race_settings(race_setup, [simpler_setting]):
            if not trial.is_candidate:
                continue
            simpler, current = race_setup.values([simpler_setting, setting], race_setup.size)
            assert isinstance(simpler, np.ndarray)
            assert isinstance(current, np.ndarray)
            changes_nothing = np.array_equal(simpler, current)
            if changes_nothing or (
                trial.beats_baseline and not race_setup.is_worse(simpler, current)
            ):
                trials.append(trial)
    return trials


def rank_trials(trials: Sequence[Trial]) -> list[Trial]:
    """Return the best trial first: by violation, by how many dominate it, by product of ratios."""
    dominating_counts = {
        trial: sum(dominates(other, trial) for other in trials) for trial in trials
    }
    return sorted(
        trials,
        key=lambda trial: (trial.violation, dominating_counts[trial], float(np.prod(trial.ratios))),
    )


def dominates(trial: Trial, other: Trial) -> bool:
    """Whether a trial is no worse than the other in any objective, and better in one."""
    pairs = list(zip(trial.ratios, other.ratios, strict=True))
    return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)


def _keep_survivors(
    trials: Sequence[Trial], values: dict[Setting, np.ndarray], race_setup: RaceSetup
) -> list[Setting]:
    """Return the settings that no paired test finds worse than a better one, at most half."""
    ranked = [trial.setting for trial in rank_trials(trials)]
    survivors = [
        setting
        for place, setting in enumerate(ranked)
        if not any(
            all(
                is_significantly_greater(values[setting][:, k], values[rival][:, k])
                for k in range(race_setup.objectives)
            )
            for rival in ranked[:place]
        )
    ]
    return survivors[: max(-(-len(ranked) // 2), 1)]


#: So many race at a time.
RACE_SIZE = 8
#: The ratio that the optimiser gets for a setting that has no numbers.
_NO_NUMBER_PENALTY = 1e3


def propose_batches(
    dimensions: Sequence[Dimension], budget: int, seed: int, objectives: int
) -> Iterator[tuple[list[Setting], Any]]:
    """Yield batches of settings that race, each with a function that takes their trials."""
    all_settings = grid(dimensions, budget)
    if all_settings is not None:
        for first in range(0, len(all_settings), RACE_SIZE):
            yield all_settings[first : first + RACE_SIZE], lambda trials: None
        return
    optuna = optional("optuna", extra="tune")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    space = {dimension.key: _distribution(optuna, dimension) for dimension in dimensions}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        sampler = optuna.samplers.TPESampler(
            seed=seed,
            multivariate=True,
            constant_liar=True,
            n_startup_trials=min(2 * RACE_SIZE, max(budget // 2, 1)),
        )
    study = optuna.create_study(directions=["minimize"] * objectives, sampler=sampler)
    for first in range(0, budget, RACE_SIZE):
        proposals = [study.ask(space) for _ in range(min(RACE_SIZE, budget - first))]
        settings = [_setting_of(proposal.params, dimensions) for proposal in proposals]

        def tell(trials: Sequence[Trial], batch: list[Any] = proposals) -> None:
            for proposal, trial in zip(batch, trials, strict=True):
                proposal.set_constraint("constraints", min(trial.violation, _NO_NUMBER_PENALTY))
                study.tell(proposal, np.minimum(trial.ratios, _NO_NUMBER_PENALTY).tolist())

        yield settings, tell


def _setting_of(params: Mapping[str, Any], dimensions: Sequence[Dimension]) -> Setting:
    """Return the setting that an optimiser proposes: texts of lists, and numbers of ranges."""
    return tuple(
        params[dimension.key] if dimension.values else dimension.text(params[dimension.key])
        for dimension in dimensions
    )


def _distribution(optuna: Any, dimension: Dimension) -> Any:
    """Return the search space of a dimension, as optuna has it."""
    if dimension.values:
        return optuna.distributions.CategoricalDistribution(dimension.values)
    if dimension.is_integer:
        return optuna.distributions.IntDistribution(int(dimension.low), int(dimension.high))
    return optuna.distributions.FloatDistribution(dimension.low, dimension.high)
