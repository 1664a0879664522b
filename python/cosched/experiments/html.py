"""``report.html``: tables that a click sorts, and the figures; one file that needs no network."""

from __future__ import annotations

import base64
from html import escape
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from cosched import io
from cosched.experiments.study import Study
from cosched.version import installed_version

if TYPE_CHECKING:
    import pandas as pd

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
        body += [_section(name) + _picture(name, path) for name, path in pictures.items()]
    body.append("<h2>All rows</h2>")
    if len(frame) <= _MOST_ROWS:
        body.append(_table("rows", _without_empty(frame)))
    else:
        body.append(f"<p>{len(frame)} rows: see <code>results.parquet</code>.</p>")
    return _filled(study.name, body)


def index(rows: list[tuple[str, str, str, str]]) -> str:
    """A page of links to reports: (address, name, title, what is said of it) each."""
    lines = [
        f'<tr><td><a href="{escape(address)}">{escape(name)}</a></td><td>{escape(title)}</td>'
        f"<td>{escape(said)}</td></tr>"
        for address, name, title, said in rows
    ]
    return _filled("Studies", ["<h1>Studies</h1>\n<table>", *lines, "</table>"])


def _filled(title: str, body: list[str]) -> str:
    return Template(io.read_text(_PAGE)).substitute(title=escape(title), body="\n".join(body))


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
    """Numbers in six digits; a cell of nothing where there is none."""
    if isinstance(value, float):
        return f'<td class="number">{"" if value != value else f"{value:.6g}"}</td>'
    shown = "" if value is None else escape(str(value))
    return f'<td class="number">{shown}</td>' if isinstance(value, int) else f"<td>{shown}</td>"


def _picture(name: str, path: Path) -> str:
    data = base64.b64encode(path.read_bytes()).decode("ascii")
    return f'<img alt="{escape(name)}" src="data:image/svg+xml;base64,{data}">'


def _without_empty(frame: pd.DataFrame) -> pd.DataFrame:
    """Without columns that say nothing."""
    keep = [name for name in frame.columns if not (frame[name].isna() | (frame[name] == "")).all()]
    return frame[keep]
