"""Section 3 of Casanova, Stillwell, Vivien 2011: the theorems."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from cosched.experiments.cluster.theorems import plan
from cosched.experiments.ledger import Check, Claim
from cosched.experiments.tolerances import at_least, at_most, within

if TYPE_CHECKING:
    import pandas as pd

PAPER, STUDY = "casanova2011", "cluster-theorems"
_NOT_RUN = "a proof about all algorithms is not run"


def _rows(family: str, jobs: int, frame: pd.DataFrame) -> pd.DataFrame:
    rows = frame[(frame.family == family) & (frame.jobs == jobs)]
    if rows.empty:
        raise LookupError(f"{family} with {jobs} jobs")
    return rows


def _ratio(family: str, jobs: int, frame: pd.DataFrame) -> float:
    return float(_rows(family, jobs, frame).ratio.iloc[0])


def _over_delta(jobs: int, frame: pd.DataFrame) -> float:
    row = _rows("theorem 4", jobs, frame).iloc[0]
    return float(row.ratio / row.of_delta)


def _of_jobs(jobs: int, frame: pd.DataFrame) -> float:
    return float(_rows("random", jobs, frame).value.max() / jobs)


def _least(frame: pd.DataFrame) -> float:
    return float(frame.degradation.min())


def _all(frame: pd.DataFrame) -> str:
    rows = frame[frame.family != "random"]
    return "; ".join(
        f"{row.family}, {row.jobs} jobs: {row.value:.4f} over {row.bound:.4f}"
        for row in rows.itertuples()
    )


_CHECK = Check("families", (STUDY,), _all)


def _claims() -> Iterator[Claim]:
    for family, jobs in dict.fromkeys((t["family"], t["jobs"]) for t in plan(False)):
        if family == "theorem 3":
            text = "EquiPartition is the number of jobs from the optimum: the family with f = 1000"
            value, measure = float(jobs), partial(_ratio, family, jobs)
            rule = within(0.002, "the optimum is at most f / (f - 1)")
            place = f"Theorems 3 and 4.1, {jobs} jobs"
        elif family == "theorem 4":
            text = "EquiPartition is at least (D+1) / (2 + ln D) from the optimum: over that"
            value, measure = 1.0, partial(_over_delta, jobs)
            rule, place = at_least(1.0, "at least"), f"Theorem 4.2, {jobs} jobs"
        else:
            text = "EquiPartition never exceeds the number of jobs: 20 random draws, over it"
            value, measure = 1.0, partial(_of_jobs, jobs)
            rule, place = at_most(1.0, "never more"), f"Theorem 4.1, {jobs} jobs"
        yield Claim(
            paper=PAPER,
            place=place,
            text=text,
            study=STUDY,
            paper_value=value,
            tolerance=rule,
            measure=measure,
            check=_CHECK,
        )
    yield Claim(
        paper=PAPER,
        place="Theorem 1",
        text="no schedule's maximum stretch is below the bound: least degradation of all rows",
        study="cluster-table2",
        paper_value=1.0,
        tolerance=at_least(1.0, "a bound"),
        measure=_least,
    )
    for place, text in (
        ("Theorem 2", "no algorithm is D^(sqrt 2 - 1) / 2 -competitive"),
        ("Theorem 3", "no algorithm that does not know run times is below the number of jobs"),
        ("section 3.2", "FCFS is exactly D-competitive"),
    ):
        yield Claim(
            paper=PAPER,
            place=place,
            text=text,
            study=STUDY,
            paper_value=None,
            tolerance=None,
            explanation=_NOT_RUN,
        )


CLAIMS = (*_claims(),)
