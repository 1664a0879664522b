"""``cosched rightsize``: what jobs should ask for, and what that gives everybody."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from cosched import cluster, io
from cosched.cli import report
from cosched.cli.arguments import Arguments
from cosched.cli.commands import command_of
from cosched.cli.on_demand import adds
from cosched.cli.values import check_files, read
from cosched.cluster.sizing.exports import FORMS, export, limit_as_typed
from cosched.cluster.sizing.page import above_the_promise
from cosched.core import Presentation
from cosched.errors import InvalidInstance, shorten
from cosched.execution.needs import toml_of
from cosched.lazy import pd
from cosched.registry import presentation

_ROWS = 12
_HIDDEN = ("risk", "enough", "nodes", "node_memory_gb", "unused_core_hours", "used_limit_p50",
           "used_memory_p50")  # fmt: skip


def rightsize(
    of: Presentation,
    file: Path,
    given: dict[str, Any],
    *,
    promise: Annotated[dict[str, Any], Arguments(cluster.rightsize, "risk", "by")],
    limits: Annotated[dict[str, Any], Arguments(cluster.RightSize.replay, "time_limit")],
    form: Annotated[
        str | None,
        typer.Option("--export", help=f"The advice for {', '.join(FORMS)}; codes, of runs.csv."),
    ] = None,
    as_json: Annotated[
        Path | None, typer.Option("--json", help="Advice and backtest as data: .json.")
    ] = None,
    user: Annotated[
        str | None, typer.Option(help="Advice for one user: a page, or text for a mail.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="The page: .html; --user: .txt, too; or the export."),
    ] = None,
) -> None:
    pages = (".html", *([".txt"] if user is not None else []))
    check_files((as_json, (".json",)), (output if form is None else None, pages))
    if form is not None and form not in (*FORMS, "codes"):
        raise InvalidInstance(f"--export {shorten(form)}: expected {', '.join(FORMS)}, codes")
    if form == "codes":
        for option, value in (("--user", user), ("--json", as_json), ("--by", promise["by"])):
            if value is not None:
                raise InvalidInstance(f"{option} does not apply to --export codes")
        _hand_out(toml_of(file, promise["risk"]), output)
        return
    instance = read(of, file, given)
    with report.working(f"right sizes of {file.name}"):
        found = cluster.rightsize(instance, **promise)
        advice = found.advice_for(user)
        held = found.backtest()
    if as_json is not None:
        tables = {"advice": advice, "backtest": held}
        rows = {name: io.plain(table.to_dict("records")) for name, table in tables.items()}
        io.write_json({"risk": found.risk, "by": list(found.use.names), **rows}, as_json)
    if form is not None:
        _hand_out(export(advice, form, found.risk), output)
        return
    if user is not None and output is None:
        with report.working("schedules"):
            text = found.mail(user, **limits)
        typer.echo(text, nl=False)
        return
    report.show_notes(instance)
    if user is None:
        _show(found, advice, held)
    if output is not None:
        with report.working("schedules"):
            found.write(output, user, **limits)
        report.say(f"wrote {output}")


def _hand_out(text: str, output: Path | None) -> None:
    if output is None:
        typer.echo(text, nl=False)
    else:
        io.write_text(text, output)


def _show(found: cluster.RightSize, advice: pd.DataFrame, held: pd.DataFrame) -> None:
    shown = advice.head(_ROWS).drop(columns=[name for name in _HIDDEN if name in advice])
    for name in ("asked_limit", "used_limit_p95", "limit"):
        shown[name] = ["-" if not value > 0 else limit_as_typed(value) for value in shown[name]]
    known = shown.columns[shown.notna().any()]
    report.show_frame("advice: those first that leave most unused", shown[known].round(1))
    if len(advice) > len(shown):
        report.say(f"... and {len(advice) - len(shown):,} more groups; --json FILE has them all")
    covered = advice["jobs"][advice["enough"]].sum() / max(advice["jobs"].sum(), 1)
    report.say(
        f"promised: killed at most {100 * found.risk:g}% of the jobs; advice for "
        f"{int(advice['enough'].sum()):,} of {len(advice):,} groups, {covered:.0%} of the jobs"
    )
    if len(held):
        report.show_frame("would it have held? each month from what was known before it", held)
        report.say(above_the_promise(found))
    else:
        report.say("no backtest: the log is of one month")


add = adds(rightsize=command_of(presentation("cluster"), rightsize))
