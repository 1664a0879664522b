"""``cosched library submit``: a better schedule for the records."""

from pathlib import Path

import click

from cosched.cli.command_groups import Command
from cosched.cli.option_types import InputPath, OutputFolder
from cosched.cli.shared_options import input_option, instance_name_argument, output_option


@click.command("submit", cls=Command)
@instance_name_argument
@click.argument("schedule", type=InputPath(), help="What solve -o schedule.json wrote.")
@input_option("--by", metavar="NAME", required=True, help="Who found it.")
@output_option(
    "-o",
    "--output",
    "--folder",
    "folder",
    type=OutputFolder(),
    help="Where the record is written; default, and only in a clone: the package's records.",
)
def submit_schedule(name: str, schedule: Path, by: str, folder: Path | None) -> None:
    """Put a better schedule into the records, and print its pull request.

    The commands, the title and the text of the pull request are printed. A schedule that is not
    valid, or not better, is refused.

    \b
    Example: cosched library submit packs/ii-33-p16-s1 schedule.json --by 'Ada Lovelace' -o records
    """
    from cosched import library
    from cosched.cli import report
    from cosched.errors import InvalidInstance, InvalidSchedule
    from cosched.library.pull_request import pull_request
    from cosched.library.records import is_source_tree, record_of

    if folder is None and not is_source_tree():
        raise InvalidInstance(
            "--folder: expected a folder for the new record, as the package is installed"
        )
    try:
        path = library.submit(name, schedule, by, folder=folder)
    except InvalidSchedule as error:
        raise InvalidSchedule(f"{schedule}: {error}") from None
    report.say(f"{path}: a new record")
    for line in pull_request(record_of(name, path.parents[1]), path).lines():
        report.say(line)
