"""How many replications a result has, and the result with the first of them alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cosched.cluster.result.result import Result


def replications_of(result: Result) -> int:
    """How many replications a result has; 1 of a policy without any."""
    return 1 if result.draws is None else len(result.draws)


def with_first_replications(result: Result, count: int) -> Result:
    """The result with its first `count` replications alone."""
    draws = result.draws
    if draws is None or len(draws) <= count:
        return result
    first_draws = replace(
        draws,
        starts=draws.starts[:count],
        values=draws.values[:count],
        controller_start=draws.controller_start[:count],
        epoch=draws.epoch[:count],
    )
    return replace(result, draws=first_draws)


def join_replications(results: Sequence[Result]) -> Result:
    """One result with the replications of several results on the same jobs, in their order."""
    first_draws = results[0].draws
    assert first_draws is not None
    columns = ("starts", "values", "controller_start", "epoch")
    joined = {
        column: np.concatenate([getattr(result.draws, column) for result in results])
        for column in columns
    }
    return replace(results[0], draws=replace(first_draws, **joined))
