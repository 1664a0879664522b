"""The page of the library: ``{library-table} dags`` is the table of a family, open gaps first,
with the history of its records and a picture of the best schedule of its widest gap."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO

import matplotlib
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import cosched as cs
from cosched.library.records import FOLDER, Finding, record_of
from cosched.library.table import gap_of


def history(found: tuple[Finding, ...]) -> str:
    """The values before, the last first."""
    return "; ".join(f"{f.value:.6g} ({f.algorithm}, {f.since})" for f in reversed(found)) or "-"


def rows(family: str) -> Iterator[str]:
    """A row an instance: name, size, value, bound, gap, by whom, since when, what was before."""
    heads = ("name", "size", "value", "bound", "gap", "found by", "since", "before")
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    frame = cs.library.list()
    mine = frame[frame.family == family].sort_values("gap", ascending=False, kind="stable")
    for name in mine.name:
        record = record_of(name)
        best, bound, gap = record.best, record.bound, gap_of(record)
        cells = (
            f"`{name}`",
            f"{record.size}",
            f"{best.value:.6g}",
            f"{bound.value:.6g} (`{bound.algorithm}`)",
            f"{100 * gap:.2f}%" if gap > 1e-7 else "closed",
            f"`{best.algorithm}`, {best.by}",
            best.since,
            history(record.history),
        )
        yield f"| {' | '.join(cells)} |"


def widest(family: str) -> str:
    """The name of the instance that is furthest from being solved."""
    frame = cs.library.list()
    mine = frame[frame.family == family]
    return str(mine.loc[mine.gap.idxmax(), "name"])


def picture(name: str) -> str:
    """The best schedule of an instance as SVG."""
    matplotlib.use("Agg")
    figure, text = cs.plot.gantt(cs.library.best(name)).figure, StringIO()
    figure.set_size_inches(9, 3.5)
    figure.savefig(text, format="svg", metadata={"Date": None})
    matplotlib.pyplot.close(figure)
    svg = text.getvalue()
    return svg[svg.index("<svg") :]


class LibraryTable(SphinxDirective):
    """``{library-table} FAMILY``, of a page in Markdown."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        family = self.arguments[0]
        for file in sorted((FOLDER / family).glob("*.json")):
            self.env.note_dependency(str(file))
        name = widest(family)
        found = self.parse_text_to_nodes("\n".join(rows(family)))
        words = self.parse_text_to_nodes(f"The best schedule known of `{name}`:")
        drawn = nodes.raw("", f'<div class="library-picture">{picture(name)}</div>', format="html")
        return [*found, *words, drawn]


def setup(app: Sphinx) -> dict[str, bool]:
    """Adds the directive."""
    app.add_directive("library-table", LibraryTable)
    return {"parallel_read_safe": True}
