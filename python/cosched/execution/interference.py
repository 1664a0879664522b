"""``execution.together``: do codes slow each other down side by side?"""

from __future__ import annotations

import math
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cosched import io
from cosched.core.arrays import integer
from cosched.errors import InvalidInstance
from cosched.execution.codes import Codes
from cosched.execution.launchers import Launcher, launcher_of
from cosched.execution.measure import Bench
from cosched.execution.planned import Plan, Step

if TYPE_CHECKING:
    import pandas as pd


def together(
    codes: Codes,
    repeat: int = 3,
    out: str | PathLike[str] | None = None,
    *,
    launcher: str | Launcher = "local",
    outputs: str | PathLike[str] = "together.outputs",
    watch: Callable[[int, int, str], None] | None = None,
    **options: Any,
) -> pd.DataFrame:
    """Measure codes in pairs, each on one half of the processors: how much slower than alone?

    Plans assume that tasks side by side do not slow each other down. Each code runs on the first
    half of the processors (its largest count there), alone and with every other code on the
    second half; the other is started again as often as it ends, so that the first is never alone.

    Parameters
    ----------
    repeat : int
        Runs of each pair; their median counts.
    out : str or path-like, optional
        .csv, .json or .md to write the table to.
    launcher, **options
        As for :func:`run`.
    outputs : str or path-like
        Folder of the outputs.
    watch : callable, optional
        Told before each run: runs done, runs in all, what runs.

    Returns
    -------
    pandas.DataFrame
        A row a pair: ``task, beside, processors, alone, together`` (s), ``slowdown`` (together /
        alone).

    Raises
    ------
    InvalidInstance
        Fewer than two processors, or a code that runs on none of the counts of a half, or fails.
    KeyboardInterrupt
        After Ctrl-C.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from cosched.execution import Code, Codes, together
    >>> codes = Codes(procs=2, codes={"a": Code(name="a", command="sleep 0.01")})
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> frame = together(codes, repeat=1, outputs=folder, oversubscribe=True)
    >>> frame[["task", "beside", "processors"]].to_numpy().tolist()
    [['a', 'a', 1]]
    """
    import pandas as pd

    times = integer(repeat, "repeat", 1)
    half = codes.procs // 2
    counts = {name: _largest(codes, name, half) for name in codes}
    chosen = launcher_of(launcher, **options)
    whole = Step(task=0, name="", kind=0, units=tuple(range(2 * half)), start=0.0, end=0.0)
    chosen.check(Plan(family="moldable", steps=(whole,)), codes)
    names = list(codes)
    total = times * len(names) * (len(names) + 1)
    done = 0
    seconds: dict[tuple[str, str | None], list[float]] = {}
    with Bench(codes, chosen, Path(outputs)) as bench:
        for _ in range(times):
            for first in names:
                for second in (None, *names):
                    if watch is not None:
                        watch(done, total, first if second is None else f"{first} beside {second}")
                    took = bench.while_beside(
                        (first, range(counts[first])),
                        None if second is None else (second, range(half, half + counts[second])),
                    )
                    seconds.setdefault((first, second), []).append(took)
                    done += 1
    rows = []
    for first in names:
        alone = float(np.median(seconds[first, None]))
        for second in names:
            beside = float(np.median(seconds[first, second]))
            slowdown = beside / alone if alone > 0 else math.nan
            rows.append((first, second, counts[first], alone, beside, slowdown))
    columns = ["task", "beside", "processors", "alone", "together", "slowdown"]
    frame = pd.DataFrame(rows, columns=columns)
    if out is not None:
        io.write_frame(frame, out)
    return frame


def _largest(codes: Codes, name: str, half: int) -> int:
    fitting = [count for count in codes.counts_of(name) if count <= half]
    if not fitting:
        raise InvalidInstance(
            f"task {name!r} runs on none of 1..{half} processors, a half of procs = {codes.procs}"
        )
    return max(fitting)
