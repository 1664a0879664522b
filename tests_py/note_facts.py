"""What tests ask of notes: their kinds, subjects, counts and places, and no sentence."""

from __future__ import annotations

from collections.abc import Iterable

from cosched import Note, NoteKind


def counts(notes: Iterable[Note], kind: NoteKind) -> dict[str, int | None]:
    """By subject, how many jobs, lines or entries the notes of a kind concern."""
    return {note.subject: note.count for note in notes if note.kind is kind}


def places(notes: Iterable[Note], kind: NoteKind) -> dict[str, tuple[int | None, str]]:
    """By subject, the counts and the places of the notes of a kind."""
    return {note.subject: (note.count, note.where) for note in notes if note.kind is kind}


def has_note(notes: Iterable[Note], kind: NoteKind, subject: str) -> bool:
    """Whether a note of this kind is about this subject."""
    return any(note.kind is kind and note.subject == subject for note in notes)
