"""Other readings of the paper, or of what differs, on which the measures of claims run again."""

from __future__ import annotations

from collections.abc import Mapping

from cosched.experiments.cluster import measures, readings, table_cells
from cosched.experiments.cluster.table_cells import Cells, Sets, printed
from cosched.experiments.ledger import Reading
from cosched.experiments.measures import Table
from cosched.experiments.tolerances import Seen
from cosched.lazy import pd

READINGS = "cluster-readings"
TABLE_3, TABLE_4 = "cluster-table3", "cluster-table4"
PERIODS = "cluster-fig3-4"
_KEYS = ["traces", "trace", "load"]


# --- degradations -------------------------------------------------------------------------


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


# --- preemptions, migrations, underutilisation --------------------------------------------


def counted(others: pd.DataFrame) -> Sets:
    """Costs of Table 3 under the other counts, of the policies that were simulated for them."""
    return table_cells.busy(_counts(others))


def _counts(others: pd.DataFrame) -> pd.DataFrame:
    rows = others[others.reading == "counts"]
    return rows.assign(algorithm=rows.variant)


def counted_at_rate(frame: pd.DataFrame, others: pd.DataFrame) -> Sets:
    """All of Table 3 under the other counts, and with as many jobs an hour as the paper's."""
    plain, again = (
        table_cells.busy(rows, intervals=False)["scaled"].found for rows in (frame, _counts(others))
    )
    theirs = printed(3)["scaled"].found
    found = {}
    for (number, name), seen in plain.items():
        value = again[number, name].value if (number, name) in again else seen.value
        if (number, name) not in again and "bandwidth" in number:
            value /= 2
        if "job" not in number:
            value *= _rate(theirs, name) / _rate(plain, name)
        found[number, name] = Seen(value)
    return {"scaled": Cells(found)}


def _rate(found: Mapping[tuple[str, str], Seen], name: str) -> float:
    """Jobs an hour: events an hour over events a job, of the event that the policy has."""
    for event in ("preemptions", "migrations"):
        hour, job = (found[f"avg {event}_per_{unit}", name].value for unit in ("hour", "job"))
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

# --- the period ---------------------------------------------------------------------------


def paper_easy(frame: pd.DataFrame) -> Table:
    """Figure 3 with EASY's underutilisation as the paper prints it in Table 4."""
    wide = measures.by_period(frame).wide.copy()
    for kind in table_cells.SETS:
        wide["EASY underutilisation", kind] = printed(4)[kind].found["avg", "EASY"].value
    return Table(wide)


def periods_without_worst(frame: pd.DataFrame) -> Table:
    """Figures 3 and 4 without the trace on which each period is worst."""
    keys = [frame.traces, frame.algorithm, frame.period.fillna(0.0)]
    worst = frame.groupby(keys).degradation.transform("max")
    return measures.by_period(frame[frame.degradation < worst])


def periods_once(frame: pd.DataFrame) -> Table:
    """Appendix B with the memory of an event once."""
    wide = measures.by_period(frame).wide.copy()
    wide["busy", "scaled"] /= 2
    return Table(wide)


PAPER_EASY = Reading("EASY's underutilisation as in the paper's Table 4", (PERIODS,), paper_easy)
GROWTH = Reading("without the worst trace of each period", (PERIODS,), periods_without_worst)
ONCE = Reading("the memory of an event once", (PERIODS,), periods_once)
