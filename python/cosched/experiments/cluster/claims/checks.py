"""Explanations that run: what the other reading of the paper gives."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cosched.experiments.cluster import paper
from cosched.experiments.cluster.claims.stats import SETS
from cosched.experiments.ledger import Check

if TYPE_CHECKING:
    import pandas as pd

#: EASY over FCFS in the paper's Table 2.
_PAPER_EASY = {
    kind: paper.table(2)["EASY"][first] / paper.table(2)["FCFS"][first]
    for kind, (first, _) in SETS.items()
}
_LARGER = 150


def _easy(frame: pd.DataFrame) -> str:
    easy = frame[frame.reading == "easy"]
    means = easy.groupby(["traces", "variant"], sort=False).degradation.mean().unstack("variant")
    over = means.div(means["FCFS"], axis=0).drop(columns="FCFS")
    parts = [
        f"{SETS[str(kind)][1]}: "
        + ", ".join(f"{name} {ratio:.2f}" for name, ratio in row.items())
        + f", paper {_PAPER_EASY[str(kind)]:.2f}"
        for kind, row in over.iterrows()
    ]
    return "mean degradation of EASY over FCFS's, an independent event loop: " + "; ".join(parts)


EASY_READINGS = Check("easy-readings", ("cluster-readings",), _easy)


def _larger(table2: pd.DataFrame, readings: pd.DataFrame) -> str:
    """Our means of the real weeks over the paper's, with the bound of a larger machine."""
    bounds = readings[readings.reading == "bound"].pivot(
        index="trace", columns="nodes", values="bound"
    )
    weeks = table2[table2.traces == "weeks"]
    weeks = weeks[weeks.algorithm != "EASY"]
    stretch = weeks.assign(stretch=weeks.degradation * weeks.trace.map(bounds[120]))
    found = {}
    for nodes in (120, _LARGER):
        means = (stretch.stretch / stretch.trace.map(bounds[nodes])).groupby(stretch.algorithm)
        found[nodes] = [
            mean / paper.table(2)[name][0]
            for name, mean in means.mean().items()
            if name in paper.table(2)
        ]
    parts = [
        f"with the bound of {nodes} nodes our means are {min(r):.2f} to {max(r):.2f} of the "
        f"paper's ({sum(r) / len(r):.2f} on average)"
        for nodes, r in found.items()
    ]
    return "; ".join(parts) + ": all policies but EASY"


LARGER_MACHINE = Check("bound-of-a-larger-machine", ("cluster-table2", "cluster-readings"), _larger)


_LIMITS = ("", "/minft=300", "/minft=600", "/minvt=300", "/minvt=600")


def limits(name: str) -> Check:
    """What each limit to remapping gives for the policy of a row of Table 5, beside the paper's."""
    family = name.partition("/min")[0]

    def run(frame: pd.DataFrame) -> str:
        means = frame[frame.traces == "weeks"].groupby("algorithm").degradation.mean()
        parts = [
            f"{limit.strip('/') or 'no limit'} {means[family + limit]:.1f} "
            f"(paper {paper.table(5)[family + limit][0]:.1f})"
            for limit in _LIMITS
            if family + limit in means and family + limit in paper.table(5)
        ]
        return f"mean degradation of {family} by limit: " + ", ".join(parts)

    return Check("limits-to-remapping", ("cluster-table5",), run)


def _worst_trace(table2: pd.DataFrame) -> str:
    """How much one trace of the hundred weighs."""
    rows = table2[table2.traces == "unscaled"]
    parts = []
    for name in ("GreedyP */opt=min", "GreedyPM */opt=min", "GreedyPM */per/opt=min/minvt=600"):
        each = rows[rows.algorithm == name].set_index("trace").degradation
        worst = int(each.index[int(each.to_numpy().argmax())])
        stretch = rows[(rows.algorithm == name) & (rows.trace == worst)].max_stretch.iloc[0]
        parts.append(
            f"{name}: trace {worst} alone ({each[worst]:,.1f}, a stretch of {stretch:,.0f}) makes "
            f"{each[worst] / each.sum():.0%} of the mean, {each.mean():.1f}; without it "
            f"{each.drop(worst).mean():.1f} (paper {paper.table(2)[name][3]:.1f}), "
            f"median {each.median():.1f}"
        )
    return "unscaled traces; " + "; ".join(parts)


WORST_TRACE = Check("worst-trace", ("cluster-table2",), _worst_trace)

_TWO = ("GreedyP */per/opt=min/minvt=600", "GreedyPM */per/opt=min/minvt=600", "/per/opt=min")


def _memory(frame: pd.DataFrame) -> str:
    means = frame.groupby("algorithm", sort=False).mean(numeric_only=True)
    parts = []
    for name in _TWO:
        cells = paper.table(3)[name]
        for place, kind in ((0, "preemption"), (2, "migration")):
            theirs = 3600 * cells[place] / cells[place + 4]
            events = means[f"{kind}s_per_hour"][name] or math.nan
            ours = 3600 * means[f"{kind}_bandwidth"][name] / events
            parts.append(
                f"{name}, a {kind}: paper {theirs:.0f} GB, here {ours:.0f} GB counted twice, "
                f"{ours / 2:.0f} GB counted once"
            )
    return "GB/s over events an hour: " + "; ".join(parts)


MEMORY_AN_EVENT = Check("memory-an-event", ("cluster-table3",), _memory)


def _jobs_an_hour(frame: pd.DataFrame) -> str:
    means = frame.groupby("algorithm", sort=False).mean(numeric_only=True)
    parts = []
    for name in _TWO:
        cells = paper.table(3)[name]
        theirs = cells[4] / cells[8]
        ours = means.preemptions_per_hour[name] / (means.preemptions_per_job[name] or math.nan)
        parts.append(f"{name}: paper {theirs:.2f} jobs an hour, here {ours:.2f}")
    return "preemptions an hour over preemptions a job: " + "; ".join(parts)


JOBS_AN_HOUR = Check("jobs-an-hour", ("cluster-table3",), _jobs_an_hour)


def _under_easy(frame: pd.DataFrame) -> str:
    means = frame.groupby(["traces", "algorithm"], sort=False).underutilisation.mean()
    parts = []
    for kind, (_, title) in SETS.items():
        theirs = paper.table(4)
        place = list(SETS).index(kind)
        for name in list(theirs)[1:]:
            parts.append(
                f"{title}, {name}: {means[kind, name] / means[kind, 'EASY']:.2f} times EASY's "
                f"here, {theirs[name][place] / theirs['EASY'][place]:.2f} times in the paper"
            )
    return "; ".join(parts)


UNDER_EASY = Check("beside-easy", ("cluster-table4",), _under_easy)


def _whole_log(frame: pd.DataFrame) -> str:
    means = frame.groupby(["traces", "algorithm"], sort=False).underutilisation.mean()
    parts = [
        f"{name}: {means['log', name]:.3f} with the penalty of 300 s, "
        f"{means['log-free', name]:.4f} without"
        for name in list(paper.table(4))[1:]
    ]
    return "the whole log; " + "; ".join(parts)


NO_PENALTY = Check("no-penalty", ("cluster-table4",), _whole_log)


def _periods(frame: pd.DataFrame) -> str:
    best = frame[frame.algorithm != "EASY"]
    means = best.groupby(["traces", "period"], sort=False)[["underutilisation", "degradation"]]
    table = means.mean()
    easy = frame[frame.algorithm == "EASY"].groupby("traces", sort=False).underutilisation.mean()
    parts = []
    for kind in easy.index:
        some = table.loc[kind].sort_index()
        line = ", ".join(
            f"{period:g} s {row.underutilisation:.3f}/{row.degradation:.1f}"
            for period, row in some.iterrows()
        )
        parts.append(f"{SETS[kind][1]} (EASY {easy[kind]:.3f}): {line}")
    return "underutilisation/degradation by period; " + "; ".join(parts)


PERIODS = Check("by-period", ("cluster-fig3-4",), _periods)


def _worst_at_period(frame: pd.DataFrame) -> str:
    """Whether the growth of the mean with the period is one of all traces or of few."""
    best = frame[frame.algorithm != "EASY"]
    parts = []
    for kind, rows in best.groupby("traces", sort=False):
        wide = rows.assign(load=rows["load"].fillna(0.0)).pivot(
            index=["trace", "load"], columns="period", values="degradation"
        )
        least, most = wide[600.0], wide[12000.0]
        parts.append(
            f"{SETS[str(kind)][1]}: mean {most.mean() / least.mean():.2f} x, median "
            f"{most.median() / least.median():.2f} x, without the worst trace of each "
            f"{most.drop(most.idxmax()).mean() / least.drop(least.idxmax()).mean():.2f} x"
        )
    return "degradation at 12,000 s over that at 600 s; " + "; ".join(parts)


GROWTH = Check("growth-without-the-worst", ("cluster-fig3-4",), _worst_at_period)
