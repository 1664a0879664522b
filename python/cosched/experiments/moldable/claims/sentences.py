"""What Dutot, Eyraud, Mounie, Trystram 2004 claim, row by row.

Most numbers of the paper's Section 4.2 are lost in the copy that was at hand: where one is, the row
says so and gives ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from cosched.experiments.ledger import Check, Claim
from cosched.experiments.moldable import studies
from cosched.experiments.tolerances import at_least, at_most, between

if TYPE_CHECKING:
    import pandas as pd

PAPER = "dutot2004"
STUDY, TIMES = "moldable-fig3-6", "moldable-fig7"
ALGORITHMS = ("demt", "gang", "sequential", "list-shelf", "list-lptf", "list-saf")
LISTS = ("list-shelf", "list-lptf", "list-saf")
CRITERIA = ("makespan", "minsum")
WEAK, HIGH, MIXED, CIRNE = studies.FIGURES
_LOST = "the number is lost in the copy that was at hand; the value is ours"


@dataclass(frozen=True)
class Ratios:
    """Ratios to the paper's bounds: a row a (kind, criterion, jobs, algorithm), and a run."""

    table: pd.DataFrame
    runs: pd.DataFrame

    def means(self, kind: str, criterion: str) -> pd.DataFrame:
        """Mean ratios, jobs x the paper's algorithms."""
        some = self.table[(self.table.kind == kind) & (self.table.criterion == criterion)]
        wide = some.pivot(index="jobs", columns="algorithm", values="mean")
        return wide[list(ALGORITHMS)]


def ratios(frame: pd.DataFrame) -> Ratios:
    """Of the study's rows."""
    return Ratios(studies.ratios(frame), studies.with_bounds(frame))


def _demt(criterion: str, number: str, r: Ratios) -> float:
    """A number of DEMT's ratio over all runs of all workloads."""
    runs = _runs(r)
    found = runs[criterion] / runs[f"{criterion}_bound"]
    return float(getattr(found, number)())


def _runs(r: Ratios) -> pd.DataFrame:
    return r.runs[r.runs.algorithm == "demt"]


def _greatest_of(kind: str, criterion: str, names: tuple[str, ...], r: Ratios) -> float:
    return float(r.means(kind, criterion)[list(names)].max().max())


def _mean_of(kind: str, criterion: str, names: tuple[str, ...], r: Ratios) -> float:
    return float(r.means(kind, criterion)[list(names)].mean().mean())


def _spread(kind: str, criterion: str, name: str, r: Ratios) -> float:
    """Largest over least mean ratio, over the numbers of jobs."""
    column = r.means(kind, criterion)[name]
    return float(column.max() / column.min())


def _share(kind: str, criterion: str, holds: Callable[[pd.DataFrame], Any], r: Ratios) -> float:
    """Share of the numbers of jobs at which something holds."""
    return float(holds(r.means(kind, criterion)).mean())


def _worse_than_all_but_gang(means: pd.DataFrame) -> Any:
    return (means.demt >= means.drop(columns=["demt", "gang"]).max(axis=1)) & (
        means.demt <= means.gang
    )


def _best(means: pd.DataFrame) -> Any:
    return means.demt < means.drop(columns="demt").min(axis=1)


def _growth(kind: str, criterion: str, name: str, r: Ratios) -> float:
    """The mean ratio with most jobs over that with least."""
    column = r.means(kind, criterion)[name]
    return float(column.iloc[-1] / column.iloc[0])


def _below_saf(criterion: str, r: Ratios) -> float:
    means = r.means(MIXED, criterion)
    return float((means["list-saf"] < means.demt).mean())


def _stablest(r: Ratios) -> float:
    """DEMT's spread over the least of the others'."""
    return _spread(CIRNE, "minsum", "demt", r) / min(
        _spread(CIRNE, "minsum", name, r) for name in ALGORITHMS[1:]
    )


def _high_over_weak(criterion: str, r: Ratios) -> float:
    return float(r.means(HIGH, criterion).demt.mean() / r.means(WEAK, criterion).demt.mean())


def _insensitive(criterion: str, r: Ratios) -> float:
    """Largest over least mean ratio of DEMT over the workloads."""
    found = [float(r.means(kind, criterion).demt.mean()) for kind in studies.FIGURES]
    return max(found) / min(found)


def _table(kind: str, r: Ratios) -> str:
    parts = []
    for criterion in CRITERIA:
        means = r.means(kind, criterion)
        rows = "; ".join(
            f"{jobs}: " + ", ".join(f"{name} {row[name]:.2f}" for name in ALGORITHMS)
            for jobs, row in means.iterrows()
        )
        parts.append(f"{criterion} by jobs: {rows}")
    return f"mean ratios, {kind}; " + "; ".join(parts)


def _check(kind: str) -> Check:
    return Check("mean-ratios", (STUDY,), partial(_table, kind), ratios)


def _by_kind(r: Ratios) -> str:
    return "DEMT's mean ratio: " + "; ".join(
        f"{kind} " + ", ".join(f"{c} {float(r.means(kind, c).demt.mean()):.2f}" for c in CRITERIA)
        for kind in studies.FIGURES
    )


_KINDS = Check("demt-by-workload", (STUDY,), _by_kind, ratios)


#: A row of this paper.
claim = partial(Claim, paper=PAPER, study=STUDY, prepare=ratios)


def _sentences() -> Iterator[Claim]:
    every = at_least(1.0, "at every number of jobs", order=0.5)
    for criterion in CRITERIA:
        yield claim(
            "section 4.2, Figure 3, weakly parallel",
            f"DEMT's average {criterion} ratio is worse than all others' except Gang's: share of "
            "the numbers of jobs",
            "all",
            every,
            partial(_share, WEAK, criterion, _worse_than_all_but_gang),
            "Sequential is worse than DEMT where jobs are few: 200 processors stand idle.",
            _check(WEAK),
        )
    yield claim(
        "section 4.2, Figure 3, weakly parallel",
        "Gang does not appear in the range of the picture: its least mean makespan ratio",
        "very big",
        at_least(4.0, "no number; above what a picture of ratios to 3 would show"),
        lambda r: float(r.means(WEAK, "makespan").gang.min()),
        check=_check(WEAK),
    )
    yield claim(
        "section 4.2, Figure 4, highly parallel",
        "on minsum DEMT is clearly the best: share of the numbers of jobs",
        "all",
        every,
        partial(_share, HIGH, "minsum", _best),
        "Gang is optimal for linear speed-up, and ahead with 25 jobs on 200 processors.",
        _check(HIGH),
    )
    for criterion in CRITERIA:
        for name, words, tolerance in (
            ("gang", "good with a small number of tasks", at_least(1.0, "it grows")),
            ("sequential", "good for a large number only", at_most(1.0, "it falls")),
        ):
            yield claim(
                "section 4.2, Figure 4, highly parallel",
                f"{name} is {words}: its mean {criterion} ratio with 400 jobs over that with 25",
                "above 1" if name == "gang" else "below 1",
                tolerance,
                partial(_growth, HIGH, criterion, name),
                "It is not the same on both criteria.",
                _check(HIGH),
            )
    for name in LISTS:
        yield claim(
            "section 4.2, Figure 4, highly parallel",
            f"the other algorithms are stable with respect to the number of tasks: largest over "
            f"least mean minsum ratio of {name}",
            "stable",
            at_most(1.5, "no number; within half", order=2.5),
            partial(_spread, HIGH, "minsum", name),
            "No number says how stable.",
            _check(HIGH),
        )
        yield claim(
            "section 4.2, Figure 4, highly parallel",
            f"... but with a larger ratio on minsum: mean of {name} over DEMT's",
            "above 1",
            at_least(1.0, "only the order is said"),
            partial(_over_demt, HIGH, name),
            check=_check(HIGH),
        )
    for criterion in CRITERIA:
        yield claim(
            "section 4.2, Figure 5, mixed",
            f"DEMT is quite stable: largest over least mean {criterion} ratio",
            "stable",
            at_most(1.5, "no number; within half"),
            partial(_spread, MIXED, criterion, "demt"),
            check=_check(MIXED),
        )
        yield claim(
            "section 4.2, Figure 5, mixed",
            f"SAF is better than DEMT: share of the numbers of jobs, {criterion}",
            "all",
            every,
            partial(_below_saf, criterion),
            "With few jobs both have the same minsum.",
            _check(MIXED),
        )
    for name in LISTS[:2]:
        yield claim(
            "section 4.2, Figure 5, mixed",
            f"the ratio of the two other lists greatly increases with the tasks: mean minsum ratio "
            f"of {name} with 400 jobs over that with 25",
            "greatly above 1",
            at_least(1.3, "greatly: by a third", order=1.0),
            partial(_growth, MIXED, "minsum", name),
            "The order by weight over time, as the paper's text defines it, does not grow.",
            _check(MIXED),
        )
    yield claim(
        "section 4.2, Figure 6, Cirne-Berman",
        "DEMT clearly outperforms the others for the minsum: share of the numbers of jobs",
        "all",
        every,
        partial(_share, CIRNE, "minsum", _best),
        check=_check(CIRNE),
    )
    yield claim(
        "section 4.2, Figure 6, Cirne-Berman",
        "... and is the only one to keep a stable ratio: its spread over the least of the others'",
        "below 1",
        at_most(1.0, "only the order is said"),
        _stablest,
        check=_check(CIRNE),
    )
    for criterion in CRITERIA:
        yield claim(
            "section 4.2",
            "DEMT performs better when tasks are more parallel: mean "
            f"{criterion} ratio, highly over weakly parallel",
            "below 1",
            at_most(1.0, "only the order is said"),
            partial(_high_over_weak, criterion),
            check=_KINDS,
        )
    yield claim(
        "section 4.2",
        "DEMT's minsum ratio is insensitive to the jobs' behaviour: largest over least mean of the "
        "four workloads",
        "insensitive",
        between(1.0, 1.5, "no number; within half", (1.0, 2.0)),
        partial(_insensitive, "minsum"),
        check=_KINDS,
    )
    yield from _lost()


def _over_demt(kind: str, name: str, r: Ratios) -> float:
    means = r.means(kind, "minsum")
    return float((means[name] / means.demt).mean())


def _lost() -> Iterator[Claim]:
    others = ("sequential", *LISTS)
    for place, text, measure in (
        (
            "section 4.2, Figure 3, weakly parallel",
            "DEMT's makespan ratio is no more than ...: greatest mean",
            partial(_greatest_of, WEAK, "makespan", ("demt",)),
        ),
        (
            "section 4.2, Figure 3, weakly parallel",
            "all other algorithms have an average makespan ratio around ...: their mean",
            partial(_mean_of, WEAK, "makespan", others),
        ),
        (
            "section 4.2, Figure 3, weakly parallel",
            "for most cases DEMT is not much worse than ... for both: greatest mean minsum ratio",
            partial(_greatest_of, WEAK, "minsum", ("demt",)),
        ),
        (
            "section 4.2, Figure 4, highly parallel",
            "the makespan ratio of the lists is always smaller than ...: greatest mean",
            partial(_greatest_of, HIGH, "makespan", LISTS),
        ),
        (
            "section 4.2, Figure 5, mixed",
            "a performance ratio of around ... for both: mean makespan ratio",
            partial(_mean_of, MIXED, "makespan", ("demt",)),
        ),
        (
            "section 4.2, Figure 5, mixed",
            "a performance ratio of around ... for both: mean minsum ratio",
            partial(_mean_of, MIXED, "minsum", ("demt",)),
        ),
        (
            "section 4.2",
            "the minsum ratio is never more than ...: greatest of all runs",
            partial(_demt, "minsum", "max"),
        ),
        (
            "section 4.2",
            "the minsum ratio is on average around ...: mean of all runs",
            partial(_demt, "minsum", "mean"),
        ),
        (
            "section 4.2",
            "the makespan ratio is almost always below ...: 95th percentile of all runs",
            _almost_always,
        ),
        (
            "section 4.2",
            "the makespan ratio is ... on average: mean of all runs",
            partial(_demt, "makespan", "mean"),
        ),
    ):
        yield claim(place, text, None, None, measure, _LOST)


def _almost_always(r: Ratios) -> float:
    runs = _runs(r)
    return float((runs.makespan / runs.makespan_bound).quantile(0.95))


# --- Figure 7 -----------------------------------------------------------------------------


def _longest(frame: pd.DataFrame) -> float:
    demt = frame[(frame.algorithm == "demt") & (frame.jobs == frame.jobs.max())]
    return float(demt.seconds.max())


def _times() -> Iterator[Claim]:
    yield Claim(
        paper=PAPER,
        place="section 4.2, Figure 7",
        text="the execution time is less than 2 seconds for the largest instances: our longest",
        study=TIMES,
        paper_value=2.0,
        tolerance=at_most(2.0, "a machine of 2004 against one of today"),
        measure=_longest,
    )


CLAIMS = (*_sentences(), *_times())
