"""The pull request that brings a better schedule into the library."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote

from cosched.core.text import percent
from cosched.library.records import FOLDER, Record, gap_of

REPOSITORY = "https://github.com/cosched-hpc/cosched"
#: The folder of the records in a clone.
_RECORDS = "python/cosched/library/records"


@dataclass(frozen=True)
class PullRequest:
    """What to send to the project.

    Attributes
    ----------
    title : str
        A line, for the commit, too.
    text : str
        Markdown: the value before and now, and the gap that is left.
    commands : tuple of str
        For a shell, in the folder of a clone.
    """

    title: str
    text: str
    commands: tuple[str, ...]

    def lines(self) -> list[str]:
        """What the command line prints."""
        return [
            f"Pull request, from a clone of {REPOSITORY}:",
            *(f"  {command}" for command in self.commands),
            f"Title: {self.title}",
            "Text:",
            *(f"  {line}".rstrip() for line in self.text.splitlines()),
        ]


def pull_request(record: Record, path: Path) -> PullRequest:
    """The pull request for a record that :func:`cosched.library.submit` has written to `path`."""
    before, now = record.history[-1], record.best
    gap, gap_before = gap_of(record), gap_of(replace(record, best=before))
    title = f"library: {record.name}: {now.value:.9g} instead of {before.value:.9g}"
    bound = f"bound {record.bound.value:.9g} ({record.bound.algorithm})"
    text = "\n".join(
        [
            "| | value | gap | found by | with | on |",
            "|---|---|---|---|---|---|",
            f"| before | {before.value:.9g} | {percent(gap_before)} | {before.by} | "
            f"{before.algorithm} | {before.since} |",
            f"| now | {now.value:.9g} | {percent(gap)} | {now.by} | {now.algorithm} | "
            f"{now.since} |",
            "",
            f"Checked with `cosched library verify {record.name}`: valid; {bound}.",
        ]
    )
    file = f"{_RECORDS}/{record.name}.json"
    is_in_clone = path.resolve().is_relative_to(FOLDER.resolve())
    commands = (
        f"git switch -c record-{record.name.replace('/', '-')}",
        *(() if is_in_clone else (f"cp {quote(str(path.resolve()))} {file}",)),
        f"cosched library verify {record.name}",
        f"git add {file}",
        f"git commit -m {quote(title)}",
        "git push -u origin HEAD",
    )
    return PullRequest(title, text, commands)
