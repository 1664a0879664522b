"""What is kept of the studies at full size, small Parquet files in the package itself, and the
ledger of the five papers on it.

They lie in ``kept/`` beside this file (``docs/results/extracts`` is a link to it), so that the
ledger answers from an installed package, without a run.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cosched.errors import StudyError, optional
from cosched.experiments import tolerances as t
from cosched.experiments.catalogue import claims, find
from cosched.experiments.ledger import PAPERS, NotKept, Row, evaluate
from cosched.experiments.tolerances import VERDICTS
from cosched.lazy import pd

FOLDER = Path(__file__).parent / "kept"
_FACTS = b"cosched.kept"
#: Binary digits that are kept of results and of measured times: nine and three decimal ones.
_DIGITS, _DIGITS_OF_TIMES = 32, 10
_FEW_DECIMALS = 4


def names(folder: Path = FOLDER) -> list[str]:
    """The studies of which results are kept."""
    return sorted(path.stem for path in folder.glob("*.parquet"))


def read(name: str, folder: Path = FOLDER) -> pd.DataFrame:
    """The kept rows of a study; NotKept where there are none."""
    frame = _table(name, folder).to_pandas()
    frame.attrs.clear()
    return frame


def facts(name: str, folder: Path = FOLDER) -> dict[str, Any]:
    """``rows, seconds, date, version`` of the run that the kept rows are of."""
    return json.loads(_table(name, folder).schema.metadata[_FACTS])


def _table(name: str, folder: Path) -> Any:
    parquet = optional("pyarrow.parquet", extra="studies")
    path = folder / f"{name}.parquet"
    if not path.exists():
        raise NotKept(f"no run of {name} at full size is kept")
    return parquet.read_table(path)


def keep(
    name: str,
    frame: pd.DataFrame,
    columns: tuple[str, ...],
    about: Mapping[str, object],
    folder: Path = FOLDER,
) -> Path:
    """Write the columns that tables and claims need; a run with errors is not kept.

    Numbers are rounded to nine decimal digits, measured times to three; a number of few decimals,
    which may be the key of a row, stays as it is.
    """
    pyarrow = optional("pyarrow", extra="studies")
    parquet = optional("pyarrow.parquet", extra="studies")
    errors = int((frame.status == "error").sum())
    if errors:
        raise StudyError(f"{name}: {errors} tasks ended in an error: their rows cannot be kept")
    missing = [column for column in columns if column not in frame]
    if missing:
        raise StudyError(f"{name}: no column {', '.join(missing)} in its results")
    shortened_frame = _shortened(frame[list(columns)])
    numbers = list(shortened_frame.select_dtypes("float").columns)
    table = pyarrow.Table.from_pandas(shortened_frame, preserve_index=False)
    table = table.replace_schema_metadata({_FACTS: json.dumps(dict(about), sort_keys=True)})
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.parquet"
    parquet.write_table(
        table,
        path,
        compression="zstd",
        compression_level=19,
        use_dictionary=[column for column in columns if column not in numbers],
        use_byte_stream_split=numbers,
    )
    return path


def _shortened(frame: pd.DataFrame) -> pd.DataFrame:
    """Return numbers without the digits that no claim needs: they are most of a file."""
    short = {}
    for column in frame.select_dtypes("float").columns:
        digits = _DIGITS_OF_TIMES if column.startswith("seconds") else _DIGITS
        number = frame[column].to_numpy()
        share, power = np.frexp(number)
        rounded = np.ldexp(np.round(np.ldexp(share, digits)), power - digits)
        short[column] = np.where(np.round(number, _FEW_DECIMALS) == number, number, rounded)
    return frame.assign(**short)


def ledger_rows(studies: tuple[str, ...] = ()) -> list[Row]:
    """The verdict of every claim that these studies answer, of their kept runs at full size."""
    for name in studies:
        find(name)
    return evaluate((c for c in claims() if not studies or c.study in studies), read)


def as_frame(rows: list[Row]) -> pd.DataFrame:
    """Rows as a table."""
    return pd.DataFrame([row.plain() for row in rows])


_ABSENT = "at full size is kept"


def counts(rows: Iterable[Row]) -> dict[str, Counter[str]]:
    """Verdicts a paper."""
    counts_by_paper: dict[str, Counter[str]] = {}
    for row in rows:
        counts_by_paper.setdefault(row.paper, Counter())[row.verdict] += 1
    return counts_by_paper


def counts_table(rows: Sequence[Row]) -> str:
    """A line a paper, and all."""
    counts_by_paper = counts(rows)
    groups = {paper: counts_by_paper[paper] for paper in PAPERS if paper in counts_by_paper}
    return counted("paper", {**groups, "**all**": Counter(row.verdict for row in rows)})


def counted(title: str, groups: Mapping[str, Counter[str]]) -> str:
    """A line a group of rows: how many have each verdict."""
    lines = [f"| {title} | rows | " + " | ".join(VERDICTS) + " |", "|:--|" + "--:|" * 7]
    for name, group_counts in groups.items():
        cells = [name, sum(group_counts.values()), *(group_counts[verdict] for verdict in VERDICTS)]
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
        here = row.curve or value_text(row.value)
        cells = [row.place, row.claim, value_text(row.paper_value), here, verdict, row.tolerance]
        lines.append("| " + " | ".join(map(escaped, cells)) + " |")
    below = [f"{number}. {escaped(text)}" for text, number in notes.items()]
    return "\n".join([*lines, *(["", *below] if below else [])])


def value_text(value: float | str | None) -> str:
    """A number or text for a table cell."""
    if value is None:
        return "-"
    return value if isinstance(value, str) else f"{value:.6g}"


def escaped(text: str) -> str:
    """Text in which Markdown sees no markup."""
    return text.replace("*", "\\*").replace("|", "\\|").replace("\n", " ")


def absent(rows: Iterable[Row]) -> list[str]:
    """A line about the studies of which no run is kept, if there are any."""
    count_by_study = Counter(
        row.study for row in rows if _ABSENT in row.reason and row.verdict == t.NOT
    )
    if not count_by_study:
        return []
    which = ", ".join(f"{study} ({count})" for study, count in count_by_study.items())
    return [f"Of these, for want of a kept run at full size only: {which}."]


def markdown(rows: list[Row]) -> str:
    """Counts, then the rows of each paper and study."""
    parts = ["# Ledger", counts_table(rows), *absent(rows)]
    for paper, citation in PAPERS.items():
        rows_of_paper = [row for row in rows if row.paper == paper]
        if rows_of_paper:
            parts += [f"## {paper}", citation + "."]
        for study in dict.fromkeys(row.study for row in rows_of_paper):
            rows_of_study = [row for row in rows_of_paper if row.study == study]
            parts += [f"### {study}", rows_table(rows_of_study)]
    return "\n\n".join(parts) + "\n"
