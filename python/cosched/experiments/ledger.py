"""The ledger: every claim of the five papers beside what our studies' results say to it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, asdict, dataclass, field, replace
from typing import Any

from cosched.experiments import tolerances as t
from cosched.experiments.tolerances import Curve, Seen, Tolerance
from cosched.lazy import pd

#: Key of a paper -> how it is cited.
PAPERS = {
    "aupy2013": "Aupy, Shantharam, Benoit, Robert, Raghavan: Co-scheduling algorithms for "
    "high-throughput workload execution, 2013",
    "amaris2017": "Amaris, Lucarelli, Mommessin, Trystram: Generic algorithms for scheduling "
    "applications on heterogeneous multi-core platforms, 2017",
    "casanova2011": "Casanova, Stillwell, Vivien: Dynamic fractional resource scheduling vs. batch "
    "scheduling, 2011",
    "dutot2004": "Dutot, Eyraud, Mounie, Trystram: Bi-criteria algorithm for scheduling jobs on "
    "cluster platforms, 2004",
    "li2016": "Li, Liu, Zhang, Cai: A task-type-based algorithm for the energy-aware profit "
    "maximizing scheduling problem in heterogeneous computing systems, 2016",
}
#: The paper's value where it draws without numbers.
PICTURE = "a picture"
#: How the reason begins of what differs or fails and of which no reading is known.
UNEXPLAINED = "unexplained"

#: What a claim needs of a study's results, computed once for all claims that need it.
Prepare = Callable[["pd.DataFrame"], Any]
#: The frame of a study by its name; LookupError where there is none.
Frames = Callable[[str], "pd.DataFrame"]


class NotKept(LookupError):
    """There are no results of a study."""


def unchanged_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """All rows as they are."""
    return frame


@dataclass(frozen=True)
class Reading:
    """Another reading of a paper, or of its data, that runs.

    ``prepare(frame of each study in turn)`` gives what the measure of a claim is then called on, so
    that its value under the reading stands beside ours.
    """

    #: The other reading, in a sentence.
    says: str
    #: Names of the studies whose results are compared.
    studies: tuple[str, ...]
    #: Gives what the measure of a claim is called on.
    prepare: Callable[..., Any]


@dataclass(frozen=True)
class Claim:
    """One sentence, cell or curve of a paper; what a whole table shares goes by name.

    Attributes
    ----------
    paper, place, text : str
        Key of ``PAPERS``, where it stands, what it says in our words.
    study : str
        Whose results answer.
    measure : callable
        ``measure(prepare(frame))`` gives our value: a number, ``Seen`` or ``Curve``.
    paper_value : float or str or None
        The paper's number; a text where it gives an order only; None where it gives nothing.
    tolerance : Tolerance, optional
        None: nothing can be compared, and ``why`` says why.
    why : str
        What is known of a difference, or why nothing can be compared.
    reading : Reading, optional
        What may explain a difference; without one it is unexplained.
    cells : str
        The set of cells over which the order is compared, such as the column of a table.
    prepare : Prepare
        Turns the frame of the study into what the measure is called on.
    """

    place: str
    text: str
    paper_value: float | str | None
    tolerance: Tolerance | None
    measure: Callable[[Any], Any] | None = None
    why: str = ""
    reading: Reading | None = None
    _: KW_ONLY
    paper: str
    study: str
    prepare: Prepare = unchanged_frame
    cells: str = ""


@dataclass(frozen=True)
class Row:
    """A claim with its verdict: what ``cosched study ledger --json`` prints.

    ``verdict`` follows from ``kind, value, low, high, paper_value, rho, n`` (``tolerances``):
    numbers outside JSON are None, for ``low`` and ``high`` no end. ``explained`` is the share of
    the gap that another reading closes, whose value is ``other``. ``curve`` is a picture in words.
    """

    #: The key of the paper in ``PAPERS``.
    paper: str
    #: Where the claim stands in the paper.
    place: str
    #: What the paper says, in our words.
    claim: str
    #: The study whose results answer.
    study: str
    #: What is compared: a number, an order, a curve, as ``tolerances`` has it.
    kind: str
    #: The paper's number; a text where it gives an order only.
    paper_value: float | str | None
    #: The value that the study gives.
    value: float | str | None
    #: The lower end of the interval in which the value agrees; None: no end.
    low: float | None
    #: The upper end of the interval; None: no end.
    high: float | None
    #: The interval in words.
    tolerance: str
    #: The cells over which an order is compared.
    cells: str = ""
    #: Spearman's rank correlation over these cells; None: no order is compared.
    rho: float | None = None
    #: How many cells are compared.
    n: int | None = None
    #: Whether value and paper agree, as ``tolerances`` has it.
    verdict: str = ""
    #: The value under another reading; None: there is none.
    other: float | None = None
    #: The share of the gap that the other reading closes.
    explained: float | None = None
    #: What is known of a difference.
    reason: str = ""
    #: The curve in words.
    curve: str = ""

    def plain(self) -> dict[str, Any]:
        """The row as a dictionary."""
        return asdict(self)

    @property
    def paper_number(self) -> float:
        """The paper's number, or nan."""
        return number(self.paper_value)

    def judged(self) -> Row:
        """The row with its verdict, of its own numbers."""
        own_interval = number(self.value), *self.interval, self.paper_number
        return replace(self, verdict=t.verdict(self.kind, *own_interval, self.rho, self.n))

    @property
    def interval(self) -> tuple[float, float]:
        """Where the value agrees, ends that are not there at infinity."""
        low = -math.inf if self.low is None else self.low
        return low, math.inf if self.high is None else self.high


def number(value: float | str | None) -> float:
    """A value of a row as a number; nan where it is words or nothing."""
    try:
        return math.nan if value is None else float(value)
    except ValueError:
        return math.nan


@dataclass
class _Prepared:
    """Results of studies, and what claims have computed of them, each once."""

    frames: Frames
    results: dict[tuple[tuple[str, ...], Any], Any] = field(default_factory=dict)

    def get(self, studies: tuple[str, ...], prepare: Callable[..., object]) -> Any:
        key = studies, prepare
        if key not in self.results:
            self.results[key] = prepare(*map(self.frames, studies))
        return self.results[key]


def evaluate(claims: Iterable[Claim], frames: Frames, *, partial: bool = False) -> list[Row]:
    """The verdict of every claim; `frames` gives the results of a study by its name.

    Where a study has results, but not the rows that a claim needs, that is a LookupError; `partial`
    (reduced sizes) leaves such claims out, and those whose study is not there.
    """
    prepared = _Prepared(frames)
    claims_and_rows: list[tuple[Claim, Row]] = []
    for claim in claims:
        try:
            claims_and_rows.append((claim, _compared(claim, prepared)))
        except NotKept as absent:
            if not partial:
                claims_and_rows.append(
                    (claim, _row(claim, None, t.NOTHING, (math.nan,) * 2, str(absent)))
                )
        except (LookupError, ArithmeticError, ValueError):
            if not partial:
                raise
    rows = [row.judged() for row in with_order([row for _, row in claims_and_rows])]
    return [
        _explained(claim, row, prepared)
        for (claim, _), row in zip(claims_and_rows, rows, strict=True)
    ]


def _compared(claim: Claim, prepared: _Prepared) -> Row:
    value = claim.measure and claim.measure(prepared.get((claim.study,), claim.prepare))
    if claim.tolerance is None:
        return _row(claim, value, t.NOTHING, (math.nan,) * 2, claim.why)
    kind, interval = claim.tolerance.kind, (math.nan,) * 2
    if isinstance(value, Curve):
        interval = value.interval
    elif kind != t.BARE:
        assert value is not None, f"{claim.place}: a tolerance, and nothing measured"
        seen = value if isinstance(value, Seen) else Seen(float(value))
        paper_value = claim.paper_value
        interval = claim.tolerance.interval(
            number(paper_value if isinstance(paper_value, float | int) else math.nan), seen
        )
    return _row(claim, value, kind, interval, claim.why if kind == t.BARE else "")


def _row(claim: Claim, value: Any, kind: str, interval: tuple[float, float], reason: str) -> Row:
    says, curve = "" if claim.tolerance is None else claim.tolerance.says, ""
    if isinstance(value, Curve):
        value, curve, says = value.value, value.points, f"{says}: {value.number_text}"
    elif isinstance(value, str):
        value, curve = None, value
    low, high = (_digits(end) if math.isfinite(end) else None for end in interval)
    return Row(
        paper=claim.paper,
        place=claim.place,
        claim=claim.text,
        study=claim.study,
        kind=kind,
        paper_value=claim.paper_value,
        value=_digits(value),
        low=low,
        high=high,
        tolerance=says,
        cells=claim.cells,
        reason=reason,
        curve=curve,
    )


def with_order(rows: list[Row]) -> list[Row]:
    """Rows with Spearman's rank correlation over their sets of cells, and how many there are."""
    sets: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        if row.cells and not math.isnan(row.paper_number) and row.value is not None:
            sets.setdefault(row.cells, []).append(place)
    done = list(rows)
    for places in sets.values():
        ours = pd.Series([number(rows[place].value) for place in places])
        rho = spearman(ours, pd.Series([rows[place].paper_number for place in places]))
        for place in places:
            done[place] = replace(rows[place], rho=_digits(rho), n=len(places))
    return done


def spearman(first: pd.Series, second: pd.Series) -> float:
    """Rank correlation, equal values at their mean rank; nan where all are equal."""
    return float(first.rank().corr(second.rank())) if len(first) > 1 else math.nan


def _explained(claim: Claim, row: Row, prepared: _Prepared) -> Row:
    """Return what differs or fails with the share of its gap that the claim's reading closes.

    A cell has its value under the reading whatever its verdict, for the order of its column.
    """
    agrees = row.verdict in (t.AGREES, t.UNTESTED, t.NOT)
    if agrees and not (row.cells and claim.reading):
        return row
    why = f": {claim.why}" if claim.why else ""
    if claim.reading is None:
        return replace(row, reason=UNEXPLAINED + why)
    try:
        other = _under(claim, claim.reading, prepared)
    except LookupError as absent:
        lost = f"{UNEXPLAINED} here, a reading is not kept: {absent}"
        return row if agrees else replace(row, reason=lost)
    if agrees:
        return replace(row, other=_digits(other))
    target = row.paper_number if row.kind in (t.NUMBER, t.DRAWN) else math.nan
    share = t.explained(number(row.value), other, *row.interval, target)
    explanation = UNEXPLAINED if share is None else f"explains {share:.0%} of the gap"
    if share is not None and share < t.HALF:
        explanation += ", less than half"
    reason = f"{claim.reading.says}: {other:.4g} then, {explanation}{why}"
    return replace(row, other=_digits(other), explained=_digits(share), reason=reason)


def _under(claim: Claim, reading: Reading, prepared: _Prepared) -> float:
    """Return the value of a claim's measure under another reading."""
    assert claim.measure is not None
    other = claim.measure(prepared.get(reading.studies, reading.prepare))
    return float(other.value if isinstance(other, Curve | Seen) else other)


def _digits(seen: Any) -> Any:
    """Return twelve digits, which verdicts are of; what JSON cannot hold as text."""
    if seen is None:
        return None
    value = float(seen.value if isinstance(seen, Seen) else seen)
    if math.isinf(value):
        return str(value)
    return None if math.isnan(value) else float(f"{value:.12g}")


def findings(claims: Iterable[Claim], study: str, frame: pd.DataFrame) -> pd.DataFrame:
    """What a paper's sentences say of these results of a study: a table for its report.

    Cells of tables and curves are left to the ledger.
    """

    def frames(name: str) -> pd.DataFrame:
        if name != study:
            raise NotKept(f"{name} is another study")
        return frame

    sentences = [
        claim
        for claim in claims
        if claim.tolerance is not None
        and not claim.place.startswith("Table")
        and claim.tolerance.kind not in (t.CURVE, t.BARE)
    ]
    rows = evaluate(sentences, frames, partial=True)
    columns = ["place", "the paper says", "paper", "here", "verdict", "tolerance", "reason"]
    cells = [
        (r.place, r.claim, r.paper_value, r.value, r.verdict, r.tolerance, r.reason) for r in rows
    ]
    return pd.DataFrame(cells, columns=columns)
