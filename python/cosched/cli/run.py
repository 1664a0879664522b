"""``cosched run``, ``cosched script``: a plan becomes processes, or a script for sbatch."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from cosched import execution, io
from cosched.cli import report
from cosched.cli.arguments import Arguments
from cosched.cli.commands import in_groups
from cosched.cli.groups import CodesFile, PlanFile, Where, Written
from cosched.cli.live import show_end, watching
from cosched.cli.on_demand import adds
from cosched.execution.codes import Codes
from cosched.execution.planned import Plan

_ARGUMENTS = ("resume", "again", "limit_factor", "replan", "stop_on_failure", "outputs")


def run(
    plan: PlanFile,
    codes: CodesFile,
    where: Where,
    given: Annotated[dict[str, Any], Arguments(execution.run, *_ARGUMENTS)],
    written: Written,
    no_barrier: Annotated[
        bool,
        typer.Option("--no-barrier", help="Packs: start a task when its processors are free."),
    ] = False,
    journal: Annotated[
        Path | None, typer.Option("--journal", help="Default: PLAN.journal.jsonl beside the plan.")
    ] = None,
    grace: Annotated[
        str, typer.Option("--grace", help="Seconds from asking a task to end to killing it.")
    ] = "5",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print every command with its pinning; run nothing.")
    ] = False,
) -> None:
    written.check()
    read = Codes.read(codes)
    todo = Plan.read(plan, list(read))
    kept = journal or plan.with_suffix(".journal.jsonl")
    if dry_run:
        goes_on = given["resume"] and kept.exists()
        _show_commands(todo, read, where, kept if goes_on else None)
        return
    said: list[str] = []
    try:
        with watching() as watch:
            ran = execution.run(
                todo,
                read,
                where.made(grace=io.parse_nonnegative(grace, "--grace")),
                barrier=not no_barrier,
                journal=kept,
                watch=watch,
                tell=report.complain,
                done=lambda record: said.extend(written.measure(record, kept, read)),
                **given,
            )
    finally:
        for line in said:
            report.say(line)
    written.write(ran)
    show_end(ran)
    if not ran.good:
        raise typer.Exit(1)


def _show_commands(plan: Plan, codes: Codes, where: Where, journal: Path | None) -> None:
    rows = execution.commands(plan, codes, where.made(), journal=journal)
    if left := len(plan.steps) - len(rows):
        report.say(f"{left} of {len(plan.steps)} tasks completed: {journal}")
    for row in rows:
        pinned = f" on cores {row.cores}" if row.cores else ""
        report.say(f"{row.start:10.3f} s  {row.name}{pinned}: {row.command}")


def script(
    plan: PlanFile,
    codes: CodesFile,
    job: Annotated[
        dict[str, Any],
        Arguments(execution.Job, "time", "partition", "account", "chdir", "mem"),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="The script, for sbatch.")],
    given: Annotated[dict[str, Any], Arguments(execution.script, "unit", "nodes", "cpus_per_node")],
) -> None:
    read, asked = Codes.read(codes), execution.Job(**job)
    text = execution.script(
        Plan.read(plan, list(read)),
        read,
        name=plan.stem,
        job=asked,
        relative_to=asked.chdir or Path.cwd(),
        **given,
    )
    io.write_text(text, output)
    report.say(f"wrote {output}: {shlex.join(['sbatch', str(output)])}")


add = adds(run=in_groups(run), script=in_groups(script))
