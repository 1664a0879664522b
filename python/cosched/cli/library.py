"""``cosched library``: instances with the best that is known of them, and better schedules."""

from pathlib import Path
from typing import Any

import typer

from cosched import io, library
from cosched.cli import report, tables
from cosched.cli.parameters import adds_group
from cosched.cli.values import check_files
from cosched.core.text import unknown_name
from cosched.errors import printable
from cosched.library.records import Finding, family_of, is_source_tree, record_of
from cosched.library.table import gap_of


def list_instances(family: str | None = None, output: Path | None = None) -> None:
    check_files((output, (".csv", ".json", ".md")))
    frame = library.list()
    if family is not None:
        families = frame.family.unique().tolist()
        if family not in families:
            raise ValueError(unknown_name("family", family, families))
        frame = frame[frame.family == family]
    frame = frame.sort_values("gap", ascending=False, kind="stable")
    if output is not None:
        io.write_frame(frame, output)
    else:
        tables.show("library", tables.columns_of(frame))


def show(name: str) -> None:
    record, instance = record_of(name), library.load(name)
    report.say(f"{name}: {instance!r}")
    report.say(f"value {record.best.value:.9g}: {_finding_text(record.best)}")
    report.say(f"bound {record.bound.value:.9g}: {_finding_text(record.bound)}")
    report.say(f"gap {100 * gap_of(record):.2f}%")
    for earlier_finding in reversed(record.history):
        report.say(f"before: {earlier_finding.value:.9g}: {_finding_text(earlier_finding)}")


def _finding_text(finding: Finding) -> str:
    return printable(f"{finding.algorithm}, by {finding.by}, since {finding.since}")


def try_algorithm(
    name: str,
    algorithm: str,
    seed: int = 0,
    time_limit: float | None = None,
    output: Path | None = None,
) -> None:
    check_files((output, (".json",)))
    record, of = record_of(name), family_of(name)
    limit: dict[str, Any] = {} if time_limit is None else {"time_limit": time_limit}
    result = of.solve(library.load(name), algorithm, seed=seed, **limit)
    result.schedule.validate()
    if output is not None:
        report.write_result(result, output)
    report.say(f"{name}: {algorithm} {result.value:.9g}, record {record.best.value:.9g}")


def verify_records(
    name: str | None = None, thorough: bool = False, folder: Path | None = None
) -> None:
    frame = library.verify(name, thorough=thorough, folder=folder)
    wrong = frame[frame.status.isin(("wrong", "beaten"))]
    for row in wrong.itertuples():
        report.say(f"{row.name}: {row.message}")
    searched = int((frame.status == "value").sum())
    searched_note = f" ({searched} bounds are proofs by search: --thorough)" if searched else ""
    report.say(f"{len(frame) - len(wrong)} of {len(frame)} records hold{searched_note}")
    raise typer.Exit(1 if len(wrong) else 0)


def submit(name: str, schedule: Path, by: str, folder: Path | None = None) -> None:
    if folder is None and not is_source_tree():
        raise ValueError(
            "--folder: expected a folder for the new record, as the package is installed"
        )
    report.say(f"{library.submit(name, schedule, by, folder=folder)}: a new record")


add = adds_group(
    list=list_instances, show=show, solve=try_algorithm, verify=verify_records, submit=submit
)
