"""Write docs/results/ledger.md: claims that hold or fail, and what another reading explains."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from cosched.experiments import tolerances as t
from cosched.experiments.cluster.table_cells import (
    COSTS,
    NUMBERS,
    SETS,
    WORDS,
    by_trace,
    number_of,
    picks,
)
from cosched.experiments.kept import counted, escaped, value_text
from cosched.experiments.ledger import UNEXPLAINED, Row, number, spearman
from cosched.experiments.tolerances import VERDICTS

#: Pairs of draws of our own traces that are correlated.
PAIRS = 200
#: What a kind of row compares, in the order of the page.
_KINDS = {
    t.NUMBER: "a printed number, same data",
    t.DRAWN: "a printed number, other draws",
    t.SENTENCE: "a sentence, true or false",
    t.CURVE: "words about a curve, true or false",
    t.BARE: "a curve without words or numbers",
    t.NOTHING: "nothing can be compared",
}


def kinds_table(rows: Sequence[Row]) -> str:
    """One row per kind of comparison."""
    groups = {
        words: Counter(row.verdict for row in rows if row.kind == kind)
        for kind, words in _KINDS.items()
    }
    return counted("compared", groups)


def explained_table(rows: Sequence[Row]) -> str:
    """One row per paper: how many differences another reading explains, fully or in part."""
    lines = ["| paper | order, differ or fail | half and more | less | unexplained |"]
    lines.append("|:--|" + "--:|" * 4)
    open_rows = [row for row in rows if row.verdict in (t.ORDER, t.DIFFERS, t.FAILS)]
    for paper in [*dict.fromkeys(row.paper for row in rows), "**all**"]:
        paper_rows = [row for row in open_rows if paper in (row.paper, "**all**")]
        cells = [paper, len(paper_rows), *_shares(paper_rows)]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def _shares(rows: Sequence[Row]) -> tuple[int, int, int]:
    """Count the rows whose gap a reading closes by half or more, by less, or not at all."""
    explained_shares = [row.explained for row in rows if row.explained is not None]
    half = sum(share >= t.HALF for share in explained_shares)
    return half, len(explained_shares) - half, len(rows) - len(explained_shares)


def paper_page(rows: Sequence[Row]) -> list[str]:
    """What holds, what fails, what differs and what cannot be compared of one paper."""
    by_verdict = {verdict: [r for r in rows if r.verdict == verdict] for verdict in VERDICTS}
    parts = [_line("Holds", by_verdict[t.AGREES])]
    if by_verdict[t.FAILS]:
        parts += ["Fails:", "\n".join(_grouped(by_verdict[t.FAILS]))]
    if by_verdict[t.DIFFERS]:
        cells = [row for row in by_verdict[t.DIFFERS] if row.place.startswith("Table")]
        rest = [row for row in by_verdict[t.DIFFERS] if row not in cells]
        lines = [*_grouped(rest), *_cells(cells)]
        parts += ["Numbers differ:", "\n".join(lines)]
    if by_verdict[t.ORDER]:
        parts += ["Agree in order only:", "\n".join(_cells(by_verdict[t.ORDER]))]
    if by_verdict[t.UNTESTED]:
        parts.append(_line("Untested pictures", by_verdict[t.UNTESTED]))
    if by_verdict[t.NOT]:
        reasons = Counter(row.reason for row in by_verdict[t.NOT])
        words = "; ".join(f"{escaped(reason)} ({count})" for reason, count in reasons.items())
        parts.append(f"**Cannot be reproduced** ({len(by_verdict[t.NOT])}): {words}.")
    return parts


def _line(title: str, rows: Sequence[Row]) -> str:
    return f"**{title}** ({len(rows)}): {_places(rows)}."


def _places(rows: Iterable[Row]) -> str:
    place_counts = Counter(row.place.split(",")[0] for row in rows)
    return ", ".join(f"{escaped(place)} ({count})" for place, count in place_counts.items())


def _grouped(rows: Sequence[Row]) -> list[str]:
    """One line per claim; a claim about several sets of traces or sizes is one line."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.place.split(",")[0], row.claim), []).append(row)
    lines = []
    for (place, claim), group_rows in groups.items():
        values = ", ".join(_value(row, len(group_rows) > 1) for row in group_rows)
        place_text = (
            group_rows[0].tolerance.split(": ")[0] if group_rows[0].kind == t.CURVE else claim
        )
        lines.append(f"* {escaped(place)}: {escaped(place_text)}: {values}; {_why(group_rows)}.")
    return lines


def _value(row: Row, several: bool) -> str:
    where = f" ({escaped(', '.join(row.place.split(', ')[1:]))})" if several else ""
    if row.kind in (t.NUMBER, t.DRAWN):
        return f"{number(row.value):.4g} against {value_text(row.paper_value)}{where}"
    ends = number(row.low), number(row.high)
    value = number(row.value)
    limit = ends[0] if value < ends[0] else ends[1]
    return f"**{value:.4g}**, to be {'at least' if value < limit else 'at most'} {limit:.4g}{where}"


def _why(rows: Sequence[Row]) -> str:
    """Describe in a few words how much of the gaps is explained."""
    explained_shares = [row.explained for row in rows if row.explained is not None]
    if not explained_shares:
        reasons = dict.fromkeys(row.reason for row in rows)
        return escaped("; ".join(reasons)) or UNEXPLAINED
    shares = ", ".join(f"{share:.0%}" for share in explained_shares)
    less = ", less than half" if max(explained_shares) < t.HALF else ""
    return f"{escaped(_reading(rows))}: {shares} of the gap{less}"


def _reading(rows: Sequence[Row]) -> str:
    return next(row.reason.split(":")[0] for row in rows if row.explained is not None)


def _cells(rows: Sequence[Row]) -> list[str]:
    """One line per table: its number of cells and of explained cells."""
    lines = []
    for table, table_rows in _by(rows, lambda row: row.place.split(",")[0]).items():
        half, less, none = _shares(table_rows)
        lines.append(
            f"* {table}: {len(table_rows)} cells; a reading closes half of the gap and more in "
            f"{half}, less in {less}; {none} are unexplained."
        )
    return lines


def _by(rows: Iterable[Row], key: object) -> dict[str, list[Row]]:
    rows_by_key: dict[str, list[Row]] = {}
    for row in rows:
        rows_by_key.setdefault(key(row), []).append(row)  # type: ignore[operator]
    return rows_by_key


def correlations(rows: Sequence[Row], draws: Mapping[str, tuple[float, float]]) -> str:
    """One row per set of cells: rank correlations, verdicts and the reading."""
    lines = [
        "| cells | n | rho | of two draws of ours | "
        + " | ".join(VERDICTS[:3])
        + " | with the reading | |",
        "|:--|--:|--:|:--|" + "--:|" * 4 + ":--|",
    ]
    for name, column_rows in _by((row for row in rows if row.cells), lambda row: row.cells).items():
        rho, n = column_rows[0].rho, column_rows[0].n
        if rho is None:
            continue
        verdict_counts = Counter(row.verdict for row in column_rows)
        middle, low = draws.get(name, (math.nan, math.nan))
        ours = "-" if math.isnan(middle) else f"{middle:.2f}, 5% below {low:.2f}"
        other = _rho(column_rows, reading=True)
        cells = [name, str(n), f"{rho:.3f}", ours, *(str(verdict_counts[v]) for v in VERDICTS[:3])]
        cells += [f"{other:.3f}", _weak(column_rows, low, other)]
        lines.append("| " + " | ".join(map(escaped, cells)) + " |")
    return "\n".join(lines)


def _rho(rows: Iterable[Row], reading: bool = False) -> float:
    """The rank correlation of the values, or of those under the reading."""
    row_list = list(rows)
    ours = [
        number(row.other if reading and row.other is not None else row.value) for row in row_list
    ]
    return spearman(pd.Series(ours), pd.Series([row.paper_number for row in row_list]))


def _weak(rows: Sequence[Row], low: float, other: float) -> str:
    """Describe a rank correlation below the threshold."""
    rho = rows[0].rho or 0.0
    if rho >= t.LEAST_RHO:
        return ""
    without, rest = max((_rho(r for r in rows if r is not row), row.place) for row in rows)
    without_text = f"; without {rest.split(', ')[1 if 'Table 3' in rest else 2]} {without:.2f}"
    if low <= rho:
        return "weak; two draws of ours differ as much" + without_text
    if other >= t.LEAST_RHO:
        return "weak; explained by the reading" + without_text
    reading_remark = ", the reading raises it only" if other > rho else ""
    return f"weak; {UNEXPLAINED}{reading_remark}{without_text}"


_COLUMNS = {
    "cluster-table2": (2, "unscaled", ("degradation",), NUMBERS),
    "cluster-fig1": (2, "scaled", ("degradation",), NUMBERS),
    "cluster-table3": (3, "scaled", tuple(COSTS), ("avg", "max")),
}


def between_draws(frames: Callable[[str], pd.DataFrame]) -> dict[str, tuple[float, float]]:
    """Set of cells -> rank correlation of two draws of our traces: the median, the 5% quantile.

    Only columns of drawn traces have it; the paper's own draws are a third.
    """
    rank_correlations = {}
    for study, (table, kind, columns, numbers) in _COLUMNS.items():
        frame = frames(study)
        rows = frame[(frame.traces == kind) & ((table == 2) | (frame["load"] > 0.65))]
        for column in columns:
            draws = _draws_of(rows, column)
            for each in numbers:
                rhos = _correlated(draws, each)
                what = f"{COSTS[column]}, " if table == 3 else f"{SETS[kind]}, "
                name = f"Table {table}, {what}{WORDS[each]}"
                rank_correlations[name] = float(np.median(rhos)), float(np.quantile(rhos, 0.05))
    return rank_correlations


def _draws_of(rows: pd.DataFrame, column: str) -> np.ndarray:
    """Policies x drawn traces x their loads."""
    return np.stack(
        [
            by_trace(algorithm_rows, column)
            for _, algorithm_rows in rows.groupby("algorithm", sort=False)
        ]
    )


def _correlated(draws: np.ndarray, which: str) -> list[float]:
    """Spearman of the policies' numbers in pairs of draws; all policies see the same traces."""
    pairs = picks(draws.shape[1])[: 2 * PAIRS]
    values = [number_of(draws[:, pair].reshape(len(draws), -1), which) for pair in pairs]
    ranks = pd.DataFrame(values).rank(axis=1).to_numpy()
    return [float(np.corrcoef(*pair)[0, 1]) for pair in zip(ranks[::2], ranks[1::2], strict=True)]
