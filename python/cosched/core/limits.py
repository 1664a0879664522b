"""A time limit around any calls of the package."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from cosched import _core


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Give what happens in this block, and thread, at most `seconds` of time.

    Solvers, bounds, checks of schedules and readers look at the clock every few milliseconds. What
    has something to show when the limit comes returns it, with status ``"time_limit"``; anything
    else raises. Limits may be nested: the earliest holds.

    Parameters
    ----------
    seconds : float or None
        From now on; None sets no limit of its own.

    Raises
    ------
    TimeLimit
        The limit has passed.

    Examples
    --------
    >>> import cosched as cs
    >>> inst = cs.workloads.packs_ii(seed=0, max_tasks=4)
    >>> with cs.time_limit(0.0):
    ...     res = cs.packs.solve(inst, "local-search")
    >>> res.status, res.schedule.validate()
    ('time_limit', None)
    """
    with _core.time_limit(seconds):
        yield
