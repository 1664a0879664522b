"""``cosched snapshot``: the state of a Slurm in a file."""

from pathlib import Path

import click

from cosched.cli.groups import Command
from cosched.cli.option_types import InputPath
from cosched.cli.options import input_option, output_file_option, output_option, require_output


@click.command("snapshot", cls=Command)
@input_option(
    "--from",
    "folder",
    type=InputPath("folder"),
    help="Outputs that were collected by hand, instead of asking Slurm.",
)
@input_option(
    "--history",
    metavar="DAYS|FILE",
    help="Job history: days, as 14d (asks sacct), or a file that sacct -P printed.",
)
@input_option(
    "--timezone",
    metavar="ZONE",
    help="Time zone of the dates of --from, such as Europe/Stockholm.",
)
@output_option(
    "--anonymise", is_flag=True, help="Only what when reads, with numbers instead of all names."
)
@output_file_option(".json", help="The snapshot (.json).")
def snapshot(
    folder: Path | None,
    history: str | None,
    timezone: str | None,
    anonymise: bool,
    output: Path | None,
) -> None:
    """Save the current Slurm state (read-only) for when.

    A snapshot has what a user may see: jobs, nodes, priorities, shares, limits. Nothing is sent
    anywhere.

    \b
    Example: cosched snapshot -o now.json --history 14d
    """
    from cosched import io
    from cosched.cli import report
    from cosched.slurm.live import Snapshot
    from cosched.slurm.live.outputs import days_of, query_slurm, read_outputs

    path = require_output(output, "the snapshot (.json)")
    days = days_of(history) if history is not None else None
    if folder is not None:
        texts, messages = read_outputs(folder)
    else:
        with report.working("asking Slurm"):
            texts, messages = query_slurm(days)
    if history is not None and days is None:
        texts["sacct.txt"] = io.read_text(history)
    state = Snapshot.of_texts(texts, str(folder or "Slurm"), messages, timezone)
    (state.anonymised() if anonymise else state).write(path)
    for text in state.missing:
        report.note(text)
    report.say(
        f"wrote {path}: {len(state.running)} jobs run, {len(state.pending)} wait, "
        f"{len(state.history)} of the past"
    )
