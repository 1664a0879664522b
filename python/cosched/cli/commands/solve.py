"""``cosched solve``: one algorithm on one instance."""

from pathlib import Path
from typing import Any

from cosched.cli.families import family_commands, read_instance
from cosched.cli.groups import CommandGroup
from cosched.cli.options import (
    algorithm_option,
    algorithm_parameters_option,
    complete_algorithms,
    json_option,
    output_file_option,
    plot_option,
    seed_option,
)

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
    from cosched.cli import report
    from cosched.cli.parameters import parse_parameters, require_name
    from cosched.cli.stopping import best_so_far
    from cosched.registry import presentation

    of = presentation(family)
    paths = [(out, instance_options.pop(out.keyword, None)) for out in of.outputs]
    instance = read_instance(family, file, instance_options)
    if algorithm is None:
        algorithms = of.family.algorithms
        names_beside_spelling = [*sorted(algorithms.registered), *algorithms.offered()]
        names = [of.spelling, *names_beside_spelling] if of.spelling else list(algorithms)
        require_name("--algorithm", names)
    parameters = parse_parameters(option)
    for out, path in paths:
        if path is not None:
            parameters.update(out.options)
    with report.working(f"{family} {algorithm}"):
        with best_so_far() as stop:
            result = of.family.solve(instance, algorithm, seed=seed, **parameters)
        result.schedule.validate()
        # Refuses a result that is better than its bound, before anything is written.
        _ = result.gap
    if output is not None:
        report.write_result(result, output)
    for out, path in paths:
        if path is not None:
            out.write(result, path)
    if picture is not None:
        report.draw([(f"{family} {algorithm}", result)], of, picture)
    if as_json:
        report.print_json(result.to_dict())
    else:
        report.show_notes(result.instance)  # a policy may have added some
        report.show_result(of, result)
    stop.then("this is the best that was found until then")
