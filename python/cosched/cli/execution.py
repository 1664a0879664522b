"""``cosched run``: plans as processes. What a user gave is checked before anything starts."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from cosched import io, plot
from cosched.cli import report
from cosched.cli.live import show_end, watching
from cosched.cli.values import PICTURES, check_files
from cosched.core.text import printable
from cosched.execution import Codes, Plan, commands
from cosched.execution import run as run_plan

EXAMPLES = {
    "run": "cosched run plan.json --codes codes.toml -o execution.json --plot execution.png",
}

CodesFile = Annotated[
    Path, typer.Option("--codes", help="TOML file of the codes.", show_default=False)
]
Launcher = Annotated[
    str, typer.Option("--launcher", help="local (cores of this host) or slurm (this allocation).")
]
Unit = Annotated[
    str, typer.Option("--unit", help="What a processor of the plan is: core or node (slurm).")
]
Oversubscribe = Annotated[
    bool, typer.Option("--oversubscribe", help="Let processors share cores where there are few.")
]


def run(
    plan: Annotated[Path, typer.Argument(help="What `plan -o` or `solve -o` wrote (.json).")],
    codes: CodesFile,
    launcher: Launcher = "local",
    unit: Unit = "core",
    no_barrier: Annotated[
        bool,
        typer.Option("--no-barrier", help="Packs: start a task when its processors are free."),
    ] = False,
    journal: Annotated[
        Path | None, typer.Option("--journal", help="Default: PLAN.journal.jsonl beside the plan.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the journal: what has not completed.")
    ] = False,
    replan: Annotated[
        str | None,
        typer.Option("--replan", help="Plan the rest anew when a task is off by this share: 0.2."),
    ] = None,
    stop_on_failure: Annotated[
        bool, typer.Option("--stop-on-failure", help="Start nothing more after a failure.")
    ] = False,
    oversubscribe: Oversubscribe = False,
    grace: Annotated[
        str, typer.Option("--grace", help="Seconds from asking a task to end to killing it.")
    ] = "5",
    outputs: Annotated[
        Path | None, typer.Option("--outputs", help="Folder of the tasks' outputs.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print every command with its pinning; run nothing.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write the record (.json).")
    ] = None,
    picture: Annotated[
        Path | None, typer.Option("--plot", help="Planned above real: .png, .svg or .pdf.")
    ] = None,
) -> None:
    check_files((output, (".json",)), (picture, PICTURES))
    given = Codes.read(codes)
    todo = Plan.read(plan, list(given))
    if dry_run:
        _show_commands(todo, given, launcher, oversubscribe, unit)
        return
    book = plan.with_suffix(".journal.jsonl") if journal is None else journal
    with _interrupts(), watching() as watch:
        execution = run_plan(
            todo,
            given,
            launcher,
            barrier=not no_barrier,
            journal=book,
            resume=resume,
            replan=None if replan is None else io.parse_positive(replan, "--replan", "a share"),
            stop_on_failure=stop_on_failure,
            oversubscribe=oversubscribe,
            unit=unit,
            grace=io.parse_nonnegative(grace, "--grace"),
            outputs=outputs,
            watch=watch,
        )
    show_end(execution)
    if output is not None:
        execution.write(output)
    if picture is not None:
        import matplotlib

        matplotlib.use("Agg")
        plot.save(plot.execution(execution), picture)
    if not execution.good:
        raise typer.Exit(1)


def _show_commands(plan: Plan, codes: Codes, launcher: str, oversubscribe: bool, unit: str) -> None:
    frame = commands(plan, codes, launcher, oversubscribe=oversubscribe, unit=unit)
    for row in frame.to_dict("records"):
        pinned = f" on cores {row['cores']}" if row["cores"] else ""
        report.say(f"{row['start']:10.3f} s  {row['name']}{pinned}: {row['command']}")


@contextmanager
def _interrupts() -> Iterator[None]:
    """Exit code 130 and what was said; typer would end without a word. SIGTERM as Ctrl-C."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt as stop:
        print(
            printable(f"cosched: {stop}" if str(stop) else "cosched: interrupted"), file=sys.stderr
        )
        raise typer.Exit(130) from None
    finally:
        signal.signal(signal.SIGTERM, before)


def add(app: typer.Typer) -> None:
    """The commands of this file."""
    app.command("run", help=f"Run a plan.\n\nExample: {EXAMPLES['run']}")(run)


__all__ = ["EXAMPLES", "add"]
