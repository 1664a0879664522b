"""``cosched profile``, ``plan``, ``run``, ``script``: from codes to a plan that has run."""

from __future__ import annotations

import datetime
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

import cosched  # cosched.plot is imported when something is drawn
from cosched import execution, io
from cosched.cli import report
from cosched.cli.live import measuring, show_end, show_runs, watching
from cosched.cli.parameters import Arguments, adds
from cosched.cli.values import PICTURES, check_files, seed_of_text
from cosched.execution.advice import command_to_run
from cosched.execution.codes import Codes
from cosched.execution.journal import read_past
from cosched.execution.launchers import Launcher, launcher_of
from cosched.execution.planned import Plan
from cosched.execution.processes import ENOUGH
from cosched.execution.runs import append_execution, append_executions

_OF_PLAN = ("procs", "counts", "slowdowns", "slowdown", "missing", "memory_margin", "strict")
_OF_RUN = ("resume", "again", "limit_factor", "replan", "stop_on_failure", "outputs")
_OF_JOB = ("time", "partition", "account", "chdir", "mem")


@dataclass(frozen=True)
class Where:
    """What runs the codes."""

    launcher: str = "local"
    unit: str = "core"
    oversubscribe: bool = False

    def made(self, **more: float) -> Launcher:
        return launcher_of(self.launcher, unit=self.unit, oversubscribe=self.oversubscribe, **more)


@dataclass(frozen=True)
class Written:
    """What a run leaves behind."""

    output: Path | None = None
    picture: Path | None = None
    measured: Path | None = None

    def check(self) -> None:
        check_files((self.output, (".json",)), (self.picture, PICTURES), (self.measured, (".csv",)))

    def measure(
        self, record: execution.Execution, journal: Path, codes: execution.Codes
    ) -> list[str]:
        """Appends what the last driver ran, and nothing of those before it."""
        past = read_past(journal)
        if self.measured is None or not (run_tasks := past.ran()):
            return []
        when = datetime.datetime.fromtimestamp(past.begun or 0.0, datetime.timezone.utc)
        added = append_execution(record, self.measured, when, codes, run_tasks)
        append_executions(record, self.measured, when.isoformat(), codes)
        return [f"{added} times appended to {self.measured}"]

    def write(self, record: execution.Execution) -> None:
        """Writes what was asked for."""
        if self.output is not None:
            record.write(self.output)
        if self.picture is not None:
            report.without_screen()
            cosched.plot.save(cosched.plot.execution(record), self.picture)


def profile(
    codes: Path,
    where: Where,
    arguments: Annotated[
        dict[str, Any],
        Arguments(execution.profile, "adaptive", "tolerance", "repeat", "attempts", "alike"),
    ],
    rising_time: bool = False,
    shrinking_work: bool = False,
    output: Path | None = None,
    counts: str | None = None,
    together: bool = False,
    seed: str = "0",
) -> None:
    codes_read = Codes.read(codes)
    if together:
        check_files((output, (".csv", ".json", ".md")))
        _together(codes_read, output, arguments["repeat"], where, seed_of_text(seed))
        if output is not None and output.suffix == ".csv":
            options = ["--codes", str(codes), "--slowdowns", str(output)]
            report.say(f"next: {shlex.join(['cosched', 'plan', 'runs.csv', *options])}")
        return
    output = Path("runs.csv") if output is None else output
    check_files((output, (".csv",)))
    with measuring() as watch:
        if arguments["adaptive"]:
            arguments["adaptive"] = execution.Adaptive(
                monotone_time=not rising_time, monotone_work=not shrinking_work
            )
        frame = execution.profile(
            codes_read,
            None
            if counts is None
            else [io.parse_integer(part, "--counts", 1, 10**6) for part in counts.split(",")],
            out=output,
            launcher=where.made(),
            seed=seed_of_text(seed),
            watch=watch,
            **arguments,
        )
    show_runs(frame)
    if not frame.seconds.notna().any():
        report.say(f"no run completed: the outputs are in {output.with_suffix('.outputs')}")
        raise typer.Exit(1)
    command = ["cosched", "plan", str(output), "--codes", str(codes), "-o", "plan.json"]
    report.say(f"next: {shlex.join(command)}")


def _together(
    codes: Codes, output: Path | None, repeat: int, where: Where, seed: int | None
) -> None:
    with report.working("codes side by side"):
        frame = execution.together(codes, repeat, output, launcher=where.made(), seed=seed)
    report.show_frame("side by side, each on half of the processors", frame)
    alone_rows, pairs = frame[frame.beside == ""], frame[frame.beside != ""]
    noise = max(alone_rows.high.max(), (1 / alone_rows.low).max())
    worst = max(pairs.to_dict("records"), key=lambda row: row["slowdown"])
    report.say(
        f"largest slow-down: {worst['task']} beside {worst['beside']}, {worst['slowdown']:.2f} "
        f"times its time alone; alone against alone differs by up to {noise:.2f}"
    )
    for task, share in dict(zip(frame.task, frame.share, strict=True)).items():
        if share < ENOUGH:
            report.say(
                f"note: {task} had {share:.2f} of its processors alone: if it computes, its rows "
                "measure the load of the machine"
            )


def plan(
    runs: Path,
    arguments: Annotated[dict[str, Any], Arguments(execution.plan, *_OF_PLAN)],
    codes: Path | None = None,
    seed: str = "0",
    output: Path | None = None,
    picture: Path | None = None,
) -> None:
    check_files((output, (".json",)), (picture, PICTURES))
    codes_read = None if codes is None else Codes.read(codes)
    with report.working("plan"):
        advice = execution.plan(runs, codes_read, seed=seed_of_text(seed), **arguments)
        lines = advice.lines()  # refuses a plan that is better than its bound
    if output is not None:
        io.write_json(advice.to_dict(), output)
    if picture is not None:
        report.without_screen()
        cosched.plot.save(cosched.plot.gantt(advice.result.schedule), picture)
    for line in lines:
        report.say(line)
    report.say(f"run it: {command_to_run(output or 'plan.json', codes)}")


def run(
    plan: Path,
    codes: Path,
    where: Where,
    arguments: Annotated[dict[str, Any], Arguments(execution.run, *_OF_RUN)],
    written: Written,
    no_barrier: bool = False,
    journal: Path | None = None,
    grace: str = "5",
    dry_run: bool = False,
) -> None:
    written.check()
    codes_read = Codes.read(codes)
    todo = Plan.read(plan, list(codes_read))
    journal_path = journal or plan.with_suffix(".journal.jsonl")
    if dry_run:
        goes_on = arguments["resume"] and journal_path.exists()
        _show_commands(todo, codes_read, where, journal_path if goes_on else None)
        return
    messages: list[str] = []
    try:
        with watching() as watch:
            execution_record = execution.run(
                todo,
                codes_read,
                where.made(grace=io.parse_nonnegative(grace, "--grace")),
                barrier=not no_barrier,
                journal=journal_path,
                watch=watch,
                tell=report.complain,
                done=lambda record: messages.extend(
                    written.measure(record, journal_path, codes_read)
                ),
                **arguments,
            )
    finally:
        for line in messages:
            report.say(line)
    written.write(execution_record)
    show_end(execution_record)
    if not execution_record.good:
        raise typer.Exit(1)


def _show_commands(plan: Plan, codes: Codes, where: Where, journal: Path | None) -> None:
    rows = execution.commands(plan, codes, where.made(), journal=journal)
    if n_remaining := len(plan.steps) - len(rows):
        report.say(f"{n_remaining} of {len(plan.steps)} tasks completed: {journal}")
    for row in rows:
        pinned = f" on cores {row.cores}" if row.cores else ""
        report.say(f"{row.start:10.3f} s  {row.name}{pinned}: {row.command}")


def script(
    plan: Path,
    codes: Path,
    job: Annotated[dict[str, Any], Arguments(execution.Job, *_OF_JOB)],
    output: Path,
    arguments: Annotated[
        dict[str, Any], Arguments(execution.script, "unit", "nodes", "cpus_per_node")
    ],
) -> None:
    codes_read, job_request = Codes.read(codes), execution.Job(**job)
    text = execution.script(
        Plan.read(plan, list(codes_read)),
        codes_read,
        name=plan.stem,
        job=job_request,
        relative_to=job_request.chdir or Path.cwd(),
        **arguments,
    )
    io.write_text(text, output)
    report.say(f"wrote {output}: {shlex.join(['sbatch', str(output)])}")


add = adds(profile=profile, plan=plan, run=run, script=script)
