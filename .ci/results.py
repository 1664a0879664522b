"""The pages of docs/results: `results.py render [DIR]`, and `results.py keep OUT...` before it.

`keep` takes finished studies at full size (folders that `cosched study run` wrote) and puts the
columns that tables and claims need into the package; `render` writes every page from what is kept.
In git are the ledger and the digests of the pages; `pages` writes the rest, as the site does.
"""

import hashlib
import os
import sys
from pathlib import Path

os.environ.setdefault("MPLBACKEND", "Agg")

import matplotlib.pyplot as plt

from cosched import plot
from cosched.experiments import kept, ledger
from cosched.experiments.catalogue import CLAIMS, STUDIES
from cosched.experiments.outputs import read_frame
from cosched.version import installed_version

REPO = Path(__file__).resolve().parents[1]
PAGES = REPO / "docs" / "results"
LEDGER, DIGESTS = "ledger.md", "pages.sha256"
_MOST_ROWS = 130

#: What pages said that were written by hand, and the rows that say it now: (their words; study,
#: parts of places and of claims).
_CORRECTED = (
    (
        'Differences of the dags studies "agree" by their sign only.',
        "dags-fig6-7",
        ("Figure 7 left, potri",),
        ("11 times",),
    ),
    (
        "The same, for the extremes of three types, with fork-joins that the paper does not have.",
        "dags-fig5",
        ("5 right",),
        ("up to 45%", "up to 36%"),
    ),
    ('"HEFT on fork-join worse than in others": yes.', "dags-fig3-4", ("4 right",), ("read as",)),
    (
        "Figure 6 right pools six applications and is below sqrt(m/k) everywhere.",
        "dags-fig6-7",
        ("Figure 6 right, potri, sqrt(m/k) = 1.414",),
        ("",),
    ),
    (
        '"More than 6-fold", "more than one order of magnitude" became "far from the best".',
        "cluster-table2",
        ("section 6.1",),
        ("more than 6-fold", "more than one order"),
    ),
    (
        '"Including standard deviation" had no row.',
        "cluster-table2",
        ("section 6.1",),
        ("least standard deviation",),
    ),
    (
        "Underutilisation falls steadily, below EASY's from 4,800 s; factors of Figure 4 unsaid.",
        "cluster-fig3-4",
        ("section 6.4.2, Figure 3", "section 6.4.2, Figure 4"),
        ("steadily", "900 s", "20-fold"),
    ),
    (
        "An event moves more memory because draws differ: tested by nothing.",
        "cluster-table3",
        ("section 6.3",),
        ("total average bandwidth",),
    ),
    (
        "bags: not from the current code, with a bound that says nothing at q = 1.",
        "bags-fig3",
        ("section III-D",),
        ("",),
    ),
    (
        "The stretch of 36,538 is GreedyP's (it is GreedyPM's).",
        "cluster-table2",
        ("Table 2, unscaled synthetic traces, GreedyP */opt=min, avg.",),
        ("",),
    ),
)


def keep(folders: list[str]) -> None:
    """What the finished runs in these folders leave in the package."""
    for folder in map(Path, folders):
        study = STUDIES[folder.name]
        if not study.keep:
            continue
        frame = read_frame(folder)
        finished = (folder / "results.parquet").stat().st_mtime
        about = {
            "rows": len(frame),
            "seconds": round(float(frame.seconds.sum()), 1),
            "date": _day(finished),
            "version": installed_version(),
        }
        path = kept.keep(study.name, frame, study.keep, about)
        print(f"{path}: {path.stat().st_size // 1024} KB")


def _day(seconds: float) -> str:
    import datetime

    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).date().isoformat()


def render(folder: Path) -> None:
    """Every page, the pictures beside them, and the digests of the pages (of no picture: they
    differ with matplotlib)."""
    rows = pages(folder)
    _write(folder / LEDGER, _referee(rows))
    digests = [
        f"{hashlib.sha256((folder / f'{name}.md').read_bytes()).hexdigest()}  {name}.md\n"
        for name in sorted(set(STUDIES) & set(kept.names()))
    ]
    _write(folder / DIGESTS, "".join(digests))


def pages(folder: Path) -> list[ledger.Row]:
    """The page of each study, with its pictures; the rows of all."""
    folder.mkdir(parents=True, exist_ok=True)
    there = set(kept.names())
    rows = ledger.evaluate(CLAIMS, kept.read)
    for name in [name for name in STUDIES if name in there]:
        frame = kept.read(name)
        mine = [row for row in rows if row.study == name]
        _write(folder / f"{name}.md", _page(name, frame, mine, folder))
    shown = "".join(page.read_text(encoding="utf-8") for page in folder.glob("*.md"))
    for picture in folder.glob("*.png"):  # of pages as they were
        if f"({picture.name})" not in shown:
            picture.unlink()
    return rows


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _page(name: str, frame, rows: list[ledger.Row], folder: Path) -> str:
    study, facts = STUDIES[name], kept.facts(name)
    parts = [
        f"# {name} at full size",
        f"{study.title}. {ledger.escaped(study.paper)}",
        f"`cosched study run {name} --workers 1` on {facts['date']}, cosched {facts['version']}: "
        f"{facts['rows']:,} tasks, {facts['seconds']:,.0f} seconds of work. "
        + ledger.escaped(study.about),
        "Rendered by `make results` from the kept rows of that run (`docs/results/extracts`)"
        + f"{facts.get('note', '')}.",
    ]
    if rows:
        parts += [
            "## Verdicts",
            ledger.counts_table(rows),
            "## Row by row",
            f"`cosched study ledger {name}` prints it. Numbers in brackets: explanations below.",
            ledger.rows_table(rows),
        ]
    if study.remarks is not None:
        parts += ["## What it says", *(f"* {line}" for line in study.remarks(frame))]
    parts.append("## Tables")
    for title, table in study.tables(frame).items():
        if len(table) <= _MOST_ROWS:
            parts += [f"### {title}", _markdown(table)]
    pictures = study.figures(frame)
    if pictures:
        parts.append("## Figures")
    for title, figure in pictures.items():
        file = f"{name}-{title}.png"
        plot.save(figure, folder / file)
        plt.close(figure)
        parts.append(f"![{title}]({file})")
    return "\n\n".join(parts) + "\n"


def _markdown(table) -> str:
    shown = table.copy()
    for column in shown.columns:
        shown[column] = [
            ledger.escaped(value) if isinstance(value, str) else value for value in shown[column]
        ]
    return shown.to_markdown(index=False, floatfmt=".6g")


def _referee(rows: list[ledger.Row]) -> str:
    """Paper item, study, command, verdict; counts on top; then all that differs."""
    parts = [
        "# The papers, item by item",
        "What each of the five papers claims, the study that answers, its command, and the "
        "verdict: `agrees` within the tolerance that its row states and defends, `order only`, "
        "`differs` (with an explanation that ran), or `cannot be reproduced` (with the "
        "reason). Every row: `cosched study ledger`, or the pages of the studies.",
        ledger.counts_table(rows),
        *ledger.absent(rows),
    ]
    for paper, citation in ledger.PAPERS.items():
        mine = [row for row in rows if row.paper == paper]
        if mine:
            parts += [f"## {paper}", f"{citation}.", _items(mine)]
    parts += ["## The runs", *_runs()]
    parts.append("## What earlier pages said, and the verdict now")
    for words, study, places, claims in _CORRECTED:
        some = [
            row
            for row in rows
            if row.study == study
            and any(place in row.place for place in places)
            and any(text in row.claim for text in claims)
        ]
        parts += [words, ledger.rows_table(some)]
    for verdict in (ledger.DIFFERS, ledger.ORDER):
        some = [row for row in rows if row.verdict == verdict and not _is_cell(row)]
        parts += [f"## Sentences: {verdict}", ledger.rows_table(some)]
    return "\n\n".join(parts) + "\n"


def _runs() -> list[str]:
    """What is kept: a line a study, and all."""
    lines = ["| study | run on | tasks | seconds of work |", "|:--|:--|--:|--:|"]
    all_facts = {name: kept.facts(name) for name in STUDIES if name in kept.names()}
    for name, facts in all_facts.items():
        cells = (facts["date"], f"{facts['rows']:,}", f"{facts['seconds']:,.0f}")
        lines.append(f"| [{name}]({name}.md) | " + " | ".join(cells) + " |")
    total = sum(facts["seconds"] for facts in all_facts.values())
    return [
        f"`make results-full` runs all of them: {total / 60:,.0f} minutes of work, which its "
        "workers share, one a core. `make results` renders these pages from what is kept of the "
        "runs.",
        "\n".join(lines),
    ]


def _is_cell(row: ledger.Row) -> bool:
    return row.place.startswith("Table")


def _items(rows: list[ledger.Row]) -> str:
    lines = [
        "| item | study | command | " + " | ".join(ledger.VERDICTS) + " |",
        "|:--|:--|:--" + "|--:" * 4 + "|",
    ]
    for item, study in dict.fromkeys((row.place.split(",")[0], row.study) for row in rows):
        some = [r for r in rows if (r.place.split(",")[0], r.study) == (item, study)]
        found = next(iter(ledger.counts(some).values()))
        cells = [
            item,
            f"[{study}]({study}.md)" if study in kept.names() else study,
            f"`cosched study run {study}`",
            *(str(found.get(verdict, 0)) for verdict in ledger.VERDICTS),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    verb, *rest = sys.argv[1:] or ["render"]
    if verb == "keep":
        keep(rest)
    else:
        write = pages if verb == "pages" else render
        write(Path(rest[0]) if rest else PAGES)


if __name__ == "__main__":
    main()
