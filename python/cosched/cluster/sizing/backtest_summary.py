"""What the backtest of recommended requests shows over all periods and groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cosched.core.formats import share

if TYPE_CHECKING:
    #: Its class writes summaries and is above this module.
    RightSize = Any


@dataclass(frozen=True)
class BacktestSummary:
    """Killed jobs of a backtest, and what was guaranteed.

    Attributes
    ----------
    killed_share : float
        Share of the jobs that a recommendation would have killed, for time or memory.
    guaranteed_share : float
        At most so large a share was to be killed.
    groups, groups_above : int
        All groups, and those of which more were killed than was guaranteed.
    share_of_jobs_above : float
        Share of the jobs that are of these groups.
    """

    killed_share: float
    guaranteed_share: float
    groups: int
    groups_above: int
    share_of_jobs_above: float


def summarise_backtest(right_size: RightSize) -> BacktestSummary:
    """Return the summary of a backtest; shares are nan where the log allows none."""
    backtest, groups = right_size.backtest(), right_size.backtest("group")
    killed_share = guaranteed_share = float("nan")
    if len(backtest):
        killed_shares = backtest["killed_time"] + backtest["killed_memory"]
        killed_share = float(np.average(killed_shares, weights=backtest["jobs"]))
        guaranteed_share = float(np.average(backtest["promised"], weights=backtest["jobs"]))
    is_above = groups["killed_time"] + groups["killed_memory"] > groups["promised"]
    return BacktestSummary(
        killed_share=killed_share,
        guaranteed_share=guaranteed_share,
        groups=len(groups),
        groups_above=int(is_above.sum()),
        share_of_jobs_above=float(groups["jobs"][is_above].sum() / max(groups["jobs"].sum(), 1)),
    )


def groups_above_sentence(summary: BacktestSummary) -> str:
    """Return the sentence on groups of which the backtest killed more than was guaranteed."""
    return (
        f"By group: above the guarantee in {summary.groups_above:,} of {summary.groups:,}, with "
        f"{share(summary.share_of_jobs_above)} of the jobs: the guarantee is of the mean, and a "
        "group of few jobs is above it with its first killed one."
    )
