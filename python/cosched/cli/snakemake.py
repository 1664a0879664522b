"""``cosched snakemake``: what Snakemake has kept of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cosched import io, workflows
from cosched.cli import report
from cosched.cli.values import RESULTS, check_files
from cosched.core.text import percent
from cosched.errors import InvalidInstance, shorten

app = typer.Typer(help="Snakemake's runs, judged.", no_args_is_help=True)


@app.command("report")
def report_run(
    folder: Annotated[Path, typer.Argument(help="Where Snakemake ran: with .snakemake in it.")],
    cores: Annotated[
        str | None,
        typer.Option("--cores", help="Core counts to judge: 4,8. Default: as run, half, double."),
    ] = None,
    threads: Annotated[
        list[str] | None,
        typer.Option("--threads", help="RULE=COUNT: Snakemake keeps no threads. Repeatable."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write the table too (by its suffix).")
    ] = None,
) -> None:
    """What a finished workflow took, what is the best possible, and what other cores would take.

    From .snakemake/metadata: rule, inputs, outputs, start and end of each job that completed.

    Example: cosched snakemake report . --cores 4,8,16 --threads align=4
    """
    check_files((output, RESULTS))
    past = workflows.Past(workflows.read_snakemake(folder), _counts(threads or ()))
    asked = _cores(cores) if cores is not None else None
    counts = asked or sorted({max(past.cores // 2, 1), past.cores, 2 * past.cores})
    table = past.on(counts)
    if output is not None:
        io.write_frame(table, output)
    gap = past.took / float(past.on([past.cores]).bound[0]) - 1
    report.say(
        f"{len(past.jobs)} jobs ran for {past.took:.1f} s on at most {past.cores} cores at a time: "
        f"{percent(gap)} above the bound for {past.cores}"
    )
    if not threads:
        report.say("note: Snakemake keeps no threads: a core each is assumed (--threads RULE=N)")
    report.say("note: seconds in which nothing ran do not count; memory is not kept")
    report.show_frame("What other core counts would take (s)", table)


def _counts(given: list[str] | tuple[str, ...]) -> dict[str, int]:
    found = {}
    for text in given:
        rule, _, count = text.partition("=")
        if not rule or not count:
            raise InvalidInstance(f"--threads {shorten(text)}: expected RULE=COUNT")
        found[rule] = io.parse_integer(count, f"--threads {shorten(text)}", 1, 2**20)
    return found


def _cores(text: str) -> list[int]:
    return [
        io.parse_integer(part, f"--cores {shorten(text)}", 1, 2**20) for part in text.split(",")
    ]


def add(to: typer.Typer) -> None:
    to.add_typer(app, name="snakemake")
