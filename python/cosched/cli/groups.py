"""Options of the commands that run codes, in groups: each a value that the command gets whole."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

import cosched  # cosched.plot is imported when something is drawn
from cosched import execution
from cosched.cli.values import PICTURES, check_files
from cosched.execution.executions import append_executions
from cosched.execution.journal import read_past
from cosched.execution.launchers import Launcher, launcher_of
from cosched.execution.runs import append_execution

CodesFile = Annotated[
    Path, typer.Option("--codes", help="TOML file of the codes.", show_default=False)
]
PlanFile = Annotated[Path, typer.Argument(help="What `plan -o` or `solve -o` wrote (.json).")]
Unit = Annotated[
    str, typer.Option("--unit", help="What a processor of the plan is: core or node (slurm).")
]


@dataclass(frozen=True)
class Where:
    """What runs the codes."""

    launcher: Annotated[
        str,
        typer.Option("--launcher", help="local (cores of this host) or slurm (this allocation)."),
    ] = "local"
    unit: Unit = "core"
    oversubscribe: Annotated[
        bool,
        typer.Option("--oversubscribe", help="Let processors share cores where there are few."),
    ] = False

    def made(self, **more: float) -> Launcher:
        return launcher_of(self.launcher, unit=self.unit, oversubscribe=self.oversubscribe, **more)


@dataclass(frozen=True)
class Written:
    """What a run leaves behind."""

    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write the record (.json).")
    ] = None
    picture: Annotated[
        Path | None, typer.Option("--plot", help="Planned above real: .png, .svg or .pdf.")
    ] = None
    measured: Annotated[
        Path | None, typer.Option("--measure", help="Append the real times to these runs (.csv).")
    ] = None

    def check(self) -> None:
        check_files((self.output, (".json",)), (self.picture, PICTURES), (self.measured, (".csv",)))

    def measure(
        self, record: execution.Execution, journal: Path, codes: execution.Codes
    ) -> list[str]:
        """Appends what the last driver ran, and nothing of those before it."""
        past = read_past(journal)
        if self.measured is None or not (ran := past.ran()):
            return []
        when = datetime.datetime.fromtimestamp(past.begun or 0.0, datetime.timezone.utc)
        added = append_execution(record, self.measured, when, codes, ran)
        append_executions(record, self.measured, when.isoformat(), codes)
        return [f"{added} times appended to {self.measured}"]

    def write(self, record: execution.Execution) -> None:
        """Writes what was asked for."""
        if self.output is not None:
            record.write(self.output)
        if self.picture is not None:
            import matplotlib

            matplotlib.use("Agg")
            cosched.plot.save(cosched.plot.execution(record), self.picture)
