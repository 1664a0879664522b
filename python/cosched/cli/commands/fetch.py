"""``cosched fetch``: logs of the Parallel Workloads Archive."""

from pathlib import Path

import click

from cosched.cli.command_groups import Command
from cosched.cli.option_types import OutputFolder
from cosched.cli.shared_options import input_option, json_option, output_option


@click.command("fetch", cls=Command)
@click.argument("name", required=False, help="Name of a log; see --list.")
@input_option("--list", "is_list", is_flag=True, help="Show the known logs and stop.")
@input_option("--all", "is_all", is_flag=True, help="Download every log of --list.")
@output_option(
    "-o",
    "--output",
    "--out",
    "folder",
    type=OutputFolder(),
    default=".",
    show_default=True,
    help="Existing folder to write into.",
)
@json_option
def fetch(name: str | None, is_list: bool, is_all: bool, folder: Path, as_json: bool) -> None:
    """Download logs of the Parallel Workloads Archive.

    The checksum of each file is verified.

    \b
    Example: cosched fetch HPC2N-2002 -o logs
    """
    from cosched import workloads
    from cosched.cli import report
    from cosched.cli.parameters import require_name

    if is_list:
        if as_json:
            report.print_json(
                [
                    {"name": log_name, "about": log.about, "url": log.url}
                    for log_name, log in workloads.LOGS.items()
                ]
            )
            return
        for log_name, log in workloads.LOGS.items():
            report.say(f"{log_name:16} {log.about}")
            report.say(f"{'':16} {log.url}")
        return
    if is_all:
        names = list(workloads.LOGS)
    elif name is not None:
        names = [name]
    else:
        require_name("NAME", workloads.LOGS)
    paths = []
    for log_name in names:
        with report.working(f"fetching {log_name}"):
            paths.append(workloads.fetch(log_name, folder))
        if not as_json:
            report.say(f"wrote {paths[-1]}")
    if as_json:
        report.print_json([str(path) for path in paths])
