"""``cosched library solve``: an algorithm against the record of an instance."""

from pathlib import Path
from typing import Any

import click

from cosched.cli.command_groups import Command
from cosched.cli.option_types import Seconds
from cosched.cli.shared_options import (
    algorithm_option,
    instance_name_argument,
    json_option,
    output_file_option,
    seed_option,
)


@click.command("solve", cls=Command)
@instance_name_argument
@click.argument("algorithm", help="An algorithm of the problem class of the instance.")
@seed_option
@algorithm_option("--time-limit", type=Seconds(), help="Time of a search.")
@output_file_option(".json", help="The schedule (.json).")
@json_option
def solve_instance(
    name: str,
    algorithm: str,
    seed: int,
    time_limit: float | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Try an algorithm against the record of an instance.

    \b
    Example: cosched library solve packs/ii-33-p16-s1 local-search -o schedule.json
    """
    from cosched import library
    from cosched.cli import report
    from cosched.library.records import family_of, record_of

    record, family = record_of(name), family_of(name)
    limit: dict[str, Any] = {} if time_limit is None else {"time_limit": time_limit}
    result = family.solve(library.load(name), algorithm, seed=seed, **limit)
    result.schedule.validate()
    if output is not None:
        report.write_result(result, output)
    if as_json:
        report.print_json(
            {
                "name": name,
                "algorithm": algorithm,
                "value": result.value,
                "record": record.best.value,
            }
        )
    else:
        report.say(f"{name}: {algorithm} {result.value:.9g}, record {record.best.value:.9g}")
