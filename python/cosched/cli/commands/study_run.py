"""``cosched study run``: one study, or all."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cosched.cli.command_groups import Command
from cosched.cli.option_types import Integer, OutputFolder, Seconds
from cosched.cli.shared_options import execution_option, json_option, output_option
from cosched.errors import StudyError, require

if TYPE_CHECKING:
    from cosched.experiments import StudyResult

#: Longer tables are left to the report.
_MAX_ROWS = 40


@click.command("run", cls=Command)
@click.argument("name", help="See cosched study list; all; or MODULE:NAME.")
@execution_option(
    "--quick", is_flag=True, help="At reduced size, on generated data where possible."
)
@execution_option(
    "--workers", type=Integer(), help="Processes on this host; default: one per processor."
)
@execution_option(
    "--dask",
    metavar="HOST:PORT|FILE",
    help="Address of a Dask scheduler, or its file (.json), whose workers run the tasks.",
)
@execution_option(
    "--resume",
    is_flag=True,
    help="Continue with the state in the folder; failed tasks and corrupted rows run again.",
)
@execution_option(
    "--task-timeout", type=Seconds(allows_none=True), help="Time that a task may take."
)
@output_option(
    "-o",
    "--output",
    "--out",
    "folder",
    type=OutputFolder(),
    help="Folder of its files; default: out/NAME; for all a folder of folders.",
)
@json_option
@click.pass_context
def run_study(
    context: click.Context,
    name: str,
    quick: bool,
    workers: int | None,
    dask: str | None,
    resume: bool,
    task_timeout: float | None,
    folder: Path | None,
    as_json: bool,
) -> None:
    """Run a study: results.parquet, tables, figures and report.html.

    A run that was interrupted resumes with --resume.

    \b
    Example: cosched study run packs-fig2-5 --quick -o packs --workers 2
    """
    require("cloudpickle", "pyarrow", extra="studies")
    from cosched.cli import report

    report.without_screen()
    options: dict[str, Any] = {
        "quick": quick,
        "workers": workers,
        "dask": dask,
        "resume": resume,
        "task_timeout": task_timeout,
    }
    if name == "all":
        results, missing_studies = _run_all(folder or Path("out"), options, as_json=as_json)
    else:
        results, missing_studies = [_run_one(name, folder, options, as_json=as_json)], []
    if as_json:
        report.print_json([_record_of(result) for result in results])
    if missing_studies:
        raise StudyError("; ".join(missing_studies))
    context.exit(1 if any(len(result.errors) for result in results) else 0)


def _run_one(
    name: str, folder: Path | None, options: dict[str, Any], *, as_json: bool
) -> StudyResult:
    from cosched import experiments
    from cosched.cli import report
    from cosched.cli.user_code import look_here_first

    if ":" in name:  # a module of the user's own
        look_here_first()
    result = experiments.run(name, out=folder, **options)
    if not as_json:
        for table_name, table in result.tables.items():
            if len(table) <= _MAX_ROWS:
                report.show_frame(table_name, table)
        _say_result(result)
    return result


def _run_all(
    folder: Path, options: dict[str, Any], *, as_json: bool
) -> tuple[list[StudyResult], list[str]]:
    """Return every study; one whose data is missing does not keep the others from running."""
    from cosched import experiments
    from cosched.experiments.study import missing_line

    results = []
    missing_studies = []
    for name, study in experiments.STUDIES.items():
        missing_paths = study.missing(options["quick"])
        if missing_paths:
            missing_studies.append(missing_line(name, missing_paths))
            continue
        result = experiments.run(name, out=folder / name, **options)
        results.append(result)
        if not as_json:
            _say_result(result)
    return results, missing_studies


def _record_of(result: StudyResult) -> dict[str, Any]:
    return {
        "name": result.name,
        "rows": len(result.frame),
        "errors": len(result.errors),
        "report": str(result.out / "report.html"),
    }


def _say_result(result: StudyResult) -> None:
    """Print where the report is, and how many tasks failed."""
    from cosched.cli import report

    n_errors = len(result.errors)
    report.say(f"{result.name}: {len(result.frame)} rows: {result.out / 'report.html'}")
    if n_errors:
        print(
            f"{result.name}: {n_errors} of {len(result.frame)} tasks ended in an error, see "
            f"{result.out / 'errors.txt'}; --resume runs them again",
            file=sys.stderr,
        )
