"""``cosched plan``: the best plan found for measured codes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import cosched  # cosched.plot is imported when something is drawn
from cosched import execution, io
from cosched.cli import report
from cosched.cli.arguments import Arguments
from cosched.cli.commands import in_groups
from cosched.cli.on_demand import adds
from cosched.cli.values import PICTURES, Plot, Seed, check_files, seed_of_text
from cosched.execution.advice import command_to_run
from cosched.execution.codes import Codes

_ARGUMENTS = ("procs", "counts", "slowdowns", "slowdown", "missing", "memory_margin", "strict")


def plan(
    runs: Annotated[Path, typer.Argument(help="Measurements (.csv), as `profile` writes them.")],
    given: Annotated[dict[str, Any], Arguments(execution.plan, *_ARGUMENTS)],
    codes: Annotated[
        Path | None, typer.Option("--codes", help="TOML file: counts and weights of the codes.")
    ] = None,
    seed: Seed = "0",
    output: Annotated[Path | None, typer.Option("-o", "--output", help="The plan (.json).")] = None,
    picture: Plot = None,
) -> None:
    check_files((output, (".json",)), (picture, PICTURES))
    read = None if codes is None else Codes.read(codes)
    with report.working("plan"):
        advice = execution.plan(runs, read, seed=seed_of_text(seed), **given)
    if output is not None:
        io.write_json(advice.to_dict(), output)
    if picture is not None:
        import matplotlib

        matplotlib.use("Agg")
        cosched.plot.save(cosched.plot.gantt(advice.result.schedule), picture)
    for line in advice.lines():
        report.say(line)
    report.say(f"run it: {command_to_run(output or 'plan.json', codes)}")


add = adds(plan=in_groups(plan))
