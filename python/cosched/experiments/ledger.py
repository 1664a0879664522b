"""The ledger: every claim of the five papers beside what our studies' results say to it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from cosched.experiments.tolerances import AGREES, DIFFERS, ORDER, Curve, Seen, Tolerance

if TYPE_CHECKING:
    import pandas as pd

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
NOT = "cannot be reproduced"
#: The paper's value where it draws without numbers.
PICTURE = "a picture"
_ABSENT = "at full size is kept"
VERDICTS = (AGREES, ORDER, DIFFERS, NOT)

#: What a claim needs of a study's results, computed once for all claims that need it.
Prepare = Callable[["pd.DataFrame"], Any]
#: The frame of a study by its name; LookupError where there is none.
Frames = Callable[[str], "pd.DataFrame"]


class NotKept(LookupError):
    """There are no results of a study."""


def whole(frame: pd.DataFrame) -> pd.DataFrame:
    """All rows as they are."""
    return frame


@dataclass(frozen=True)
class Check:
    """An explanation that runs: what happens under the other reading.

    ``run(prepared rows of each study in turn) -> a sentence with what is seen``.
    """

    name: str
    studies: tuple[str, ...]
    run: Callable[..., str]
    prepare: Prepare = whole


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
        ``measure(prepare(frame))`` gives our value, a number or ``Seen``.
    paper_value : float or str or None
        The paper's number; a text where it gives an order only; None where it gives nothing.
    tolerance : Tolerance, optional
        None: nothing can be compared, and ``explanation`` says why.
    explanation : str
        Why it does not agree, or cannot be reproduced.
    check : Check, optional
        What shows that the explanation is right. Needed where the verdict is not ``agrees``.
    """

    place: str
    text: str
    paper_value: float | str | None
    tolerance: Tolerance | None
    measure: Callable[[Any], Any] | None = None
    explanation: str = ""
    check: Check | None = None
    _: KW_ONLY
    paper: str
    study: str
    prepare: Prepare = whole


@dataclass(frozen=True)
class Row:
    """A claim with its verdict: what ``cosched study ledger --json`` prints."""

    paper: str
    place: str
    claim: str
    study: str
    paper_value: float | str | None
    value: float | str | None
    tolerance: str
    verdict: str
    explanation: str

    @property
    def short(self) -> str:
        """The verdict without its reason: one of ``VERDICTS``."""
        return NOT if self.verdict.startswith(NOT) else self.verdict

    def plain(self) -> dict[str, Any]:
        """The row as a dictionary."""
        return asdict(self)


@dataclass
class _Prepared:
    """Results of studies, and what claims have computed of them, each once."""

    frames: Frames
    known: dict[tuple[str, Prepare], Any] = field(default_factory=dict)

    def get(self, study: str, prepare: Prepare) -> Any:
        key = study, prepare
        if key not in self.known:
            self.known[key] = prepare(self.frames(study))
        return self.known[key]


def evaluate(claims: Iterable[Claim], frames: Frames, *, partial: bool = False) -> list[Row]:
    """The verdict of every claim.

    Parameters
    ----------
    claims : iterable of Claim
    frames : callable
        Results of a study by its name.
    partial : bool
        Leave out the claims whose study or rows are not there (reduced sizes).

    Raises
    ------
    LookupError
        A study has results, but not the rows that a claim needs.
    """
    prepared = _Prepared(frames)
    rows = []
    for claim in claims:
        try:
            rows.append(_row(claim, prepared))
        except NotKept as absent:
            if not partial:
                rows.append(_shown(claim, None, None, str(absent), str(absent)))
        except (LookupError, ArithmeticError, ValueError):
            if not partial:
                raise
    return rows


def _row(claim: Claim, prepared: _Prepared) -> Row:
    value = claim.measure and claim.measure(prepared.get(claim.study, claim.prepare))
    if claim.tolerance is None:
        return _shown(claim, value, None, claim.explanation, claim.explanation)
    assert value is not None, f"{claim.place}: a tolerance, and nothing measured"
    if isinstance(value, Curve):
        seen, order = Seen(float(value.holds)), f" Check order: {value.shown}"
    else:
        seen, order = value if isinstance(value, Seen) else Seen(float(value)), ""
    explanation = "" if _verdict(claim, seen, "") == AGREES else _explained(claim, prepared)
    return _shown(claim, value, seen, "", (explanation + order).lstrip())


def _verdict(claim: Claim, seen: Seen | None, absent: str) -> str:
    """What the paper's value and what we see come to, or why they cannot: decided here only."""
    if seen is None or claim.tolerance is None:
        return f"{NOT}: {absent}"
    printed = claim.paper_value if isinstance(claim.paper_value, float | int) else math.nan
    return claim.tolerance.judge(printed, seen)


def _shown(claim: Claim, value: Any, seen: Seen | None, absent: str, explanation: str) -> Row:
    shown = value.values if isinstance(value, Curve) else value
    return Row(
        paper=claim.paper,
        place=claim.place,
        claim=claim.text,
        study=claim.study,
        paper_value=claim.paper_value,
        value=shown if shown is None or isinstance(shown, str) else _number(shown),
        tolerance="" if claim.tolerance is None else claim.tolerance.text(seen),
        verdict=_verdict(claim, seen, absent),
        explanation=explanation,
    )


def _explained(claim: Claim, prepared: _Prepared) -> str:
    parts = [claim.explanation] if claim.explanation else []
    if claim.check is not None:
        check = claim.check
        try:
            found = check.run(*(prepared.get(study, check.prepare) for study in check.studies))
        except NotKept as absent:
            found = str(absent)
        parts.append(f"Check {claim.check.name}: {found}")
    return " ".join(parts)


def _number(seen: Any) -> float | str | None:
    """Six digits; what JSON cannot hold as text."""
    value = float(seen.value if isinstance(seen, Seen) else seen)
    if math.isinf(value):
        return str(value)
    return None if math.isnan(value) else float(f"{value:.6g}")


def findings(claims: Iterable[Claim], study: str, frame: pd.DataFrame) -> pd.DataFrame:
    """What a paper's sentences say of these results of a study: a table for its report.

    Cells of tables and curves are left to the ledger.
    """
    import pandas as pd

    def frames(name: str) -> pd.DataFrame:
        if name != study:
            raise NotKept(f"{name} is another study")
        return frame

    sentences = [
        claim
        for claim in claims
        if claim.tolerance is not None
        and not claim.place.startswith("Table")
        and claim.paper_value != PICTURE
    ]
    rows = evaluate(sentences, frames, partial=True)
    columns = ["place", "the paper says", "paper", "here", "verdict", "tolerance", "explanation"]
    cells = [
        (r.place, r.claim, shown(r.paper_value), shown(r.value), r.verdict, r.tolerance)
        + (r.explanation,)
        for r in rows
    ]
    return pd.DataFrame(cells, columns=columns)


def counts(rows: Iterable[Row]) -> dict[str, Counter[str]]:
    """Verdicts a paper."""
    found: dict[str, Counter[str]] = {}
    for row in rows:
        found.setdefault(row.paper, Counter())[row.short] += 1
    return found


# --- Markdown -----------------------------------------------------------------------------


def counts_table(rows: Iterable[Row]) -> str:
    """A line a paper, and all."""
    found = counts(rows)
    lines = ["| paper | rows | " + " | ".join(VERDICTS) + " |", "|:--|--:" + "|--:" * 4 + "|"]
    total: Counter[str] = Counter()
    for paper in [key for key in PAPERS if key in found]:
        total += found[paper]
        lines.append(_count_line(paper, found[paper]))
    return "\n".join([*lines, _count_line("**all**", total)])


def _count_line(title: str, found: Mapping[str, int]) -> str:
    cells = [title, sum(found.values()), *(found.get(verdict, 0) for verdict in VERDICTS)]
    return "| " + " | ".join(map(str, cells)) + " |"


def rows_table(rows: Iterable[Row]) -> str:
    """A line a claim; explanations that several rows share are notes below."""
    notes: dict[str, int] = {}
    lines = [
        "| place | the paper says | paper | here | verdict | tolerance |",
        "|:--|:--|--:|--:|:--|:--|",
    ]
    for row in rows:
        verdict = row.short
        if row.explanation:
            number = notes.setdefault(row.explanation, len(notes) + 1)
            verdict += f" ({number})"
        cells = [
            row.place,
            row.claim,
            shown(row.paper_value),
            shown(row.value),
            verdict,
            row.tolerance,
        ]
        lines.append("| " + " | ".join(map(escaped, cells)) + " |")
    below = [f"{number}. {escaped(text)}" for text, number in notes.items()]
    return "\n".join([*lines, *(["", *below] if below else [])])


def shown(value: float | str | None) -> str:
    """A number or text for a table cell."""
    if value is None:
        return "-"
    return value if isinstance(value, str) else f"{value:.6g}"


def escaped(text: str) -> str:
    """Text in which Markdown sees no markup."""
    return text.replace("*", "\\*").replace("|", "\\|").replace("\n", " ")


def absent(rows: Iterable[Row]) -> list[str]:
    """A line about the studies of which no run is kept, if there are any."""
    found = Counter(row.study for row in rows if _ABSENT in row.verdict)
    if not found:
        return []
    which = ", ".join(f"{study} ({count})" for study, count in found.items())
    return [f"Of these, for want of a kept run at full size only: {which}."]


def markdown(rows: list[Row]) -> str:
    """Counts, then the rows of each paper and study."""
    parts = ["# Ledger", counts_table(rows), *absent(rows)]
    for paper, citation in PAPERS.items():
        mine = [row for row in rows if row.paper == paper]
        if mine:
            parts += [f"## {paper}", citation + "."]
        for study in dict.fromkeys(row.study for row in mine):
            some = [row for row in mine if row.study == study]
            parts += [f"### {study}", rows_table(some)]
    return "\n\n".join(parts) + "\n"
