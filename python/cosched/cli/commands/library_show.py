"""``cosched library show``: an instance and its record."""

from pathlib import Path

import click

from cosched.cli.command_groups import Command
from cosched.cli.shared_options import instance_name_argument, json_option, output_file_option


@click.command("show", cls=Command)
@instance_name_argument
@output_file_option(".json", help="What --json prints (.json).")
@json_option
def show_instance(name: str, output: Path | None, as_json: bool) -> None:
    """Show an instance and its record.

    \b
    Example: cosched library show dags/cholesky-12-ccr1
    """
    from dataclasses import asdict

    from cosched import io, library
    from cosched.cli import report
    from cosched.core.text import percent
    from cosched.library.records import Finding, gap_of, record_of

    def finding_text(finding: Finding) -> str:
        return f"{finding.algorithm}, by {finding.by}, since {finding.since}"

    record, instance = record_of(name), library.load(name)
    record_table = {
        "name": name,
        "instance": repr(instance),
        "best": asdict(record.best),
        "bound": asdict(record.bound),
        "gap": gap_of(record),
        "history": [asdict(finding) for finding in record.history],
    }
    if output is not None:
        io.write_json(record_table, output)
    if as_json:
        report.print_json(record_table)
        return
    report.say(f"{name}: {instance!r}")
    report.say(f"value {record.best.value:.9g}: {finding_text(record.best)}")
    report.say(f"bound {record.bound.value:.9g}: {finding_text(record.bound)}")
    report.say(f"gap {percent(gap_of(record))}")
    for earlier_finding in reversed(record.history):
        report.say(f"before: {earlier_finding.value:.9g}: {finding_text(earlier_finding)}")
