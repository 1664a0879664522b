"""``cosched snapshot``: a cluster at this moment, as a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cosched import io
from cosched.cli import report
from cosched.cli.on_demand import adds
from cosched.cli.values import check_files
from cosched.slurm.live import Snapshot
from cosched.slurm.live.outputs import asked, collected, days_of


def snapshot(
    output: Annotated[Path, typer.Option("-o", "--output", help="The snapshot: .json.")],
    folder: Annotated[
        Path | None,
        typer.Option(
            "--from", help="Outputs that were collected by hand, instead of asking Slurm."
        ),
    ] = None,
    history: Annotated[
        str | None,
        typer.Option(help="The past: days, as 14d (asks sacct), or a file that sacct -P printed."),
    ] = None,
    anonymise: Annotated[
        bool,
        typer.Option(
            "--anonymise", help="What `when` reads and nothing else, with numbers for all names."
        ),
    ] = False,
    timezone: Annotated[
        str | None, typer.Option(help="Of the dates of --from, as Europe/Stockholm.")
    ] = None,
) -> None:
    check_files((output, (".json",)))
    days = days_of(history) if history is not None else None
    if folder is not None:
        texts, said = collected(folder)
    else:
        with report.working("asking Slurm"):
            texts, said = asked(days)
    if history is not None and days is None:
        texts["sacct.txt"] = io.read_text(history)
    found = Snapshot.of_texts(texts, str(folder or "Slurm"), said, timezone)
    (found.anonymised() if anonymise else found).write(output)
    for line in found.missing:
        report.say(f"note: {line}")
    report.say(
        f"wrote {output}: {len(found.running)} jobs run, {len(found.pending)} wait, "
        f"{len(found.history)} of the past"
    )


add = adds(snapshot=snapshot)
