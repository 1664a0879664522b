"""``cosched study``: list the studies, run one or all."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from cosched import experiments, io
from cosched.cli import report, tables
from cosched.cli.parameters import Arguments, adds_group
from cosched.cli.user_code import look_here_first
from cosched.errors import StudyError, printable, require
from cosched.experiments import StudyResult, kept
from cosched.experiments.study import missing_line

#: Longer tables are left to the report.
_MOST_ROWS = 40


def _require_extra() -> None:
    """Every command says what to install before it works; its help needs nothing."""
    require("cloudpickle", "pyarrow", extra="studies")


def list_studies() -> None:
    _require_extra()
    rows = []
    for study in experiments.STUDIES.values():
        absent = study.missing(quick=False)
        data = ", ".join(f"{path} (missing)" if path in absent else path for path in study.needs)
        rows.append((study.name, study.family, study.title, data or "-"))
    titles = ("name", "family", "title", "real data below COSCHED_DATA")
    columns = map(tables.column, titles, zip(*rows, strict=True))
    tables.show("studies", list(columns))


def run_study(
    name: str,
    arguments: Annotated[
        dict[str, Any],
        Arguments(experiments.run, "quick", "workers", "dask", "resume", "task_timeout"),
    ],
    out: Path | None = None,
) -> None:
    _require_extra()
    report.without_screen()
    good = (
        _run_all(out or Path("out"), arguments) if name == "all" else _run_one(name, out, arguments)
    )
    raise typer.Exit(0 if good else 1)


def verify_study(folder: Path) -> None:
    _require_extra()
    problems = experiments.verify(folder)
    for name, damage in problems.items():
        report.say(f"{folder / name}: {f'DAMAGED: {damage}' if damage else 'whole'}")
    damaged = sum(map(bool, problems.values()))
    if damaged:
        print(
            f"{printable(folder)}: {damaged} of {len(problems)} files are damaged: `cosched study "
            "run` with --resume runs again what is lost",
            file=sys.stderr,
        )
        raise typer.Exit(1)
    report.say(f"{folder}: all {len(problems)} files are whole")


def show_ledger(
    studies: list[str] | None = None, as_json: bool = False, output: Path | None = None
) -> None:
    _require_extra()
    suffix = None if output is None else io.check_suffix(output, (".md", ".json", ".csv"))
    rows = kept.ledger_rows(tuple(studies or ()))
    records = [row.plain() for row in rows]
    if output is not None:
        if suffix == ".json":
            io.write_json(records, output)
        elif suffix == ".csv":
            io.write_frame(kept.as_frame(rows), output)
        else:
            io.write_text(kept.markdown(rows), output)
    print(json.dumps(records, indent=1, ensure_ascii=False) if as_json else kept.markdown(rows))


def _run_one(name: str, out: Path | None, arguments: dict) -> bool:
    """Whether no task ended in an error."""
    if ":" in name:  # a module of the user's own
        look_here_first()
    result = experiments.run(name, out=out, **arguments)
    for table_name, table in result.tables.items():
        if len(table) <= _MOST_ROWS:
            report.show_frame(table_name, table)
    _say(result)
    return not len(result.errors)


def _run_all(out: Path, arguments: dict) -> bool:
    """Every study; one whose data is missing does not keep the others from running."""
    left_out = []
    good = True
    for name, study in experiments.STUDIES.items():
        missing = study.missing(arguments["quick"])
        if missing:
            left_out.append(missing_line(name, missing))
            continue
        result = experiments.run(name, out=out / name, **arguments)
        _say(result)
        good = good and not len(result.errors)
    if left_out:
        raise StudyError("; ".join(left_out))
    return good


def _say(result: StudyResult) -> None:
    errors = len(result.errors)
    report.say(f"{result.name}: {len(result.frame)} rows: {result.out / 'report.html'}")
    if errors:
        print(
            f"{result.name}: {errors} of {len(result.frame)} tasks ended in an error, see "
            f"{result.out / 'errors.txt'}; --resume runs them again",
            file=sys.stderr,
        )


add = adds_group(list=list_studies, run=run_study, verify=verify_study, ledger=show_ledger)
