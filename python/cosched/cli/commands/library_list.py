"""``cosched library list``: the instances with their gaps."""

from pathlib import Path

import click

from cosched.cli.command_groups import Command
from cosched.cli.shared_options import TABLE_SUFFIXES, json_option, output_file_option


@click.command("list", cls=Command)
@click.argument("family", required=False, help="Only instances of one problem class.")
@output_file_option(*TABLE_SUFFIXES, help="The table: .csv, .json or .md.")
@json_option
def list_instances(family: str | None, output: Path | None, as_json: bool) -> None:
    """List values, bounds and gaps, the largest gap first.

    \b
    Example: cosched library list dags
    """
    from cosched import io, library
    from cosched.cli import report
    from cosched.core.text import percent, unknown_name
    from cosched.errors import InvalidInstance

    frame = library.list()
    if family is not None:
        families = frame.family.unique().tolist()
        if family not in families:
            raise InvalidInstance(unknown_name("family", family, families))
        frame = frame[frame.family == family]
    frame = frame.sort_values("gap", ascending=False, kind="stable")
    if output is not None:
        io.write_frame(frame, output)
    if as_json:
        report.print_json(frame.to_dict("records"))
    elif output is None:
        report.show_frame("library", frame)
    else:
        widest = frame.iloc[0]
        report.say(
            f"{len(frame)} instances, the largest gap {percent(widest.gap)} ({widest['name']})"
        )
        report.hint(f"wrote {output}")
