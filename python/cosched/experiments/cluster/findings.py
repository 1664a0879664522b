"""What the paper's text says of its Table 2, and what the rows of a campaign say to that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cosched.experiments.cluster.traces import TITLES

if TYPE_CHECKING:
    import pandas as pd

_BEST = ("GreedyP */per/opt=min/minvt=600", "GreedyPM */per/opt=min/minvt=600")
_YES = {True: "yes", False: "no"}


def degradation_findings(frame: pd.DataFrame) -> pd.DataFrame:
    """A row a (set of traces, statement)."""
    import pandas as pd

    rows = []
    for name, some in frame.groupby("traces", sort=False):
        means = some.groupby("algorithm", sort=False).degradation.mean()
        for statement, here, holds in _statements(means):
            rows.append((TITLES[str(name)], statement, here, _YES[bool(holds)]))
    return pd.DataFrame(rows, columns=["traces", "the paper says", "here", "holds"])


def _statements(means: pd.Series) -> list[tuple[str, str, bool]]:
    batch = means[["FCFS", "EASY"]]
    dfrs = means.drop(["FCFS", "EASY"])
    best, best_two = dfrs.idxmin(), dfrs[list(_BEST)]
    greedy = dfrs[["Greedy */opt=min", "GreedyP */opt=min", "GreedyPM */opt=min"]]
    periodic = dfrs[["/per/opt=min/minvt=600", "/stretch-per/opt=max/minvt=600"]]
    gain = {
        name: means[f"{name}/per/opt=min/minvt=600"] / means[f"{name} */per/opt=min/minvt=600"]
        for name in ("GreedyP", "GreedyPM")
    }
    return [
        (
            "EASY outperforms FCFS",
            f"{batch['EASY']:.0f} against {batch['FCFS']:.0f}",
            batch["EASY"] <= batch["FCFS"],
        ),
        (
            "DFRS outperforms both by several orders of magnitude",
            f"EASY is {batch['EASY'] / dfrs.min():.0f} x the best DFRS policy",
            batch["EASY"] >= 100 * dfrs.min(),
        ),
        (
            "Preemption helps: GreedyP is better than Greedy",
            f"{greedy.iloc[1]:.1f} against {greedy.iloc[0]:.1f}",
            greedy.iloc[1] < greedy.iloc[0],
        ),
        (
            "GreedyP and GreedyPM */per with minvt=600 are the best overall",
            f"{best_two.iloc[0]:.1f} and {best_two.iloc[1]:.1f}; best is {best} ({dfrs.min():.1f})",
            best_two.min() == dfrs.min(),
        ),
        (
            "... there, opportunistic scheduling (*) is always beneficial",
            "without it " + ", ".join(f"{name} {ratio:.2f} x" for name, ratio in gain.items()),
            min(gain.values()) >= 1,
        ),
        (
            "... at most a factor 7 from the bound on average",
            f"{best_two.min():.1f}",
            best_two.min() <= 7,
        ),
        (
            "/per and /stretch-per perform on par, far from the best",
            f"{periodic.iloc[0]:.1f} and {periodic.iloc[1]:.1f}",
            0.8 < periodic.iloc[1] / periodic.iloc[0] < 1.25 and periodic.min() > 3 * dfrs.min(),
        ),
    ]
