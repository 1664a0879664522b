"""``cosched audit``: a report on a job log."""

from pathlib import Path
from typing import Any

import click

from cosched.cli.command_groups import ReportCommand
from cosched.cli.families import read_instance
from cosched.cli.option_types import AnyInteger, InputPath, Seconds, Words
from cosched.cli.shared_options import (
    analysis_option,
    json_option,
    log_options,
    no_bound_option,
    output_files_option,
    output_option,
    plot_option,
    require_outputs,
)
from cosched.errors import printable


@click.command("audit", cls=ReportCommand)
@click.argument("file", type=InputPath(), help="The job log.")
@log_options()
@no_bound_option
@analysis_option(
    "--what-if",
    multiple=True,
    metavar="KEY=VALUE,...",
    help="A scenario: changes of the machine, with the same jobs. Examples: nodes=+20; "
    "partition.NAME.max_time=12:00:00,bf_interval=60; users.ada=-50%. Repeatable; all keys are "
    "in the guide to what-if scenarios.",
)
@analysis_option(
    "--reference",
    type=Words(("slurm-backfill", "EASY", "conservative", "FCFS")),
    help="Policy of the scenarios; default: slurm-backfill where it explains the log, else EASY.",
)
@analysis_option(
    "--draws",
    type=AnyInteger(),
    help="Replications of slurm-backfill with random scheduler timing; default: 20, fewer where "
    "--time-limit is too short.",
)
@analysis_option(
    "--time-limit",
    type=Seconds(allows_none=True),
    default="15",
    show_default=True,
    help="Time for the lower bound, and for each policy but slurm-backfill; a policy that takes "
    "longer is left out.",
)
@output_option(
    "--rightsize",
    type=InputPath(),
    help="HTML report of cosched rightsize, to which this report links.",
)
@output_option(
    "--anonymise",
    is_flag=True,
    help="Replace the names of users, accounts and groups in the report and its numbers.",
)
@plot_option("Figure of load, queue and waits: .png, .svg or .pdf.")
@output_files_option(
    ".html", ".json", help="The report (.html), or its numbers (.json); once per format."
)
@json_option
def audit(
    file: Path,
    what_if: tuple[str, ...],
    reference: str | None,
    draws: int | None,
    time_limit: float | None,
    rightsize: Path | None,
    anonymise: bool,
    picture: Path | None,
    outputs: tuple[Path, ...],
    as_json: bool,
    **log_values: Any,
) -> None:
    """Report on a job log: waits, utilization, other policies, what-if scenarios.

    \b
    Example: cosched audit trace.swf.gz --convention rigid -o audit.html
    """
    from cosched import cluster, plot
    from cosched.cli import report
    from cosched.cli.log_judgement import judgement_with_running_jobs
    from cosched.cli.output_files import read_numbers, scratch_files
    from cosched.core.freed_memory import keep_no_freed_arrays

    keep_no_freed_arrays()
    require_outputs(outputs, "the report (.html), or its numbers (.json)", is_optional=as_json)
    if rightsize is not None and not rightsize.is_file():
        raise FileNotFoundError(
            f"--rightsize: {printable(rightsize)}: no such file: expected what rightsize -o wrote"
        )
    instance = read_instance("cluster", file, log_values)
    with scratch_files(outputs, ".html", ".json") as (page, numbers):
        with report.working(f"audit of {file.name}"):
            judgement, notes = judgement_with_running_jobs(file, log_values, instance)
            instance = instance.with_notes(notes)
            figure = cluster.audit(
                instance,
                page,
                what_if=what_if,
                reference=reference,
                draws=draws,
                time_limit=time_limit,
                rightsize=rightsize,
                json=numbers,
                judgement=judgement,
                anonymise=anonymise,
                say=None if as_json else report.say,
            )
            if picture is not None and figure is not None:
                plot.save(figure, picture)
        audit_numbers = read_numbers(numbers)
    if as_json:
        report.print_json(audit_numbers)
        return
    report.show_notes(instance)
    for path in outputs:
        report.hint(f"wrote {path}")
