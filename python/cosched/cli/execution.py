"""``cosched profile``, ``plan``, ``run``, ``script``; what was typed is checked first."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

import cosched  # cosched.plot is imported when something is drawn
from cosched import execution, io
from cosched.cli import report
from cosched.cli.commands import in_groups
from cosched.cli.groups import Asked, Company, Course, Proof, Unit, Where, Written
from cosched.cli.live import measuring, show_end, show_runs, watching
from cosched.cli.values import PICTURES, Plot, Seed, check_files, seed_of_text
from cosched.execution.advice import command_to_run
from cosched.execution.codes import Codes
from cosched.execution.planned import Plan
from cosched.execution.running import command_rows
from cosched.execution.usage import ENOUGH

EXAMPLES = {
    "profile": "cosched profile codes.toml -o runs.csv --repeat 3",
    "plan": "cosched plan runs.csv --codes codes.toml -o plan.json",
    "script": "cosched script plan.json --codes codes.toml --unit core -o job.sh",
    "run": "cosched run plan.json --codes codes.toml -o execution.json --plot execution.png",
}

CodesFile = Annotated[
    Path, typer.Option("--codes", help="TOML file of the codes.", show_default=False)
]


def profile(
    codes: Annotated[Path, typer.Argument(help="TOML file of the codes.")],
    proof: Proof,
    where: Where,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="runs.csv; what is there counts, and is kept."),
    ] = None,
    counts: Annotated[
        str | None, typer.Option("--counts", help="Only these processor counts: 1,2,4.")
    ] = None,
    repeat: Annotated[str, typer.Option("--repeat", help="Runs of each code on each count.")] = "3",
    attempts: Annotated[
        str, typer.Option("--attempts", help="Failures after which a count is impossible.")
    ] = "2",
    together: Annotated[
        bool,
        typer.Option("--together", help="Pairs side by side instead: the slow-down table."),
    ] = False,
    seed: Seed = "0",
) -> None:
    given = Codes.read(codes)
    if together:
        check_files((output, (".csv", ".json", ".md")))
        _together(given, output, repeat, where, seed_of_text(seed))
        if output is not None and output.suffix == ".csv":
            more = ["--codes", str(codes), "--slowdowns", str(output)]
            report.say(f"next: {shlex.join(['cosched', 'plan', 'runs.csv', *more])}")
        return
    output = Path("runs.csv") if output is None else output
    check_files((output, (".csv",)))
    with measuring() as (watch, watch_guarantee):
        adaptive = execution.Adaptive(
            monotone_time=not proof.rising_time,
            monotone_work=not proof.shrinking_work,
            watch=watch_guarantee,
        )
        frame = execution.profile(
            given,
            _counts(counts),
            io.parse_integer(repeat, "--repeat", 1, 10**6),
            output,
            adaptive if proof.adaptive else False,
            io.parse_positive(proof.tolerance, "--tolerance", "a share such as 0.05"),
            attempts=io.parse_integer(attempts, "--attempts", 1, 10**6),
            launcher=where.made(),
            seed=seed_of_text(seed),
            watch=watch,
        )
    show_runs(frame)
    command = ["cosched", "plan", str(output), "--codes", str(codes), "-o", "plan.json"]
    report.say(f"next: {shlex.join(command)}")


def plan(
    runs: Annotated[Path, typer.Argument(help="Measurements (.csv), as `profile` writes them.")],
    company: Company,
    codes: Annotated[
        Path | None, typer.Option("--codes", help="TOML file: counts and weights of the codes.")
    ] = None,
    procs: Annotated[
        str | None, typer.Option("--procs", help="Processors; default: the codes', the largest.")
    ] = None,
    counts: Annotated[
        str, typer.Option("--counts", help="all, or measured: fill in no times.")
    ] = "all",
    seed: Seed = "0",
    output: Annotated[Path | None, typer.Option("-o", "--output", help="The plan (.json).")] = None,
    picture: Plot = None,
) -> None:
    check_files((output, (".json",)), (picture, PICTURES))
    given = None if codes is None else Codes.read(codes)
    with report.working("plan"):
        advice = execution.plan(
            runs,
            given,
            procs=None if procs is None else io.parse_integer(procs, "--procs", 1, 10**6),
            counts=counts,
            seed=seed_of_text(seed),
            **company.arguments(),
        )
    if output is not None:
        io.write_json(advice.to_dict(), output)
    if picture is not None:
        import matplotlib

        matplotlib.use("Agg")
        cosched.plot.save(cosched.plot.gantt(advice.result.schedule), picture)
    for line in advice.lines():
        report.say(line)
    report.say(f"run it: {command_to_run(output or 'plan.json', codes)}")


def _counts(text: str | None) -> list[int] | None:
    if text is None:
        return None
    return [io.parse_integer(part, "--counts", 1, 10**6) for part in text.split(",")]


def run(
    plan: Annotated[Path, typer.Argument(help="What `plan -o` or `solve -o` wrote (.json).")],
    codes: CodesFile,
    where: Where,
    course: Course,
    written: Written,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print every command with its pinning; run nothing.")
    ] = False,
) -> None:
    written.check()
    given = Codes.read(codes)
    todo = Plan.read(plan, list(given))
    journal = course.journal or plan.with_suffix(".journal.jsonl")
    if dry_run:
        goes_on = course.resume and journal.exists()
        _show_commands(todo, given, where, journal if goes_on else None)
        return
    replan, factor = course.replan, course.limit_factor
    said: list[str] = []
    try:
        with watching() as watch:
            ran = execution.run(
                todo,
                given,
                where.made(grace=io.parse_nonnegative(course.grace, "--grace")),
                barrier=not course.no_barrier,
                journal=journal,
                resume=course.resume,
                again=course.again,
                limit_factor=None
                if factor is None
                else io.parse_positive(factor, "--limit-factor"),
                replan=None if replan is None else io.parse_positive(replan, "--replan", "a share"),
                stop_on_failure=course.stop_on_failure,
                outputs=course.outputs,
                watch=watch,
                tell=report.complain,
                done=lambda record: said.extend(written.measure(record, journal, given)),
            )
    finally:
        for line in said:
            report.say(line)
    written.write(ran)
    show_end(ran)
    if not ran.good:
        raise typer.Exit(1)


def script(
    plan: Annotated[Path, typer.Argument(help="What `plan -o` or `solve -o` wrote (.json).")],
    codes: CodesFile,
    asked: Asked,
    output: Annotated[Path, typer.Option("-o", "--output", help="The script, for sbatch.")],
    unit: Unit = "core",
    nodes: Annotated[
        str, typer.Option("--nodes", help="Nodes over which the cores are spread evenly.")
    ] = "1",
    cpus_per_node: Annotated[
        str | None, typer.Option("--cpus-per-node", help="Cores of a task on a node (unit node).")
    ] = None,
) -> None:
    given = Codes.read(codes)
    cpus, job = cpus_per_node, asked.job()
    text = execution.script(
        Plan.read(plan, list(given)),
        given,
        unit=unit,
        nodes=io.parse_integer(nodes, "--nodes", 1, 10**6),
        cpus_per_node=None if cpus is None else io.parse_integer(cpus, "--cpus-per-node", 1, 10**6),
        name=plan.stem,
        job=job,
        relative_to=asked.chdir or Path.cwd(),
    )
    io.write_text(text, output)
    report.say(f"wrote {output}: {shlex.join(['sbatch', str(output)])}")


def _together(
    codes: Codes, output: Path | None, repeat: str, where: Where, seed: int | None
) -> None:
    times = io.parse_integer(repeat, "--repeat", 1, 10**6)
    with report.working("codes side by side"):
        frame = execution.together(codes, times, output, launcher=where.made(), seed=seed)
    report.show_frame("side by side, each on half of the processors", frame)
    alone, pairs = frame[frame.beside == ""], frame[frame.beside != ""]
    noise = max(alone.high.max(), (1 / alone.low).max())
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


def _show_commands(plan: Plan, codes: Codes, where: Where, journal: Path | None) -> None:
    rows = command_rows(plan, codes, where.made(), journal=journal)
    if left := len(plan.steps) - len(rows):
        report.say(f"{left} of {len(plan.steps)} tasks completed: {journal}")
    for row in rows:
        pinned = f" on cores {row.cores}" if row.cores else ""
        report.say(f"{row.start:10.3f} s  {row.name}{pinned}: {row.command}")


def add(app: typer.Typer) -> None:
    """The commands of this file."""
    app.command("profile", help=f"Measure codes.\n\nExample: {EXAMPLES['profile']}")(
        in_groups(profile)
    )
    app.command("plan", help=f"Plan measured codes.\n\nExample: {EXAMPLES['plan']}")(
        in_groups(plan)
    )
    app.command("script", help=f"A plan for sbatch.\n\nExample: {EXAMPLES['script']}")(
        in_groups(script)
    )
    app.command("run", help=f"Run a plan.\n\nExample: {EXAMPLES['run']}")(in_groups(run))


__all__ = ["EXAMPLES", "add"]
