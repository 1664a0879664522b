"""``cosched compare``: several algorithms on one instance, or on several."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cosched.cli.command_groups import Command, CommandGroup
from cosched.cli.families import family_commands, read_variants
from cosched.cli.option_types import AnyInteger, Number, Seconds
from cosched.cli.shared_options import (
    TABLE_SUFFIXES,
    algorithm_option,
    algorithm_parameters_option,
    complete_algorithms,
    json_option,
    output_file_option,
    plot_option,
    seed_option,
)

if TYPE_CHECKING:
    import pandas as pd

compare = CommandGroup(
    "compare",
    help="Compare algorithms on one instance.",
    epilog="Example: cosched compare packs times.csv --algorithms optimal,pairs -o table.md",
)


class CompareCommand(Command):
    """``--algorithms`` also takes names with blanks between them, as it did in earlier versions."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, join_algorithm_names(args))


def join_algorithm_names(words: list[str]) -> list[str]:
    """Repeat ``--algorithms`` before each of the names that follow it.

    Where FILE does not stand in front, it is the last of these words: ``--algorithms optimal
    times.csv``.
    """
    joined_words: list[str] = []
    names: list[str] = []
    flag: str | None = None
    has_file = bool(words) and not words[0].startswith("-")
    for word in [*words, "--"]:  # the last one ends a list of names that ends the line
        if flag is not None and not word.startswith("-"):
            names.append(word)
            continue
        if flag is not None:
            file_words = []
            if not has_file and len(names) > 1 and Path(names[-1]).exists():
                file_words = [names.pop()]
                has_file = True
            joined_words += [part for name in names for part in (flag, name)] + file_words
            flag, names = None, []
        if word in ("--algorithms", "--policies"):
            flag = word
        else:
            joined_words.append(word)
    return joined_words[:-1]


@family_commands(
    compare,
    "cosched compare {family} {file} {arguments} --plot best.png -o table.md",
    varies=True,
    cls=CompareCommand,
)
@algorithm_option(
    "--algorithms",
    "--policies",
    "algorithms",
    multiple=True,
    metavar="NAME,...",
    shell_complete=complete_algorithms,
    help="Algorithms with commas between them, as optimal,pairs; default: those that suit.",
)
@seed_option
@algorithm_option(
    "--time-limit",
    type=Seconds(allows_none=True),
    help="Time of each algorithm, such as 60 or 5m, or none; default: a fixed amount of work.",
)
@algorithm_parameters_option
@algorithm_option(
    "--draws",
    type=AnyInteger(),
    help="Schedules of algorithms with random scheduler timing: their spread.",
)
@algorithm_option(
    "--noise",
    type=Number(0),
    help="dags: coefficient of variation of the times; ranks by the median of 1,000 replays of "
    "each schedule.",
)
@plot_option("Gantt chart of the best schedule: .png, .svg or .pdf.")
@output_file_option(*TABLE_SUFFIXES, help="The table: .csv, .json or .md.")
@json_option
@click.pass_context
def compare_algorithms(
    context: click.Context,
    family: str,
    file: Path,
    algorithms: tuple[str, ...],
    seed: int,
    time_limit: float | None,
    option: tuple[str, ...],
    draws: int | None,
    noise: float | None,
    picture: Path | None,
    output: Path | None,
    as_json: bool,
    **instance_options: Any,
) -> None:
    from cosched import io
    from cosched.cli import report
    from cosched.cli.parameters import parse_parameters, split_names
    from cosched.registry import presentation

    of = presentation(family)
    is_limit_given = context.get_parameter_source("time_limit") is not _DEFAULT
    limit = time_limit if is_limit_given else of.patience
    instances = read_variants(family, file, instance_options)
    algorithm_options = parse_parameters(option)
    options = algorithm_options | ({} if draws is None else {"draws": draws})
    names = split_names(algorithms, of.family)
    table, keys, best_results, stopped = report.compare_all(
        of, instances, names, seed, limit, options, noise
    )
    if output is not None:
        io.write_frame(table, output)
    if picture is not None:
        report.draw(best_results, of, picture)
    if as_json:
        report.print_json(table.to_dict("records"))
    else:
        report.show_notes(instances[0][1])
        report.show_table(of, table, keys)
        report.show_untaken(of, table, algorithm_options)
    if stopped is not None:
        place_of_table = "shown above" if output is None else f"in {output}"
        raise type(stopped)(f"interrupted: {_finished_rows(table, place_of_table, stopped)}")
    if table["value"].isna().all():
        report.complain("no algorithm has a result: the lines above say why")
        context.exit(1)


_DEFAULT = click.core.ParameterSource.DEFAULT


def _finished_rows(table: pd.DataFrame, place_of_table: str, interrupt: KeyboardInterrupt) -> str:
    """Return where the rows are, which of them was ended, and what did not run."""
    from cosched.cli.stopping import INTERRUPTED

    cut_names = table.loc[table["status"] == INTERRUPTED, "algorithm"].tolist()
    if cut_names and len(table) == 1:
        rows = f"the row of {cut_names[0]}, with what it had found, is {place_of_table}"
    elif cut_names:
        rows = (
            f"the {len(table)} rows are {place_of_table}, that of {cut_names[0]} with what it had "
            "found"
        )
    else:
        rows = f"the {len(table)} finished rows are {place_of_table}"
    return f"{rows}; not run: {interrupt}" if str(interrupt) else rows
