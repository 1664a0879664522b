"""``cosched library``: instances with the best that is known of them, and better schedules."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from cosched import io, library
from cosched.cli import report, tables
from cosched.cli.values import check_files
from cosched.core.text import unknown_name
from cosched.errors import printable
from cosched.library.records import Finding, family_of, record_of
from cosched.library.table import gap_of

EXAMPLES = {
    "list": "cosched library list dags",
    "show": "cosched library show dags/cholesky-12-ccr1",
    "solve": "cosched library solve packs/ii-33-p16-s1 local-search -o schedule.json",
    "verify": "cosched library verify",
    "submit": "cosched library submit packs/ii-33-p16-s1 schedule.json --by 'Ada Lovelace'",
}

app = typer.Typer(
    help="Instances with the best value and the best bound that anybody knows: records to beat."
    f"\n\nExample: {EXAMPLES['list']}",
    no_args_is_help=True,
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="As `cosched library list` shows it.")]


def _example(verb: str) -> str:
    return f"\n\nExample: {EXAMPLES[verb]}"


@app.command("list", help=f"Values, bounds and gaps, the widest first.{_example('list')}")
def list_instances(
    family: Annotated[str | None, typer.Argument(help="Of one family.")] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write it: .csv, .json or .md.")
    ] = None,
) -> None:
    check_files((output, (".csv", ".json", ".md")))
    frame = library.list()
    if family is not None:
        known = frame.family.unique().tolist()
        if family not in known:
            raise ValueError(unknown_name("family", family, known))
        frame = frame[frame.family == family]
    frame = frame.sort_values("gap", ascending=False, kind="stable")
    if output is not None:
        io.write_frame(frame, output)
    else:
        tables.show("library", tables.columns_of(frame))


@app.command("show", help=f"An instance and its record.{_example('show')}")
def show(name: Name) -> None:
    record, instance = record_of(name), library.load(name)
    report.say(f"{name}: {instance!r}")
    report.say(f"value {record.best.value:.9g}: {_found(record.best)}")
    report.say(f"bound {record.bound.value:.9g}: {_found(record.bound)}")
    report.say(f"gap {100 * gap_of(record):.2f}%")
    for before in reversed(record.history):
        report.say(f"before: {before.value:.9g}: {_found(before)}")


def _found(finding: Finding) -> str:
    return printable(f"{finding.algorithm}, by {finding.by}, since {finding.since}")


@app.command("solve", help=f"Try an algorithm against the record.{_example('solve')}")
def solve(
    name: Name,
    algorithm: Annotated[str, typer.Argument(help="Of the instance's family.")],
    seed: Annotated[int, typer.Option(help="Where there is chance.")] = 0,
    time_limit: Annotated[float | None, typer.Option(help="Seconds of a search.")] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write the schedule (.json).")
    ] = None,
) -> None:
    check_files((output, (".json",)))
    record, of = record_of(name), family_of(name)
    limit: dict[str, Any] = {} if time_limit is None else {"time_limit": time_limit}
    found = of.solve(library.load(name), algorithm, seed=seed, **limit)
    found.schedule.validate()
    if output is not None:
        report.write_result(found, output)
    report.say(f"{name}: {algorithm} {found.value:.9g}, record {record.best.value:.9g}")


@app.command(
    "verify",
    help="Check values by the validators and bounds by their certificates. Exit code 0: all hold; "
    f"1: some do not.{_example('verify')}",
)
def verify(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Default: all.")] = None,
    thorough: Annotated[
        bool, typer.Option("--thorough", help="Also proofs that are searches: run them again.")
    ] = False,
) -> None:
    frame = library.verify(name, thorough=thorough)
    wrong = frame[frame.status == "wrong"]
    for row in wrong.itertuples():
        report.say(f"{row.name}: {row.message}")
    searched = int((frame.status == "value").sum())
    left = f" ({searched} bounds are proofs by search: --thorough)" if searched else ""
    report.say(f"{len(frame) - len(wrong)} of {len(frame)} records hold{left}")
    raise typer.Exit(1 if len(wrong) else 0)


@app.command(
    "submit",
    help="Put a better schedule into the records, ready for a pull request; what is not valid or "
    f"not better is refused.{_example('submit')}",
)
def submit(
    name: Name,
    schedule: Annotated[Path, typer.Argument(help="What `solve -o schedule.json` wrote.")],
    by: Annotated[str, typer.Option(help="Who found it.", show_default=False)],
    folder: Annotated[
        Path | None, typer.Option(help="Where records are; default: the installed package's.")
    ] = None,
) -> None:
    report.say(f"{library.submit(name, schedule, by, folder=folder)}: a new record")


def add(to: typer.Typer) -> None:
    """The commands of this file."""
    to.add_typer(app, name="library")
