"""``cosched study verify``: are the files of a study intact?"""

import sys
from pathlib import Path

import click

from cosched.cli.command_groups import Command
from cosched.cli.option_types import InputPath
from cosched.cli.shared_options import json_option, output_file_option
from cosched.errors import printable, require


@click.command("verify", cls=Command)
@click.argument("folder", type=InputPath("folder"), help="The folder that study run -o wrote.")
@output_file_option(".json", help="What --json prints (.json).")
@json_option
@click.pass_context
def verify_study(context: click.Context, folder: Path, output: Path | None, as_json: bool) -> None:
    """Compare the files of a study with the digests that were stored of them.

    Exit code 0: all files are intact; 1: some are corrupted.

    \b
    Example: cosched study verify packs
    """
    require("cloudpickle", "pyarrow", extra="studies")
    from cosched import experiments, io
    from cosched.cli import report

    problems = experiments.verify(folder)
    n_damaged = sum(map(bool, problems.values()))
    if output is not None:
        io.write_json(problems, output)
    if as_json:
        report.print_json(problems)
        context.exit(1 if n_damaged else 0)
    for name, damage in problems.items():
        report.say(f"{folder / name}: {f'DAMAGED: {damage}' if damage else 'whole'}")
    if n_damaged:
        print(
            f"{printable(folder)}: {n_damaged} of {len(problems)} files are damaged: `cosched "
            "study run` with --resume runs again what is lost",
            file=sys.stderr,
        )
        context.exit(1)
    report.say(f"{folder}: all {len(problems)} files are whole")
