"""Sentences and columns that several reports share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from cosched.cluster.analysis.runs import GroupChange
from cosched.cluster.instance import Instance
from cosched.cluster.judgement import LogJudgement
from cosched.cluster.judgement.sentences import paragraphs_about
from cosched.notes import Note
from cosched.reports.document import Column, Paragraph, Table, with_text

#: A relative path to a file, and its last part.
_RELATIVE_PATH = re.compile(
    r"(?<![\w/.])(?:[\w.~-]+/)+([\w.-]+\.(?:txt|csv|json|conf|swf|toml|log|gz|xz|bz2|zst|parquet)\b)"
)
#: A path of this machine: its last part says enough.
_ABSOLUTE_PATH = re.compile(r"(?<![\w/.])(?:/[^\s/:;,'\"()]+)+/([^\s/:;,'\"()]+)")


def without_folders(text: str) -> str:
    """Return a text with the names of files instead of their paths.

    Examples
    --------
    >>> without_folders("/home/ada/logs/sacct.txt:7: no start; 3/4 of jobs")
    'sacct.txt:7: no start; 3/4 of jobs'
    >>> without_folders("home/ada/sacct.txt: 511 jobs kept")
    'sacct.txt: 511 jobs kept'
    """
    return _RELATIVE_PATH.sub(r"\1", _ABSOLUTE_PATH.sub(r"\1", text))


def cluster_name(instance: Instance) -> str:
    """Return ``ClusterName`` of the instance's slurm.conf; empty without one."""
    slurm = None if instance.machine is None else instance.machine.slurm
    source = getattr(slurm, "source", None)
    lines = [] if source is None else source.lines
    names = [line.keys["clustername"] for line in lines if "clustername" in line.keys]
    return names[-1] if names else ""


def subject_of(instance: Instance) -> str:
    """Return what a report is of: the cluster, else the file of the log.

    A log of several files has several names; their folders are left out.
    """
    if name := cluster_name(instance):
        return f"cluster {name}"
    return without_folders(instance.source).rpartition("/")[2] or "jobs"


def judgement_paragraphs(
    judgement: LogJudgement | None, reference: str = "", *, is_chosen: bool = False
) -> tuple[Paragraph, ...]:
    """Return what a report says of the simulator and the log, the verdict in full size."""
    verdict, *evidence = paragraphs_about(judgement, reference, is_chosen=is_chosen)
    return (Paragraph(verdict), *(Paragraph(text, is_small=True) for text in evidence))


def _group_name(change: GroupChange) -> str:
    if change.what == "gpu":
        return f"{change.name} GPUs"
    return f"{change.what} {change.name}"


def group_changes_table(changes: Sequence[GroupChange], title: str = "", note: str = "") -> Table:
    """Return the table of groups whose mean wait changes."""
    return Table(
        columns=(
            Column("group", "name", "group"),
            Column("jobs", "count"),
            Column("change of mean wait", "difference", name="difference"),
        ),
        rows=tuple((_group_name(change), change.jobs, change.difference) for change in changes),
        title=title,
        note=note,
    )


def notes_without_folders(notes: Iterable[str]) -> tuple[Note, ...]:
    """Return notes in their order, each once, without paths of this machine."""
    return tuple(dict.fromkeys(_without_folders(Note.of(note)) for note in notes))


def _without_folders(note: Note) -> Note:
    return with_text(note, without_folders(note.text.strip()))
