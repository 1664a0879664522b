"""How long jobs ran, and how long they held their nodes: Elapsed, Suspended, Start and End.

sacct's Elapsed is End - Start - Suspended. A job that is suspended keeps its memory. Its CPUs serve
others only if ``scontrol suspend`` stopped it, and when that was sacct does not print: so the job
holds all that it has until its End.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cosched.cluster.files.sacct.columns import durations, ends_of, unambiguous_ends
from cosched.cluster.files.sacct.remarks import Remark
from cosched.lazy import pd
from cosched.notes import NoteKind

#: Seconds by which a change of clocks moves local times.
_CLOCK_CHANGE = 3600


class ElapsedTimes(NamedTuple):
    """Seconds of each job, and what is said of them.

    Attributes
    ----------
    elapsed : numpy.ndarray
        That it ran; nan: unknown.
    suspended : numpy.ndarray
        That it was suspended before its end.
    remarks : dict of Remark to numpy.ndarray of bool
        What is to be noted of which rows.
    """

    elapsed: np.ndarray
    suspended: np.ndarray
    remarks: dict[Remark, np.ndarray]


def starts_by_ends(path: object, rows: pd.DataFrame, timezone: str | None) -> np.ndarray | None:
    """Seconds since the epoch of starts, as End, Elapsed and Suspended tell them; nan where they do
    not. None: there is no End, or no hour comes twice."""
    if timezone is None or "End" not in rows:
        return None
    elapsed_columns = _elapsed(rows, {})
    if "Suspended" in rows:
        elapsed_columns = elapsed_columns + np.nan_to_num(durations(rows["Suspended"]).to_numpy())
    return unambiguous_ends(path, rows["End"], timezone) - elapsed_columns


def elapsed_times(
    path: object, rows: pd.DataFrame, start: pd.Series, timezone: str | None
) -> ElapsedTimes:
    """Of each row of a job; `start` in seconds since the epoch."""
    remarks: dict[Remark, np.ndarray] = {}
    elapsed = _elapsed(rows, remarks)
    knows_suspension = "Suspended" in rows
    suspended = np.zeros(len(rows))
    if knows_suspension:
        suspended = np.nan_to_num(durations(rows["Suspended"]).to_numpy())
    if "End" not in rows:
        return ElapsedTimes(elapsed, suspended, remarks)
    begin = start.to_numpy()
    total = elapsed + suspended
    span = ends_of(path, rows["End"], timezone, begin + total) - begin
    with np.errstate(invalid="ignore"):
        differs = ~np.isnan(span - total) & (span != total)
        is_clock = (np.abs(span - total) == _CLOCK_CHANGE) & (timezone is None)
        if knows_suspension:
            # End counts where it is between the end of the work and that of the suspension.
            was_suspended = (suspended > 0) & ~np.isnan(span)
            allocated_seconds = np.where(was_suspended, np.clip(span, elapsed, total), total)
        else:
            allocated_seconds = np.where(~np.isnan(span) & (span > total) & ~is_clock, span, total)
    if not knows_suspension:
        is_longer = differs & (allocated_seconds > total)
        text = "End is later than Start + Elapsed: taken as suspended until then"
        remarks[Remark(NoteKind.ASSUMED, "later End", text)] = is_longer
        differs &= ~is_longer
    rule = "Start + Elapsed + Suspended" if knows_suspension else "Start + Elapsed"
    if knows_suspension:
        is_cut = was_suspended & (span >= elapsed) & (span < total)
        text = f"End is before {rule}: End counts, and the job was suspended for less"
        remarks[Remark(NoteKind.REPAIRED, "earlier End", text)] = differs & is_cut
        differs &= ~is_cut
    text = f"End is not {rule}: Elapsed counts"
    remarks[Remark(NoteKind.REPAIRED, "other End", text)] = differs & ~is_clock
    hint = "is a change of clocks between? Pass timezone (--timezone)"
    text = f"End is not {rule} by an hour: Elapsed counts; {hint}"
    remarks[Remark(NoteKind.REPAIRED, "End by an hour", text)] = differs & is_clock
    return ElapsedTimes(
        elapsed,
        np.where(np.isnan(allocated_seconds - elapsed), 0.0, allocated_seconds - elapsed),
        remarks,
    )


def _elapsed(rows: pd.DataFrame, remarks: dict[Remark, np.ndarray]) -> np.ndarray:
    """Return ElapsedRaw where it is a number, else Elapsed."""
    elapsed = np.full(len(rows), np.nan)
    if "Elapsed" in rows:
        elapsed = durations(rows["Elapsed"]).to_numpy()
    if "ElapsedRaw" not in rows:
        return elapsed
    texts = rows["ElapsedRaw"]
    seconds = pd.to_numeric(texts.where(texts.str.fullmatch(r"[0-9]{1,15}")), errors="coerce")
    raw = seconds.to_numpy(dtype=float)
    with np.errstate(invalid="ignore"):
        other = ~np.isnan(raw) & ~np.isnan(elapsed) & (np.floor(elapsed) != raw)
    text = "ElapsedRaw is not Elapsed: ElapsedRaw counts"
    remarks[Remark(NoteKind.REPAIRED, "ElapsedRaw", text)] = other
    return np.where(np.isnan(raw), elapsed, raw)
