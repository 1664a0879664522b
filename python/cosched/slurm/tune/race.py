"""Settings are proposed, and race on common clocks: losers are given up early."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cosched.errors import optional
from cosched.slurm.tune.space import TODAY, Dimension, Setting, Subject, grid
from cosched.slurm.tune.trials import Runs

#: A setting is given up where a paired test says so with this chance of being wrong.
ALPHA = 0.05
#: Of a race, the part of all runs that its first and second heat have.
_HEATS = (4, 2, 1)


@dataclass(frozen=True)
class Trial:
    """A setting as the search knows it."""

    setting: Setting
    ratios: tuple[float, ...]  # each objective over today's on the same clocks; below 1 is better
    subjects: tuple[float, ...] = ()  # the same of each subject
    broken: float = 0.0  # by how much subjects do not hold; 0: all do
    runs: int = 0  # how many draws of weeks
    whole: bool = False  # whether these are all there are
    #: Whether a paired test says that it is better than today in the weeks of the search.
    sure: bool = False
    why: str = ""  # why there are no numbers


def counts_of(total: int, blocks: int) -> list[int]:
    """So many draws of each block are `total` in all, as even as can be."""
    return [total // blocks + (block < total % blocks) for block in range(blocks)]


def race(
    runs: Runs, settings: Sequence[Setting], blocks: int, objectives: int, subjects: list[Subject]
) -> list[Trial]:
    """A trial for each setting, in their order; for the first of them where the time is over.

    In each heat they have twice the runs of the heat before; of the settings that no paired test
    finds worse than another at most half go on.
    """
    whole = blocks * runs.world.draws
    found: dict[Setting, Trial] = {}
    left = list(dict.fromkeys(settings))
    for share in _HEATS:
        size = min(max(-(-whole // share), 2), whole)
        today, *values = runs.of([TODAY, *left], counts_of(size, blocks))
        if today is None:
            break
        assert not isinstance(today, str)
        known = {s: v for s, v in zip(left, values, strict=True) if isinstance(v, np.ndarray)}
        for setting, value in zip(left, values, strict=True):
            if value is None:
                continue
            if isinstance(value, str):
                found[setting] = Trial(setting, (np.inf,) * objectives, broken=np.inf, why=value)
            else:
                found[setting] = _trial(setting, value, today, objectives, subjects, size == whole)
        if size == whole:
            break
        left = _survivors([found[setting] for setting in known], known, objectives)
    return [found[setting] for setting in settings if setting in found]


def _trial(
    setting: Setting,
    value: np.ndarray,
    today: np.ndarray,
    objectives: int,
    subjects: list[Subject],
    whole: bool,
) -> Trial:
    then, now = value.mean(axis=0), today.mean(axis=0)
    ratios = np.divide(then, now, out=np.where(then > 0, np.inf, 1.0), where=now > 0)
    broken = sum(one.broken(r) for one, r in zip(subjects, ratios[objectives:], strict=True))
    sure = any(worse(today[:, k], value[:, k]) for k in range(objectives))
    own, others = ratios[:objectives].tolist(), ratios[objectives:].tolist()
    return Trial(setting, tuple(own), tuple(others), broken, len(value), whole, sure)


def worse(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether a paired test finds larger values in one, run by run on the same clocks."""
    from scipy.stats import ttest_rel

    apart = one - other
    if np.ptp(apart) == 0:
        return bool(apart[0] > 0)
    return len(apart) > 1 and bool(ttest_rel(one, other, alternative="greater").pvalue < ALPHA)


def simplest(
    runs: Runs, best: Trial, blocks: int, objectives: int, subjects: list[Subject]
) -> list[Trial]:
    """The setting with one value after the other as it is today, as long as that is no worse.

    Of values that change nothing the search has picked one by luck. The last trial is what is left.
    """
    found = [best]
    whole = counts_of(blocks * runs.world.draws, blocks)
    for place in range(len(best.setting)):
        now = found[-1].setting
        fewer = (*now[:place], "", *now[place + 1 :])
        if not any(fewer):
            continue
        for trial in race(runs, [fewer], blocks, objectives, subjects):
            if trial.broken or not (trial.sure and trial.whole):
                continue
            one, other = runs.of([fewer, now], whole)
            assert isinstance(one, np.ndarray)
            assert isinstance(other, np.ndarray)
            if not any(worse(one[:, k], other[:, k]) for k in range(objectives)):
                found.append(trial)
    return found


def order(trials: Sequence[Trial]) -> list[Trial]:
    """The best first: those that keep what they must, by how many beat them, by their product."""
    beaten = {one: sum(beats(other, one) for other in trials) for one in trials}
    return sorted(trials, key=lambda one: (one.broken, beaten[one], float(np.prod(one.ratios))))


def beats(one: Trial, other: Trial) -> bool:
    """Whether it is no worse in any objective, and better in one."""
    pairs = list(zip(one.ratios, other.ratios, strict=True))
    return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)


def _survivors(
    trials: Sequence[Trial], values: dict[Setting, np.ndarray], objectives: int
) -> list[Setting]:
    ranked = [one.setting for one in order(trials)]
    kept = [
        setting
        for setting in ranked
        if not any(
            all(worse(values[setting][:, k], values[other][:, k]) for k in range(objectives))
            for other in ranked[: ranked.index(setting)]
        )
    ]
    return kept[: max(-(-len(ranked) // 2), 1)]


#: So many race at a time.
_TOGETHER = 8
#: What the optimiser is told of a setting that has no numbers.
_NONE = 1e3


def batches(
    dimensions: Sequence[Dimension], budget: int, seed: int, objectives: int
) -> Iterator[tuple[list[Setting], Any]]:
    """Settings that race with each other, and a function that is told of their trials."""
    every = grid(dimensions, budget)
    if every is not None:
        for done in range(0, len(every), _TOGETHER):
            yield every[done : done + _TOGETHER], lambda trials: None
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
            n_startup_trials=min(2 * _TOGETHER, max(budget // 2, 1)),
        )
    study = optuna.create_study(directions=["minimize"] * objectives, sampler=sampler)
    for done in range(0, budget, _TOGETHER):
        asked = [study.ask(space) for _ in range(min(_TOGETHER, budget - done))]
        settings = [
            tuple(of.params[one.key] if one.values else one.text(of.params[one.key])
                  for one in dimensions) for of in asked
        ]  # fmt: skip

        def tell(trials: Sequence[Trial], asked: list[Any] = asked) -> None:
            for one, trial in zip(asked, trials, strict=True):
                one.set_constraint("subjects", min(trial.broken, _NONE))
                study.tell(one, np.minimum(trial.ratios, _NONE).tolist())

        yield settings, tell


def _distribution(optuna: Any, of: Dimension) -> Any:
    if of.values:
        return optuna.distributions.CategoricalDistribution(of.values)
    if of.whole:
        return optuna.distributions.IntDistribution(int(of.low), int(of.high))
    return optuna.distributions.FloatDistribution(of.low, of.high)
