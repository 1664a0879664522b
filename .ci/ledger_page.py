"""What docs/results/ledger.md tells: what holds, what fails, what another reading explains."""

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
    """A line a kind of comparison."""
    groups = {
        words: Counter(row.verdict for row in rows if row.kind == kind)
        for kind, words in _KINDS.items()
    }
    return counted("compared", groups)


def explained_table(rows: Sequence[Row]) -> str:
    """A line a paper: of what agrees in order only, differs or fails, how much is explained."""
    lines = ["| paper | order, differ or fail | half and more | less | unexplained |"]
    lines.append("|:--|" + "--:|" * 4)
    open_rows = [row for row in rows if row.verdict in (t.ORDER, t.DIFFERS, t.FAILS)]
    for paper in [*dict.fromkeys(row.paper for row in rows), "**all**"]:
        some = [row for row in open_rows if paper in (row.paper, "**all**")]
        cells = [paper, len(some), *_shares(some)]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def _shares(rows: Sequence[Row]) -> tuple[int, int, int]:
    """In how many a reading closes half of the gap and more, less, or there is none."""
    known = [row.explained for row in rows if row.explained is not None]
    half = sum(share >= t.HALF for share in known)
    return half, len(known) - half, len(rows) - len(known)


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
    found = Counter(row.place.split(",")[0] for row in rows)
    return ", ".join(f"{escaped(place)} ({count})" for place, count in found.items())


def _grouped(rows: Sequence[Row]) -> list[str]:
    """A line a claim; what is claimed of several sets of traces or sizes is one."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.place.split(",")[0], row.claim), []).append(row)
    lines = []
    for (place, claim), some in groups.items():
        values = ", ".join(_value(row, len(some) > 1) for row in some)
        said = some[0].tolerance.split(": ")[0] if some[0].kind == t.CURVE else claim
        lines.append(f"* {escaped(place)}: {escaped(said)}: {values}; {_why(some)}.")
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
    """How much of the gaps is explained, in a few words."""
    known = [row.explained for row in rows if row.explained is not None]
    if not known:
        said = dict.fromkeys(row.reason for row in rows)
        return escaped("; ".join(said)) or UNEXPLAINED
    shares = ", ".join(f"{share:.0%}" for share in known)
    less = ", less than half" if max(known) < t.HALF else ""
    return f"{escaped(_reading(rows))}: {shares} of the gap{less}"


def _reading(rows: Sequence[Row]) -> str:
    return next(row.reason.split(":")[0] for row in rows if row.explained is not None)


def _cells(rows: Sequence[Row]) -> list[str]:
    """A line a table: how many cells, how many of them explained."""
    lines = []
    for table, some in _by(rows, lambda row: row.place.split(",")[0]).items():
        half, less, none = _shares(some)
        lines.append(
            f"* {table}: {len(some)} cells; a reading closes half of the gap and more in {half}, "
            f"less in {less}; {none} are unexplained."
        )
    return lines


def _by(rows: Iterable[Row], key: object) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)  # type: ignore[operator]
    return found


def correlations(rows: Sequence[Row], draws: Mapping[str, tuple[float, float]]) -> str:
    """A line a set of cells: rank correlation, that of two draws of ours, verdicts, reading."""
    lines = [
        "| cells | n | rho | of two draws of ours | "
        + " | ".join(VERDICTS[:3])
        + " | with the reading | |",
        "|:--|--:|--:|:--|" + "--:|" * 4 + ":--|",
    ]
    for name, some in _by((row for row in rows if row.cells), lambda row: row.cells).items():
        rho, n = some[0].rho, some[0].n
        if rho is None:
            continue
        found = Counter(row.verdict for row in some)
        middle, low = draws.get(name, (math.nan, math.nan))
        ours = "-" if math.isnan(middle) else f"{middle:.2f}, 5% below {low:.2f}"
        other = _rho(some, reading=True)
        cells = [name, str(n), f"{rho:.3f}", ours, *(str(found[v]) for v in VERDICTS[:3])]
        cells += [f"{other:.3f}", _weak(some, low, other)]
        lines.append("| " + " | ".join(map(escaped, cells)) + " |")
    return "\n".join(lines)


def _rho(rows: Iterable[Row], reading: bool = False) -> float:
    """The rank correlation of the values, or of those under the reading."""
    some = list(rows)
    ours = [number(row.other if reading and row.other is not None else row.value) for row in some]
    return spearman(pd.Series(ours), pd.Series([row.paper_number for row in some]))


def _weak(rows: Sequence[Row], low: float, other: float) -> str:
    """What is to be said of a correlation below the threshold."""
    rho = rows[0].rho or 0.0
    if rho >= t.LEAST_RHO:
        return ""
    without, rest = max((_rho(r for r in rows if r is not row), row.place) for row in rows)
    said = f"; without {rest.split(', ')[1 if 'Table 3' in rest else 2]} {without:.2f}"
    if low <= rho:
        return "weak; two draws of ours differ as much" + said
    if other >= t.LEAST_RHO:
        return "weak; explained by the reading" + said
    more = ", the reading raises it only" if other > rho else ""
    return f"weak; {UNEXPLAINED}{more}{said}"


_COLUMNS = {
    "cluster-table2": (2, "unscaled", ("degradation",), NUMBERS),
    "cluster-fig1": (2, "scaled", ("degradation",), NUMBERS),
    "cluster-table3": (3, "scaled", tuple(COSTS), ("avg", "max")),
}


def between_draws(frames: Callable[[str], pd.DataFrame]) -> dict[str, tuple[float, float]]:
    """Set of cells -> rank correlation of two draws of our traces: the median, the 5% quantile.

    Only columns of drawn traces have it; the paper's own draws are a third.
    """
    found = {}
    for study, (table, kind, columns, numbers) in _COLUMNS.items():
        frame = frames(study)
        rows = frame[(frame.traces == kind) & ((table == 2) | (frame["load"] > 0.65))]
        for column in columns:
            draws = _draws_of(rows, column)
            for each in numbers:
                rhos = _correlated(draws, each)
                what = f"{COSTS[column]}, " if table == 3 else f"{SETS[kind]}, "
                name = f"Table {table}, {what}{WORDS[each]}"
                found[name] = float(np.median(rhos)), float(np.quantile(rhos, 0.05))
    return found


def _draws_of(rows: pd.DataFrame, column: str) -> np.ndarray:
    """Policies x drawn traces x their loads."""
    return np.stack([by_trace(some, column) for _, some in rows.groupby("algorithm", sort=False)])


def _correlated(draws: np.ndarray, which: str) -> list[float]:
    """Spearman of the policies' numbers in pairs of draws; all policies see the same traces."""
    pairs = picks(draws.shape[1])[: 2 * PAIRS]
    values = [number_of(draws[:, some].reshape(len(draws), -1), which) for some in pairs]
    ranks = pd.DataFrame(values).rank(axis=1).to_numpy()
    return [float(np.corrcoef(*pair)[0, 1]) for pair in zip(ranks[::2], ranks[1::2], strict=True)]
