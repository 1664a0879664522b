"""``report.html``: a page that needs no network. Tables by DataTables, charts by plotly.

It is one file; reports of one folder can share the library of their charts, which is most of it.
"""

from __future__ import annotations

import base64
import gzip
import re
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cosched.errors import optional
from cosched.experiments.boxes import boxes
from cosched.experiments.design import Design
from cosched.experiments.study import Study
from cosched.version import installed_version

if TYPE_CHECKING:
    import pandas as pd

#: Above this, the table of all rows is left to results.parquet: browsers get slow.
_MOST_ROWS = 3000
#: Above this, a table is shown in pages.
_ONE_PAGE = 60
#: The most charts that are made of a study without charts of its own.
_MOST_CHARTS = 6

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { margin-top: 2.5rem; border-bottom: 1px solid #ccc; }
h3 { margin-bottom: .3rem; } .facts { color: #555; } .scroll { overflow-x: auto; }
img { max-width: 100%; } table.dataTable { font-size: 13px; margin: 0; }
"""


def page(
    study: Study,
    quick: bool,
    frame: pd.DataFrame,
    tables: dict[str, pd.DataFrame],
    charts: dict[str, Any],
    pictures: dict[str, Path],
    library: str | None = None,
) -> str:
    """The whole page."""
    body = [_head(study, quick, frame)]
    failed = frame[frame.status == "error"]
    if len(failed):
        body += ["<h2>Errors</h2>", _table("errors", _without_empty(failed))]
    if tables:
        body.append("<h2>Tables</h2>")
        body += [_section(name) + _table(f"table-{name}", table) for name, table in tables.items()]
    if charts:
        body.append("<h2>Charts</h2>")
        if library is not None:
            body.append(f'<script src="{escape(library)}"></script>')
        body += [
            _section(name) + _chart(f"chart-{name}", chart, library is None and number == 0)
            for number, (name, chart) in enumerate(charts.items())
        ]
    if pictures:
        body.append("<h2>Figures</h2>")
        body += [_section(name) + _picture(name, path) for name, path in pictures.items()]
    body.append("<h2>All rows</h2>")
    if len(frame) <= _MOST_ROWS:
        body.append(_table("rows", _without_empty(frame)))
    else:
        body.append(f"<p>{len(frame)} rows: see <code>results.parquet</code>.</p>")
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(study.name)}</title><style>{_STYLE}</style></head>\n<body>\n"
        + _tables_library()
        + "\n".join(body)
        + "\n</body></html>\n"
    )


def distributions(design: Design, frame: pd.DataFrame) -> dict[str, Any]:
    """Charts for a study without its own: each result's distribution, by algorithm if told."""
    planned = {"task", *(key for task in design.tasks for key in task)}
    group = next((name for name in ("algorithm", "policy") if name in frame), None)
    measures = [
        name
        for name in frame.select_dtypes("number").columns
        if name not in planned and frame[name].nunique() > 1
    ]
    return {name: boxes(frame, group, name, says=["task"]) for name in measures[:_MOST_CHARTS]}


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


def _tables_library() -> str:
    """DataTables itself, once a page."""
    itables = optional("itables", extra="studies")
    javascript = optional("itables.javascript", extra="studies")
    whole = javascript.generate_init_offline_itables_html(itables.options.dt_bundle)
    return _UNPACK + _packed(whole[: whole.index("</script>")]) + "</script>\n"


#: Reads what `_packed` wrote.
_UNPACK = """<script>
async function unpacked(text) {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return await new Response(stream).text();
}
</script>
"""


def _packed(script: str) -> str:
    """A script with its embedded files compressed: three quarters of a report would be those."""
    script = script.replace("function injectCSS", "async function injectCSS")
    script = re.sub(r"\batob\((base64\w+)\)", r"await unpacked(\1)", script)
    return re.sub(
        r'"([A-Za-z0-9+/=]{2000,})"',
        lambda found: f'"{_gzip(base64.b64decode(found[1]))}"',
        script,
    )


def _gzip(data: bytes) -> str:
    return base64.b64encode(gzip.compress(data, 9, mtime=0)).decode("ascii")


def _table(identifier: str, table: pd.DataFrame) -> str:
    itables = optional("itables", extra="studies")
    html = itables.to_html_datatable(
        _short(table),
        connected=False,
        table_id=identifier.replace(".", "-"),
        showIndex=False,
        paging=len(table) > _ONE_PAGE,
        maxBytes=0,
        format_floats_in_python=False,  # else each number is there twice, shown and for sorting
        display_logo_when_loading=False,
        text_in_header_can_be_selected=False,  # so that a click anywhere in it sorts
        style="table-layout:auto;width:auto;margin:0",
    )
    return f'<div class="scroll">{html}</div>\n'


def _short(table: pd.DataFrame) -> pd.DataFrame:
    """Numbers as they are shown, in six digits."""
    some = {
        name: [float(f"{value:.6g}") for value in table[name]]
        for name in table.select_dtypes("float").columns
    }
    return table.assign(**some)


def charts_library() -> str:
    """The script that draws charts, for a file that reports share."""
    return str(optional("plotly.offline", extra="studies").get_plotlyjs())


def index(rows: list[tuple[str, str, str, str]]) -> str:
    """A page of links to reports: (address, name, title, what is said of it) each."""
    lines = [
        f'<tr><td><a href="{escape(address)}">{escape(name)}</a></td><td>{escape(title)}</td>'
        f"<td>{escape(said)}</td></tr>"
        for address, name, title, said in rows
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Studies</title>'
        f"<style>{_STYLE} td {{ padding: .2rem .8rem .2rem 0; }}</style></head>\n<body>\n"
        "<h1>Studies</h1>\n<table>\n" + "\n".join(lines) + "\n</table>\n</body></html>\n"
    )


def _chart(identifier: str, chart: Any, with_library: bool) -> str:
    """A plotly figure, and the library where it is to come with it."""
    return chart.to_html(
        full_html=False,
        include_plotlyjs=with_library,
        div_id=identifier.replace(".", "-"),
        config={"displaylogo": False, "responsive": True},
    )


def _picture(name: str, path: Path) -> str:
    data = base64.b64encode(path.read_bytes()).decode("ascii")
    return f'<img alt="{escape(name)}" src="data:image/svg+xml;base64,{data}">'


def _without_empty(frame: pd.DataFrame) -> pd.DataFrame:
    """Without columns that say nothing."""
    keep = [name for name in frame.columns if not (frame[name].isna() | (frame[name] == "")).all()]
    return frame[keep]
