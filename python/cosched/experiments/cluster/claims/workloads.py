"""Sections 5.3 and 6.2: the workloads, and how long MCB8 takes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from cosched.experiments.cluster import calls
from cosched.experiments.ledger import Check, Claim
from cosched.experiments.tolerances import at_least, at_most, between, exactly, within

if TYPE_CHECKING:
    import pandas as pd

PAPER = "casanova2011"


def facts(frame: pd.DataFrame) -> pd.DataFrame:
    """A row a trace: what it holds."""
    return frame[frame.reading == "facts"]


def _of_log(column: str, rows: pd.DataFrame) -> float:
    return float(rows[rows.traces == "log"][column].iloc[0])


def _weeks(rows: pd.DataFrame) -> float:
    return float((rows.traces == "weeks").sum())


def _synthetic(column: str, number: str, rows: pd.DataFrame) -> float:
    return float(getattr(rows[rows.traces == "unscaled"][column], number)())


def _section53() -> Iterator[Claim]:
    count = exactly("a count of the same log")
    spans = Check("spans", ("cluster-readings",), _spans, facts)
    for text, value, tolerance, measure in (
        ("the HPC2N trace has 202,876 jobs", 202_876.0, count, partial(_of_log, "jobs")),
        (
            "2,142 jobs give values for neither used nor requested memory",
            2142.0,
            count,
            partial(_of_log, "no_memory"),
        ),
        ("week-long segments: 182 scenarios", 182.0, count, _weeks),
        (
            "1,000 jobs a synthetic trace",
            1000.0,
            count,
            partial(_synthetic, "jobs", "mean"),
        ),
        (
            "first to last submission is on the order of 4-6 days: the median trace",
            "4 to 6",
            between(4, 6, "'on the order of'", (2, 12)),
            partial(_synthetic, "days", "median"),
        ),
        (
            "55% of the jobs have a memory requirement of 10%: share over all traces",
            0.55,
            within(0.02, "three standard errors of 100,000 draws are 0.5%"),
            partial(_synthetic, "least_memory", "mean"),
        ),
    ):
        yield Claim(
            paper=PAPER,
            place="section 5.3",
            text=text,
            study="cluster-readings",
            paper_value=value,
            tolerance=tolerance,
            measure=measure,
            prepare=facts,
            explanation="Draws of the same model.",
            check=spans,
        )


def _spans(rows: pd.DataFrame) -> str:
    days = rows[rows.traces == "unscaled"].days
    return f"spans of {days.min():.1f} to {days.max():.1f} days, median {days.median():.1f}"


def _section62() -> Iterator[Claim]:
    check = Check("calls", ("cluster-mcb8",), _calls)
    own = "a machine of 2011 against one of today, in C++"
    for text, value, tolerance, measure in (
        (
            "MCB8 * on the 100 unscaled traces: 197,808 observations",
            197_808.0,
            within(0.05, "other draws of as many jobs"),
            lambda frame: float(frame.calls.sum()),
        ),
        (
            "67.25% of the observations are for 10 or fewer jobs (percent)",
            67.25,
            within(0.15, "other draws; the share depends on the load"),
            lambda frame: 100 * float(frame.small.sum() / frame.calls.sum()),
        ),
        (
            "... in less than 0.001 seconds: share of these calls",
            "all",
            at_least(0.999, "a busy machine interrupts one call in a thousand"),
            calls.fast,
        ),
        (
            "the remaining observations were for up to 102 jobs",
            102.0,
            within(0.25, "an extreme of other draws"),
            lambda frame: float(frame.most_jobs.max()),
        ),
        (
            "the average compute time of the others was about 0.25 s",
            0.25,
            at_most(0.25, own),
            calls.mean_of_large,
        ),
        (
            "the maximum was under 4.5 s",
            4.5,
            at_most(4.5, own),
            lambda frame: float(frame.seconds_longest.max()),
        ),
    ):
        yield Claim(
            paper=PAPER,
            place="section 6.2",
            text=text,
            study="cluster-mcb8",
            paper_value=value,
            tolerance=tolerance,
            measure=measure,
            explanation="The calls of our simulations of the same policy on our draws.",
            check=check,
        )


def _calls(frame: pd.DataFrame) -> str:
    share = 100 * frame.small / frame.calls
    return (
        f"share of small calls a trace: {share.min():.0f}% to {share.max():.0f}%, "
        f"{frame.calls.min()} to {frame.calls.max()} calls a trace, most jobs "
        f"{frame.most_jobs.min()} to {frame.most_jobs.max()}"
    )


CLAIMS = (*_section53(), *_section62())
