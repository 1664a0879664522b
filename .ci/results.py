"""The pages of docs/results: `results.py render [DIR]`, and `results.py keep OUT...` before it.

`keep` takes finished studies at full size (folders that `cosched study run` wrote) and puts the
columns that tables and claims need into the package; `render` writes every page from what is kept.
In git are the ledger and the digests of the pages; `pages` writes the rest, as the site does.
"""

import hashlib
import os
import sys
from collections.abc import Iterable
from pathlib import Path

os.environ.setdefault("MPLBACKEND", "Agg")
sys.path.insert(0, str(Path(__file__).parent))

import ledger_page
import matplotlib.pyplot as plt

from cosched import plot
from cosched.experiments import kept, ledger, tolerances
from cosched.experiments.catalogue import STUDIES, claims
from cosched.experiments.study_outputs import read_frame
from cosched.version import installed_version

REPO = Path(__file__).resolve().parents[1]
PAGES = REPO / "docs" / "results"
LEDGER, DIGESTS = "ledger.md", "pages.sha256"
_MOST_ROWS = 130

#: Paper -> what the copy that was at hand lacks, and which rows rest on it: of a place that begins
#: so, or with that reason.
_COPIES = {
    "aupy2013": (
        "The text ends in section 6, where results begin: none of them and no conclusion is there; "
        "formulas, most numbers and all pictures are lost. What figures show is judged by the "
        "abstract and section 5",
        ("Figure", "section 5, Workload", "abstract"),
    ),
    "amaris2017": ("The text is whole; figures are captions", ("Figure",)),
    "casanova2011": (
        "The text is whole with Tables 1 to 5; figures are captions, and the appendix's graphs are "
        "missing",
        ("Figure", "section 6.4.2, appendix B"),
    ),
    "dutot2004": (
        "Numbers and formulas are lost from the text, and all pictures: the recurrence of the "
        "speed-up, every ratio that section 4.2 names, the guarantees of sections 1 and 2",
        ("Figure", "section 4.2", "section 1", "section 2"),
    ),
    "li2016": (
        "The text is whole; Figure 3 is a caption",
        ("Figure 3",),
    ),
}
#: Paper -> where our algorithms do more than the paper's, and what its rows and figures show.
_IMPROVEMENTS = (
    ("aupy2013", "pack-approx", "each candidate's packs get their best counts", "literal; ours is "
        "`pack-approx, 1-pack` beside it"),
    ("aupy2013", "local-search", "is ours", "figures only, beside the seven"),
    ("amaris2017", "HLP", "an optimum that its documentation states, not glpsol's vertex", "ours; "
        "GLPK's is a reading (dags-readings)"),
    ("amaris2017", "hlp-best", "is ours", "figures only"),
    ("casanova2011", "EASY", "the textbook's, which may backfill any job of the queue", "ours; one "
        "that backfills jobs just submitted is a reading (cluster-readings)"),
    ("casanova2011", "the bound", "exact, where the paper bisects", "ours, within 1e-9"),
    ("casanova2011", "MCB8", "yield 1 is tried first; jobs are dropped until memory fits before "
        "packing is tried", "the same mapping, sooner"),
    ("dutot2004", "dual approximation", "a fourth transformation, without which some builds fail",
        "ours: the paper's would not end in a schedule"),
    ("dutot2004", "minsum bound", "an interval from 0 and one after the makespan, without which it "
        "is no bound", "ours"),
    ("dutot2004", "demt-best", "is ours", "figures only"),
    ("li2016", "ttb", "tries the makespan of TMS's plan too (section IV proposes it)",
        "`ttb (grid)` is the paper's; `ttb` beside it"),
    ("li2016", "grid", "ends at the makespan of least energy, not least power, with which a profit "
        "can be missed", "ours"),
    ("li2016", "Algorithm B", "the mean load is over machines below it, or it is not the LPT rule "
        "that the paper says it is", "ours"),
    ("li2016", "ttb-exact, ttb-best", "are ours", "figures only"),
)  # fmt: skip


def keep(folders: list[str]) -> None:
    """Store in the package what the finished runs in these folders produced."""
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
    written_studies = set(kept.names())
    rows = ledger.evaluate(claims(), kept.read)
    for name in [name for name in STUDIES if name in written_studies]:
        frame = kept.read(name)
        study_rows = [row for row in rows if row.study == name]
        _write(folder / f"{name}.md", _page(name, frame, study_rows, folder))
    page_texts = "".join(page.read_text(encoding="utf-8") for page in folder.glob("*.md"))
    for picture in folder.glob("*.png"):  # of pages as they were
        if f"({picture.name})" not in page_texts:
            picture.unlink()
    return rows


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _page(name: str, frame, rows: list[ledger.Row], folder: Path) -> str:
    study, facts = STUDIES[name], kept.facts(name)
    parts = [
        f"# {name} at full size",
        f"{study.title}. {kept.escaped(study.paper)}",
        f"`cosched study run {name} --workers 1` on {facts['date']}, cosched {facts['version']}: "
        f"{facts['rows']:,} tasks, {facts['seconds']:,.0f} seconds of work. "
        + kept.escaped(study.about),
        "Rendered by `make results` from the kept rows of that run (`docs/results/extracts`)"
        + f"{facts.get('note', '')}.",
    ]
    if rows:
        parts += [
            "## Verdicts",
            kept.counts_table(rows),
            "## Row by row",
            f"`cosched study ledger {name}` prints it. Numbers in brackets: explanations below.",
            kept.rows_table(rows),
        ]
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
    display_table = table.copy()
    for column in display_table.columns:
        display_table[column] = [
            kept.escaped(value) if isinstance(value, str) else value
            for value in display_table[column]
        ]
    return display_table.to_markdown(index=False, floatfmt=".6g")


def _referee(rows: list[ledger.Row]) -> str:
    """Counts on top; by paper what holds, fails, differs; correlations; improvements; runs."""
    parts = [
        "# The papers, item by item",
        "What each of the five papers claims beside what it gives here. Six verdicts, each of "
        "numbers that stand in the row: `agrees`: the value lies in the row's interval (a "
        "printed number as near as the row says and defends, a sentence or what is told of a curve "
        "true here); `agrees in order`: a number outside, within a factor 2, in a set of cells "
        f"whose Spearman rank correlation with the paper's is {tolerances.LEAST_RHO:g} and more "
        f"over {tolerances.LEAST_CELLS} and more; `numbers differ`; `claim fails`: a sentence is "
        "false here; `untested picture`: no numbers, no words; `cannot be reproduced`, with the "
        "reason. What differs or fails is `unexplained` unless another reading of the paper was "
        "run: the share of the gap that it closes stands beside it. Every row: `cosched study "
        "ledger`, or the pages of the studies.",
        kept.counts_table(rows),
        *kept.absent(rows),
        ledger_page.kinds_table(rows),
        "Of what agrees in order only, differs or fails, the gap that another reading closes:",
        ledger_page.explained_table(rows),
    ]
    for paper, citation in ledger.PAPERS.items():
        paper_rows = [row for row in rows if row.paper == paper]
        lacks, places = _COPIES[paper]
        resting = sum(row.place.startswith(places) for row in paper_rows)
        copy = f"*The copy at hand.* {lacks}: {resting} of {len(paper_rows)} rows rest on that."
        parts += [f"## {paper}", f"{citation}. {copy}", *ledger_page.paper_page(paper_rows)]
    draws = ledger_page.between_draws(kept.read)
    parts += [
        "## Order: rank correlations by table and column",
        "Spearman over the policies of a column; beside it that of two draws of our own traces "
        "(bootstrap), and with the values under the reading that is tried of the column.",
        ledger_page.correlations(rows, draws),
        "## Where ours is more than the paper's",
        "Rows and figures that compare with a paper show its own algorithm.",
        _table(("paper", "what", "ours", "rows and figures show"), _IMPROVEMENTS),
        "## The runs",
        *_runs(),
    ]
    return "\n\n".join(parts) + "\n"


def _table(titles: tuple[str, ...], lines: Iterable[tuple[str, ...]]) -> str:
    cells = [titles, (":--",) * len(titles), *lines]
    return "\n".join("| " + " | ".join(line) + " |" for line in cells)


def _runs() -> list[str]:
    """Describe the stored runs: one row per study, and the totals."""
    lines = ["| study | run on | tasks | seconds of work |", "|:--|:--|--:|--:|"]
    all_facts = {name: kept.facts(name) for name in STUDIES if name in kept.names()}
    for name, facts in all_facts.items():
        cells = (facts["date"], f"{facts['rows']:,}", f"{facts['seconds']:,.0f}")
        lines.append(f"| [{name}](index.md#{name}) | " + " | ".join(cells) + " |")
    total = sum(facts["seconds"] for facts in all_facts.values())
    return [
        f"`make results-full` runs all of them: {total / 60:,.0f} minutes of work, which its "
        "workers share, one a core. `make results` renders these pages from what is kept of the "
        "runs.",
        "\n".join(lines),
    ]


def main() -> None:
    verb, *rest = sys.argv[1:] or ["render"]
    if verb == "keep":
        keep(rest)
    else:
        write = pages if verb == "pages" else render
        write(Path(rest[0]) if rest else PAGES)


if __name__ == "__main__":
    main()
