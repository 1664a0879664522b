"""Columns of texts, of which a log repeats few: times and durations as Slurm prints them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cosched.errors import InvalidInstance, shorten
from cosched.lazy import pd


def each(texts: pd.Series, reads: Callable[[pd.Series], Any]) -> np.ndarray:
    """`reads` of the distinct texts, by row: a log repeats few."""
    if isinstance(texts.dtype, pd.CategoricalDtype):
        codes, distinct = texts.cat.codes.to_numpy(), texts.cat.categories
    else:
        codes, distinct = pd.factorize(texts)
    return np.asarray(reads(pd.Series(distinct, dtype=str)))[codes]


#: Of times: what Slurm's clock can say, and nanoseconds since 1970 can hold.
_YEARS = (1970, 2261)
DURATION = r"(?:(?:([0-9]{1,7})-)?([0-9]{1,9}):)?([0-9]{1,9}):([0-9]{1,9})(?:\.[0-9]+)?"
#: Where a job has not come to that yet.
NOT_YET = ("Unknown", "None", "")


def times_of(
    path: Any, rows: pd.DataFrame, names: tuple[str, ...], timezone: str | None
) -> tuple[list[pd.Series], pd.Series]:
    """Seconds since the epoch of each column, nan where it is no time; and whether one of them is
    in the hour that comes twice: the first is taken, but none before that of the column before."""
    found: list[pd.Series] = []
    twice = pd.Series(data=False, index=rows.index)
    for name in names:
        seconds, local = _plain(rows[name])
        if timezone is not None:
            first, later = (_utc(path, local, timezone, first=k) for k in (True, False))
            twice |= first < later
            before = found[-1] if found else first
            seconds = seconds.fillna(first.where(~(first < before), later))
        else:
            seconds = seconds.fillna((local - pd.Timestamp(0)).dt.total_seconds())
        found.append(seconds)
    return found, twice


def _plain(texts: pd.Series) -> tuple[pd.Series, pd.Series]:
    """Seconds of texts that say their zone (epochs, %z); local times of the others, cell by cell:
    a bad one costs its row only."""
    length = texts.str.len()
    seconds = pd.Series(np.nan, index=texts.index)
    local = pd.to_datetime(texts.where(length == 19), format="%Y-%m-%dT%H:%M:%S", errors="coerce")
    short = texts[length.between(9, 11)]  # SLURM_TIME_FORMAT=%s
    if len(short):
        short = short[short.str.fullmatch("[0-9]+")]
        seconds[short.index] = pd.to_numeric(short).astype(float)
    long = texts[length > 19]  # SLURM_TIME_FORMAT=%Y-%m-%dT%H:%M:%S%z
    if len(long):
        zoned = pd.to_datetime(long, format="%Y-%m-%dT%H:%M:%S%z", errors="coerce", utc=True)
        zoned = zoned.dt.tz_localize(None)
        zoned = zoned.where(zoned.dt.year.between(*_YEARS))
        seconds[long.index] = (zoned - pd.Timestamp(0)).dt.total_seconds()
    return seconds, local.where(local.dt.year.between(*_YEARS))


def _utc(path: Any, local: pd.Series, timezone: str, first: bool) -> pd.Series:
    try:
        ambiguous = np.full(len(local), first)
        utc = local.dt.tz_localize(
            timezone, ambiguous=ambiguous, nonexistent="shift_forward"
        ).dt.tz_convert("UTC").dt.tz_localize(None)  # fmt: skip
    except (KeyError, ValueError):
        raise InvalidInstance(
            f"{path}: timezone = {shorten(timezone)}: expected a name such as Europe/Stockholm"
        ) from None
    return (utc - pd.Timestamp(0)).dt.total_seconds()


def durations(texts: pd.Series) -> pd.Series:
    """Seconds of ``[days-]hours:minutes:seconds`` or ``minutes:seconds``; nan of others."""
    return pd.Series(each(texts, _durations), index=texts.index)


def _durations(texts: pd.Series) -> pd.Series:
    parts = texts.str.extract(f"^{DURATION}$")
    days, hours, minutes, rest = (pd.to_numeric(parts[k].fillna("0")) for k in range(4))
    seconds = days * 86400 + hours * 3600 + minutes * 60 + rest
    return seconds.astype(float).mask(parts[2].isna())
