"""``cosched bound``: a lower bound of one instance."""

from pathlib import Path
from typing import Any

from cosched.cli.command_groups import CommandGroup
from cosched.cli.families import family_commands, read_instance
from cosched.cli.shared_options import (
    TABLE_SUFFIXES,
    algorithm_option,
    algorithm_parameters_option,
    complete_bounds,
    json_option,
    output_file_option,
)

bound = CommandGroup(
    "bound",
    help="Compute a lower bound.",
    epilog="Example: cosched bound packs times.csv --max-tasks 4",
)


@family_commands(bound, "cosched bound {family} {file} {arguments}")
@algorithm_option(
    "--bound",
    metavar="NAME",
    shell_complete=complete_bounds,
    help="Name of the bound; default: that of the class.",
)
@algorithm_parameters_option
@output_file_option(*TABLE_SUFFIXES, help="The bound: .csv, .json or .md.")
@json_option
def bound_instance(
    family: str,
    file: Path,
    bound: str | None,
    option: tuple[str, ...],
    output: Path | None,
    as_json: bool,
    **instance_options: Any,
) -> None:
    from cosched import io
    from cosched.cli import report
    from cosched.cli.parameters import parse_parameters
    from cosched.cli.stopping import best_so_far
    from cosched.lazy import pd
    from cosched.registry import presentation

    of = presentation(family)
    instance = read_instance(family, file, instance_options)
    with report.working(f"{family} bound"), best_so_far() as stop:
        bound_found = of.family.bound(instance, bound, **parse_parameters(option))
    stated = {"family": family, "method": bound_found.method, "value": bound_found.value}
    if output is not None and output.suffix == ".json":
        io.write_json(stated, output)
    elif output is not None:
        io.write_frame(pd.DataFrame([stated]), output)
    if as_json:
        report.print_json(stated)
    else:
        sense = "at most" if of.family.maximise else "at least"
        report.say(
            f"{of.objective} {sense} {bound_found.value:.9g}{of.unit} ({bound_found.method})"
        )
        if bound_found.note:
            report.note(bound_found.note)
    stop.then("this is the best bound that was proved until then")
