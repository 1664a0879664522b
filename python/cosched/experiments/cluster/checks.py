"""Explanations that run: what the other reading of the paper gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from cosched.experiments.cluster.cells import (
    SETS,
    Cells,
    Sets,
    busy,
    degradations,
    in_set,
    printed,
    underutilisation,
)
from cosched.experiments.cluster.measures import by_load, by_period, facts, mcb8
from cosched.experiments.ledger import Check
from cosched.experiments.measures import Measure, Table, lines, listed, of, said, tabled

if TYPE_CHECKING:
    import pandas as pd

TABLE_2, TABLE_3, TABLE_4 = (f"cluster-table{number}" for number in (2, 3, 4))
#: Set of traces -> the study of its degradations.
STUDY = {"weeks": TABLE_2, "unscaled": TABLE_2, "scaled": "cluster-fig1"}
_GREEDY = ("GreedyP */opt=min", "GreedyPM */opt=min", "GreedyPM */per/opt=min/minvt=600")
TWO = ("GreedyP */per/opt=min/minvt=600", "GreedyPM */per/opt=min/minvt=600")
_THREE = (*TWO, "/per/opt=min")


def mean(kind: str, name: str, number: str = "avg") -> Measure[float]:
    """A cell of a table of several sets of traces."""
    return in_set(kind, of("mean", number, name))


def over_easy(kind: str, name: str) -> Measure[float]:
    """The same over EASY's."""
    return mean(kind, name) / mean(kind, "EASY")


# --- degradations -------------------------------------------------------------------------


def _easy(frame: pd.DataFrame) -> str:
    easy = frame[frame.reading == "easy"]
    means = easy.groupby(["traces", "variant"], sort=False).degradation.mean().unstack("variant")
    over = means.div(means["FCFS"], axis=0).drop(columns="FCFS")
    parts = (
        (
            SETS[str(kind)],
            listed(row.items(), "{} {:.2f}"),
            (mean(str(kind), "EASY") / mean(str(kind), "FCFS"))(printed(2)),
        )
        for kind, row in over.iterrows()
    )
    words = "mean degradation of EASY over FCFS's, an independent event loop: "
    return words + listed(parts, "{}: {}, paper {:.2f}", "; ")


def _larger(table2: pd.DataFrame, readings: pd.DataFrame) -> str:
    """Our means of the real weeks over the paper's, with the bound of a larger machine."""
    bounds = readings[readings.reading == "bound"].pivot(
        index="trace", columns="nodes", values="bound"
    )
    weeks = table2[(table2.traces == "weeks") & (table2.algorithm != "EASY")]
    stretch = weeks.degradation * weeks.trace.map(bounds[120])
    parts = []
    for nodes in (120, 150):
        means = (stretch / weeks.trace.map(bounds[nodes])).groupby(weeks.algorithm).mean()
        theirs = {name: v.value for (n, name), v in printed(2)["weeks"].found.items() if n == "avg"}
        over = (means / means.index.map(theirs)).dropna()
        parts.append((nodes, over.min(), over.max(), over.mean()))
    form = "with the bound of {} nodes our means are {:.2f} to {:.2f} of the paper's "
    form += "({:.2f} on average)"
    return listed(parts, form, "; ") + ": all policies but EASY"


def _worst_trace(table2: pd.DataFrame) -> str:
    """How much one trace of the hundred weighs."""
    parts = []
    for name in _GREEDY:
        rows = table2[(table2.traces == "unscaled") & (table2.algorithm == name)]
        each = rows.set_index("trace").degradation
        worst = int(each.index[int(each.to_numpy().argmax())])
        stretch = rows[rows.trace == worst].max_stretch.iloc[0]
        parts.append(
            f"{name}: trace {worst} alone ({each[worst]:,.1f}, a stretch of {stretch:,.0f}) makes "
            f"{each[worst] / each.sum():.0%} of the mean, {each.mean():.1f}; without it "
            f"{each.drop(worst).mean():.1f} (paper {mean('unscaled', name)(printed(2)):.1f}), "
            f"median {each.median():.1f}"
        )
    return "unscaled traces; " + "; ".join(parts)


@cache
def limits(name: str) -> Check:
    """What each limit to remapping gives for the policy of a row of Table 5, beside the paper's."""
    family = name.partition("/min")[0]
    parts = [
        said(
            f"{limit.strip('/') or 'no limit'} {{:.1f}} (paper {theirs.value:.1f})",
            mean("weeks", each),
        )
        for limit in ("", "/minft=300", "/minft=600", "/minvt=300", "/minvt=600")
        for each in [family + limit]
        for theirs in [printed(5)["weeks"].found["avg", each]]
    ]
    run = lines(f"mean degradation of {family} by limit: ", parts, ", ")
    return Check("limits-to-remapping", ("cluster-table5",), run, degradations)


@cache
def side_by_side(kind: str, *names: str) -> Check:
    """Averages and deviations of policies, here and in the paper."""
    parts = []
    for name in names:
        both = mean(kind, name), mean(kind, name, "std")
        theirs = "{:.1f}, {:.1f}".format(*(measure(printed(2)) for measure in both))
        parts.append(said(f"{name} {{:.1f}}, std {{:.1f}} ({theirs})", *both))
    run = lines(f"{SETS[kind]}, here (paper): ", parts)
    return Check("side-by-side", (STUDY[kind],), run, degradations)


def exceptions(titled: Mapping[str, Sequence[tuple[str, str]]]) -> Check:
    """The pairs of policies whose first is worse, here and in the paper."""

    def of(title: str, who: str, cells: Cells) -> str:
        values = ((a, b, *cells.curve("avg", a, b)) for a, b in titled[title])
        worse = [(a, x, y) for a, _, x, y in values if round(x, 1) > round(y, 1)]
        some = f" ({listed(worse[:4], '{} {:.1f} against {:.1f}', '; ')})" if worse else ""
        return f"{title} is worse {who} in {len(worse)} of {len(titled[title])}{some}"

    def run(sets: Sets) -> str:
        both = (("here", sets["weeks"]), ("in the paper", printed(5)["weeks"]))
        return ", ".join(of(title, *who) for title in titled for who in both)

    return Check("exceptions", ("cluster-table5",), run, degradations)


def _first_two(table: Table) -> str:
    parts = (
        (load, *two.index[:1], two.iloc[0], *two.index[1:], two.iloc[1], row["GreedyPM */opt=min"])
        for load, row in table.wide.iterrows()
        for two in [row.nsmallest(2)]
    )
    form = "{:g}: {} {:.2f}, {} {:.2f}, GreedyPM */opt=min {:.1f}"
    return "the two best policies by load; " + listed(parts, form, "; ")


EASY_READINGS = Check("easy-readings", ("cluster-readings",), _easy)
LARGER_MACHINE = Check("bound-of-a-larger-machine", (TABLE_2, "cluster-readings"), _larger)
WORST_TRACE = Check("worst-trace", (TABLE_2,), _worst_trace)
BEST_BY_LOAD = Check("best-by-load", ("cluster-fig1",), _first_two, by_load)

# --- preemptions, migrations, underutilisation --------------------------------------------


def _per(above: str, below: str, name: str) -> Measure[float]:
    """One average cost of a policy over another."""
    return mean("scaled", name, f"avg {above}") / mean("scaled", name, f"avg {below}")


def _an_event(name: str, kind: str) -> Measure[str]:
    each = 3600 * _per(f"{kind}_bandwidth", f"{kind}s_per_hour", name)
    words = f"{name}, a {kind}: paper {each(printed(3)):.0f} GB, here {{:.0f}} GB counted twice, "
    return said(words + "{:.0f} GB counted once", each, 0.5 * each)


def _hourly(name: str) -> Measure[str]:
    per = _per("preemptions_per_hour", "preemptions_per_job", name)
    return said(f"{name}: paper {per(printed(3)):.2f} jobs an hour, here {{:.2f}}", per)


def _under_easy(kind: str, name: str) -> Measure[str]:
    over = over_easy(kind, name)
    theirs = f"{over(printed(4)):.2f} times in the paper"
    return said(f"{SETS[kind]}, {name}: {{:.2f}} times EASY's here, {theirs}", over)


def _log(name: str) -> Measure[str]:
    form = f"{name}: {{:.3f}} with the penalty of 300 s, {{:.4f}} without"
    return said(form, mean("log", name), mean("log-free", name))


def most_migrations(*names: str) -> Check:
    """The two policies that migrate a job most often."""

    def run(sets: Sets) -> str:
        found = zip(sets["scaled"].curve("avg migrations_per_job", *names), names, strict=True)
        return listed(sorted(found, reverse=True)[:2], "{1} {0:.2f}", ", then ")

    return Check("most-migrations-a-job", (TABLE_3,), run, busy)


# fmt: off
MEMORY_AN_EVENT = Check("memory-an-event", (TABLE_3,), lines("GB/s over events an hour: ", [
    _an_event(name, kind) for name in _THREE for kind in ("preemption", "migration")]), busy)
JOBS_AN_HOUR = Check("jobs-an-hour", (TABLE_3,), lines(
    "preemptions an hour over preemptions a job: ", [*map(_hourly, _THREE)]), busy)
UNDER_EASY = Check("beside-easy", (TABLE_4,), lines(
    "", [_under_easy(kind, name) for kind in SETS for name in TWO]), underutilisation)
NO_PENALTY = Check("no-penalty", (TABLE_4,), lines("the whole log; ", [*map(_log, TWO)]),
    underutilisation)
# fmt: on

# --- the period ---------------------------------------------------------------------------


def _periods(kind: str) -> Measure[str]:
    keys = ((column, kind) for column in ("underutilisation", "degradation"))
    easy = of("last", "EASY underutilisation", kind)
    line = tabled(", ", "{:g} s {:.3f}/{:.1f}", *keys)
    return said(f"{SETS[kind]} (EASY {{:.3f}}): {{}}", easy, line)


def _worst_at_period(frame: pd.DataFrame) -> str:
    """Whether the growth of the mean with the period is one of all traces or of few."""
    parts = []
    for kind, rows in frame[frame.algorithm != "EASY"].groupby("traces", sort=False):
        wide = rows.assign(load=rows["load"].fillna(0.0)).pivot(
            index=["trace", "load"], columns="period", values="degradation"
        )
        least, most = wide[600.0], wide[12000.0]
        without = most.drop(most.idxmax()).mean() / least.drop(least.idxmax()).mean()
        growth = most.mean() / least.mean(), most.median() / least.median(), without
        parts.append((SETS[str(kind)], *growth))
    form = "{}: mean {:.2f} x, median {:.2f} x, without the worst trace of each {:.2f} x"
    return "degradation at 12,000 s over that at 600 s; " + listed(parts, form, "; ")


# fmt: off
PERIODS = Check("by-period", ("cluster-fig3-4",), lines(
    "underutilisation/degradation by period; ", [*map(_periods, SETS)]), by_period)
# fmt: on
GROWTH = Check("growth-without-the-worst", ("cluster-fig3-4",), _worst_at_period)

# --- theorems and workloads ---------------------------------------------------------------


def _families(frame: pd.DataFrame) -> str:
    rows = frame[frame.family != "random"][["family", "jobs", "value", "bound"]]
    return listed(rows.itertuples(index=False), "{}, {} jobs: {:.4f} over {:.4f}", "; ")


# fmt: off
FAMILIES = Check("families", ("cluster-theorems",), _families)
SPANS = Check("spans", ("cluster-readings",), said(
    "spans of {:.1f} to {:.1f} days, median {:.1f}",
    *(of(number, "days", "unscaled") for number in ("least", "greatest", "median"))), facts)
CALLS = Check("calls", ("cluster-mcb8",), said(
    "share of small calls a trace: {:.0f}% to {:.0f}%, {:.0f} to {:.0f} calls a trace, "
    "most jobs {:.0f} to {:.0f}",
    *(of(number, column) for column in ("share", "calls", "most_jobs")
      for number in ("least", "greatest"))), mcb8)
