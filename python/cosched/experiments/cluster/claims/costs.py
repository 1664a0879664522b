"""The sentences of Sections 6.3 and 6.4: costs of preemption and migration, utilisation."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from cosched.experiments.cluster import paper
from cosched.experiments.cluster.claims import checks
from cosched.experiments.cluster.claims.stats import SETS
from cosched.experiments.cluster.claims.tables import busy, underutilisation
from cosched.experiments.ledger import Check, Claim
from cosched.experiments.tolerances import (
    Tolerance,
    at_least,
    at_most,
    within,
)

PAPER = "casanova2011"
BEST = ("GreedyP */per/opt=min/minvt=600", "GreedyPM */per/opt=min/minvt=600")
_ARRIVAL = ("MCB8 */opt=min", "MCB8 */per/opt=min", "MCB8 */per/opt=min/minvt=600")
_GREEDY = ("Greedy */opt=min", "GreedyP */opt=min", "GreedyPM */opt=min")
_OTHERS = tuple(name for name in paper.table(3) if name not in _ARRIVAL)


def _cell(name: str, measure: str, number: str, cells: Any) -> float:
    return float(cells[name, measure][number].value)


def _bandwidth(name: str, number: str, cells: Any) -> float:
    return _cell(name, "preemption_bandwidth", number, cells) + _cell(
        name, "migration_bandwidth", number, cells
    )


def _extreme(pick: Any, names: tuple[str, ...], measure: str, cells: Any) -> float:
    return pick(_cell(name, measure, "avg", cells) for name in names)


def _section63() -> Iterator[Claim]:
    def claim(
        text: str, value: float, tolerance: Tolerance, measure: Any, why: str, check: Check
    ) -> Claim:
        return Claim(
            paper=PAPER,
            place="section 6.3",
            text=text,
            study="cluster-table3",
            paper_value=value,
            tolerance=tolerance,
            measure=measure,
            prepare=busy,
            explanation=why,
            check=check,
        )

    memory = ("An event is counted twice here, saved and restored.", checks.MEMORY_AN_EVENT)
    events = ("As in Table 3.", checks.JOBS_AN_HOUR)
    for name in BEST:
        for number, words, limit in (("avg", "average", 0.8), ("max", "maximum", 2.0)):
            yield claim(
                f"{name}: total {words} bandwidth consumption under {limit:g} GB/s",
                limit,
                at_most(limit, "under", order=2 * limit),
                partial(_bandwidth, name, number),
                *memory,
            )
        for measure, limit in (
            ("preemptions_per_hour", 40.0),
            ("migrations_per_hour", 60.0),
            ("preemptions_per_job", 6.0),
            ("migrations_per_job", 7.0),
        ):
            yield claim(
                f"{name}: under {limit:g} {measure.replace('_per_', ' a ').replace('a h', 'an h')}",
                limit,
                at_most(limit, "under", order=2 * limit),
                partial(_cell, name, measure, "avg"),
                *events,
            )
    for measure in ("preemptions_per_hour", "migrations_per_hour"):
        yield claim(
            f"Greedy policies without /per: under 10 {measure.split('_')[0]} an hour on average",
            10.0,
            at_most(10, "under"),
            partial(_extreme, max, _GREEDY, measure),
            *events,
        )
    for pick, limit, words in ((min, 120.0, "above 120"), (max, 490.0, "up to 490")):
        tolerance = (
            at_least(limit, "above", order=limit / 2)
            if pick is min
            else within(0.1, "'up to'; no draw is ours")
        )
        yield claim(
            f"MCB8 at each job arrival: {words} migrations an hour",
            limit,
            tolerance,
            partial(_extreme, pick, _ARRIVAL, "migrations_per_hour"),
            *events,
        )
    for measure in ("preemptions_per_hour", "migrations_per_hour"):
        theirs = paper.table(3)
        place = 4 if "preem" in measure else 6
        yield claim(
            f"MCB8 at each job arrival leads to more {measure.split('_')[0]} an hour: the most of "
            "these over the most of all others",
            max(theirs[n][place] for n in _ARRIVAL) / max(theirs[n][place] for n in _OTHERS),
            at_least(1.0, "only the order is said"),
            partial(_more, measure),
            *events,
        )
    yield claim(
        "All other algorithms migrate a job less than 8 times on average (the paper's own table "
        "has 10.41 for /stretch-per)",
        8.0,
        at_most(8, "less than", order=16),
        partial(_extreme, max, _OTHERS, "migrations_per_job"),
        "It is /stretch-per, in the paper's table as well.",
        Check("most-migrations-a-job", ("cluster-table3",), _most_migrations, busy),
    )
    yield claim(
        "MCB8 at each job arrival migrates a job up to 73 times in the worst case",
        73.0,
        within(0.1, "the paper's draws are not public"),
        partial(_extreme, max, _ARRIVAL, "migrations_per_job"),
        *events,
    )


def _more(measure: str, cells: Any) -> float:
    return _extreme(max, _ARRIVAL, measure, cells) / _extreme(max, _OTHERS, measure, cells)


def _most_migrations(cells: Any) -> str:
    found = {name: _cell(name, "migrations_per_job", "avg", cells) for name in _OTHERS}
    first, second = sorted(found, key=lambda name: -found[name])[:2]
    return f"{first} {found[first]:.2f}, then {second} {found[second]:.2f}"


# --- Section 6.4 --------------------------------------------------------------------------


def _mean(kind: str, name: str, cells: Any) -> float:
    return float(cells[kind][name].value)


def _over_easy(kind: str, name: str, cells: Any) -> float:
    return _mean(kind, name, cells) / _mean(kind, "EASY", cells)


def _section64() -> Iterator[Claim]:
    def claim(place: str, text: str, value: Any, tolerance: Tolerance, measure: Any) -> Claim:
        return Claim(
            paper=PAPER,
            place=place,
            text=text,
            study="cluster-table4",
            paper_value=value,
            tolerance=tolerance,
            measure=measure,
            prepare=underutilisation,
            explanation="It holds where rescheduling costs nothing.",
            check=checks.NO_PENALTY,
        )

    theirs = paper.table(4)
    for place, (kind, (_, title)) in enumerate(SETS.items()):
        for name in BEST:
            yield claim(
                f"section 6.4.2, {title}",
                f"{name} leads to higher underutilisation than EASY: ratio",
                float(f"{theirs[name][place] / theirs['EASY'][place]:.4g}"),
                at_least(1.0, "only the order is said"),
                partial(_over_easy, kind, name),
            )
    yield claim(
        "section 6.4.2, real weeks",
        "EASY's underutilisation is under 7%",
        0.07,
        at_most(0.07, "under"),
        partial(_mean, "weeks", "EASY"),
    )
    for name in BEST:
        yield claim(
            "section 6.4.2, real weeks",
            f"{name} is above 34%",
            0.34,
            at_least(0.34, "above", order=0.17),
            partial(_mean, "weeks", name),
        )
    same = within(0.05, "the same log, nothing is drawn")
    yield claim(
        "section 6.4.2, the whole log",
        "a simulation for the full trace yields 8% for EASY",
        0.08,
        same,
        partial(_mean, "log", "EASY"),
    )
    for name in BEST:
        yield claim(
            "section 6.4.2, the whole log",
            f"... and 10% for our algorithms: {name}, with the penalty of 300 s",
            0.10,
            same,
            partial(_mean, "log", name),
        )
        yield claim(
            "section 6.4.2, the whole log",
            f"... and 10% for our algorithms: {name}, read without a penalty",
            0.10,
            same,
            partial(_mean, "log-free", name),
        )


CLAIMS = (*_section63(), *_section64())
