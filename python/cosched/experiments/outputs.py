"""What a study leaves: tables, figures and one page that shows them."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cosched import io, plot
from cosched.experiments import html
from cosched.experiments.design import Design
from cosched.experiments.ledger import Claim, findings
from cosched.experiments.sealed_tables import read_table
from cosched.experiments.stored import REPORT, RESULTS
from cosched.experiments.study import Study

if TYPE_CHECKING:
    import pandas as pd

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
    results, timings = (read_table(folder / name).read().to_pandas() for name in RESULTS)
    return results.merge(timings, on="task", validate="one_to_one")


def write_outputs(
    study: Study,
    design: Design,
    folder: Path,
    claims: Sequence[Claim] = (),
) -> StudyResult:
    """Write ``tables/``, ``figures/`` and ``report.html`` of what ``results.parquet`` holds.

    The first table is ``findings``: what the paper says that these results answer.
    """
    frame = read_frame(folder)
    good = frame[frame.status != "error"].reset_index(drop=True)
    tables: dict[str, pd.DataFrame] = {}
    pictures: dict[str, Path] = {}
    if len(good):
        found = findings(claims, study.name, good)
        tables = {**({"findings": found} if len(found) else {}), **study.tables(good)}
        _write_tables(tables, folder / "tables")
        pictures = _write_figures(study.figures(good), folder / "figures")
    page = html.page(study, design.quick, frame, tables, pictures)
    io.write_text(page, folder / REPORT)
    return StudyResult(study.name, folder, frame, tables)


def written(folder: Path) -> list[str]:
    """The finished files of a study, relative to its folder."""
    made = (sorted((folder / part).glob("*.*")) for part in ("tables", "figures"))
    names = [path.relative_to(folder).as_posix() for paths in made for path in paths]
    return [*RESULTS, REPORT, *names]


def write_index(results: Sequence[tuple[Study, StudyResult]], folder: Path) -> Path:
    """``index.html``: a link to each report of a folder."""
    rows = []
    for study, result in results:
        address = Path(os.path.relpath(result.out / "report.html", folder)).as_posix()
        errors = f", {len(result.errors)} errors" if len(result.errors) else ""
        rows.append((address, study.name, study.title, f"{len(result.frame):,} rows{errors}"))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "index.html"
    io.write_text(html.index(rows), path)
    return path


def _write_tables(tables: dict[str, pd.DataFrame], folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for name, table in tables.items():
        for suffix in (".md", ".csv"):
            io.write_frame(table, folder / (_checked(name) + suffix))


def _write_figures(figures: dict[str, Any], folder: Path) -> dict[str, Path]:
    """Write and close the figures; gives the SVG files."""
    import matplotlib.pyplot as plt

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
