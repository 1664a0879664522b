"""Which settings to try next: all of a small grid, else what Optuna proposes."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from cosched.errors import optional
from cosched.slurm.tune.race import Trial
from cosched.slurm.tune.space import Dimension, Setting, grid

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
        settings = [_setting(dimensions, one.params) for one in asked]

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


def _setting(dimensions: Sequence[Dimension], chosen: dict[str, Any]) -> Setting:
    return tuple(chosen[one.key] if one.values else one.text(chosen[one.key]) for one in dimensions)
