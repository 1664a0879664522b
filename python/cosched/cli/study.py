"""``cosched study``: list the studies, run one or all."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from cosched import experiments, io
from cosched.cli import report, tables
from cosched.cli.arguments import Arguments
from cosched.cli.commands import in_groups
from cosched.cli.user_code import look_here_first
from cosched.errors import StudyError, printable
from cosched.experiments import StudyResult, papers
from cosched.experiments.study import missing_line

EXAMPLES = {
    "list": "cosched study list",
    "run": "cosched study run packs-fig2-5 --quick --out packs --workers 2",
    "verify": "cosched study verify packs",
    "ledger": "cosched study ledger cluster-table2 --json -o ledger.json",
}
#: Longer tables are left to the report.
_MOST_ROWS = 40

app = typer.Typer(
    help=f"The papers' tables and figures, resumable.\n\nExample: {EXAMPLES['run']}",
    no_args_is_help=True,
)


@app.command("list", help=f"The studies and the data they need.\n\nExample: {EXAMPLES['list']}")
def list_studies() -> None:
    rows = []
    for study in experiments.STUDIES.values():
        absent = study.missing(quick=False)
        data = ", ".join(f"{path} (missing)" if path in absent else path for path in study.needs)
        rows.append((study.name, study.family, study.title, data or "-"))
    titles = ("name", "family", "title", "real data below COSCHED_DATA")
    columns = map(tables.column, titles, zip(*rows, strict=True))
    tables.show("studies", list(columns))


def run_study(
    name: Annotated[str, typer.Argument(help="See `cosched study list`; 'all'; or MODULE:NAME.")],
    given: Annotated[
        dict[str, Any],
        Arguments(experiments.run, "quick", "workers", "dask", "resume", "task_timeout"),
    ],
    out: Annotated[
        Path | None,
        typer.Option(help="Folder of its files; default out/NAME. 'all': a folder of folders."),
    ] = None,
) -> None:
    import matplotlib

    matplotlib.use("Agg")
    good = _run_all(out or Path("out"), given) if name == "all" else _run_one(name, out, given)
    raise typer.Exit(0 if good else 1)


app.command(
    "run",
    help="Run a study: results.parquet, tables, figures and report.html.\n\n"
    f"Example: {EXAMPLES['run']}",
)(in_groups(run_study))


@app.command(
    "verify",
    help="Compare a study's files with the digests that were kept of them. Exit code 0: all are "
    f"whole; 1: some are damaged.\n\nExample: {EXAMPLES['verify']}",
)
def verify_study(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The --out of a study.")],
) -> None:
    found = experiments.verify(folder)
    for name, damage in found.items():
        report.say(f"{folder / name}: {f'DAMAGED: {damage}' if damage else 'whole'}")
    damaged = sum(map(bool, found.values()))
    if damaged:
        print(
            f"{printable(folder)}: {damaged} of {len(found)} files are damaged: `cosched study "
            "run` with --resume runs again what is lost",
            file=sys.stderr,
        )
        raise typer.Exit(1)
    report.say(f"{folder}: all {len(found)} files are whole")


@app.command(
    "ledger",
    help="What the papers claim, row by row, beside the kept results of our studies at full size: "
    f"no run is needed.\n\nExample: {EXAMPLES['ledger']}",
)
def show_ledger(
    studies: Annotated[
        list[str] | None, typer.Argument(metavar="[STUDY]...", help="Default: all.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="A list of rows.")] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write it: .md, .json or .csv.")
    ] = None,
) -> None:
    suffix = None if output is None else io.check_suffix(output, (".md", ".json", ".csv"))
    rows = papers.ledger_rows(tuple(studies or ()))
    plain = [row.plain() for row in rows]
    if output is not None:
        if suffix == ".json":
            io.write_json(plain, output)
        elif suffix == ".csv":
            io.write_frame(papers.as_frame(rows), output)
        else:
            io.write_text(papers.markdown(rows), output)
    print(json.dumps(plain, indent=1, ensure_ascii=False) if as_json else papers.markdown(rows))


def _run_one(name: str, out: Path | None, given: dict) -> bool:
    """Whether no task ended in an error."""
    if ":" in name:  # a module of the user's own
        look_here_first()
    result = experiments.run(name, out=out, **given)
    _show(result)
    return not len(result.errors)


def _run_all(out: Path, given: dict) -> bool:
    """Every study; one whose data is missing does not keep the others from running."""
    left_out = []
    good = True
    for name, study in experiments.STUDIES.items():
        missing = study.missing(given["quick"])
        if missing:
            left_out.append(missing_line(name, missing))
            continue
        result = experiments.run(name, out=out / name, **given)
        _say(result)
        good = good and not len(result.errors)
    if left_out:
        raise StudyError("; ".join(left_out))
    return good


def _show(result: StudyResult) -> None:
    for name, table in result.tables.items():
        if len(table) <= _MOST_ROWS:
            report.show_frame(name, table)
    _say(result)


def _say(result: StudyResult) -> None:
    errors = len(result.errors)
    report.say(f"{result.name}: {len(result.frame)} rows: {result.out / 'report.html'}")
    if errors:
        print(
            f"{result.name}: {errors} of {len(result.frame)} tasks ended in an error, see "
            f"{result.out / 'errors.txt'}; --resume runs them again",
            file=sys.stderr,
        )


def add(to: typer.Typer) -> None:
    """The commands of this file."""
    to.add_typer(app, name="study")
