"""What a study leaves: tables, figures and one page that shows them."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from cosched import io, plot
from cosched.experiments.ledger import Claim, findings
from cosched.experiments.study import Design, Study
from cosched.lazy import pd, plt
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
_MOST_ROWS = 3000
_PAGE = Path(__file__).with_name("report.html")


def page(
    study: Study,
    quick: bool,
    frame: pd.DataFrame,
    tables: dict[str, pd.DataFrame],
    pictures: dict[str, Path],
) -> str:
    """The whole page."""
    body = [_head(study, quick, frame)]
    failed = frame[frame.status == "error"]
    if len(failed):
        body += ["<h2>Errors</h2>", _table("errors", _without_empty(failed))]
    if tables:
        body.append("<h2>Tables</h2>")
        body += [_section(name) + _table(f"table-{name}", table) for name, table in tables.items()]
    if pictures:
        body.append("<h2>Figures</h2>")
        for name, path in pictures.items():
            data = base64.b64encode(path.read_bytes()).decode("ascii")
            image = f'<img alt="{escape(name)}" src="data:image/svg+xml;base64,{data}">'
            body.append(_section(name) + image)
    body.append("<h2>All rows</h2>")
    if len(frame) <= _MOST_ROWS:
        body.append(_table("rows", _without_empty(frame)))
    else:
        body.append(f"<p>{len(frame)} rows: see <code>results.parquet</code>.</p>")
    empty = Template(io.read_text(_PAGE))
    return empty.substitute(title=escape(study.name), body="\n".join(body))


def _head(study: Study, quick: bool, frame: pd.DataFrame) -> str:
    import datetime

    failed = int((frame.status == "error").sum())
    facts = [
        "reduced size (--quick)" if quick else "full size",
        f"{len(frame)} tasks" + (f", {failed} of them ended in an error" if failed else ""),
        f"{frame.seconds.sum():.0f} s of work",
        f"cosched {installed_version()}",
        datetime.date.today().isoformat(),
    ]
    return (
        f"<h1>{escape(study.title)}</h1>\n<p>{escape(study.paper)}</p>\n"
        f'<p class="facts">{escape(study.name)}: {escape("; ".join(facts))}</p>\n'
        f"<p>{escape(study.about)}</p>"
    )


def _section(name: str) -> str:
    return f"<h3>{escape(name)}</h3>\n"


def _table(identifier: str, table: pd.DataFrame) -> str:
    titles = "".join(f"<th>{escape(str(name))}</th>" for name in table.columns)
    rows = ["".join(map(_cell, row)) for row in table.itertuples(index=False, name=None)]
    body = "".join(f"<tr>{row}</tr>\n" for row in rows)
    return (
        f'<div class="scroll"><table id="{escape(identifier.replace(".", "-"))}">'
        f"<thead><tr>{titles}</tr></thead>\n<tbody>\n{body}</tbody></table></div>\n"
    )


def _cell(value: object) -> str:
    """Return numbers in six digits; a cell of nothing where there is none."""
    if isinstance(value, float):
        return f'<td class="number">{"" if value != value else f"{value:.6g}"}</td>'
    text = "" if value is None else escape(str(value))
    return f'<td class="number">{text}</td>' if isinstance(value, int) else f"<td>{text}</td>"


def _without_empty(frame: pd.DataFrame) -> pd.DataFrame:
    """Without columns that say nothing."""
    keep = [name for name in frame.columns if not (frame[name].isna() | (frame[name] == "")).all()]
    return frame[keep]
