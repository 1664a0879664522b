"""``cosched generate`` and ``cosched fetch``: instances from generators and archives."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cosched.cli.values import Options, Seed, parse_options, required, seed_of_text
from cosched.errors import InvalidInstance


def generate(
    workload: Annotated[str, typer.Argument(help="Name; unknown names list the known ones.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="File to write (.csv, .json).")],
    seed: Seed = "0",
    option: Options = None,
) -> None:
    from cosched import io, report
    from cosched.core.family import _near
    from cosched.workloads import WORKLOADS

    name = workload.replace("-", "_")
    if name not in WORKLOADS:
        raise InvalidInstance(_near("workload", workload, WORKLOADS))
    with report.working(name):
        made = WORKLOADS[name](seed=seed_of_text(seed), **parse_options(option))
    if hasattr(made, "write"):
        made.write(output)
    else:
        io.write_frame(made, output)
    typer.echo(f"wrote {output}: {made if hasattr(made, 'write') else f'{len(made)} rows'}")


def fetch(
    name: Annotated[str | None, typer.Argument(help="Name of a log; see --list.")] = None,
    out: Annotated[Path, typer.Option("--out", help="Existing folder to write into.")] = Path("."),
    list_: Annotated[bool, typer.Option("--list", help="Show the known logs and stop.")] = False,
) -> None:
    from cosched import report, workloads

    if list_:
        for known, log in workloads.LOGS.items():
            typer.echo(f"{known:16} {log.about}\n{'':16} {log.url}")
        return
    name = name or required("NAME", workloads.LOGS)
    with report.working(f"fetching {name}"):
        path = workloads.fetch(name, out)
    typer.echo(f"wrote {path}")
