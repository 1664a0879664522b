"""Release dates: any off-line algorithm, batch by batch."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from cosched import _core
from cosched.core import family
from cosched.core.arrays import seed_of, time_limit_of
from cosched.moldable.instance import Instance
from cosched.moldable.result import Placement, Result, make_result


def online(
    instance: Instance, algorithm: str = "demt", *, seed: int | None = None, **options: Any
) -> Result:
    """Schedule jobs as they are released, by batches (Section 2.2).

    When a batch ends, the jobs that were released meanwhile form the next one, which `algorithm`
    schedules off-line; an idle machine waits for the next release. No batch knows anything of
    later releases. **The makespan ratio doubles**: where `algorithm` is within rho of the
    optimum, this is within 2 rho of the optimum that knows all releases (the last batch takes
    at most rho (OPT - r), r = start of the batch before, since its jobs came after r; and that
    batch at most rho OPT). With ``dual-approximation``: 3 (1 + tolerance).

    ``solve`` and every algorithm do this by themselves for an instance with release dates.

    Parameters
    ----------
    instance : Instance
    algorithm : str
        A key of ``ALGORITHMS``, also of one that was registered.
    seed : int, optional
    **options
        The algorithm's.

    Returns
    -------
    Result
        ``ratio`` is twice the algorithm's.

    Examples
    --------
    >>> inst = Instance([[2.0], [2.0], [2.0]], [1, 1, 1], release=[10, 0, 1])
    >>> online(inst, "sequential").start.tolist()
    [10.0, 0.0, 2.0]
    """
    family("moldable")._require_instance(instance)
    used = seed_of(seed)

    def run(part: Instance, **given: Any) -> Result:
        found = family("moldable").solve(part, algorithm, seed=used, **given)
        assert isinstance(found, Result)
        return found

    return _by_batches(instance, f"{algorithm} on-line", run, options, used)


def _by_batches(
    instance: Instance,
    name: str,
    run: Callable[..., Result],
    options: dict[str, Any],
    seed: int,
) -> Result:
    begin = time.monotonic()
    limit = time_limit_of(options.get("time_limit"))
    parts: list[Result] = []

    def batch(jobs: np.ndarray) -> Placement:
        left = {}
        if limit is not None:  # one limit for all batches together
            left["time_limit"] = max(0.0, limit - (time.monotonic() - begin))
        parts.append(run(instance.select(jobs), **{**options, **left}))
        return parts[-1].procs, parts[-1].start, parts[-1].end

    placement = _core.moldable.by_batches(instance._core, batch)
    ratios = [part.ratio for part in parts]
    return make_result(
        instance,
        name,
        placement,
        seed=seed,
        status="ok" if all(part.status == "ok" for part in parts) else "time_limit",
        ratio=None if None in ratios else 2 * max(ratio for ratio in ratios if ratio is not None),
    )


def off_line(function: Callable[..., Result]) -> Callable[..., Result]:
    """By batches where the instance has release dates."""

    @wraps(function)
    def run(instance: Instance, **options: Any) -> Result:
        family("moldable")._require_instance(instance)
        if not instance.has_releases:
            return function(instance, **options)
        name = function.__name__.replace("_", "-")
        seed = seed_of(options.get("seed"))
        return _by_batches(instance, name, function, options, seed)

    return run
