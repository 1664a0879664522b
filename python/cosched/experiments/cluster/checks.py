"""Explanations that run: what the other reading of the paper gives."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from cosched.experiments.cluster.cells import (
    NUMBERS,
    SETS,
    Cells,
    Sets,
    busy,
    degradations,
    printed,
)
from cosched.experiments.cluster.measures import by_load, facts
from cosched.experiments.ledger import Check
from cosched.experiments.measures import Table, listed

if TYPE_CHECKING:
    import pandas as pd

TABLE_2 = "cluster-table2"
#: Set of traces -> the study of its degradations.
STUDY = {"weeks": TABLE_2, "unscaled": TABLE_2, "scaled": "cluster-fig1"}
_LIMITS = ("", "/minft=300", "/minft=600", "/minvt=300", "/minvt=600")
_GREEDY = ("GreedyP */opt=min", "GreedyPM */opt=min", "GreedyPM */per/opt=min/minvt=600")
_TWO = ("GreedyP */per/opt=min/minvt=600", "GreedyPM */per/opt=min/minvt=600")
_THREE = (*_TWO, "/per/opt=min")


def _paper(table: int, kind: str, number: str, name: str) -> float:
    return printed(table)[kind].found[number, name].value


# --- degradations -------------------------------------------------------------------------


def _easy(frame: pd.DataFrame) -> str:
    easy = frame[frame.reading == "easy"]
    means = easy.groupby(["traces", "variant"], sort=False).degradation.mean().unstack("variant")
    over = means.div(means["FCFS"], axis=0).drop(columns="FCFS")
    parts = (
        (
            SETS[str(kind)],
            listed(row.items(), "{} {:.2f}"),
            _paper(2, str(kind), "avg", "EASY") / _paper(2, str(kind), "avg", "FCFS"),
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


@cache
def limits(name: str) -> Check:
    """What each limit to remapping gives for the policy of a row of Table 5, beside the paper's."""
    family = name.partition("/min")[0]

    def run(frame: pd.DataFrame) -> str:
        means = frame[frame.traces == "weeks"].groupby("algorithm").degradation.mean()
        parts = (
            (limit.strip("/") or "no limit", means[name], _paper(5, "weeks", "avg", name))
            for limit, name in ((limit, family + limit) for limit in _LIMITS)
            if name in means and ("avg", name) in printed(5)["weeks"].found
        )
        words = f"mean degradation of {family} by limit: "
        return words + listed(parts, "{} {:.1f} (paper {:.1f})")

    return Check("limits-to-remapping", ("cluster-table5",), run)


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
            f"{each.drop(worst).mean():.1f} (paper {_paper(2, 'unscaled', 'avg', name):.1f}), "
            f"median {each.median():.1f}"
        )
    return "unscaled traces; " + "; ".join(parts)


@cache
def side_by_side(kind: str, *names: str) -> Check:
    """Averages and deviations of policies, here and in the paper."""

    def run(sets: Sets) -> str:
        both = [(cells, n) for cells in (sets[kind], printed(2)[kind]) for n in NUMBERS[:2]]
        parts = ((name, *(cells.found[n, name].value for cells, n in both)) for name in names)
        words = f"{SETS[kind]}, here (paper): "
        return words + listed(parts, "{} {:.1f}, std {:.1f} ({:.1f}, {:.1f})", "; ")

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

# --- preemptions and migrations -----------------------------------------------------------


def _memory(frame: pd.DataFrame) -> str:
    means = frame.groupby("algorithm", sort=False).mean(numeric_only=True)
    parts = []
    for name in _THREE:
        for kind in ("preemption", "migration"):
            rate, events = f"{kind}_bandwidth", f"{kind}s_per_hour"
            theirs, per = (_paper(3, "scaled", f"avg {cost}", name) for cost in (rate, events))
            ours = 3600 * means[rate][name] / (means[events][name] or math.nan)
            parts.append((name, kind, 3600 * theirs / per, ours, ours / 2))
    form = "{}, a {}: paper {:.0f} GB, here {:.0f} GB counted twice, {:.0f} GB counted once"
    return "GB/s over events an hour: " + listed(parts, form, "; ")


def _jobs_an_hour(frame: pd.DataFrame) -> str:
    means = frame.groupby("algorithm", sort=False).mean(numeric_only=True)
    hour, job = "preemptions_per_hour", "preemptions_per_job"
    parts = (
        (
            name,
            _paper(3, "scaled", f"avg {hour}", name) / _paper(3, "scaled", f"avg {job}", name),
            means[hour][name] / (means[job][name] or math.nan),
        )
        for name in _THREE
    )
    words = "preemptions an hour over preemptions a job: "
    return words + listed(parts, "{}: paper {:.2f} jobs an hour, here {:.2f}", "; ")


def most_migrations(*names: str) -> Check:
    """The two policies that migrate a job most often."""

    def run(sets: Sets) -> str:
        two = sets["scaled"].curve("avg migrations_per_job", *names).nlargest(2)
        return listed(two.items(), "{} {:.2f}", ", then ")

    return Check("most-migrations-a-job", ("cluster-table3",), run, busy)


MEMORY_AN_EVENT = Check("memory-an-event", ("cluster-table3",), _memory)
JOBS_AN_HOUR = Check("jobs-an-hour", ("cluster-table3",), _jobs_an_hour)

# --- underutilisation and the period ------------------------------------------------------


def _under_easy(frame: pd.DataFrame) -> str:
    means = frame.groupby(["traces", "algorithm"], sort=False).underutilisation.mean()
    parts = (
        (
            title,
            name,
            means[kind, name] / means[kind, "EASY"],
            _paper(4, kind, "avg", name) / _paper(4, kind, "avg", "EASY"),
        )
        for kind, title in SETS.items()
        for name in _TWO
    )
    return listed(parts, "{}, {}: {:.2f} times EASY's here, {:.2f} times in the paper", "; ")


def _whole_log(frame: pd.DataFrame) -> str:
    means = frame.groupby(["traces", "algorithm"], sort=False).underutilisation.mean()
    parts = ((name, means["log", name], means["log-free", name]) for name in _TWO)
    form = "{}: {:.3f} with the penalty of 300 s, {:.4f} without"
    return "the whole log; " + listed(parts, form, "; ")


def _periods(frame: pd.DataFrame) -> str:
    best = frame[frame.algorithm != "EASY"]
    means = best.groupby(["traces", "period"])[["underutilisation", "degradation"]].mean()
    easy = frame[frame.algorithm == "EASY"].groupby("traces", sort=False).underutilisation.mean()
    parts = (
        (
            SETS[str(kind)],
            value,
            listed(means.loc[[kind]].droplevel(0).itertuples(), "{:g} s {:.3f}/{:.1f}"),
        )
        for kind, value in easy.items()
    )
    words = "underutilisation/degradation by period; "
    return words + listed(parts, "{} (EASY {:.3f}): {}", "; ")


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


UNDER_EASY = Check("beside-easy", ("cluster-table4",), _under_easy)
NO_PENALTY = Check("no-penalty", ("cluster-table4",), _whole_log)
PERIODS = Check("by-period", ("cluster-fig3-4",), _periods)
GROWTH = Check("growth-without-the-worst", ("cluster-fig3-4",), _worst_at_period)

# --- theorems and workloads ---------------------------------------------------------------


def _families(frame: pd.DataFrame) -> str:
    rows = frame[frame.family != "random"][["family", "jobs", "value", "bound"]]
    return listed(rows.itertuples(index=False), "{}, {} jobs: {:.4f} over {:.4f}", "; ")


def _spans(table: Table) -> str:
    days = table.curve("days", "unscaled")
    return f"spans of {days.min():.1f} to {days.max():.1f} days, median {days.median():.1f}"


def _calls(frame: pd.DataFrame) -> str:
    share = 100 * frame.small / frame.calls
    return (
        f"share of small calls a trace: {share.min():.0f}% to {share.max():.0f}%, "
        f"{frame.calls.min()} to {frame.calls.max()} calls a trace, most jobs "
        f"{frame.most_jobs.min()} to {frame.most_jobs.max()}"
    )


FAMILIES = Check("families", ("cluster-theorems",), _families)
SPANS = Check("spans", ("cluster-readings",), _spans, facts)
CALLS = Check("calls", ("cluster-mcb8",), _calls)
