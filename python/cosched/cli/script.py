"""``cosched script``: a plan as a script for sbatch."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from cosched import execution, io
from cosched.cli import report
from cosched.cli.arguments import Arguments
from cosched.cli.commands import in_groups
from cosched.cli.groups import CodesFile, PlanFile
from cosched.cli.on_demand import adds
from cosched.execution.codes import Codes
from cosched.execution.planned import Plan


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


add = adds(script=in_groups(script))
