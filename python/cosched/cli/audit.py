"""``cosched audit``: one page about a log of a batch system."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Annotated, Any

import typer

from cosched import cluster, io
from cosched.cli import report
from cosched.cli.commands import parameters_of
from cosched.cli.values import check_files, read, time_limit_of_text

EXAMPLE = "cosched audit trace.swf.gz --convention rigid -o audit.html"


def audit(
    file: Path,
    given: dict[str, Any],
    *,
    output: Annotated[Path, typer.Option("-o", "--output", help="The page: .html.")],
    time_limit: Annotated[
        str, typer.Option(help="Seconds for the bound and for each policy, or 'none'.")
    ] = "15",
) -> None:
    check_files((output, (".html",)))
    limit = time_limit_of_text(time_limit)
    instance = read(cluster.FAMILY, file, given)
    report.show_notes(instance)
    with report.working(f"audit of {file.name}"):
        cluster.audit(instance, output, time_limit=limit)
    report.say(f"wrote {output}")


def add(app: typer.Typer) -> None:
    """The command, with the arguments of the cluster family."""
    of = cluster.FAMILY
    signature = inspect.signature(audit, eval_str=True)
    own = [p for p in signature.parameters.values() if p.kind is p.KEYWORD_ONLY]

    def command(**given: Any) -> None:
        keywords = {argument.keyword for argument in of.arguments}
        of_family = {key: given.pop(key) for key in list(given) if key in keywords}
        with io.max_bytes(given.pop("max_bytes")):
            audit(given.pop("file"), of_family, **given)

    parameters = parameters_of(of, own, ())
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    command.__doc__ = (
        "One page about a log: what happened beside other policies and the bound, waits, reasons."
        f"\n\nExample: {EXAMPLE}"
    )
    app.command("audit")(command)
