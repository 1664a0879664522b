"""``cosched profile``: measure codes."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from cosched import execution, io
from cosched.cli import report
from cosched.cli.arguments import Arguments
from cosched.cli.commands import in_groups
from cosched.cli.groups import Where
from cosched.cli.live import measuring, show_runs
from cosched.cli.on_demand import adds
from cosched.cli.values import Seed, check_files, seed_of_text
from cosched.execution.codes import Codes
from cosched.execution.usage import ENOUGH


def profile(
    codes: Annotated[Path, typer.Argument(help="TOML file of the codes.")],
    where: Where,
    given: Annotated[
        dict[str, Any],
        Arguments(execution.profile, "adaptive", "tolerance", "repeat", "attempts"),
    ],
    rising_time: Annotated[
        bool, typer.Option("--rising-time", help="Adaptive: time may grow with processors.")
    ] = False,
    shrinking_work: Annotated[
        bool, typer.Option("--shrinking-work", help="Adaptive: work may shrink with processors.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="runs.csv; what is there counts, and is kept."),
    ] = None,
    counts: Annotated[
        str | None, typer.Option("--counts", help="Only these processor counts: 1,2,4.")
    ] = None,
    together: Annotated[
        bool,
        typer.Option("--together", help="Pairs side by side instead: the slow-down table."),
    ] = False,
    seed: Seed = "0",
) -> None:
    read = Codes.read(codes)
    if together:
        check_files((output, (".csv", ".json", ".md")))
        _together(read, output, given["repeat"], where, seed_of_text(seed))
        if output is not None and output.suffix == ".csv":
            more = ["--codes", str(codes), "--slowdowns", str(output)]
            report.say(f"next: {shlex.join(['cosched', 'plan', 'runs.csv', *more])}")
        return
    output = Path("runs.csv") if output is None else output
    check_files((output, (".csv",)))
    with measuring() as watch:
        if given["adaptive"]:
            given["adaptive"] = execution.Adaptive(
                monotone_time=not rising_time,
                monotone_work=not shrinking_work,
            )
        frame = execution.profile(
            read,
            _counts(counts),
            out=output,
            launcher=where.made(),
            seed=seed_of_text(seed),
            watch=watch,
            **given,
        )
    show_runs(frame)
    command = ["cosched", "plan", str(output), "--codes", str(codes), "-o", "plan.json"]
    report.say(f"next: {shlex.join(command)}")


def _counts(text: str | None) -> list[int] | None:
    if text is None:
        return None
    return [io.parse_integer(part, "--counts", 1, 10**6) for part in text.split(",")]


def _together(
    codes: Codes, output: Path | None, repeat: int, where: Where, seed: int | None
) -> None:
    with report.working("codes side by side"):
        frame = execution.together(codes, repeat, output, launcher=where.made(), seed=seed)
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


add = adds(profile=in_groups(profile))
