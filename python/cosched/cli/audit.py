"""``cosched audit``: one page about a log of a batch system."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from cosched import cluster, plot
from cosched.cli import report
from cosched.cli.commands import command_of
from cosched.cli.on_demand import adds
from cosched.cli.values import PICTURES, Plot, check_files, read, time_limit_of_text
from cosched.core import Presentation
from cosched.registry import presentation


def audit(
    of: Presentation,
    file: Path,
    given: dict[str, Any],
    *,
    output: Annotated[Path, typer.Option("-o", "--output", help="The page: .html.")],
    time_limit: Annotated[
        str, typer.Option(help="Seconds for the bound and for each policy, or 'none'.")
    ] = "15",
    what_if: Annotated[
        list[str] | None,
        typer.Option(
            help="Also on another machine: nodes=+20, nodes.TYPE=-4, partition.NAME.max_time="
            "12:00:00, partition.NAME.priority=5, partition.NAME.nodes=64; repeatable, a row each; "
            "several in one row with commas. With a slurm.conf also any line of it: slurm.conf="
            "new.conf, PriorityWeightAge=5000, bf_interval=60, qos.NAME.KEY=, account.NAME.KEY=, "
            "partition.NAME.KEY=, reservation=BEGIN/DURATION/NODES, users.NAME=-50%."
        ),
    ] = None,
    rightsize: Annotated[
        Path | None, typer.Option(help="The page that rightsize wrote, for a link to it.")
    ] = None,
    draws: Annotated[
        int | None, typer.Option(help="Of the clocks of slurm-backfill; default 20 at most.")
    ] = None,
    as_json: Annotated[
        Path | None, typer.Option("--json", help="Fit and what-ifs as numbers, too: .json.")
    ] = None,
    picture: Plot = None,
) -> None:
    check_files((output, (".html",)), (picture, PICTURES), (as_json, (".json",)))
    limit = time_limit_of_text(time_limit)
    instance = read(of, file, given)
    with report.working(f"audit of {file.name}"):
        figure = cluster.audit(
            instance,
            output,
            time_limit=limit,
            what_if=what_if or (),
            rightsize=rightsize,
            draws=draws,
            json=as_json,
        )
        if picture is not None and figure is not None:
            plot.save(figure, picture)
    report.show_notes(instance)
    report.say(f"wrote {output}")


add = adds(audit=command_of(presentation("cluster"), audit))
