"""The notes of an audit on its data: what was ignored, then what was assumed."""

from __future__ import annotations

from cosched.cluster.analysis.audit_runs import AuditRuns, why_no_dfrs
from cosched.cluster.instance.usage import has_waits
from cosched.notes import Note, NoteKind
from cosched.reports.sentences import notes_of_report

#: Kinds of notes that tell what has no effect on the numbers of the report.
_IGNORED_KINDS = (
    NoteKind.DROPPED,
    NoteKind.NOT_USED,
    NoteKind.NOT_FOLLOWED,
    NoteKind.REFUSED_JOBS,
)


def data_notes(runs: AuditRuns) -> tuple[Note, ...]:
    """Return what was ignored, then what was assumed."""
    instance = runs.instance
    notes = [*runs.not_followed, *instance.notes]
    if len(instance.partition_layout[0]):
        text = "assumed: the bound ignores partitions: it is valid, and can be weak"
        notes.append(Note(NoteKind.NOT_USED, text, subject="partitions"))
    if why := why_no_dfrs(instance):
        text = f"assumed: DFRS policies are left out: {why}"
        notes.append(Note(NoteKind.DROPPED, text, subject="DFRS policies"))
    if has_waits(instance):
        text = "assumed: as-logged: the log has starts, and does not say on which nodes"
        notes.append(Note(NoteKind.ASSUMED, text, subject="as-logged"))
    text = "assumed: policies know no limits of users, accounts or QOS, and no reservations"
    notes.append(Note(NoteKind.ASSUMED, text, subject="limits"))
    of_machine = () if instance.machine is None else instance.machine.notes
    ignored_notes = [note for note in notes if note.kind in _IGNORED_KINDS or note in of_machine]
    other_notes = [note for note in notes if note not in ignored_notes]
    return notes_of_report([*ignored_notes, *other_notes])
