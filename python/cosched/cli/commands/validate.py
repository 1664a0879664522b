"""``cosched validate``: a schedule, or the record of a run, against its instance."""

from pathlib import Path
from typing import Any

import click

from cosched.cli.command_groups import CommandGroup
from cosched.cli.families import family_commands, read_instance
from cosched.cli.option_types import InputPath
from cosched.cli.shared_options import TABLE_SUFFIXES, json_option, output_file_option

validate = CommandGroup(
    "validate",
    help="Check a schedule against its instance.",
    epilog="Example: cosched validate packs times.csv plan.json --max-tasks 4",
)


@family_commands(validate, "cosched validate {family} {file} plan.json {arguments}")
@click.argument("schedule", type=InputPath(), help="What solve -o wrote (.json, .csv), or run -o.")
@output_file_option(*TABLE_SUFFIXES, help="The numbers that were checked: .csv, .json or .md.")
@json_option
def validate_schedule(
    family: str,
    file: Path,
    schedule: Path,
    output: Path | None,
    as_json: bool,
    **instance_options: Any,
) -> None:
    from cosched import io
    from cosched.cli import report
    from cosched.cli.schedule_files import check_file
    from cosched.errors import InvalidInstance, InvalidSchedule
    from cosched.lazy import pd
    from cosched.registry import presentation

    of = presentation(family)
    instance = read_instance(family, file, instance_options)
    try:
        numbers, sentence = check_file(of, instance, schedule)
    except (InvalidSchedule, InvalidInstance) as error:
        message = str(error)
        prefix = "" if message.startswith(f"{schedule}: ") else f"{schedule}: "
        raise InvalidSchedule(prefix + message) from None
    if output is not None and output.suffix == ".json":
        io.write_json(numbers, output)
    elif output is not None:
        io.write_frame(pd.DataFrame([numbers]), output)
    if as_json:
        report.print_json(numbers)
    else:
        report.say(sentence)
