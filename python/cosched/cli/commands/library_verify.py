"""``cosched library verify``: do the records hold?"""

from pathlib import Path

import click

from cosched.cli.command_groups import Command
from cosched.cli.option_types import InputPath
from cosched.cli.shared_options import (
    TABLE_SUFFIXES,
    analysis_option,
    input_option,
    json_option,
    output_file_option,
)


@click.command("verify", cls=Command)
@click.argument("name", required=False, help="Name of an instance; default: all.")
@input_option(
    "--folder",
    type=InputPath("folder"),
    help="Records that submit wrote; default: those of the package.",
)
@analysis_option(
    "--thorough",
    is_flag=True,
    help="Repeat proofs that are searches, too, and run the default search of the class against "
    "each record with a gap.",
)
@output_file_option(*TABLE_SUFFIXES, help="The table: .csv, .json or .md.")
@json_option
@click.pass_context
def verify_records(
    context: click.Context,
    name: str | None,
    folder: Path | None,
    thorough: bool,
    output: Path | None,
    as_json: bool,
) -> None:
    """Check values by the validators, and bounds by their certificates.

    Exit code 0: all hold; 1: some do not, or a default search finds better ones.

    \b
    Example: cosched library verify
    """
    from cosched import io, library
    from cosched.cli import report

    frame = library.verify(name, thorough=thorough, folder=folder)
    wrong_rows = frame[frame.status.isin(("wrong", "beaten"))]
    if output is not None:
        io.write_frame(frame, output)
    if as_json:
        report.print_json(frame.to_dict("records"))
        context.exit(1 if len(wrong_rows) else 0)
    for row in wrong_rows.itertuples():
        report.say(f"{row.name}: {row.message}")
    n_searched = int((frame.status == "value").sum())
    searched_note = f" ({n_searched} bounds are proofs by search: --thorough)" if n_searched else ""
    report.say(f"{len(frame) - len(wrong_rows)} of {len(frame)} records hold{searched_note}")
    context.exit(1 if len(wrong_rows) else 0)
