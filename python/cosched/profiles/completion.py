"""Counts that were not measured, and the monotone repair."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from cosched.core.arrays import integer
from cosched.errors import InvalidInstance, shorten
from cosched.profiles.models import MODELS
from cosched.profiles.monotony import repaired

MEASURED, INTERPOLATED, EXTRAPOLATED = 0, 1, 2
#: Largest processor count that a file may name: a wider table would not fit in memory.
MOST_PROCESSORS = 1_000_000


@dataclass(frozen=True)
class Profiles:
    """A complete table: what reading and :func:`complete` return."""

    times: np.ndarray  # (n, p) seconds
    names: tuple[str, ...]
    origin: np.ndarray  # (n, p) MEASURED, INTERPOLATED or EXTRAPOLATED
    notes: tuple[str, ...] = ()
    max_tasks: int | None = None


def complete(
    measured: Mapping[str, Mapping[int, float]],
    procs: int | None = None,
    *,
    fit: str = "interpolation",
    extrapolate: bool = False,
    repair: bool = True,
) -> Profiles:
    """Fill the counts 1..procs that were not measured.

    Parameters
    ----------
    measured : mapping
        Task name -> {processor count: seconds}.
    procs : int, optional
        p; None: the largest measured count.
    fit : {"interpolation", "amdahl", "power-law"}
        See :mod:`cosched.profiles`.
    extrapolate : bool
        Allow counts outside the measured ones.
    repair : bool
        Make the table monotone (:func:`cosched.profiles.monotone`); the change is in the notes.

    Returns
    -------
    Profiles

    Raises
    ------
    InvalidInstance
        A task lacks a count outside its measured ones and `extrapolate` is False; a model
        is needed and only one count was measured; unknown `fit`.

    Examples
    --------
    >>> table = complete({"solver": {1: 8.0, 4: 2.0}})
    >>> table.times.round(3).tolist()
    [[8.0, 4.0, 2.667, 2.0]]
    >>> table.origin.tolist()
    [[0, 1, 1, 0]]
    """
    if not measured:
        raise InvalidInstance("no measurements: expected at least one task")
    if fit not in MODELS:
        raise InvalidInstance(f"fit = {shorten(fit)}: expected one of {', '.join(MODELS)}")
    largest = max(max(counts) for counts in measured.values())
    p = largest if procs is None else integer(procs, "procs", 1, MOST_PROCESSORS)
    names = tuple(measured)
    times = np.empty((len(names), p))
    origin = np.empty((len(names), p), dtype=np.int8)
    for row, name in enumerate(names):
        times[row], origin[row] = _profile(name, dict(measured[name]), p, fit, extrapolate)
    notes = [_summary(origin, fit)]
    if repair:
        times, changes = repaired(times, names)
        notes += changes
    return Profiles(times, names, origin, tuple(notes))


def _profile(
    name: str, counts: dict[int, float], p: int, fit: str, extrapolate: bool
) -> tuple[np.ndarray, np.ndarray]:
    q = np.array(sorted(counts))
    t = np.array([counts[count] for count in q])
    wanted = np.arange(1, p + 1)
    is_measured = np.isin(wanted, q)
    outside = (wanted < q[0]) | (wanted > q[-1])
    if outside.any() and not extrapolate:
        raise InvalidInstance(
            f"task {shorten(name)} was measured on {list_of(q)} processors, "
            f"and {list_of(wanted[outside])} of 1..{p} are outside: pass extrapolate=True "
            f"(--extrapolate) to use a fitted model there, or a smaller procs"
        )
    times = np.empty(p)
    times[is_measured] = t[np.isin(q, wanted)]
    rest = ~is_measured
    if rest.any():
        if len(q) < 2:
            raise InvalidInstance(
                f"task {shorten(name)} was measured on {list_of(q)} processors only: "
                "a model needs at least two counts"
            )
        times[rest] = MODELS[fit](q, t)(wanted[rest])
    origin = np.where(is_measured, MEASURED, np.where(outside, EXTRAPOLATED, INTERPOLATED))
    return times, origin.astype(np.int8)


def _summary(origin: np.ndarray, fit: str) -> str:
    measured, inside, outside = (int((origin == kind).sum()) for kind in range(3))
    text = f"{origin.shape[0]} tasks x {origin.shape[1]} counts: {measured} times measured"
    if inside:
        text += f", {inside} {'interpolated' if fit == 'interpolation' else 'fitted'}"
    if outside:
        text += f", {outside} extrapolated"
    return text + (f" ({fit}; hatched in the picture)" if inside or outside else "")


def list_of(counts: Iterable[int]) -> str:
    texts = [str(int(count)) for count in counts]
    return ",".join(texts[:6]) + (",..." if len(texts) > 6 else "")
