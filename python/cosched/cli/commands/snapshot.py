"""``cosched snapshot``: the state of a Slurm in a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cosched.cli.command_groups import Command
from cosched.cli.option_types import InputPath, Seconds
from cosched.cli.shared_options import (
    input_option,
    output_file_option,
    output_option,
    require_output,
)

if TYPE_CHECKING:
    from cosched.slurm.live import Snapshot


@click.command("snapshot", cls=Command)
@input_option(
    "--from",
    "folder",
    type=InputPath("folder"),
    help="Outputs that were collected by hand, instead of asking Slurm; with --rest: for what "
    "slurmrestd does not offer.",
)
@input_option(
    "--rest",
    "rest_url",
    metavar="URL",
    help="Address of a slurmrestd, as https://head:6820, instead of the commands. The token is "
    "that of SLURM_JWT, the user that of SLURM_USER_NAME, else USER.",
)
@input_option(
    "--rest-version",
    metavar="VERSION",
    help="Version of slurmrestd's interface, 0.0.37 to 0.0.43; default: the newest that it offers.",
)
@input_option(
    "--timeout",
    type=Seconds(),
    help="Longest time that slurmrestd may take for one answer; default: 60 s.",
)
@input_option(
    "--allow-http",
    is_flag=True,
    help="Ask without TLS on another host, too: the token can then be read on its way.",
)
@input_option(
    "--history",
    metavar="DAYS|FILE",
    help="Job history: days, as 14d (asks sacct or slurmrestd), or a file that sacct -P printed.",
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
    rest_url: str | None,
    rest_version: str | None,
    timeout: float | None,
    allow_http: bool,
    history: str | None,
    timezone: str | None,
    anonymise: bool,
    output: Path | None,
) -> None:
    """Save the current Slurm state (read-only) for when.

    A snapshot has what a user may see: jobs, nodes, priorities, shares, limits. Nothing is sent
    anywhere. With --rest slurmrestd is asked instead of the commands; the token is in no file and
    in no message.

    \b
    Examples:
      cosched snapshot -o now.json --history 14d
      export $(scontrol token); cosched snapshot --rest https://head:6820 -o now.json
    """
    from cosched.cli import report

    path = require_output(output, "the snapshot (.json)")
    if rest_url is None:
        _refuse_without_rest(
            {"--rest-version": rest_version, "--timeout": timeout, "--allow-http": allow_http}
        )
        state = _ask_commands(folder, history, timezone)
    else:
        state = _ask_rest(rest_url, rest_version, timeout, allow_http, folder, history, timezone)
    (state.anonymised() if anonymise else state).write(path)
    for text in state.missing:
        report.note(text)
    report.say(
        f"wrote {path}: {len(state.running)} jobs run, {len(state.pending)} wait, "
        f"{len(state.history)} of the past"
    )


def _refuse_without_rest(values: Mapping[str, object]) -> None:
    """Refuse options of slurmrestd where the commands are asked."""
    for option, value in values.items():
        if value:
            raise click.UsageError(f"{option} is for --rest only")


def _ask_commands(folder: Path | None, history: str | None, timezone: str | None) -> Snapshot:
    """Ask the commands of Slurm, or read what they printed."""
    from cosched import io
    from cosched.cli import report
    from cosched.slurm.live import Snapshot
    from cosched.slurm.live.command_outputs import days_of, query_slurm, read_outputs

    days = days_of(history) if history is not None else None
    if folder is not None:
        texts, messages = read_outputs(folder)
    else:
        with report.working("asking Slurm"):
            texts, messages = query_slurm(days)
    if history is not None and days is None:
        texts["sacct.txt"] = io.read_text(history)
    return Snapshot.of_texts(texts, str(folder or "Slurm"), messages, timezone)


def _ask_rest(
    url: str,
    version: str | None,
    timeout: float | None,
    allow_http: bool,
    folder: Path | None,
    history: str | None,
    timezone: str | None,
) -> Snapshot:
    """Ask slurmrestd."""
    from cosched.cli import report
    from cosched.slurm.live import Snapshot
    from cosched.slurm.live.command_outputs import days_of
    from cosched.slurm.live.rest.client import DEFAULT_TIMEOUT

    days = days_of(history) if history is not None else None
    if history is not None and days is None:
        raise click.UsageError(
            "--history FILE is not for --rest: put it as sacct.txt into a folder (--from), or "
            "expected days, as 14d"
        )
    with report.working("asking slurmrestd"):
        return Snapshot.ask_rest(
            url,
            history=days,
            folder=folder,
            timezone=timezone,
            version=version,
            allow_http=allow_http,
            timeout=DEFAULT_TIMEOUT if timeout is None else timeout,
        )
