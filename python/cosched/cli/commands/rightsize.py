"""``cosched rightsize``: what jobs should request."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cosched.cli.command_groups import ReportCommand
from cosched.cli.families import read_instance
from cosched.cli.option_types import InputPath, Number, Seconds, Words, check_output
from cosched.cli.shared_options import (
    analysis_option,
    json_option,
    log_options,
    no_bound_option,
    output_files_option,
    output_option,
)

if TYPE_CHECKING:
    import pandas as pd

    from cosched import cluster


@click.command("rightsize", cls=ReportCommand)
@click.argument("file", type=InputPath(), help="The job log; with --export codes: runs.csv.")
@log_options()
@no_bound_option
@analysis_option(
    "--risk",
    type=Number(),
    default=0.01,
    show_default=True,
    help="Largest chance that a job is killed: 0.01 needs 99 similar jobs where one resource is "
    "judged, 199 where both are.",
)
@analysis_option(
    "--by",
    metavar="KEY,...",
    help="What makes jobs similar, the most important first: user, name, account, partition, "
    "cores, group, qos, comment.",
)
@analysis_option(
    "--time-limit",
    type=Seconds(allows_none=True),
    default="60",
    show_default=True,
    help="Time for each simulated schedule.",
)
@output_option("--user", metavar="NAME", help="For one user: a report, or the text of an email.")
@output_option(
    "--export",
    "form",
    type=Words(("snakemake", "nextflow", "sbatch", "codes")),
    help="Recommendations as a file for these programs; codes: of the runs of profile.",
)
@output_files_option(
    help="The report (.html; with --user also .txt), its numbers (.json), or the export; may be "
    "given once per format."
)
@json_option
def rightsize(
    file: Path,
    risk: float,
    by: str | None,
    time_limit: float | None,
    user: str | None,
    form: str | None,
    outputs: tuple[Path, ...],
    as_json: bool,
    **log_values: Any,
) -> None:
    """Recommend time and memory requests from job history.

    \b
    Example: cosched rightsize sacct.txt --machine slurm.conf -o rightsize.html
    """
    from cosched import cluster, io
    from cosched.cli import report
    from cosched.cluster.sizing.exports import export
    from cosched.errors import InvalidInstance
    from cosched.execution.plan_input import toml_of
    from cosched.notes import note_records

    numbers_path, path = split_outputs(outputs, is_export=form is not None, has_user=bool(user))
    if form == "codes":
        unused_options = {"--user": user, "--json": numbers_path or as_json or None, "--by": by}
        for option, value in unused_options.items():
            if value is not None:
                raise InvalidInstance(f"{option} does not apply to --export codes")
        write_or_print(toml_of(file, risk), path)
        return
    if not 0 < risk < 1:
        raise InvalidInstance(f"--risk: {risk:g}: expected 0 < risk < 1")
    instance = read_instance("cluster", file, log_values)
    with report.working(f"right sizes of {file.name}"):
        right_size = cluster.rightsize(instance, risk=risk, by=by)
        recommendations = right_size.advice_for(user)
        backtest = right_size.backtest()
    numbers = {
        "risk": right_size.risk,
        "by": list(right_size.use.group_columns),
        "advice": io.plain(recommendations.to_dict("records")),
        "backtest": io.plain(backtest.to_dict("records")),
        "note_records": note_records((*right_size.notes, *right_size.instance.notes)),
    }
    if numbers_path is not None:
        io.write_json(numbers, numbers_path)
    if form is not None:
        write_or_print(export(recommendations, form, right_size.risk), path)
        return
    if as_json:
        report.print_json(numbers)
    elif user is not None and path is None:
        with report.working("schedules"):
            text = right_size.mail(user, time_limit=time_limit)
        click.echo(text, nl=False)
        return
    else:
        report.show_notes(instance)
        for text in right_size.notes:
            report.note(text)
        if user is None:
            _show(right_size, recommendations, backtest)
    if path is not None:
        with report.working("schedules"):
            right_size.write(path, user, time_limit=time_limit)
        if not as_json:
            report.hint(f"wrote {path}")


def split_outputs(
    outputs: tuple[Path, ...], *, is_export: bool, has_user: bool
) -> tuple[Path | None, Path | None]:
    """The file for numbers (.json), and the one for the report or the export."""
    numbers_paths = [path for path in outputs if path.suffix == ".json"]
    other_paths = [path for path in outputs if path.suffix != ".json"]
    if len(numbers_paths) > 1 or len(other_paths) > 1:
        raise click.UsageError("-o: expected one file per format")
    for path in numbers_paths:
        check_output(path, (".json",))
    for path in other_paths:
        if not is_export:
            check_output(path, (".html", ".txt", ".json") if has_user else (".html", ".json"))
    return next(iter(numbers_paths), None), next(iter(other_paths), None)


def write_or_print(text: str, path: Path | None) -> None:
    """Write a text to a file, or print it where there is none."""
    from cosched import io

    if path is None:
        click.echo(text, nl=False)
    else:
        io.write_text(text, path)


#: Rows of the table of recommendations on the terminal.
_MAX_ROWS = 12
#: Columns that the terminal has no room for.
_HIDDEN_COLUMNS = (
    "risk", "enough", "nodes", "node_memory_gb", "unused_core_hours", "used_limit_p50",
    "used_memory_p50",
)  # fmt: skip


def _show(
    right_size: cluster.RightSize, recommendations: pd.DataFrame, backtest: pd.DataFrame
) -> None:
    """Print the recommendations for the largest groups, and the backtest."""
    from cosched.cli import report
    from cosched.cluster.sizing.backtest_summary import (
        groups_above_sentence,
        summarise_backtest,
    )
    from cosched.units import format_time_limit

    hidden_columns = [name for name in _HIDDEN_COLUMNS if name in recommendations]
    listed_groups = recommendations.head(_MAX_ROWS).drop(columns=hidden_columns)
    for name in ("asked_limit", "used_limit_p95", "limit"):
        listed_groups[name] = [
            "-" if not value > 0 else format_time_limit(value) for value in listed_groups[name]
        ]
    columns = listed_groups.columns[listed_groups.notna().any()]
    report.show_frame("advice: those first that leave most unused", listed_groups[columns].round(1))
    n_unlisted = len(recommendations) - len(listed_groups)
    if n_unlisted > 0:
        report.say(f"... and {n_unlisted:,} more groups; -o FILE.json has them all")
    n_covered_jobs = recommendations["jobs"][recommendations["enough"]].sum()
    covered_share = n_covered_jobs / max(recommendations["jobs"].sum(), 1)
    report.say(
        f"promised: killed at most {100 * right_size.risk:g}% of the jobs; advice for "
        f"{int(recommendations['enough'].sum()):,} of {len(recommendations):,} groups, "
        f"{covered_share:.0%} of the jobs"
    )
    if len(backtest):
        period = backtest.columns[0]
        report.show_frame(
            f"would it have held? each {period} from what was known before it", backtest
        )
        report.say(groups_above_sentence(summarise_backtest(right_size)))
    else:
        report.say(
            "no backtest: before no day of the log had enough like jobs ended for an advice "
            f"(a risk of {100 * right_size.risk:g}%)"
        )
