"""Sentences and columns that several reports share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cosched.cluster.analysis.group_changes import GroupChange
from cosched.cluster.instance import Instance
from cosched.cluster.judgement import LogJudgement
from cosched.cluster.judgement.sentences import paragraphs_about
from cosched.notes import Note
from cosched.reports.document import Column, Paragraph, Table


def cluster_name(instance: Instance) -> str:
    """Return ``ClusterName`` of the instance's slurm.conf; empty without one."""
    slurm = None if instance.machine is None else instance.machine.slurm
    source = getattr(slurm, "source", None)
    lines = [] if source is None else source.lines
    names = [line.keys["clustername"] for line in lines if "clustername" in line.keys]
    return names[-1] if names else ""


def subject_of(instance: Instance) -> str:
    """Return what a report is of: the cluster, else the file of the log.

    The folder of the file is left out.
    """
    if name := cluster_name(instance):
        return f"cluster {name}"
    return instance.source.rpartition("/")[2] or "jobs"


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


def notes_of_report(notes: Iterable[str]) -> tuple[Note, ...]:
    """Return notes in their order, each once, without indentation and paths of this machine."""
    shown_notes = []
    for text in notes:
        note = Note.of(text)
        shown_notes.append(note.with_text(note.text.strip()).without_folder())
    return tuple(dict.fromkeys(shown_notes))
