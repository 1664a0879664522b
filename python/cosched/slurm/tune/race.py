"""Settings are proposed, and race on common clocks: losers are given up early."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cosched.errors import optional
from cosched.slurm.tune.space import TODAY, Dimension, MeasureConstraint, Setting, grid
from cosched.slurm.tune.trials import Runs

#: A setting is given up where a paired test says so with this chance of being wrong.
ALPHA = 0.05
#: Of a race, the part of all runs that its first and second heat have.
_HEATS = (4, 2, 1)


@dataclass(frozen=True)
class Trial:
    """A setting as a search knows it."""

    setting: Setting
    ratios: tuple[float, ...]  # each objective over today's on the same clocks; below 1 is better
    constraints: tuple[float, ...] = ()  # the same of each constraint
    broken: float = 0.0  # by how much constraints do not hold; 0: all do
    runs: int = 0  # how many draws of weeks
    whole: bool = False  # whether these are all there are
    #: Whether a paired test says that it is better than today in the weeks of the search.
    sure: bool = False
    why: str = ""  # why there are no numbers

    @property
    def is_candidate(self) -> bool:
        """Whether it has all runs, keeps what it must, and is better than today in them."""
        return self.whole and not self.broken and float(np.prod(self.ratios)) < 1


@dataclass(frozen=True)
class Course:
    """Where settings race: the runs, the blocks of the search, and what is compared."""

    runs: Runs
    blocks: tuple[int, ...]
    objectives: int
    constraints: tuple[MeasureConstraint, ...]

    @property
    def size(self) -> int:
        """Runs of a setting that are all there are."""
        return len(self.blocks) * self.runs.world.draws

    def counts(self, total: int) -> list[int]:
        """Draws of each block of the world, `total` in all, spread evenly over the course."""
        counts = [0] * len(self.runs.world.blocks)
        for place, block in enumerate(self.blocks):
            counts[block] = total // len(self.blocks) + (place < total % len(self.blocks))
        return counts

    def values(self, settings: Sequence[Setting], total: int) -> list[np.ndarray | str | None]:
        """The measures of settings on as many draws; see :meth:`Runs.of`."""
        return self.runs.of(settings, self.counts(total))

    def is_worse(self, values: np.ndarray, other_values: np.ndarray) -> bool:
        """Whether a paired test finds some objective larger in the first values."""
        return any(worse(values[:, k], other_values[:, k]) for k in range(self.objectives))


def race(course: Course, settings: Sequence[Setting]) -> list[Trial]:
    """A trial for each setting, in their order; for the first of them where the time is over.

    In each heat they have twice the runs of the heat before; of the settings that no paired test
    finds worse than another at most half go on.
    """
    trials: dict[Setting, Trial] = {}
    contenders = list(dict.fromkeys(settings))
    for share in _HEATS:
        size = min(max(-(-course.size // share), 2), course.size)
        today, *values = course.values([TODAY, *contenders], size)
        if today is None:
            break
        assert not isinstance(today, str)
        values_of = dict(zip(contenders, values, strict=True))
        for setting, value in values_of.items():
            if isinstance(value, str):
                ratios = (np.inf,) * course.objectives
                trials[setting] = Trial(setting, ratios, broken=np.inf, why=value)
            elif value is not None:
                trials[setting] = _trial(course, setting, value, today)
        if size == course.size:
            break
        arrays = {s: value for s, value in values_of.items() if isinstance(value, np.ndarray)}
        contenders = _survivors([trials[setting] for setting in arrays], arrays, course)
    return [trials[setting] for setting in settings if setting in trials]


def _trial(course: Course, setting: Setting, value: np.ndarray, today: np.ndarray) -> Trial:
    means, today_means = value.mean(axis=0), today.mean(axis=0)
    without_today = np.where(means > 0, np.inf, 1.0)
    ratios = np.divide(means, today_means, out=without_today, where=today_means > 0).tolist()
    objective_ratios, constraint_ratios = ratios[: course.objectives], ratios[course.objectives :]
    broken = sum(s.broken(r) for s, r in zip(course.constraints, constraint_ratios, strict=True))
    return Trial(
        setting, tuple(objective_ratios), tuple(constraint_ratios), broken, len(value),
        len(value) == course.size, course.is_worse(today, value),
    )  # fmt: skip


def worse(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether a paired test finds larger values in one, run by run on the same clocks."""
    from scipy.stats import ttest_rel

    apart = one - other
    if np.ptp(apart) == 0:
        return bool(apart[0] > 0)
    return len(apart) > 1 and bool(ttest_rel(one, other, alternative="greater").pvalue < ALPHA)


def simplify(course: Course, best: Trial) -> list[Trial]:
    """The setting with one value after the other as it is today, as long as that is no worse.

    Values that change nothing are in the best setting by chance. The last trial is the simplest.
    """
    trials = [best]
    for place in range(len(best.setting)):
        setting = trials[-1].setting
        simpler_setting = (*setting[:place], "", *setting[place + 1 :])
        if simpler_setting == setting or not any(simpler_setting):
            continue
        for trial in race(course, [simpler_setting]):
            if not trial.is_candidate:
                continue
            simpler, current = course.values([simpler_setting, setting], course.size)
            assert isinstance(simpler, np.ndarray)
            assert isinstance(current, np.ndarray)
            changes_nothing = np.array_equal(simpler, current)
            if changes_nothing or (trial.sure and not course.is_worse(simpler, current)):
                trials.append(trial)
    return trials


def order(trials: Sequence[Trial]) -> list[Trial]:
    """The best first: those that keep what they must, by how many beat them, by their product."""
    beaten = {one: sum(beats(other, one) for other in trials) for one in trials}
    return sorted(trials, key=lambda one: (one.broken, beaten[one], float(np.prod(one.ratios))))


def beats(one: Trial, other: Trial) -> bool:
    """Whether it is no worse in any objective, and better in one."""
    pairs = list(zip(one.ratios, other.ratios, strict=True))
    return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)


def _survivors(
    trials: Sequence[Trial], values: dict[Setting, np.ndarray], course: Course
) -> list[Setting]:
    ranked = [trial.setting for trial in order(trials)]
    survivors = [
        setting
        for place, setting in enumerate(ranked)
        if not any(
            all(worse(values[setting][:, k], values[rival][:, k]) for k in range(course.objectives))
            for rival in ranked[:place]
        )
    ]
    return survivors[: max(-(-len(ranked) // 2), 1)]


#: So many race at a time.
RACE_SIZE = 8
#: What the optimiser is told of a setting that has no numbers.
_NONE = 1e3


def batches(
    dimensions: Sequence[Dimension], budget: int, seed: int, objectives: int
) -> Iterator[tuple[list[Setting], Any]]:
    """Settings that race with each other, and a function that is told of their trials."""
    every = grid(dimensions, budget)
    if every is not None:
        for done in range(0, len(every), RACE_SIZE):
            yield every[done : done + RACE_SIZE], lambda trials: None
        return
    optuna = optional("optuna", extra="tune")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    space = {one.key: _distribution(optuna, one) for one in dimensions}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        sampler = optuna.samplers.TPESampler(
            seed=seed,
            multivariate=True,
            constant_liar=True,
            n_startup_trials=min(2 * RACE_SIZE, max(budget // 2, 1)),
        )
    study = optuna.create_study(directions=["minimize"] * objectives, sampler=sampler)
    for done in range(0, budget, RACE_SIZE):
        asked = [study.ask(space) for _ in range(min(RACE_SIZE, budget - done))]
        settings = [
            tuple(of.params[one.key] if one.values else one.text(of.params[one.key])
                  for one in dimensions) for of in asked
        ]  # fmt: skip

        def tell(trials: Sequence[Trial], asked: list[Any] = asked) -> None:
            for one, trial in zip(asked, trials, strict=True):
                one.set_constraint("constraints", min(trial.broken, _NONE))
                study.tell(one, np.minimum(trial.ratios, _NONE).tolist())

        yield settings, tell


def _distribution(optuna: Any, of: Dimension) -> Any:
    if of.values:
        return optuna.distributions.CategoricalDistribution(of.values)
    if of.whole:
        return optuna.distributions.IntDistribution(int(of.low), int(of.high))
    return optuna.distributions.FloatDistribution(of.low, of.high)
