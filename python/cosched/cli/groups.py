"""Options of the commands that run codes, in groups: each a value that the command gets whole."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

import cosched  # cosched.plot is imported when something is drawn
from cosched import execution, io
from cosched.cli.values import PICTURES, check_files
from cosched.execution.executions import append_executions
from cosched.execution.journal import read_past
from cosched.execution.launchers import Launcher, launcher_of
from cosched.execution.runs import append_execution

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
class Proof:
    """How much is measured."""

    adaptive: Annotated[
        bool, typer.Option("--adaptive", help="Measure as little as a proof needs.")
    ] = False
    tolerance: Annotated[
        str, typer.Option("--tolerance", help="Adaptive: gap of guaranteed end to bound.")
    ] = "0.05"
    rising_time: Annotated[
        bool, typer.Option("--rising-time", help="Adaptive: time may grow with processors.")
    ] = False
    shrinking_work: Annotated[
        bool, typer.Option("--shrinking-work", help="Adaptive: work may shrink with processors.")
    ] = False


@dataclass(frozen=True)
class Course:
    """How a run goes, and how it goes on."""

    no_barrier: Annotated[
        bool,
        typer.Option("--no-barrier", help="Packs: start a task when its processors are free."),
    ] = False
    journal: Annotated[
        Path | None, typer.Option("--journal", help="Default: PLAN.journal.jsonl beside the plan.")
    ] = None
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the journal: what has not completed.")
    ] = False
    again: Annotated[
        bool, typer.Option("--again", help="Run a finished plan once more, in its journal.")
    ] = False
    limit_factor: Annotated[
        str | None,
        typer.Option("--limit-factor", help="End a task at so many times its planned time: 5."),
    ] = None
    replan: Annotated[
        str | None,
        typer.Option("--replan", help="Plan the rest anew when a task is off by this share: 0.2."),
    ] = None
    stop_on_failure: Annotated[
        bool, typer.Option("--stop-on-failure", help="Start nothing more after a failure.")
    ] = False
    grace: Annotated[
        str, typer.Option("--grace", help="Seconds from asking a task to end to killing it.")
    ] = "5"
    outputs: Annotated[
        Path | None, typer.Option("--outputs", help="Folder of the tasks' outputs.")
    ] = None


@dataclass(frozen=True)
class Company:
    """What codes share, and what is left out of a plan."""

    slowdowns: Annotated[
        Path | None,
        typer.Option("--slowdowns", help="What `profile --together -o` wrote (.csv)."),
    ] = None
    slowdown: Annotated[
        str, typer.Option("--slowdown", help="Which of its numbers: low, median or high.")
    ] = "median"
    missing: Annotated[
        str, typer.Option("--missing", help="A pair that is not there: one, or worst of its task.")
    ] = "one"
    memory_margin: Annotated[
        str, typer.Option("--memory-margin", help="What measured memory is multiplied by.")
    ] = "1.1"
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse codes that failed or were not measured.")
    ] = False

    def arguments(self) -> dict[str, Any]:
        margin = io.parse_positive(self.memory_margin, "--memory-margin")
        return {**self.__dict__, "memory_margin": margin}


@dataclass(frozen=True)
class Asked:
    """What sbatch is asked for."""

    time: Annotated[
        str, typer.Option("--time", help="auto (the plan's 95%), or as Slurm has it: 2:00:00.")
    ] = "auto"
    partition: Annotated[str | None, typer.Option("--partition", help="Of the job.")] = None
    account: Annotated[str | None, typer.Option("--account", help="Of the job.")] = None
    chdir: Annotated[
        str | None, typer.Option("--chdir", help="Where the job runs; paths are relative to it.")
    ] = None
    mem: Annotated[str | None, typer.Option("--mem", help="Memory of a node: 64G.")] = None

    def job(self) -> execution.Job:
        return execution.Job(**self.__dict__)


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
