"""``cosched solve``: one algorithm on one instance."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from cosched.cli.command_groups import CommandGroup
from cosched.cli.families import family_commands, read_instance
from cosched.cli.shared_options import (
    algorithm_option,
    algorithm_parameters_option,
    complete_algorithms,
    json_option,
    output_file_option,
    plot_option,
    seed_option,
)

if TYPE_CHECKING:
    from cosched.core import Presentation

solve = CommandGroup(
    "solve",
    help="Run one algorithm and report value, lower bound and gap.",
    epilog="Example: cosched solve packs times.csv --algorithm local-search -o plan.json",
)


@family_commands(
    solve,
    "cosched solve {family} {file} {arguments} --algorithm {algorithm} -o plan.json",
    is_solve=True,
)
@algorithm_option(
    "--algorithm",
    metavar="NAME",
    shell_complete=complete_algorithms,
    help="Name of the algorithm; see the list above.",
)
@seed_option
@algorithm_parameters_option
@plot_option("Gantt chart of the schedule: .png, .svg or .pdf.")
@output_file_option(
    ".json", ".csv", ".md", ".paje", help="The schedule: .json, .csv, .md, or .paje (a trace)."
)
@json_option
def solve_instance(
    family: str,
    file: Path,
    algorithm: str | None,
    seed: int,
    option: tuple[str, ...],
    picture: Path | None,
    output: Path | None,
    as_json: bool,
    **instance_options: Any,
) -> None:
    """Run one algorithm and show, draw or write its result.

    `family_commands` makes one command of it for each family, with the family's own options in
    `instance_options`: arguments of its instance, and files that only its results have.
    """
    from cosched.cli import report
    from cosched.cli.parameters import parse_parameters
    from cosched.cli.stopping import best_so_far
    from cosched.registry import presentation

    shown_family = presentation(family)
    family_outputs = [
        (family_output, instance_options.pop(family_output.keyword, None))
        for family_output in shown_family.outputs
    ]
    requested_outputs = [(out, path) for out, path in family_outputs if path is not None]
    instance = read_instance(family, file, instance_options)
    if algorithm is None:
        _require_algorithm(shown_family)
    parameters = parse_parameters(option)
    for family_output, _ in requested_outputs:
        parameters.update(family_output.options)
    with report.working(f"{family} {algorithm}"):
        with best_so_far() as stop:
            result = shown_family.family.solve(instance, algorithm, seed=seed, **parameters)
        result.schedule.validate()
        # Refuses a result that is better than its bound, before anything is written.
        _ = result.gap
    if output is not None:
        report.write_result(result, output)
    for family_output, path in requested_outputs:
        family_output.write(result, path)
    if picture is not None:
        report.draw([(f"{family} {algorithm}", result)], shown_family, picture)
    if as_json:
        report.print_json(result.to_dict())
    else:
        report.show_notes(result.instance)  # a policy may have added some
        report.show_result(shown_family, result)
    stop.then("this is the best that was found until then")


def _require_algorithm(shown_family: Presentation) -> NoReturn:
    """Refuse a command without ``--algorithm``, with the names that there are.

    Policies of a cluster are spelled by a pattern: it stands for all of their names.
    """
    from cosched.cli.parameters import require_name

    algorithms = shown_family.family.algorithms
    if shown_family.spelling:
        names = [shown_family.spelling, *sorted(algorithms.registered), *algorithms.offered()]
    else:
        names = list(algorithms)
    require_name("--algorithm", names)
