"""``cosched convert``: a log of any format as a table or in Standard Workload Format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cosched.cli import report
from cosched.cli.commands import adds_of_cluster
from cosched.cli.values import check_files, read
from cosched.core import Presentation
from cosched.core.text import count_of

_SUFFIXES = (".swf", ".csv", ".json", ".parquet")


def convert(
    of: Presentation,
    file: Path,
    arguments: dict[str, Any],
    *,
    output: Path,
    anonymise: bool = False,
) -> None:
    check_files((output, _SUFFIXES))
    instance = read(of, file, arguments)
    notes = instance.write(output, anonymise=anonymise)
    report.show_notes(instance)
    for note in notes:
        report.say(f"note: {note}")
    report.say(f"wrote {output}: {count_of(len(instance), 'job')}")


add = adds_of_cluster(convert=convert)
