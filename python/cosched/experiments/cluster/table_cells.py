"""Cells of the paper's tables, printed and ours, with the interval of another draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from cosched import io
from cosched.experiments.measures import StudyMeasure, measure
from cosched.experiments.tolerances import Seen
from cosched.lazy import pd

#: Set of traces -> what it is called, in the order of the columns of Tables 2 and 4.
SETS = {
    "weeks": "real weeks",
    "unscaled": "unscaled synthetic traces",
    "scaled": "scaled synthetic traces",
}
WORDS = {"avg": "average", "std": "standard deviation", "max": "maximum"}
NUMBERS = tuple(WORDS)
#: Measure of a simulation -> its words, in the order of the columns of Table 3.
COSTS = {
    "preemption_bandwidth": "GB/s of preemptions",
    "migration_bandwidth": "GB/s of migrations",
    "preemptions_per_hour": "preemptions an hour",
    "migrations_per_hour": "migrations an hour",
    "preemptions_per_job": "preemptions a job",
    "migrations_per_job": "migrations a job",
}
_DRAWS = 2000


@dataclass(frozen=True)
class Cells:
    """(number, policy) -> value, for one set of traces; a curve is a number of some policies."""

    #: Value and interval by (number, policy).
    values: Mapping[tuple[str, str], Seen]

    def curve(self, number: str, *names: str) -> np.ndarray:
        """A number of these policies; no pandas, as tables of the paper are read at import."""
        return np.array([self.values[number, name].value for name in names])


#: Cells by set of traces, or by load.
Sets = Mapping[Any, Cells]


@measure
def in_set(sets: Sets, key: object, inner: StudyMeasure[Any]) -> Any:
    """A measure of the cells of one set."""
    return inner(sets[key])


@measure
def cell(cells: Cells, number: str, name: str) -> Seen:
    """A cell, with its interval."""
    return cells.values[number, name]


@cache
def printed(table: int) -> Sets:
    """The paper's Table 2, 3, 4 or 5."""
    kinds: tuple[str, ...] = tuple(SETS)
    numbers: tuple[str, ...] = NUMBERS
    if table == 3:
        kinds, numbers = ("scaled",), tuple(f"{n} {cost}" for cost in COSTS for n in ("avg", "max"))
    elif table == 4:
        numbers = ("avg",)
    cells_by_kind: dict[str, dict[tuple[str, str], Seen]] = {kind: {} for kind in kinds}
    keys = [(kind, number) for kind in kinds for number in numbers]
    for name, row in paper_table(table).items():
        for (kind, number), value in zip(keys, row, strict=False):  # Table 5 has the weeks only
            cells_by_kind[kind][number, name] = Seen(value)
    return {kind: Cells(cells) for kind, cells in cells_by_kind.items()}


def degradations(frame: pd.DataFrame, intervals: bool = True) -> Sets:
    """Average, deviation and maximum of the degradation."""
    return _sets(frame, ("degradation",), NUMBERS, intervals)


def underutilisation(frame: pd.DataFrame, intervals: bool = True) -> Sets:
    """Average normalised underutilisation."""
    return _sets(frame, ("underutilisation",), ("avg",), intervals)


def busy(frame: pd.DataFrame, intervals: bool = True) -> Sets:
    """Average and maximum of the costs over the scaled traces with load 0.7 and more."""
    rows = frame[(frame.traces == "scaled") & (frame["load"] > 0.65)]
    return _sets(rows, tuple(COSTS), ("avg", "max"), intervals)


def _sets(
    frame: pd.DataFrame, columns: Sequence[str], numbers: Sequence[str], intervals: bool
) -> Sets:
    """Of one column its numbers; of several ``"number column"``."""
    cells_by_kind: dict[str, dict[tuple[str, str], Seen]] = {}
    for (kind, name), rows in frame.groupby(["traces", "algorithm"], sort=False):
        cells = cells_by_kind.setdefault(str(kind), {})
        for column in columns:
            of_traces = by_trace(rows, column)
            for number in numbers:
                label = number if len(columns) == 1 else f"{number} {column}"
                cell = with_interval if intervals else alone
                cells[label, str(name)] = cell(of_traces, number)
    return {kind: Cells(cells) for kind, cells in cells_by_kind.items()}


def by_trace(rows: pd.DataFrame, column: str) -> np.ndarray:
    """A row a drawn trace, a column a load of it."""
    wide = rows.assign(load=rows["load"].fillna(0.0)).pivot(
        index="trace", columns="load", values=column
    )
    return wide.to_numpy()


def with_interval(of_traces: np.ndarray, number: str) -> Seen:
    """The number, and where 99 of 100 other draws of as many traces would put it.

    Bootstrap of the ratio of two draws: traces are drawn with all their loads.
    """
    value = float(number_of(of_traces.reshape(1, -1), number)[0])
    resampled = number_of(of_traces[picks(len(of_traces))].reshape(_DRAWS, -1), number)
    half = _DRAWS // 2
    first, second = resampled[:half], resampled[half:]
    use = (first > 0) & (second > 0)
    if not use.any() or value == 0:
        return Seen(value, value, value)
    low, high = np.quantile(first[use] / second[use], [0.005, 0.995])
    return Seen(value, value * float(low), value * float(high))


def alone(of_traces: np.ndarray, number: str) -> Seen:
    """The number without its interval."""
    return Seen(float(number_of(of_traces.reshape(1, -1), number)[0]))


@cache
def picks(traces: int) -> np.ndarray:
    """Traces of each of 2,000 draws, always the same."""
    return np.random.default_rng(0).integers(0, traces, size=(_DRAWS, traces))


def number_of(rows: np.ndarray, number: str) -> np.ndarray:
    """A number of each row."""
    if number == "avg":
        return rows.mean(axis=1)
    if number == "max":
        return rows.max(axis=1)
    return rows.std(axis=1, ddof=1) if rows.shape[1] > 1 else np.full(len(rows), np.nan)


_FILE = Path(__file__).with_name("paper_tables.toml")


@cache
def paper_table(number: int) -> dict[str, tuple[float, ...]]:
    """Policy -> the numbers of its row in Table 2, 3, 4 or 5, in the order of the paper's rows."""
    text = io.parse_toml(_FILE.read_text("utf-8"), str(_FILE))[f"table{number}"]
    rows = (line.split("|") for line in text.strip().splitlines())
    return {name.strip(): tuple(map(float, cells.split())) for name, cells in rows}
