"""``cosched plan``: which codes run side by side, on how many cores."""

from pathlib import Path

import click

from cosched.cli.command_groups import Command
from cosched.cli.option_types import InputPath, Integer, Number, Words
from cosched.cli.shared_options import (
    analysis_option,
    input_option,
    json_option,
    output_file_option,
    plot_option,
    seed_option,
)


@click.command("plan", cls=Command)
@click.argument("runs", type=InputPath(), help="Measurements (.csv), as profile writes them.")
@input_option(
    "--codes", type=InputPath(), help="TOML file with counts, weights and needs of the codes."
)
@input_option(
    "--procs",
    type=Integer(),
    help="Processors; default: those of the codes, else the largest measured count.",
)
@input_option(
    "--counts",
    type=Words(("all", "measured")),
    default="all",
    show_default=True,
    help="Processor counts that tasks may get; measured: no time is interpolated.",
)
@input_option(
    "--slowdowns", type=InputPath(), help="Interference of codes: what profile --together -o wrote."
)
@analysis_option(
    "--slowdown",
    type=Words(("low", "median", "high")),
    default="median",
    show_default=True,
    help="Which of the measured slow-downs counts.",
)
@analysis_option(
    "--missing",
    type=Words(("one", "worst")),
    default="one",
    show_default=True,
    help="Slow-down of a pair without a measurement: 1, or the largest of its task.",
)
@analysis_option(
    "--memory-margin",
    type=Number(0),
    default=1.1,
    show_default=True,
    help="Factor on measured memory.",
)
@analysis_option(
    "--strict", is_flag=True, help="End with an error where codes would be left out of the plan."
)
@seed_option
@plot_option("Gantt chart of the plan: .png, .svg or .pdf.")
@output_file_option(".json", help="The plan (.json).")
@json_option
def plan(
    runs: Path,
    codes: Path | None,
    procs: int | None,
    counts: str,
    slowdowns: Path | None,
    slowdown: str,
    missing: str,
    memory_margin: float,
    strict: bool,
    seed: int,
    picture: Path | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Plan which codes run side by side, on how many cores.

    \b
    Example: cosched plan runs.csv --codes codes.toml -o plan.json
    """
    from cosched import execution, io, plot
    from cosched.cli import report
    from cosched.execution.advice import command_to_run
    from cosched.execution.codes import Codes

    codes_read = None if codes is None else Codes.read(codes)
    with report.working("plan"):
        advice = execution.plan(
            runs,
            codes_read,
            procs=procs,
            counts=counts,
            slowdowns=slowdowns,
            slowdown=slowdown,
            missing=missing,
            memory_margin=memory_margin,
            strict=strict,
            seed=seed,
        )
        lines = advice.lines()  # refuses a plan that is better than its bound
    if output is not None:
        io.write_json(advice.to_dict(), output)
    if picture is not None:
        report.without_screen()
        plot.save(plot.gantt(advice.result.schedule), picture)
    if as_json:
        report.print_json(advice.to_dict())
        return
    for line in lines:
        report.say(line)
    report.hint(f"run it: {command_to_run(output or 'plan.json', codes)}")
