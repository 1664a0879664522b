"""How far a reproduced scheduler is from what happened: may it be asked what if?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cosched.cluster.instance.usage import has_waits, logged_starts
from cosched.cluster.page.text import paragraph, share, table
from cosched.cluster.result import Result

#: Fewer starts than this within five minutes are another cluster's.
ENOUGH = 0.5
_MINUTE, _FIVE = 60.0, 300.0


@dataclass(frozen=True)
class Fit:
    """Starts of the twin beside those of the log.

    Attributes
    ----------
    within_minute, within_five : float
        Share of the jobs whose start is so near, 0..1.
    rank_correlation : float
        Spearman's, of the starts.
    partitions : tuple of (str, int, float, float)
        Name, jobs, and the two shares.
    """

    within_minute: float
    within_five: float
    rank_correlation: float
    partitions: tuple[tuple[str, int, float, float], ...]

    @property
    def enough(self) -> bool:
        """Whether its what-ifs are about this cluster."""
        return self.within_five >= ENOUGH

    def plain(self) -> dict[str, Any]:
        """As JSON has it."""
        names = ("partition", "jobs", "within_minute", "within_five")
        rows = [dict(zip(names, row, strict=True)) for row in self.partitions]
        return {
            "within_minute": self.within_minute,
            "within_five": self.within_five,
            "rank_correlation": self.rank_correlation,
            "partitions": rows,
        }


def fit_of(result: Result) -> Fit | None:
    """Of a result whose log has waits; None where it has none."""
    instance = result.instance
    if not has_waits(instance):
        return None
    logged = logged_starts(instance)
    known = instance.measured & ~np.isnan(logged)
    if not known.any():
        return None
    apart = np.abs(np.asarray(result.outcome["start"]) - logged)
    rows = []
    if "partition" in instance.known:
        names = instance.column("partition").astype(str)
        for name in dict.fromkeys(names[known].tolist()):
            own = known & (names == name)
            rows.append((name, int(own.sum()), *_within(apart[own])))
    rank = result.calibration()["rank_correlation"]
    return Fit(*_within(apart[known]), rank, tuple(rows))


def _within(apart: np.ndarray) -> tuple[float, float]:
    return float((apart <= _MINUTE).mean()), float((apart <= _FIVE).mean())


def about_fit(fit: Fit | None, counts: str = "") -> str:
    """The first thing that is said where the machine is a Slurm's; `counts`: the row that does."""
    if fit is None:
        said = "The log has no waits, so nothing says how near the twin of this Slurm is to it."
        return paragraph(said)
    said = (
        f"The twin of this Slurm starts {share(fit.within_minute)} of the jobs within a minute of "
        f"the log, {share(fit.within_five)} within five (rank correlation of the starts "
        f"{fit.rank_correlation:.2f}). "
    )
    if fit.enough:
        said += f"{counts} is the row that counts." if counts else ""
    else:
        instead = f", and {counts} counts instead" if counts else ""
        said += (
            "That is less than half: what-ifs of the twin would be about another cluster"
            f"{instead}. Most often accounts, reservations or nodes that were down "
            "are missing (--accounts)."
        )
    heads = ("partition", "jobs", "within a minute", "within five")
    rows = [
        (name, f"{jobs:,}", share(one), share(five)) for name, jobs, one, five in fit.partitions
    ]
    by_partition = f"<div class=fit>{table(heads, rows)}</div>" if len(rows) > 1 else ""
    return paragraph(said) + by_partition
