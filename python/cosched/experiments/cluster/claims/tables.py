"""Every cell of Tables 2 to 5 of Casanova, Stillwell, Vivien 2011."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from cosched.experiments.cluster import paper
from cosched.experiments.cluster.claims import checks
from cosched.experiments.cluster.claims.stats import (
    SETS,
    STUDY,
    by_trace,
    degradations,
    printed,
    with_interval,
)
from cosched.experiments.ledger import Claim
from cosched.experiments.tolerances import Seen, Tolerance, drawn, within

if TYPE_CHECKING:
    import pandas as pd

PAPER = "casanova2011"
_REAL = within(0.05, "the same log, so nothing is drawn; the yield is searched to 0.01")
#: The paper's own traces are not public.
DRAWS = "99 of 100 pairs of draws of as many traces, bootstrap"
_DRAWN = drawn(
    DRAWS,
    slack=0.05,
)
_WORDS = {"avg": "average", "std": "standard deviation", "max": "maximum"}
_MEASURES = {
    "preemption_bandwidth": "GB/s of preemptions",
    "migration_bandwidth": "GB/s of migrations",
    "preemptions_per_hour": "preemptions an hour",
    "migrations_per_hour": "migrations an hour",
    "preemptions_per_job": "preemptions a job",
    "migrations_per_job": "migrations a job",
}


def _pick(key: tuple, cells: Any) -> Seen:
    for part in key:
        cells = cells[part]
    return cells


# --- Tables 2 and 5 -----------------------------------------------------------------------


def _degradation(table: int, kind: str, study: str) -> Iterator[Claim]:
    for (name, number), value in printed(table, kind).items():
        yield Claim(
            paper=PAPER,
            place=f"Table {table}, {SETS[kind][1]}, {name}, {number}.",
            text=f"{_WORDS[number]} of the degradation from bound",
            study=study,
            paper_value=value,
            tolerance=_REAL if kind == "weeks" else _DRAWN,
            measure=partial(_pick, (kind, (name, number))),
            prepare=degradations,
            explanation=_why(name, kind, table),
            check=_check(name, kind, table),
        )


_WHY_EASY = (
    "The textbook's EASY gains more on FCFS than the paper's; one that backfills less does not."
)
_WHY_LIMITED = (
    "Without a limit MCB8 at each arrival moves jobs without end, and how far a limit goes depends "
    "on when it begins to hold: the order of the limits is the paper's, short ones go further here."
)
_WHY_WEEKS = (
    "Nearly all policies are below the paper's by a common factor: the bound or the weeks are not "
    "the same."
)


def _limited(name: str, table: int) -> bool:
    """A policy that the paper's limits to remapping hardly help."""
    return table == 5 and name.startswith("MCB8") and "/min" in name


def _why(name: str, kind: str, table: int) -> str:
    if name == "EASY":
        return _WHY_EASY
    if _limited(name, table):
        return _WHY_LIMITED
    if kind == "weeks":
        return _WHY_WEEKS
    return "The paper's traces are other draws of the model."


def _check(name: str, kind: str, table: int) -> Any:
    if name == "EASY":
        return checks.EASY_READINGS
    if _limited(name, table):
        return checks.limits(name)
    return checks.LARGER_MACHINE if kind == "weeks" else checks.WORST_TRACE


# --- Table 3 ------------------------------------------------------------------------------


def busy(frame: pd.DataFrame) -> dict[tuple[str, str], dict[str, Seen]]:
    """(policy, measure) -> mean and maximum over the scaled traces with load 0.7 and more."""
    found: dict[tuple[str, str], dict[str, Seen]] = {}
    rows = frame[(frame.traces == "scaled") & (frame["load"] > 0.65)]
    for name, each in rows.groupby("algorithm", sort=False):
        for measure in _MEASURES:
            of_traces = by_trace(each, measure)
            found[str(name), measure] = {
                number: with_interval(of_traces, number) for number in ("avg", "max")
            }
    return found


def _table3() -> Iterator[Claim]:
    tolerance = drawn(
        DRAWS,
        slack=0.005,
    )
    for name, cells in paper.table(3).items():
        for place, measure in enumerate(_MEASURES):
            for offset, number in enumerate(("avg", "max")):
                yield Claim(
                    paper=PAPER,
                    place=f"Table 3, {name}, {_MEASURES[measure]}, {_WORDS[number]}",
                    text=f"{_WORDS[number]} of {_MEASURES[measure]} at loads of 0.7 and more",
                    study="cluster-table3",
                    paper_value=cells[2 * place + offset],
                    tolerance=tolerance,
                    measure=partial(_pick, ((name, measure), number)),
                    prepare=busy,
                    explanation=_WHY_3[measure.split("_")[1]],
                    check=checks.MEMORY_AN_EVENT if "band" in measure else checks.JOBS_AN_HOUR,
                )


_WHY_3 = {
    "bandwidth": "An event moves more memory here than the paper's, unless each is counted once "
    "(saved or restored) and not twice.",
    "per": "There are fewer events, and fewer jobs an hour: at equal load the paper's jobs are "
    "smaller.",
}


# --- Table 4 ------------------------------------------------------------------------------


def underutilisation(frame: pd.DataFrame) -> dict[str, dict[str, Seen]]:
    """Set of traces -> policy -> mean normalised underutilisation."""
    found: dict[str, dict[str, Seen]] = {}
    for (kind, name), rows in frame.groupby(["traces", "algorithm"], sort=False):
        of_traces = by_trace(rows, "underutilisation")
        found.setdefault(str(kind), {})[str(name)] = with_interval(of_traces, "avg")
    return found


def _table4() -> Iterator[Claim]:
    real = within(0.05, "the same log; the paper prints three digits")
    synthetic: Tolerance = drawn(
        DRAWS,
        slack=0.0005,
    )
    for name, cells in paper.table(4).items():
        for kind, value in zip(SETS, cells, strict=True):
            yield Claim(
                paper=PAPER,
                place=f"Table 4, {SETS[kind][1]}, {name}",
                text="average normalised underutilisation",
                study="cluster-table4",
                paper_value=value,
                tolerance=real if kind == "weeks" else synthetic,
                measure=partial(_pick, (kind, name)),
                prepare=underutilisation,
                explanation=(
                    "EASY as in Table 2."
                    if name == "EASY"
                    else "What pauses and migrations cost depends on what is paused and moved."
                ),
                check=checks.EASY_READINGS if name == "EASY" else checks.UNDER_EASY,
            )


CLAIMS = (
    *(claim for kind in SETS for claim in _degradation(2, kind, STUDY[kind])),
    *_table3(),
    *_table4(),
    *_degradation(5, "weeks", "cluster-table5"),
)
