"""What comes with a table of times: its spread, what it breaks of what guarantees need; and a
table in which more processors help.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cosched import _core
from cosched.core.arrays import real_array
from cosched.core.text import labels
from cosched.errors import InvalidInstance
from cosched.notes import Note, NoteKind

_BLOCK = 2**15  # entries looked at together: what the second-level cache holds
_ROUNDING = 1e-12


def spread_of(spread: object, shape: tuple[int, ...]) -> np.ndarray | None:
    """A read-only array of the shape of the times; None where no count was measured twice.

    Parameters
    ----------
    spread : array_like or None
        (largest - smallest) / median of the runs behind each time, nan for one run.
    shape : tuple of int
        Of the times.

    Raises
    ------
    InvalidInstance
        Another shape than the times, or entries that are no numbers.

    Examples
    --------
    >>> spread_of([[0.1, np.nan]], (1, 2)).tolist(), spread_of([[np.nan, np.nan]], (1, 2))
    ([[0.1, nan]], None)
    """
    if spread is None:
        return None
    values = real_array(spread, "spread", 2)
    if values.shape != shape:
        raise InvalidInstance(f"spread has shape {values.shape}, times has {shape}")
    values.flags.writeable = False
    return None if np.isnan(values).all() else values


def property_notes(times: np.ndarray, names: Sequence[str], unclaimed: str) -> tuple[Note, ...]:
    """Notes about times that rise, are infinite, or fall faster than processors are added.

    Parameters
    ----------
    times : numpy.ndarray, shape (n, p)
        Seconds.
    unclaimed : str
        What is not claimed where work q t(q) falls with processors, or a task cannot run on one.

    Examples
    --------
    >>> property_notes(np.array([[100.0, 60.0, 80.0]]), ["a"], "no factor is claimed")
    ('1 of 1 tasks is slower on more processors (a: 80 s on 3, 60 s on 2): the fewer are used',)
    """
    times = _table(times)
    names = labels(names, len(times), "task")
    rising: list[tuple[int, int]] = []  # (task, column) of the first breach of each task
    falling: list[tuple[int, int]] = []
    infinite = no_start = 0
    rows = max(1, _BLOCK // times.shape[1])
    for first in range(0, len(times), rows):
        block = times[first : first + rows]
        if _plainly_good(block):
            continue
        best = np.minimum.accumulate(block, axis=1)
        work = best * np.arange(1, block.shape[1] + 1)
        infinite += int(np.isinf(block).sum())
        no_start += int(np.isinf(block[:, 0]).sum())
        rises = np.isfinite(block) & (block > best * (1 + _ROUNDING))
        most = np.maximum.accumulate(np.where(np.isfinite(work), work, 0.0), axis=1)
        rising += _first_in_rows(rises, first)
        falling += _first_in_rows(work < most * (1 - _ROUNDING), first)
    notes = []
    tasks = len(times)
    if infinite:
        text = f"{infinite} of {times.size} times are infinite: no task gets such a count"
        notes.append(Note(NoteKind.UNUSUAL, text, subject="infinite times", count=infinite))
    if rising:
        task, column = rising[0]
        before = int(np.argmin(times[task, :column]))
        text = (
            f"{_tasks_in_words(len(rising), tasks)} slower on more processors ({names[task]}: "
            f"{times[task, column]:g} s on {column + 1}, {times[task, before]:g} s on "
            f"{before + 1}): the fewer are used"
        )
        subject = "tasks that are slower on more processors"
        notes.append(Note(NoteKind.UNUSUAL, text, subject=subject, count=len(rising)))
    if falling:
        task, column = falling[0]
        text = (
            f"{_tasks_in_words(len(falling), tasks)} super-linear ({names[task]} on {column + 1} "
            "processors does less work than on fewer)"
        )
        notes.append(Note(NoteKind.UNUSUAL, text, subject="super-linear tasks", count=len(falling)))
    if falling or no_start:
        notes.append(Note(NoteKind.UNKNOWN, unclaimed, subject="guarantee"))
    return tuple(notes)


def _plainly_good(block: np.ndarray) -> bool:
    """Return whether times are finite and do not rise, and work falls by no more than rounding in
    all."""
    p = block.shape[1]
    if np.isinf(block[:, 0]).any() or not (block[:, 1:] <= block[:, :-1]).all():
        return False
    work = block * np.arange(1.0, p + 1)
    return bool((work[:, 1:] >= work[:, :-1] * (1 - _ROUNDING / p)).all())


def _tasks_in_words(count: int, total: int) -> str:
    return f"{count} of {total} tasks {'is' if count == 1 else 'are'}"


def _table(times: Any) -> np.ndarray:
    """Return a table of numbers; one that is a table already is not copied."""
    is_table = type(times) is np.ndarray and times.ndim == 2 and times.dtype.kind == "f"
    return times if is_table else real_array(times, "times", 2)


def _first_in_rows(breaches: np.ndarray, first: int) -> list[tuple[int, int]]:
    rows = np.flatnonzero(breaches.any(axis=1))
    return [(first + int(row), int(breaches[row].argmax())) for row in rows]


#: Tables with more entries are not repeated in schedule files.
MOST_FACTS = 100_000


def facts(procs: int, times: np.ndarray | None) -> dict[str, Any]:
    """What a schedule file says of a table of times; see ``core.Instance.facts``.

    Parameters
    ----------
    times : numpy.ndarray, shape (n, p), or None
        Left out where it is large.

    Examples
    --------
    >>> facts(2, np.array([[4.0, np.inf]]))
    {'procs': 2, 'times': [[4.0, inf]]}
    """
    facts_by_name: dict[str, Any] = {"procs": procs}
    if times is not None and (table := _table(times)).size <= MOST_FACTS:
        facts_by_name["times"] = table.tolist()
    return facts_by_name


def monotone(times: object) -> np.ndarray:
    """Repair a table so that time never rises and work q t(q) never falls with processors.

    First t(q+1) <= t(q), by never using more processors than the best so far; then
    t(q+1) is raised to q t(q) / (q+1) where the speed-up is super-linear. O(n p). For workloads
    that are defined like that: nothing here needs it, and an instance keeps what it is given.

    Parameters
    ----------
    times : array_like, shape (n, p)
        Positive seconds; infinity where a task cannot run. Counts below the first on which it
        can stay infinite.

    Returns
    -------
    numpy.ndarray, shape (n, p)

    Raises
    ------
    InvalidInstance
        Empty, ragged or non-numeric table; an entry that is NaN or <= 0; a row without a finite
        entry.

    Examples
    --------
    >>> monotone([[8.0, 3.0, 5.0]]).tolist()
    [[8.0, 4.0, 3.0]]
    """
    return _core.packs.monotone(real_array(times, "times", 2))
