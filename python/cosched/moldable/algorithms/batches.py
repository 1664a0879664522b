"""Release dates: any off-line algorithm, batch by batch."""

import time
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from cosched import _core
from cosched.core.arrays import seed_of, time_limit_of
from cosched.moldable.instance import Instance
from cosched.moldable.result import Placement, Result, make_result


def by_batches(
    instance: Instance, name: str, run: Callable[..., Result], options: dict[str, Any], seed: int
) -> Result:
    """``run(part, **options)`` for each batch: what was released while the one before ran."""
    begin = time.monotonic()
    limit = time_limit_of(options.get("time_limit"))
    parts: list[Result] = []

    def batch(jobs: np.ndarray) -> Placement:
        jobs_left = {}
        if limit is not None:  # one limit for all batches together
            jobs_left["time_limit"] = max(0.0, limit - (time.monotonic() - begin))
        parts.append(run(instance.select(jobs), **{**options, **jobs_left}))
        return parts[-1].procs, parts[-1].start, parts[-1].end

    placement = _core.moldable.by_batches(instance._core, batch)
    ratios = [part.ratio for part in parts]
    ends = {part.stopped_by for part in parts}  # a proof of each is none of the whole
    return make_result(
        instance,
        name,
        placement,
        seed=seed,
        status="ok" if all(part.status == "ok" for part in parts) else "time_limit",
        stopped_by=None if None in ends else "time" if "time" in ends else "work",
        ratio=None if None in ratios else 2 * max(ratio for ratio in ratios if ratio is not None),
    )


def on_line_by_batches(function: Callable[..., Result]) -> Callable[..., Result]:
    """By batches where the instance has release dates."""

    @wraps(function)
    def run(instance: Instance, **options: object) -> Result:
        Instance.require(instance)
        name = function.__name__.replace("_", "-")
        instance.require_no_edges(name)
        if not instance.has_releases:
            return function(instance, **options)
        seed = seed_of(options.get("seed"))
        return by_batches(instance, name, function, options, seed)

    return run
