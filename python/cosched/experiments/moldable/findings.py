"""What Dutot et al. 2004 report in Section 4.2, checked on the rows of ``moldable-fig3-6``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

#: The paper's algorithms: its findings are about these only.
PAPER = ("demt", "gang", "sequential", "list-shelf", "list-lptf", "list-saf")
_LISTS = ["list-shelf", "list-lptf", "list-saf"]
_CRITERIA = ("makespan", "minsum")

#: means(kind, criterion) = table of mean ratios, jobs x the paper's algorithms.
Means = Callable[[str, str], "pd.DataFrame"]
#: What is seen here, and the share of the cases where the paper's sentence holds.
Found = tuple[str, float]


def findings(rows: pd.DataFrame, ratios: pd.DataFrame) -> pd.DataFrame:
    """What the paper reports, and what these runs show.

    Parameters
    ----------
    rows : pandas.DataFrame
        Of :func:`.studies.with_bounds`: all kinds, the paper's algorithms.
    ratios : pandas.DataFrame
        Of :func:`.studies.ratios`.

    Returns
    -------
    pandas.DataFrame
        ``figure``, ``the paper says``, ``here``, ``holds`` (yes; mostly, in at least three cases
        of four; partly; no).
    """
    import pandas as pd

    def means(kind: str, criterion: str) -> pd.DataFrame:
        chosen = ratios[(ratios.kind == kind) & (ratios.criterion == criterion)]
        wide = chosen.pivot(index="jobs", columns="algorithm", values="mean")
        return wide[list(PAPER)]

    found = [
        ("3", "Weakly parallel: DEMT is worse than all but Gang", _worst_but_gang(means)),
        ("4", "Highly parallel: DEMT is clearly best on minsum", _best(means, "highly-parallel")),
        ("4", "Gang is good for few tasks, Sequential for many only", _opposite(means)),
        ("4", "The list algorithms' makespan ratio is small (its bound is lost)", _lists(means)),
        ("5", "Mixed: DEMT's ratio is around 2 (the number is lost) on both", _around_two(means)),
        ("5", "Mixed: SAF is better than DEMT", _saf_better(means)),
        ("5", "Mixed: the other lists' ratios greatly increase with the tasks", _grow(means)),
        ("6", "Cirne-Berman: DEMT is clearly best on minsum", _best(means, "cirne-berman")),
        ("6", "... and the only one with a stable ratio for any number of tasks", _stable(means)),
        ("3-6", "DEMT's makespan ratio is almost always below 2 (number lost)", _below_two(rows)),
        ("3-6", "DEMT performs better when tasks are more parallel", _more_parallel(means)),
    ]
    return pd.DataFrame(
        [(figure, text, here, _verdict(share)) for figure, text, (here, share) in found],
        columns=["figure", "the paper says", "here", "holds"],
    )


def _verdict(share: float) -> str:
    if share == 1:
        return "yes"
    return "mostly" if share >= 0.75 else "partly" if share >= 0.4 else "no"


def _worst_but_gang(means: Means) -> Found:
    share = 0.0
    for criterion in _CRITERIA:
        table = means("weakly-parallel", criterion)
        others = table.drop(columns=["demt", "gang"]).max(axis=1)
        share += ((table.demt >= others) & (table.demt <= table.gang)).mean() / 2
    return f"at {100 * share:.0f}% of the sizes and criteria", share


def _best(means: Means, kind: str) -> Found:
    table = means(kind, "minsum")
    margin = table.drop(columns="demt").min(axis=1) / table.demt - 1
    text = f"best at {(margin > 0).sum()} of {len(margin)} sizes; the next best is"
    return f"{text} {100 * margin.min():+.0f}% to {100 * margin.max():+.0f}%", (margin > 0).mean()


def _opposite(means: Means) -> Found:
    table = means("highly-parallel", "minsum")
    gang, one = table.gang, table.sequential
    text = (
        f"minsum: Gang {gang.iloc[0]:.2f} to {gang.iloc[-1]:.2f}, "
        f"Sequential {one.iloc[0]:.2f} to {one.iloc[-1]:.2f}"
    )
    return text, float(gang.iloc[0] < gang.iloc[-1] and one.iloc[0] > one.iloc[-1])


def _lists(means: Means) -> Found:
    table = means("highly-parallel", "makespan")[_LISTS]
    return f"at most {table.max().max():.2f}", float(table.max().max() < 2)


def _around_two(means: Means) -> Found:
    both = [means("mixed", criterion).demt for criterion in _CRITERIA]
    text = "; ".join(
        f"{name} {each.min():.2f} to {each.max():.2f}"
        for name, each in zip(_CRITERIA, both, strict=True)
    )
    return text, sum(each.between(1.5, 2.5).mean() for each in both) / 2


def _saf_better(means: Means) -> Found:
    margins = {
        name: (table.demt / table["list-saf"] - 1)
        for name, table in ((name, means("mixed", name)) for name in _CRITERIA)
    }
    text = ", ".join(
        f"{100 * margin.min():+.0f}% to {100 * margin.max():+.0f}% in {name}"
        for name, margin in margins.items()
    )
    return f"DEMT is {text} above it", sum((m > 0).mean() for m in margins.values()) / 2


def _grow(means: Means) -> Found:
    table = means("mixed", "minsum")[["list-shelf", "list-lptf"]]
    text = "; ".join(
        f"{name} {row.iloc[0]:.2f} to {row.iloc[-1]:.2f}" for name, row in table.items()
    )
    return f"minsum: {text}", (table.iloc[-1] > 1.3 * table.iloc[0]).mean()


def _stable(means: Means) -> Found:
    table = means("cirne-berman", "minsum")
    spread = table.max() / table.min()
    others = spread.drop("demt")
    text = f"largest / smallest mean minsum ratio: DEMT {spread.demt:.2f}, "
    return f"{text}others {others.min():.2f} ({others.idxmin()}) or more", float(
        spread.demt < others.min()
    )


def _below_two(rows: pd.DataFrame) -> Found:
    demt = rows[rows.algorithm == "demt"]
    ratio = demt.makespan / demt.makespan_bound
    share = float((ratio < 2).mean())
    text = f"mean {ratio.mean():.2f}, below 2 in {100 * share:.0f}% of the runs"
    return f"{text}, at most {ratio.max():.2f}", share


def _more_parallel(means: Means) -> Found:
    pairs = [
        (means("highly-parallel", name).demt.mean(), means("weakly-parallel", name).demt.mean())
        for name in _CRITERIA
    ]
    text = "; ".join(
        f"{name} {high:.2f} (highly) against {weak:.2f} (weakly)"
        for name, (high, weak) in zip(_CRITERIA, pairs, strict=True)
    )
    return text, sum(high < weak for high, weak in pairs) / 2
