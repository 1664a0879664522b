"""Is a plan better than longest-first on one processor each? If not, one line does the same."""

from __future__ import annotations

import heapq
import shlex
from collections.abc import Sequence

import numpy as np

from cosched.execution.code import Code

#: A plan that ends no earlier than by this share is no better.
_BETTER = 0.01
#: A line of more codes is too long to be typed.
_MOST = 20


def longest_first(times: np.ndarray, procs: int) -> tuple[float, list[int]]:
    """End of tasks on one processor each, the longest first; their order. O(n log n).

    Parameters
    ----------
    times : numpy.ndarray, shape (n,)
        Seconds on one processor.

    Examples
    --------
    >>> longest_first(np.array([1.0, 3.0, 2.0]), 2)
    (3.0, [1, 2, 0])
    """
    order = np.argsort(-times, kind="stable").tolist()
    free = [0.0] * procs
    for task in order:
        heapq.heapreplace(free, free[0] + float(times[task]))
    return max(free), order


def is_no_better(value: float, times: np.ndarray, procs: int) -> bool:
    """Whether a plan's end is not earlier than that by 1%."""
    if not np.isfinite(times).all():
        return False
    return value > longest_first(times, procs)[0] * (1 - _BETTER)


def one_line(codes: Sequence[Code], procs: int) -> str | None:
    """The line of xargs that runs codes in this order, each on one processor; None: too long.

    A code is a line of a shell, with its folder and environment; nothing is pinned.
    """
    if len(codes) > _MOST:
        return None
    words = []
    for code in codes:
        command = code.filled(1, (0,))
        variables = code.filled_environment(1, (0,))
        given = [f"{key}={value}" for key, value in variables.items()]
        given += [] if "OMP_NUM_THREADS" in variables else ["OMP_NUM_THREADS=1"]
        folder = shlex.quote(str(code.filled_directory(1, (0,))))
        words.append(shlex.quote(f"cd {folder} && exec {shlex.join(['env', *given, *command])}"))
    return f"printf '%s\\0' {' '.join(words)} | xargs -0 -n 1 -P {procs} sh -c"
