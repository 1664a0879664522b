"""Figures 3 to 7 of Dutot et al. 2004: quality and run time of the schedulers."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from cosched.core.arrays import integer
from cosched.moldable import Result, dual_approximation_bound, minsum_bound, solve
from cosched.workloads.moldable import KINDS, moldable

if TYPE_CHECKING:
    import pandas as pd

#: The paper's six.
PAPER = ("demt", "gang", "sequential", "list-shelf", "list-lptf", "list-saf")
#: Numbers of jobs in the figures.
SIZES = (25, 50, 100, 200, 300, 400)
#: Number of the figure of each workload.
FIGURES = {kind: 3 + number for number, kind in enumerate(KINDS)}


def quality(
    kinds: Sequence[str] = KINDS,
    sizes: Sequence[int] = SIZES,
    names: Sequence[str] = PAPER,
    *,
    machines: int = 200,
    runs: int = 40,
    seed: int = 0,
    quick: bool = False,
) -> pd.DataFrame:
    """Both criteria of each algorithm on random instances of each kind and size.

    Parameters
    ----------
    kinds, sizes, names : sequences
        Workloads, numbers of jobs, algorithms.
    machines : int
        m.
    runs : int
        Instances of each kind and size; run r uses seed `seed` + r.
    seed : int
    quick : bool
        Three sizes and three runs instead.

    Returns
    -------
    pandas.DataFrame
        A row a (kind, jobs, run, algorithm): ``makespan, minsum, makespan_bound``,
        ``minsum_bound`` (the paper's: its grid, c_ij = g_j), ``minsum_bound_fine`` (grid 8 times
        finer, tight costs), ``seconds``.
    """
    import pandas as pd

    count = 3 if quick else integer(runs, "runs", 1)
    rows = []
    for kind in kinds:
        for jobs in (25, 100, 400) if quick else sizes:
            for run in range(count):
                instance = moldable(kind, jobs, machines, seed=seed + run)
                bounds = {
                    "makespan_bound": float(dual_approximation_bound(instance)),
                    "minsum_bound": float(minsum_bound(instance, tight=False)),
                    "minsum_bound_fine": float(minsum_bound(instance, refine=8)),
                }
                for name in names:
                    begin = time.perf_counter()
                    result = solve(instance, name, seed=seed + run)
                    seconds = time.perf_counter() - begin
                    assert isinstance(result, Result)
                    rows.append(
                        {
                            "kind": kind,
                            "jobs": jobs,
                            "run": run,
                            "algorithm": name,
                            "makespan": result.makespan,
                            "minsum": result.weighted_completion,
                            **bounds,
                            "seconds": seconds,
                        }
                    )
    return pd.DataFrame(rows)


def ratios(frame: pd.DataFrame) -> pd.DataFrame:
    """Least, mean and greatest ratio to the bound over the runs, for both criteria.

    The mean is the paper's: the sum of the values over the sum of the bounds.

    Returns
    -------
    pandas.DataFrame
        A row a (kind, jobs, algorithm, criterion): ``least, mean, greatest``; criterion is
        ``"makespan"``, ``"minsum"`` or ``"minsum, fine bound"``.
    """
    import pandas as pd

    criteria = (
        ("makespan", "makespan", "makespan_bound"),
        ("minsum", "minsum", "minsum_bound"),
        ("minsum, fine bound", "minsum", "minsum_bound_fine"),
    )
    rows = []
    for (kind, jobs, name), group in frame.groupby(["kind", "jobs", "algorithm"], sort=False):
        for criterion, value, bound in criteria:
            each = group[value] / group[bound]
            rows.append(
                {
                    "kind": kind,
                    "jobs": jobs,
                    "algorithm": name,
                    "criterion": criterion,
                    "least": each.min(),
                    "mean": group[value].sum() / group[bound].sum(),
                    "greatest": each.max(),
                }
            )
    return pd.DataFrame(rows)


# --- the paper's findings -------------------------------------------------------------------

#: What a finding is checked on: mean[kind, criterion] = table of means, jobs x algorithms.
Means = Callable[[str, str], "pd.DataFrame"]


def findings(frame: pd.DataFrame) -> pd.DataFrame:
    """What the paper reports (Section 4.2), and what these runs show.

    Parameters
    ----------
    frame : pandas.DataFrame
        Of :func:`quality`, with all kinds and the paper's algorithms.

    Returns
    -------
    pandas.DataFrame
        ``figure, finding, measured, holds``.
    """
    import pandas as pd

    table = ratios(frame)

    def means(kind: str, criterion: str) -> pd.DataFrame:
        chosen = table[(table.kind == kind) & (table.criterion == criterion)]
        return chosen.pivot(index="jobs", columns="algorithm", values="mean")

    rows = [
        {"figure": figure, "finding": text, "measured": measured, "holds": holds}
        for figure, text, (measured, holds) in (
            (3, "weakly parallel: DEMT is worse than all but Gang", _worst_but_gang(means)),
            (4, "highly parallel: DEMT is best on minsum (from 50 jobs on)", _best(means)),
            (4, "Gang is good for few jobs, Sequential for many only", _opposite(means)),
            (4, "list algorithms: makespan ratio below 2", _lists_below_two(means)),
            (5, "mixed: DEMT is around 2 in both criteria", _around_two(means)),
            (5, "mixed: SAF is better than DEMT (from 50 jobs on)", _saf_better(means)),
            (5, "mixed: the shelf order gets worse with more jobs", _shelf_grows(means)),
            (6, "Cirne-Berman: DEMT is clearly best on minsum", _best_cirne(means)),
            ("3-6", "DEMT's makespan ratio is almost always below 2", _makespan_below_two(frame)),
            (7, "DEMT takes less than 2 s", _fast(frame)),
        )
    ]
    return pd.DataFrame(rows)


Found = tuple[str, bool]


def _worst_but_gang(means: Means) -> Found:
    worse = []
    for criterion in ("makespan", "minsum"):
        table = means("weakly-parallel", criterion)
        others = table.drop(columns=["demt", "gang"], errors="ignore").max(axis=1)
        worse.append(((table.demt >= others) & (table.demt <= table.gang)).loc[100:])
    share = sum(each.mean() for each in worse) / 2
    return f"at {100 * share:.0f}% of the sizes from 100 on", bool(share == 1)


def _best(means: Means) -> Found:
    table = means("highly-parallel", "minsum").loc[50:]
    others = table.drop(columns=["demt", "demt-best"], errors="ignore").min(axis=1)
    margin = (others / table.demt - 1).min()
    return f"the next best is at least {100 * margin:.0f}% above", bool(margin > 0)


def _opposite(means: Means) -> Found:
    table = means("highly-parallel", "minsum")
    gang, one = table.gang, table.sequential
    text = (
        f"Gang {gang.iloc[0]:.2f} to {gang.iloc[-1]:.2f}, "
        f"Sequential {one.iloc[0]:.2f} to {one.iloc[-1]:.2f}"
    )
    return text, bool(gang.iloc[0] < gang.iloc[-1] and one.iloc[0] > one.iloc[-1])


def _lists_below_two(means: Means) -> Found:
    table = means("highly-parallel", "makespan")[["list-shelf", "list-lptf", "list-saf"]]
    return f"at most {table.max().max():.2f}", bool(table.max().max() < 2)


def _around_two(means: Means) -> Found:
    both = [means("mixed", criterion).demt for criterion in ("makespan", "minsum")]
    text = "; ".join(
        f"{name} {each.min():.2f} to {each.max():.2f}"
        for name, each in zip(("makespan", "minsum"), both, strict=True)
    )
    return text, all(each.min() > 1.3 and each.max() < 3 for each in both)


def _saf_better(means: Means) -> Found:
    tables = {name: means("mixed", name).loc[50:] for name in ("makespan", "minsum")}
    above = {name: (table.demt / table["list-saf"] - 1).min() for name, table in tables.items()}
    text = " and ".join(f"{100 * share:.0f}% in {name}" for name, share in above.items())
    return f"DEMT is at least {text} above it", bool(min(above.values()) > 0)


def _shelf_grows(means: Means) -> Found:
    shelf = means("mixed", "minsum")["list-shelf"]
    return f"minsum {shelf.iloc[0]:.2f} to {shelf.iloc[-1]:.2f}", bool(
        shelf.iloc[-1] > 1.3 * shelf.iloc[0]
    )


def _best_cirne(means: Means) -> Found:
    table = means("cirne-berman", "minsum")
    others = table.drop(columns=["demt", "demt-best"], errors="ignore").min(axis=1)
    margin = (others / table.demt - 1).min()
    return f"the next best is at least {100 * margin:.0f}% above", bool(margin > 0.1)


def _makespan_below_two(frame: pd.DataFrame) -> Found:
    rows = frame[frame.algorithm == "demt"]
    ratio = rows.makespan / rows.makespan_bound
    share = (ratio < 2).mean()
    text = f"mean {ratio.mean():.2f}, below 2 in {100 * share:.0f}% of the runs"
    return f"{text}, at most {ratio.max():.2f}", bool(share > 0.75)


def _fast(frame: pd.DataFrame) -> Found:
    rows = frame[(frame.algorithm == "demt") & (frame.jobs == frame.jobs.max())]
    slowest = rows.seconds.max()
    return f"{1e3 * rows.seconds.mean():.1f} ms, at most {1e3 * slowest:.1f} ms", bool(slowest < 2)
