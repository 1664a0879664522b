"""The ledger of the five papers: claims of the families, on kept results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from cosched.experiments import kept, tolerances as t
from cosched.experiments.catalogue import claims, find
from cosched.experiments.ledger import PAPERS, Row, evaluate
from cosched.experiments.tolerances import VERDICTS
from cosched.lazy import pd


def ledger_rows(studies: tuple[str, ...] = ()) -> list[Row]:
    """The verdict of every claim that these studies answer, of their kept runs at full size."""
    for name in studies:
        find(name)
    return evaluate((c for c in claims() if not studies or c.study in studies), kept.read)


def as_frame(rows: list[Row]) -> pd.DataFrame:
    """Rows as a table."""
    return pd.DataFrame([row.plain() for row in rows])


_ABSENT = "at full size is kept"


def counts(rows: Iterable[Row]) -> dict[str, Counter[str]]:
    """Verdicts a paper."""
    found: dict[str, Counter[str]] = {}
    for row in rows:
        found.setdefault(row.paper, Counter())[row.verdict] += 1
    return found


def counts_table(rows: Sequence[Row]) -> str:
    """A line a paper, and all."""
    found = counts(rows)
    groups = {paper: found[paper] for paper in PAPERS if paper in found}
    return counted("paper", {**groups, "**all**": Counter(row.verdict for row in rows)})


def counted(title: str, groups: Mapping[str, Counter[str]]) -> str:
    """A line a group of rows: how many have each verdict."""
    lines = [f"| {title} | rows | " + " | ".join(VERDICTS) + " |", "|:--|" + "--:|" * 7]
    for name, found in groups.items():
        cells = [name, sum(found.values()), *(found[verdict] for verdict in VERDICTS)]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def rows_table(rows: Iterable[Row]) -> str:
    """A line a claim; reasons that several rows share are notes below."""
    notes: dict[str, int] = {}
    lines = [
        "| place | the paper says | paper | here | verdict | agrees |",
        "|:--|:--|--:|--:|:--|:--|",
    ]
    for row in rows:
        verdict = row.verdict
        if row.rho is not None and verdict not in (t.AGREES, t.NOT):
            verdict += f", rho {row.rho:.2f} of {row.n}"
        if row.reason:
            verdict += f" ({notes.setdefault(row.reason, len(notes) + 1)})"
        here = row.curve or shown(row.value)
        cells = [row.place, row.claim, shown(row.paper_value), here, verdict, row.tolerance]
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
    found = Counter(row.study for row in rows if _ABSENT in row.reason and row.verdict == t.NOT)
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
