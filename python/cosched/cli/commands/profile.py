"""``cosched profile``: run times of codes at several core counts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cosched.cli.command_groups import Command
from cosched.cli.option_types import (
    MAX_SEED,
    CommaList,
    InputPath,
    Integer,
    Number,
    OutputFile,
    check_output,
)
from cosched.cli.shared_options import (
    TABLE_SUFFIXES,
    analysis_option,
    execution_option,
    input_option,
    json_option,
    launcher_options,
    output_option,
)

if TYPE_CHECKING:
    from cosched.execution.codes import Codes
    from cosched.execution.launchers import Launcher


@click.command("profile", cls=Command)
@click.argument("codes", type=InputPath(), help="TOML file of the codes.")
@input_option(
    "--counts", type=CommaList(Integer()), help="Only these processor counts, such as 1,2,4."
)
@analysis_option(
    "--adaptive", is_flag=True, help="Measure only as much as a proven optimality gap needs."
)
@analysis_option(
    "--tolerance",
    type=Number(0),
    default=0.05,
    show_default=True,
    help="With --adaptive: gap of the guaranteed makespan to the lower bound.",
)
@analysis_option(
    "--rising-time", is_flag=True, help="With --adaptive: time may grow with processors."
)
@analysis_option(
    "--shrinking-work", is_flag=True, help="With --adaptive: work may shrink with processors."
)
@analysis_option(
    "--together", is_flag=True, help="Measure pairwise interference instead: the slow-down table."
)
@execution_option(
    "--repeat",
    type=Integer(),
    default=3,
    show_default=True,
    help="Completed runs of each code on each count.",
)
@execution_option(
    "--attempts",
    type=Integer(),
    default=2,
    show_default=True,
    help="Failed runs after which a code counts as unable to run on a processor count.",
)
@execution_option(
    "--alike", is_flag=True, help="The tasks of a sweep take the same time: measure them as one."
)
@launcher_options
@execution_option(
    "--seed",
    type=Integer(0, MAX_SEED),
    default=0,
    show_default=True,
    help="Random seed of the order of the runs.",
)
@output_option(
    "-o",
    "--output",
    type=OutputFile(),
    help="The runs (.csv; default: runs.csv), appended to the file if it exists; with --together "
    "a new table (.csv, .json, .md).",
)
@json_option
@click.pass_context
def profile(
    context: click.Context,
    codes: Path,
    counts: list[int] | None,
    adaptive: bool,
    tolerance: float,
    rising_time: bool,
    shrinking_work: bool,
    together: bool,
    repeat: int,
    attempts: int,
    alike: bool,
    launcher: str,
    unit: str,
    oversubscribe: bool,
    seed: int,
    output: Path | None,
    as_json: bool,
) -> None:
    """Measure run times of codes at several core counts.

    \b
    Example: cosched profile codes.toml -o runs.csv --repeat 3
    """
    import shlex

    from cosched import execution
    from cosched.cli import report
    from cosched.cli.live import measuring, show_runs
    from cosched.execution.codes import Codes
    from cosched.execution.launchers import launcher_of

    codes_read = Codes.read(codes)
    if together:
        if output is not None:
            check_output(output, TABLE_SUFFIXES)
        chosen_launcher = launcher_of(launcher, unit=unit, oversubscribe=oversubscribe)
        _measure_together(codes_read, output, repeat, chosen_launcher, seed, as_json)
        if output is not None and output.suffix == ".csv" and not as_json:
            options = ["--codes", str(codes), "--slowdowns", str(output)]
            report.hint(f"next: {shlex.join(['cosched', 'plan', 'runs.csv', *options])}")
        return
    path = Path("runs.csv") if output is None else output
    check_output(path, (".csv",))
    assumptions = execution.Adaptive(
        monotone_time=not rising_time, monotone_work=not shrinking_work
    )
    with measuring() as watch:
        frame = execution.profile(
            codes_read,
            counts,
            out=path,
            launcher=launcher_of(launcher, unit=unit, oversubscribe=oversubscribe),
            seed=seed,
            watch=watch,
            adaptive=assumptions if adaptive else False,
            tolerance=tolerance,
            repeat=repeat,
            attempts=attempts,
            alike=alike,
        )
    if as_json:
        report.print_json(frame.to_dict("records"))
    else:
        show_runs(frame)
    if not frame.seconds.notna().any():
        report.complain(f"all runs failed: their outputs are in {path.with_suffix('.outputs')}")
        context.exit(1)
    if not as_json:
        command = ["cosched", "plan", str(path), "--codes", str(codes), "-o", "plan.json"]
        report.hint(f"next: {shlex.join(command)}")


def _measure_together(
    codes: Codes, output: Path | None, repeat: int, launcher: Launcher, seed: int, as_json: bool
) -> None:
    """Measure what codes do to each other, and print the largest slow-down."""
    from cosched import execution
    from cosched.cli import report
    from cosched.execution.processes import ENOUGH

    with report.working("codes side by side"):
        frame = execution.together(codes, repeat, output, launcher=launcher, seed=seed)
    if as_json:
        report.print_json(frame.to_dict("records"))
        return
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
            report.note(
                f"{task} had {share:.2f} of its processors alone: if it computes, its rows "
                "measure the load of the machine"
            )
