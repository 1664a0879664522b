"""``cosched audit``: one page about a log of a batch system."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from cosched import cluster, plot
from cosched.cli import report
from cosched.cli.arguments import Arguments
from cosched.cli.commands import command_of
from cosched.cli.on_demand import adds
from cosched.cli.values import PICTURES, Plot, check_files, read
from cosched.core import Presentation
from cosched.registry import presentation

_ARGUMENTS = ("time_limit", "what_if", "rightsize", "draws", "json")


def audit(
    of: Presentation,
    file: Path,
    given: dict[str, Any],
    *,
    output: Annotated[Path, typer.Option("-o", "--output", help="The page: .html.")],
    options: Annotated[dict[str, Any], Arguments(cluster.audit, *_ARGUMENTS)],
    picture: Plot = None,
) -> None:
    check_files((output, (".html",)), (picture, PICTURES), (options["json"], (".json",)))
    instance = read(of, file, given)
    with report.working(f"audit of {file.name}"):
        figure = cluster.audit(instance, output, **options)
        if picture is not None and figure is not None:
            plot.save(figure, picture)
    report.show_notes(instance)
    report.say(f"wrote {output}")


add = adds(audit=command_of(presentation("cluster"), audit))
