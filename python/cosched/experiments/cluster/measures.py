"""What the claims of Casanova, Stillwell, Vivien 2011 measure, and readings that may explain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf

from cosched.cluster import TABLE_2
from cosched.experiments import measures as f
from cosched.experiments.cluster import readings, table_cells
from cosched.experiments.cluster.table_cells import COSTS, WORDS, Cells, Sets, in_set, printed
from cosched.experiments.cluster.tables import BEST, NOT_DRAWN
from cosched.experiments.ledger import Reading
from cosched.experiments.measures import CurveTable, measure, of
from cosched.experiments.tolerances import Curve, Seen
from cosched.lazy import pd

#: The longest period of Figures 3 and 4; the appendix tries longer ones.
LONGEST = 12_000


def theorems(frame: pd.DataFrame) -> CurveTable:
    """Ratios on the families of the proofs: (what; family, jobs)."""
    rows = frame.assign(
        over_delta=frame.ratio / frame.of_delta,
        over_jobs=frame.value / frame.jobs,
        over_lengths=frame.ratio / frame.delta,
    )
    values = ["ratio", "over_delta", "over_jobs", "over_lengths"]
    return CurveTable(rows.pivot(index="draw", columns=["family", "jobs"], values=values))


def facts(frame: pd.DataFrame) -> CurveTable:
    """What the traces hold: (what, set of traces)."""
    return CurveTable(frame[frame.reading == "facts"].pivot(index="trace", columns="traces"))


def mcb8(frame: pd.DataFrame) -> CurveTable:
    """MCB8's calls by trace; those for few jobs: percent, how many are fast; all others."""
    small, calls = frame.small, frame.calls
    fast = small - frame.seconds_small_slow
    return CurveTable(frame.assign(share=100 * small / calls, fast=fast, large=calls - small))


def by_load(frame: pd.DataFrame) -> CurveTable:
    """Mean degradation by load, a column a policy in the order of the rows."""
    means = frame.round({"load": 1}).pivot_table("degradation", "load", "algorithm")
    return CurveTable(means[list(frame.algorithm.unique())])


def at_load(frame: pd.DataFrame) -> Sets:
    """The same, as cells of each load."""
    return {
        load: Cells({("avg", str(name)): Seen(value) for name, value in row.items()})
        for load, row in by_load(frame).wide.iterrows()
    }


def by_period(frame: pd.DataFrame) -> CurveTable:
    """Means of the best policy by period: (what, set of traces).

    ``short`` before a column leaves out the appendix's periods, ``long`` is there if they are,
    ``EASY`` is that of EASY at every period,
    ``busy`` the GB/s of all events on the scaled traces with load 0.7 and more.
    """
    best = frame[frame.algorithm != "EASY"]
    columns = ["underutilisation", "degradation"]
    wide = best.pivot_table(columns, "period", "traces")
    easy = frame[frame.algorithm == "EASY"].groupby("traces")[columns].mean()
    for column, kind in ((column, kind) for column in columns for kind in easy.index):
        wide[f"short {column}", kind] = wide[column, kind].where(wide.index <= LONGEST)
        wide[f"EASY {column}", kind] = easy[column][kind]
        if wide.index.max() > LONGEST:
            wide[f"long {column}", kind] = wide[column, kind]
    loaded = best[(best.traces == "scaled") & (best["load"] > 0.65)].groupby("period")
    bandwidths = loaded[["preemption_bandwidth", "migration_bandwidth"]].mean()
    wide["busy", "scaled"] = bandwidths.sum(axis=1)
    return CurveTable(wide)


@measure
def not_worse(cells: Cells, *pairs: tuple[str, str]) -> float:
    """Share of the pairs whose first is not worse, to the digit that the paper prints."""
    good = [round(a, 1) <= round(b, 1) for a, b in (cells.curve("avg", *pair) for pair in pairs)]
    return sum(good) / len(good)


@measure
def policies(cells: Cells) -> float:
    """How many of our policies there are."""
    return float(len({name for _, name in cells.values} - {"FCFS", "EASY"}))


@measure
def share_better(cells: Cells, name: str, *others: str) -> float:
    """Share of the others that are better than a policy."""
    return float((cells.curve("avg", *others) < cells.values["avg", name].value).mean())


@measure
def crossing(table: CurveTable, kind: str) -> float:
    """The first period from which on underutilisation is below EASY's."""
    ours = table.curve("short underutilisation", kind)
    above = ours[ours >= table.curve("EASY underutilisation", kind)[ours.index]]
    rest = ours if above.empty else ours[ours.index > above.index[-1]]
    return float("inf") if rest.empty else float(rest.index[0])


@measure
def growth(table: CurveTable, column: str, kind: str) -> float:
    """What a 20-fold period makes of the mean."""
    curve = table.curve(column, kind)
    return float(curve.loc[LONGEST] / curve.loc[600])


@measure
def steady_fall(table: CurveTable, kind: str) -> tuple[float, float, float]:
    """The share of the steps at which it falls, or 0 where it has not fallen; growth; the share."""
    grown = growth("underutilisation", kind)(table)
    share = of("share of falls", "short underutilisation", kind)(table)
    return share if grown < 1 else 0.0, grown, share


#: The policies that Figure 1 draws.
DRAWN = tuple(name for name in TABLE_2 if name not in NOT_DRAWN)


def without(names: Iterable[str], excluded: Iterable[str]) -> tuple[str, ...]:
    """The names that are not among some."""
    left_out = set(excluded)
    return tuple(name for name in names if name not in left_out)


def mean_over(above: str, below: str) -> f.StudyMeasure[float]:
    """The mean of a policy over that of another."""
    return f.of("mean", "avg", above) / f.of("mean", "avg", below)


def mean_of_ratios(pairs: Iterable[tuple[str, str]]) -> f.StudyMeasure[float]:
    """The mean over pairs of policies of the ratio of their means."""
    return f.among("mean", *(mean_over(*pair) for pair in pairs))


def least_over_least(
    above: Iterable[str], below: Iterable[str], number: str = "avg"
) -> f.StudyMeasure[float]:
    """The best of some policies over the best of others."""
    return f.of("least", number, *above) / f.of("least", number, *below)


def cost_of(number: str, cost: str, names: Iterable[str]) -> f.StudyMeasure[float]:
    """A number of the average costs of policies."""
    return in_set("scaled", f.of(number, f"avg {cost}", *names))


def total_bandwidth(number: str, name: str) -> f.StudyMeasure[float]:
    """GB/s of preemptions and migrations of a policy."""
    both = (f.of("mean", f"{number} {cost}", name) for cost in list(COSTS)[:2])
    return in_set("scaled", f.among("sum", *both))


def printed_cells(table: int, kind: str) -> list[tuple[str, str, str, str, float]]:
    """Label, words for its number and its cost, policy and value of each cell of a set."""
    cells = []
    for (label, name), seen in printed(table)[kind].values.items():
        number, _, cost = label.partition(" ")
        cells.append((label, WORDS[number], COSTS.get(cost, ""), name, seen.value))
    return cells


def printed_value(table: int, kind: str, label: str, name: str) -> float:
    """One of them."""
    return printed(table)[kind].values[label, name].value


def four_digits(value: float) -> float:
    """A number as the ledger shows one of the paper's that follows from its tables."""
    return float(f"{value:.4g}")


def pairs(first: str, second: str) -> list[tuple[str, str]]:
    """Policies of Table 5 that differ in one part of their names only."""
    names = [name for number, name in printed(5)["weeks"].values if number == "avg"]
    name_pairs = [(name, name.replace(first, second)) for name in names if first in name]
    return [(a, b) for a, b in name_pairs if b in names]


OPT_PAIRS = pairs("opt=min", "opt=avg") + pairs("opt=max", "opt=avg")
LIMIT_PAIRS = pairs("minvt=300", "minft=300") + pairs("minvt=600", "minft=600")
#: Policies of Table 5 that remap at every period and at no other time.
PERIODIC_ONLY = tuple(
    name
    for number, name in printed(5)["weeks"].values
    if number == "avg" and name.startswith(("/per", "/stretch-per"))
)


def told_of_load(name: str) -> str:
    """What the text tells of a policy's curve in Figure 1."""
    if name == BEST:
        return "the best regardless of the load: within 5% of the lowest curve at every load"
    if name in ("FCFS", "EASY"):
        return "orders of magnitude above the best: ten times its curve at every load"
    return f"not 5% below {BEST} at any load"


def drawn_by_load(name: str) -> f.StudyMeasure[Curve]:
    """A policy's curve in Figure 1, and the number that the text tells of it."""
    points = f.points("{:g}: {:.1f}", name)
    if name == BEST:
        ratios = (f.of_ratio("greatest", (BEST,), (each,)) for each in DRAWN)
        says = "at most {:.3f} times the lowest curve"
        return f.picture(points, f.among("greatest", *ratios), (0, 1.05), says)
    least = 10 if name in ("FCFS", "EASY") else 0.95
    says = f"{name}: at least {{:.3g}} times the best's curve"
    return f.picture(points, f.of_ratio("least", (name,), (BEST,)), (least, inf), says)


def easy_line(kind: str) -> f.StudyMeasure[Curve]:
    """EASY's line of Figure 3: below all of ours on the real weeks, above their end elsewhere."""
    easy = f.of("last", "EASY underutilisation", kind)
    least, last = (f.of(n, "short underutilisation", kind) for n in ("least", "last"))
    order = f.several(easy / (least if kind == "weeks" else last), easy, least, last)
    says = "EASY {1:.3f}, ours at least {2:.3f}, at 12,000 s {3:.3f}"
    interval = (0, 1) if kind == "weeks" else (1, inf)
    return f.picture(f.sentence_of_values("{:.3f} at every period", easy), order, interval, says)


READINGS = "cluster-readings"
TABLE_3, TABLE_4 = "cluster-table3", "cluster-table4"
PERIODS = "cluster-fig3-4"
_KEYS = ["traces", "trace", "load"]


def with_pooled(frame: pd.DataFrame, others: pd.DataFrame) -> pd.DataFrame:
    """Degradations from the bound without (1d); EASY's those of the one that backfills less."""
    bounds = _by_trace(others[others.reading == "bound"])
    easy = _by_trace(others[(others.reading == "easy") & (others.variant == readings.LESS)])
    rows = _by_trace(frame)
    ratio = (bounds.bound / bounds.pooled).reindex(rows.index)
    less = (easy.stretch / easy.pooled).reindex(rows.index)
    is_easy = rows.algorithm == "EASY"
    return rows.assign(degradation=(rows.degradation * ratio).where(~is_easy, less)).reset_index()


def _by_trace(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(load=frame["load"].fillna(0.0).round(1)).set_index(_KEYS)


def pooled(frame: pd.DataFrame, others: pd.DataFrame) -> Sets:
    """Tables 2 and 5 under that reading."""
    return table_cells.degradations(with_pooled(frame, others), intervals=False)


def without_worst(frame: pd.DataFrame) -> Sets:
    """Degradations without the trace on which each policy is worst."""
    keys = ["traces", "algorithm"]
    worst = frame.loc[frame.groupby(keys).degradation.idxmax()].set_index(keys).trace
    their = worst.loc[frame.set_index(keys).index].to_numpy()
    return table_cells.degradations(frame[frame.trace.to_numpy() != their], intervals=False)


_POOLED = "the bound without (1d), with jobs at any speed"
_LESS = f"{_POOLED}, and an EASY that backfills jobs just submitted only"
_WORST = "without the trace on which the policy is worst"


def degradation(study: str, kind: str, name: str = "") -> Reading:
    """What to try of a cell or sentence: on synthetic traces draws have heavy tails."""
    if kind == "weeks" or name == "EASY":
        return Reading(_LESS if name in ("", "EASY") else _POOLED, (study, READINGS), pooled)
    return Reading(_WORST, (study,), without_worst)


def counted(others: pd.DataFrame) -> Sets:
    """Costs of Table 3 under the other counts, of the policies that were simulated for them."""
    return table_cells.busy(_counts(others))


def _counts(others: pd.DataFrame) -> pd.DataFrame:
    rows = others[others.reading == "counts"]
    return rows.assign(algorithm=rows.variant)


def counted_at_rate(frame: pd.DataFrame, others: pd.DataFrame) -> Sets:
    """All of Table 3 under the other counts, and with as many jobs an hour as the paper's."""
    first_counts, other_counts = (
        table_cells.busy(rows, intervals=False)["scaled"].values
        for rows in (frame, _counts(others))
    )
    theirs = printed(3)["scaled"].values
    rates = {}
    for (number, name), seen in first_counts.items():
        value = other_counts[number, name].value if (number, name) in other_counts else seen.value
        if (number, name) not in other_counts and "bandwidth" in number:
            value /= 2
        if "job" not in number:
            value *= _rate(theirs, name) / _rate(first_counts, name)
        rates[number, name] = Seen(value)
    return {"scaled": Cells(rates)}


def _rate(seen_by_cell: Mapping[tuple[str, str], Seen], name: str) -> float:
    """Return jobs an hour: events an hour over events a job, of the event that the policy has."""
    for event in ("preemptions", "migrations"):
        hour, job = (
            seen_by_cell[f"avg {event}_per_{unit}", name].value for unit in ("hour", "job")
        )
        if job:
            return hour / job
    return 1.0


_AT_RATE = ((TABLE_3, READINGS), counted_at_rate)
COUNTED = Reading(
    "pauses that end elsewhere within a period are migrations, the memory of an event counts once, "
    "at the paper's jobs an hour",
    *_AT_RATE,
)
RATE = Reading("at the paper's jobs an hour", *_AT_RATE)


def free_log(frame: pd.DataFrame) -> Sets:
    """Table 4 with the whole log as it is without a penalty."""
    sets = dict(table_cells.underutilisation(frame, intervals=False))
    return sets | {"log": sets["log-free"]}


NO_PENALTY = Reading("without the penalty of 300 s", (TABLE_4,), free_log)


def paper_easy(frame: pd.DataFrame) -> CurveTable:
    """Figure 3 with EASY's underutilisation as the paper prints it in Table 4."""
    wide = by_period(frame).wide.copy()
    for kind in table_cells.SETS:
        wide["EASY underutilisation", kind] = printed(4)[kind].values["avg", "EASY"].value
    return CurveTable(wide)


def periods_without_worst(frame: pd.DataFrame) -> CurveTable:
    """Figures 3 and 4 without the trace on which each period is worst."""
    keys = [frame.traces, frame.algorithm, frame.period.fillna(0.0)]
    worst = frame.groupby(keys).degradation.transform("max")
    return by_period(frame[frame.degradation < worst])


def periods_once(frame: pd.DataFrame) -> CurveTable:
    """Appendix B with the memory of an event once."""
    wide = by_period(frame).wide.copy()
    wide["busy", "scaled"] /= 2
    return CurveTable(wide)


PAPER_EASY = Reading("EASY's underutilisation as in the paper's Table 4", (PERIODS,), paper_easy)
GROWTH = Reading("without the worst trace of each period", (PERIODS,), periods_without_worst)
ONCE = Reading("the memory of an event once", (PERIODS,), periods_once)
