"""What a study leaves: tables, figures and one page that shows them."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cosched import io, plot
from cosched.experiments.ledger import Claim, findings
from cosched.experiments.study import Design, Study
from cosched.lazy import pd, plt
from cosched.templates import render
from cosched.version import installed_version

RESULTS = ("results.parquet", "timings.parquet")
_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True)
class StudyResult:
    """A finished study.

    Attributes
    ----------
    name : str
    out : pathlib.Path
        The folder of its files.
    frame : pandas.DataFrame
        A row a task, with timings.
    tables : dict of str to pandas.DataFrame
        The paper's values beside ours.

    Examples
    --------
    >>> frame = pd.DataFrame({"task": [0, 1], "status": ["ok", "error"]})
    >>> StudyResult("squares", Path("out", "squares"), frame, {}).errors["task"].tolist()
    [1]
    """

    name: str
    out: Path
    frame: pd.DataFrame
    tables: dict[str, pd.DataFrame]

    @property
    def errors(self) -> pd.DataFrame:
        """The rows of tasks that ended in an error."""
        return self.frame[self.frame.status == "error"]


def read_frame(folder: Path) -> pd.DataFrame:
    """``results.parquet`` and ``timings.parquet`` as one frame."""
    results, timings = (pd.read_parquet(folder / name) for name in RESULTS)
    return results.merge(timings, on="task", validate="one_to_one")


def write_outputs(
    study: Study, design: Design, folder: Path, claims: Sequence[Claim] = ()
) -> StudyResult:
    """Write ``tables/``, ``figures/`` and ``report.html`` of what ``results.parquet`` holds.

    The first table is ``findings``: what the paper says that these results answer.
    """
    frame = read_frame(folder)
    good = frame[frame.status != "error"].reset_index(drop=True)
    tables: dict[str, pd.DataFrame] = {}
    pictures: dict[str, Path] = {}
    if len(good):
        findings_of_study = findings(claims, study.name, good)
        tables = {
            **({"findings": findings_of_study} if len(findings_of_study) else {}),
            **study.tables(good),
        }
        (folder / "tables").mkdir(exist_ok=True)
        for name, table in tables.items():
            for suffix in (".md", ".csv"):
                io.write_frame(table, folder / "tables" / (_checked(name) + suffix))
        pictures = _write_figures(study.figures(good), folder / "figures")
    io.write_text(page(study, design.quick, frame, tables, pictures), folder / "report.html")
    return StudyResult(study.name, folder, frame, tables)


def written(folder: Path) -> list[str]:
    """The finished files of a study, relative to its folder."""
    files = [path for part in ("tables", "figures") for path in sorted((folder / part).glob("*.*"))]
    return [*RESULTS, "report.html", *(path.relative_to(folder).as_posix() for path in files)]


def _write_figures(figures: dict[str, Any], folder: Path) -> dict[str, Path]:
    """Write and close the figures; gives the SVG files."""
    folder.mkdir(exist_ok=True)
    for name, figure in figures.items():
        for suffix in (".svg", ".png"):
            plot.save(figure, folder / (_checked(name) + suffix))
        plt.close(figure)
    return {name: folder / f"{name}.svg" for name in figures}


def _checked(name: str) -> str:
    if not _FILE_NAME.fullmatch(name):
        raise ValueError(f"table or figure {name!r}: its name is to be a file name")
    return name


#: Above this, the table of all rows is left to results.parquet: browsers get slow.
_MAX_ROWS = 3000


@dataclass(frozen=True)
class _Cell:
    """A cell of a table of the page."""

    text: str
    is_number: bool


@dataclass(frozen=True)
class _PageTable:
    """A table of the page."""

    identifier: str
    columns: tuple[str, ...]
    rows: tuple[tuple[_Cell, ...], ...]


def page(
    study: Study,
    quick: bool,
    frame: pd.DataFrame,
    tables: dict[str, pd.DataFrame],
    pictures: dict[str, Path],
) -> str:
    """The whole page."""
    failed = frame[frame.status == "error"]
    images = {
        name: base64.b64encode(path.read_bytes()).decode("ascii") for name, path in pictures.items()
    }
    has_all_rows = len(frame) <= _MAX_ROWS
    return render(
        "study.html.j2",
        Path(__file__).parent,
        study=study,
        facts="; ".join(_facts(quick, frame)),
        errors=_page_table("errors", _without_empty(failed)) if len(failed) else None,
        tables={name: _page_table(f"table-{name}", table) for name, table in tables.items()},
        images=images,
        all_rows=_page_table("rows", _without_empty(frame)) if has_all_rows else None,
        row_count=len(frame),
    )


def _facts(quick: bool, frame: pd.DataFrame) -> list[str]:
    import datetime

    failed = int((frame.status == "error").sum())
    return [
        "reduced size (--quick)" if quick else "full size",
        f"{len(frame)} tasks" + (f", {failed} of them ended in an error" if failed else ""),
        f"{frame.seconds.sum():.0f} s of work",
        f"cosched {installed_version()}",
        datetime.date.today().isoformat(),
    ]


def _page_table(identifier: str, table: pd.DataFrame) -> _PageTable:
    return _PageTable(
        identifier=identifier.replace(".", "-"),
        columns=tuple(str(name) for name in table.columns),
        rows=tuple(tuple(map(_cell, row)) for row in table.itertuples(index=False, name=None)),
    )


def _cell(value: object) -> _Cell:
    """Return numbers in six digits; a cell without text where there is none."""
    if isinstance(value, float):
        return _Cell("" if value != value else f"{value:.6g}", is_number=True)
    return _Cell("" if value is None else str(value), is_number=isinstance(value, int))


def _without_empty(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the table without columns that say nothing."""
    keep = [name for name in frame.columns if not (frame[name].isna() | (frame[name] == "")).all()]
    return frame[keep]
