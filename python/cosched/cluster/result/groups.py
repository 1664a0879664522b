"""Jobs of a result in groups, and against the log: what operators read."""

from __future__ import annotations

from typing import Any

import numpy as np

from cosched import _core
from cosched.cluster.bounds import THRESHOLD
from cosched.cluster.instance.usage import logged_starts
from cosched.cluster.result.waited import by_resource
from cosched.errors import InvalidInstance, shorten
from cosched.lazy import pd

GROUPS = ("user", "group", "partition", "status", "size", "gpu", "resource", "efficiency")
#: Below these a job used so much of its processors.
_EFFICIENCIES = (0.1, 0.25, 0.5, 0.75)
_OF_CORES = ("below 10%", "10-25%", "25-50%", "50-75%", "75% or more", "not said")


def slowdowns_of(result: Any) -> np.ndarray:
    """Bounded slowdown of each job: at least 10 s count."""
    end = np.asarray(result.outcome["end"], dtype=float)
    return _core.cluster.stretches(result.instance._core, end, THRESHOLD)


def by(result: Any, what: str) -> pd.DataFrame:
    """See :meth:`cosched.cluster.Result.by`."""
    instance = result.instance
    if what not in GROUPS:
        raise InvalidInstance(f"by {shorten(what)}: expected {', '.join(GROUPS)}")
    if what == "resource":
        return by_resource(instance, result.outcome["start"], result.outcome["end"])
    keys = keys_of(instance, what)
    if keys is None:
        raise InvalidInstance(f"by {what}: the log does not say it")
    work = instance.column("runtime") * instance.column("cpu") * instance.column("tasks") / 3600
    frame = pd.DataFrame(
        {what: keys, "wait": result.waits, "slowdown": slowdowns_of(result), "work": work}
    )
    frame = _whole(frame[instance.measured], what, instance.ids[instance.measured])
    groups = frame.groupby(what, dropna=False)
    table = pd.DataFrame(
        {
            "jobs": groups.size(),
            "mean_wait": groups["wait"].mean(),
            "median_wait": groups["wait"].median(),
            "p95_wait": groups["wait"].quantile(0.95),
            "mean_bounded_slowdown": groups["slowdown"].mean(),
            "cpu_hours": groups["work"].sum(),
        }
    ).reset_index()
    if what == "size":
        table["size"] = [range_of(power) for power in table["size"]]
    if what == "efficiency":
        table["efficiency"] = [_OF_CORES[place] for place in table["efficiency"]]
    return table


def keys_of(instance: Any, what: str) -> np.ndarray | None:
    """The group of each job; of sizes and efficiencies its number. None: the log does not say."""
    if what == "size":
        return np.ceil(np.log2(instance.column("tasks"))).astype(int)
    if what == "gpu" and "gpus" in instance.known:
        return np.where(instance.column("gpus") > 0, "with", "without")
    if what == "efficiency" and "cpu_efficiency" in instance.known:
        part = instance.column("cpu_efficiency")
        place = np.searchsorted(_EFFICIENCIES, part, side="right")
        return np.where(np.isnan(part), len(_EFFICIENCIES) + 1, place)
    return instance.column(what) if what in instance.known else None


def _whole(frame: pd.DataFrame, what: str, ids: np.ndarray) -> pd.DataFrame:
    """Components of a heterogeneous job (``45+0, 45+1``) as one, which waits for the last."""
    if ids.dtype.kind not in "UO":
        return frame
    names = pd.Series(ids, index=frame.index).astype(str)
    several = names.str.contains(r"\+[0-9]+$")
    if not several.any():
        return frame
    parts = frame[several].assign(
        job=names[several].str.rpartition("+")[0], run=names[several].groupby(names).cumcount()
    )
    measures = {"wait": "max", "slowdown": "max", "work": "sum"}
    one = parts.groupby([what, "job", "run"], as_index=False, dropna=False).agg(measures)
    return pd.concat([frame[~several], one[frame.columns]], ignore_index=True)


def range_of(power: int) -> str:
    """Numbers of tasks with this logarithm, rounded up."""
    low, high = 2 ** (power - 1) + 1, 2**power
    return str(high) if power <= 0 or low >= high else f"{low}-{high}"


def calibration(result: Any) -> dict[str, float]:
    """See :meth:`cosched.cluster.Result.calibration`."""
    instance = result.instance
    logged = logged_starts(instance)
    known = instance.measured & ~np.isnan(logged)
    if not known.any():
        raise InvalidInstance("the log has no waits: nothing says when its jobs started")
    logged = logged[known]
    start = np.asarray(result.outcome["start"])[known]
    apart, near = np.abs(start - logged), nearness(start[None], logged).iloc[0]
    return {
        "median": float(np.median(apart)),
        "p95": float(np.percentile(apart, 95)),
        "within_minute": float(near.within_60),
        "rank_correlation": float(near.rank_correlation),
    }


def starts_of(result: Any) -> np.ndarray:
    """Starts (s), a row a draw; one row without draws."""
    return result.outcome["start"][None] if result.draws is None else result.draws.starts


def nearness(starts: np.ndarray, logged: np.ndarray) -> pd.DataFrame:
    """How near starts are to those of the log, a row a draw: ``within_60`` and ``within_300``
    (shares of jobs), ``rank_correlation`` (Spearman's)."""
    apart = np.abs(starts - logged)
    shares = {f"within_{most}": (apart <= most).mean(axis=1) for most in (60, 300)}
    ranks = pd.DataFrame(starts.T).rank(), pd.Series(logged).rank()
    varied = np.ptp(starts, axis=1) * np.ptp(logged) > 0
    alike = [np.corrcoef(own, ranks[1])[0, 1] if good else np.nan
             for good, own in zip(varied, ranks[0].to_numpy().T, strict=True)]  # fmt: skip
    return pd.DataFrame({**shares, "rank_correlation": alike})
