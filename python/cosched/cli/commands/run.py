"""``cosched run``: a plan on this host, or in a Slurm job."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cosched.cli.command_groups import Command
from cosched.cli.option_types import InputPath, NumberOrNone, OutputFile, OutputFolder, Seconds
from cosched.cli.shared_options import (
    codes_option,
    execution_option,
    json_option,
    launcher_options,
    output_option,
    plan_argument,
    plot_option,
    require_outputs,
)

if TYPE_CHECKING:
    from cosched import execution
    from cosched.execution.launchers import Launcher
    from cosched.execution.plans import Plan


@click.command("run", cls=Command)
@plan_argument
@codes_option
@launcher_options
@execution_option(
    "--no-barrier", is_flag=True, help="Packs: start a task as soon as its processors are free."
)
@execution_option(
    "--journal", type=InputPath(), help="Journal of the run; default: PLAN.journal.jsonl."
)
@execution_option("--resume", is_flag=True, help="Continue with the journal that exists.")
@execution_option(
    "--again", is_flag=True, help="Run a finished plan once more, in the same journal."
)
@execution_option(
    "--limit-factor",
    type=NumberOrNone(),
    help="End a task at this multiple of its planned time.",
)
@execution_option(
    "--replan",
    type=NumberOrNone(),
    help="Plan the remaining tasks again when a real time differs from the planned one by more "
    "than this share.",
)
@execution_option(
    "--stop-on-failure", is_flag=True, help="Start no further task once a task has failed."
)
@execution_option(
    "--grace",
    type=Seconds(allows_zero=True),
    default="5",
    show_default=True,
    help="Time between asking a task to end and killing it.",
)
@execution_option(
    "--dry-run", is_flag=True, help="Print every command with its pinning; run nothing."
)
@output_option(
    "--outputs", type=OutputFolder(), help="Folder of the tasks' outputs, a file per attempt."
)
@output_option(
    "--measure",
    "measurements",
    type=OutputFile(".csv"),
    help="Append the measured times to these runs (.csv).",
)
@plot_option("Gantt charts of the planned and the measured run: .png, .svg or .pdf.")
@output_option(
    "-o",
    "--output",
    "report_files",
    type=OutputFile(".html", ".json"),
    multiple=True,
    help="The report of the run (.html), or its record (.json); once per format.",
)
@json_option
@click.pass_context
def run(
    context: click.Context,
    plan: Path,
    codes: Path,
    launcher: str,
    unit: str,
    oversubscribe: bool,
    no_barrier: bool,
    journal: Path | None,
    resume: bool,
    again: bool,
    limit_factor: float | None,
    replan: float | None,
    stop_on_failure: bool,
    grace: float,
    dry_run: bool,
    outputs: Path | None,
    measurements: Path | None,
    picture: Path | None,
    report_files: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Run a plan on this host or in a Slurm job.

    \b
    Example: cosched run plan.json --codes codes.toml -o execution.json --plot execution.png
    """
    from cosched import execution
    from cosched.cli import report
    from cosched.cli.live import show_end, watching
    from cosched.cli.plan_files import read_plan_with_codes
    from cosched.execution.launchers import launcher_of

    require_outputs(report_files, "the report (.html), or its record (.json)", is_optional=True)
    plan_read, codes_read = read_plan_with_codes(plan, codes)
    journal_path = journal or plan.with_suffix(".journal.jsonl")
    if dry_run:
        continues = resume and journal_path.exists()
        chosen_launcher = launcher_of(launcher, unit=unit, oversubscribe=oversubscribe)
        _show_commands(
            plan_read, codes_read, chosen_launcher, journal_path if continues else None, as_json
        )
        return
    messages: list[str] = []

    def append_measurements(record: execution.Execution) -> None:
        if measurements is not None:
            messages.extend(_append_measurements(record, measurements, journal_path, codes_read))

    try:
        with watching() as watch:
            record = execution.run(
                plan_read,
                codes_read,
                launcher_of(launcher, unit=unit, oversubscribe=oversubscribe, grace=grace),
                barrier=not no_barrier,
                journal=journal_path,
                watch=watch,
                tell=report.complain,
                done=append_measurements,
                resume=resume,
                repeat=again,
                limit_factor=limit_factor,
                replan=replan,
                stop_on_failure=stop_on_failure,
                outputs=outputs,
            )
    finally:
        if not as_json:
            for line in messages:
                report.hint(line)
    _write_record(record, report_files, picture)
    if as_json:
        report.print_json(record.to_dict())
    else:
        show_end(record)
    if not record.good:
        context.exit(1)


def _append_measurements(
    record: execution.Execution, runs: Path, journal: Path, codes: execution.Codes
) -> list[str]:
    """Append what the last driver ran, and nothing of those before it."""
    import datetime

    from cosched.execution.execution_measurements import append_execution, append_executions
    from cosched.execution.journal import read_past

    past = read_past(journal)
    run_tasks = past.started_tasks()
    if not run_tasks:
        return []
    begin = datetime.datetime.fromtimestamp(past.begun or 0.0, datetime.timezone.utc)
    n_added = append_execution(record, runs, begin, codes, run_tasks)
    append_executions(record, runs, begin.isoformat(), codes)
    return [f"{n_added} times appended to {runs}"]


def _write_record(
    record: execution.Execution, report_files: tuple[Path, ...], picture: Path | None
) -> None:
    """Write the files that the command was asked for."""
    from cosched import plot
    from cosched.cli import report
    from cosched.reports.execution import write_execution

    for path in report_files:
        write_execution(record, path)
    if picture is not None:
        report.without_screen()
        plot.save(plot.execution(record), picture)


def _show_commands(
    plan: Plan, codes: execution.Codes, launcher: Launcher, journal: Path | None, as_json: bool
) -> None:
    """Print what would run, and where."""
    from cosched import execution
    from cosched.cli import report

    rows = execution.commands(plan, codes, launcher, journal=journal)
    if as_json:
        report.print_json(
            [
                {"start": row.start, "name": row.name, "cores": row.cores, "command": row.command}
                for row in rows
            ]
        )
        return
    n_completed = len(plan.steps) - len(rows)
    if n_completed:
        report.say(f"{n_completed} of {len(plan.steps)} tasks completed: {journal}")
    for row in rows:
        pinned = f" on cores {row.cores}" if row.cores else ""
        report.say(f"{row.start:10.3f} s  {row.name}{pinned}: {row.command}")
