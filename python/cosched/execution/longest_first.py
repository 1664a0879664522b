"""What a plan has to beat: tasks on one processor each, the longest first, as a line of xargs."""

import heapq
import shlex
from collections.abc import Sequence

import numpy as np

from cosched.execution.code import Code

#: A plan is no better than longest-first if it ends earlier by less than this share.
_MIN_GAIN = 0.01
#: A shell line of more codes is too long to be typed.
_MAX_CODES_ON_LINE = 20


def longest_first(times: np.ndarray, procs: int) -> tuple[float, list[int]]:
    """Schedule tasks on one processor each, the longest first.

    Parameters
    ----------
    times : numpy.ndarray, shape (n,)
        Seconds of each task on one processor.
    procs : int
        Processors.

    Returns
    -------
    makespan : float
        End of the last task (s).
    order : list of int
        Tasks in the order in which they start. O(n log n).
    """
    order = np.argsort(-times, kind="stable").tolist()
    processor_ends = [0.0] * procs  # a heap: the processor that is free first comes first
    for task in order:
        heapq.heapreplace(processor_ends, processor_ends[0] + float(times[task]))
    return max(processor_ends), order


def is_no_better(makespan: float, times: np.ndarray, procs: int) -> bool:
    """Whether a plan ends at most 1% earlier than longest-first.

    `makespan`: end of the plan (s); `times`: as in :func:`longest_first`; not finite: the task
    cannot run on one processor.
    """
    if not np.isfinite(times).all():
        return False
    return makespan > longest_first(times, procs)[0] * (1 - _MIN_GAIN)


def xargs_line(codes: Sequence[Code], procs: int) -> str | None:
    """Return the line of xargs that runs codes in this order, each on one processor.

    Each code is a shell command with its folder and environment; no code is pinned to a processor.
    None: more codes than fit a line that is typed.
    """
    if len(codes) > _MAX_CODES_ON_LINE:
        return None
    commands = [shlex.quote(_shell_command(code)) for code in codes]
    return f"printf '%s\\0' {' '.join(commands)} | xargs -0 -n 1 -P {procs} sh -c"


def _shell_command(code: Code) -> str:
    """Return the shell command that runs a code on one processor, in its folder."""
    variables = code.filled_environment(1, (0,))
    settings = [f"{key}={value}" for key, value in variables.items()]
    if "OMP_NUM_THREADS" not in variables:
        settings.append("OMP_NUM_THREADS=1")
    folder = shlex.quote(str(code.filled_directory(1, (0,))))
    return f"cd {folder} && exec {shlex.join(['env', *settings, *code.filled(1, (0,))])}"
