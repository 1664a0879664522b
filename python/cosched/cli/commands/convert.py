"""``cosched convert``: a job log of any format in another one."""

from pathlib import Path
from typing import Any

import click

from cosched.cli.command_groups import Command
from cosched.cli.families import read_instance
from cosched.cli.option_types import InputPath
from cosched.cli.shared_options import (
    log_options,
    output_file_option,
    output_option,
    require_output,
)


@click.command("convert", cls=Command)
@click.argument("file", type=InputPath(), help="The job log.")
@log_options()
@output_option(
    "--anonymise",
    is_flag=True,
    help="Numbers instead of the names of users, groups, accounts, partitions and QOS; no other "
    "texts.",
)
@output_file_option(
    ".swf", ".csv", ".json", ".parquet", help="The log: .swf, .csv, .json or .parquet."
)
def convert(file: Path, anonymise: bool, output: Path | None, **log_values: Any) -> None:
    """Convert a job log of any format to SWF, CSV, JSON or Parquet.

    \b
    Example: cosched convert sacct.txt --machine slurm.conf --anonymise -o log.swf
    """
    from cosched.cli import report
    from cosched.core.text import count_of

    path = require_output(output, "the log (.swf, .csv, .json or .parquet)")
    instance = read_instance("cluster", file, log_values)
    notes = instance.write(path, anonymise=anonymise)
    report.show_notes(instance)
    for text in notes:
        report.note(text)
    report.say(f"wrote {path}: {count_of(len(instance), 'job')}")
