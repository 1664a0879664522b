"""Time limits around any calls of the package, and what a search may spend."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from cosched import _core
from cosched.core.arrays import integer, time_limit_of


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
    >>> inst = cs.workloads.packs_ii(seed=0, max_tasks=4)
    >>> with cs.time_limit(0.0):
    ...     res = cs.packs.solve(inst, "local-search")
    >>> res.status, res.schedule.validate()
    ('time_limit', None)
    """
    with _core.time_limit(seconds):
        yield


#: More work than anybody waits for.
_UNLIMITED = 2**62


class Patience(float):
    """Seconds after which something is ended that nobody asked to take so long.

    A time limit that is given is a budget: a search uses it. This one is a ceiling only.
    """


#: What ``compare`` waits for an algorithm by default (s).
PATIENCE = Patience(10.0)


def budget(work: int | None, seconds: float | None, default: int) -> tuple[int, float | None]:
    """Work and seconds of a search: whichever ends first; a time limit alone is used until it is
    over, `default` is the work where neither is given.

    Examples
    --------
    >>> budget(None, None, 500), budget(20, None, 500), budget(20, 1.5, 500)
    ((500, None), (20, None), (20, 1.5))
    >>> budget(None, 1.5, 500)[0] > 10**18
    True
    """
    limit = time_limit_of(seconds)
    if work is None:
        return (default if limit is None else _UNLIMITED), limit
    return integer(work, "work", 0, _UNLIMITED), limit


def ended_by(stopped_by: str) -> dict[str, Any]:
    """Status and end of a search, as fields of a result."""
    return {"status": "time_limit" if stopped_by == "time" else "ok", "stopped_by": stopped_by}
