"""Notes: what a reader, a simulator or a planner did with its input, and the user should know once.

A note is a text for people that carries its kind, its subject, a count and a place for programs.
Code and tests ask for these; no code reads the text.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Any, NoReturn

from cosched.described import described
from cosched.errors import InvalidInstance, shorten


class NoteKind(Enum):
    """What a :class:`Note` tells of; the value is its name in JSON.

    Examples
    --------
    >>> NoteKind("dropped") is NoteKind.DROPPED
    True
    """

    #: A text of the caller, of which nothing else is known.
    REMARK = "remark"
    #: How the input was read: its format, its encoding, its columns, a column that is there twice.
    READING = "reading"
    #: How many jobs, tasks or lines are kept.
    KEPT = "kept"
    #: What of the input was left out.
    DROPPED = "dropped"
    #: An entry that contradicts others, and what was taken instead.
    REPAIRED = "repaired"
    #: An entry that is kept as it is, although it is unusual.
    UNUSUAL = "unusual"
    #: What was assumed where the input does not say it.
    ASSUMED = "assumed"
    #: Which jobs count in values, bounds and metrics (``min_runtime``).
    MEASURED_JOBS = "measured-jobs"
    #: Columns, fields, settings or lines that nothing reads.
    NOT_READ = "not-read"
    #: What was read, and has no effect on the result.
    NOT_USED = "not-used"
    #: A setting or a request that the simulator leaves out: start times may differ from Slurm's.
    NOT_FOLLOWED = "not-followed"
    #: An option that Slurm has and the simulator has no rule for.
    NOT_MODELLED = "not-modelled"
    #: The simulator follows the rules of another version of Slurm than the machine's.
    OTHER_VERSION = "other-version"
    #: Memory is not handed out, because the machine or the log does not tell it.
    MEMORY_UNKNOWN = "memory-unknown"
    #: Jobs that the configuration never starts; they are left out of the simulation.
    REFUSED_JOBS = "refused-jobs"
    #: Jobs that no partition of theirs lets in; they run in the simulation.
    DENIED_JOBS = "denied-jobs"
    #: The log holds more than the machine has.
    OVERUSE = "overuse"
    #: An output of Slurm that is not there, and what is taken instead.
    MISSING_OUTPUT = "missing-output"
    #: What the input does not tell, and no assumption replaces.
    UNKNOWN = "unknown"
    #: What failed, and is missing in the result.
    FAILED = "failed"
    #: How precise numbers of the result are.
    PRECISION = "precision"


class Note(str):
    """A text for people, with its data for programs.

    A note is its text: it prints, compares and sorts like a ``str``.

    Parameters
    ----------
    kind : NoteKind
        What it tells of.
    statement : str
        What it says.
    subject : str
        What it is about: a setting, a column, an option, a group of jobs.
    count : int, optional
        How many jobs, lines or entries it concerns; None where nothing is counted.
    where : str
        The place of the subject: a file, lines of it, or both; empty where it has none.
    prefix : str
        What stands before the statement in the text, such as ``"not followed: "``.

    Examples
    --------
    >>> note = Note(NoteKind.DROPPED, "2: no CPUs", subject="no CPUs", count=2, prefix="dropped ")
    >>> print(note)
    dropped 2: no CPUs
    >>> note.kind is NoteKind.DROPPED, note.subject, note.count
    (True, 'no CPUs', 2)
    """

    __slots__ = ("count", "kind", "statement", "subject", "where")

    #: What the note tells of.
    kind: NoteKind
    #: What the note says, without the prefix of its text.
    statement: str
    #: What it is about.
    subject: str
    #: How many jobs, lines or entries it concerns; None where nothing is counted. It hides
    #: ``str.count``, which no caller of a note needs.
    count: int | None  # type: ignore[assignment]
    #: The place of the subject.
    where: str

    def __new__(
        cls,
        kind: NoteKind,
        statement: str,
        *,
        subject: str = "",
        count: int | None = None,
        where: str = "",
        prefix: str = "",
    ) -> Note:
        note = super().__new__(cls, prefix + statement)
        fields = {
            "kind": kind,
            "statement": str(statement),
            "subject": subject,
            "count": count,
            "where": where,
        }
        for name, value in fields.items():
            object.__setattr__(note, name, value)
        return note

    @property
    def text(self) -> str:
        """The whole text, as a plain ``str``."""
        return str(self)

    def with_text(self, text: str, *, where: str | None = None) -> Note:
        """The same note with another text.

        Parameters
        ----------
        text : str
            The whole text.
        where : str, optional
            Another place; None keeps the place.

        Examples
        --------
        >>> note = Note(NoteKind.KEPT, "5 jobs kept", subject="jobs", count=5)
        >>> note.with_text("5 kept"), note.with_text("5 kept").count
        ('5 kept', 5)
        """
        place = self.where if where is None else where
        return Note(self.kind, text, subject=self.subject, count=self.count, where=place)

    def with_prefix(self, prefix: str, *, where: str | None = None) -> Note:
        """The same note, whose text begins with a further prefix.

        Parameters
        ----------
        prefix : str
            Put before the whole text.
        where : str, optional
            Another place; None keeps the place.

        Examples
        --------
        >>> note = Note(NoteKind.ASSUMED, "1 core per task", subject="cores", prefix="assumed: ")
        >>> note.with_prefix("  "), note.with_prefix("  ").subject
        ('  assumed: 1 core per task', 'cores')
        """
        place = self.where if where is None else where
        return _note_of_fields(
            self.kind, prefix + self.text, self.statement, self.subject, self.count, place
        )

    def with_place(self, place: str) -> Note:
        """The same note of a place, which its text begins with.

        Parameters
        ----------
        place : str
            A file, or a file and a line.

        Examples
        --------
        >>> print(Note(NoteKind.READING, "column User is there twice").with_place("sacct.txt"))
        sacct.txt: column User is there twice
        """
        return self.with_prefix(f"{place}: ", where=place)

    def without_folder(self) -> Note:
        """The same note with the name of its file instead of the path, as reports show it.

        The folder is cut off the place, and off the same place in the text.

        Examples
        --------
        >>> note = Note(NoteKind.READING, "no start").with_place("/logs/sacct.txt:7")
        >>> note.without_folder(), note.without_folder().where
        ('sacct.txt:7: no start', 'sacct.txt:7')
        """
        place = self.where.rpartition("/")[2]
        if place == self.where:
            return self
        return self.with_text(self.text.replace(self.where, place), where=place)

    def record(self) -> dict[str, Any]:
        """The note as JSON outputs have it.

        Returns
        -------
        dict
            ``kind, subject, text, count``, and ``where`` if the note has a place.

        Examples
        --------
        >>> Note(NoteKind.KEPT, "5 jobs kept", subject="jobs", count=5).record()
        {'kind': 'kept', 'subject': 'jobs', 'text': '5 jobs kept', 'count': 5}
        """
        fields = {
            "kind": self.kind.value,
            "subject": self.subject,
            "text": self.text,
            "count": self.count,
        }
        return fields | ({"where": self.where} if self.where else {})

    @classmethod
    def of(cls, text: str) -> Note:
        """A text as a note: a note stays as it is, any other text is a remark.

        Examples
        --------
        >>> Note.of("measured in March").kind
        <NoteKind.REMARK: 'remark'>
        """
        return text if isinstance(text, Note) else cls(NoteKind.REMARK, text)

    @classmethod
    def of_record(cls, record: dict[str, Any]) -> Note:
        """A note of what :meth:`record` returned.

        Parameters
        ----------
        record : dict
            With ``kind`` and ``text``.

        Raises
        ------
        InvalidInstance
            It is no such record.

        Examples
        --------
        >>> note = Note(NoteKind.KEPT, "5 jobs kept", subject="jobs", count=5)
        >>> Note.of_record(note.record()).count
        5
        """
        try:
            return cls(
                NoteKind(record["kind"]),
                str(record["text"]),
                subject=str(record.get("subject", "")),
                count=record.get("count"),
                where=str(record.get("where", "")),
            )
        except (AttributeError, KeyError, TypeError, ValueError):
            raise InvalidInstance(
                f"note {shorten(record)}: expected an object with kind, subject, text, count"
            ) from None

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"Note is immutable: cannot set {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"Note is immutable: cannot delete {name!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        fields = (self.kind, self.text, self.statement, self.subject, self.count, self.where)
        return _note_of_fields, fields


def _note_of_fields(
    kind: NoteKind, text: str, statement: str, subject: str, count: int | None, where: str
) -> Note:
    """Return a note of this text, which ends with the statement."""
    prefix = text[: len(text) - len(statement)]
    return Note(kind, statement, subject=subject, count=count, where=where, prefix=prefix)


def not_followed(statement: str, *, subject: str, count: int | None = None) -> Note:
    """A note of a setting or a request that the simulator has no rule for.

    Parameters
    ----------
    statement : str
        What is not followed, and what that may do.
    subject : str
        The setting or the request.
    count : int, optional
        How many jobs ask for it.

    Examples
    --------
    >>> print(not_followed("exclude n[1-4] of 3 jobs", subject="exclude n[1-4]", count=3))
    not followed: exclude n[1-4] of 3 jobs
    """
    return Note(
        NoteKind.NOT_FOLLOWED, statement, subject=subject, count=count, prefix="not followed: "
    )


def as_notes(texts: Any, name: str = "notes") -> tuple[Note, ...]:
    """The notes of an argument.

    Parameters
    ----------
    texts : str or iterable of str
        Notes stay as they are; other texts are remarks.
    name : str
        Of the argument, for messages.

    Raises
    ------
    InvalidInstance
        Anything else than texts.

    Examples
    --------
    >>> [note.kind.value for note in as_notes(["measured in March"])]
    ['remark']
    """
    candidates = [texts] if isinstance(texts, str) else texts
    if not isinstance(candidates, Iterable):
        raise InvalidInstance(f"{name} = {shorten(texts)}: expected a list of texts")
    notes = []
    for text in candidates:
        if not isinstance(text, str):  # an iterable of other things may have no end
            raise InvalidInstance(f"{name}: {shorten(text)}: expected a text")
        notes.append(Note.of(text))
    return tuple(notes)


def notes_of_kind(notes: Iterable[Note], *kinds: NoteKind) -> list[Note]:
    """The notes of these kinds, in their order.

    Parameters
    ----------
    notes : iterable of Note
    *kinds : NoteKind

    Examples
    --------
    >>> notes = as_notes(["first"]) + (Note(NoteKind.KEPT, "5 jobs kept"),)
    >>> notes_of_kind(notes, NoteKind.KEPT)
    ['5 jobs kept']
    """
    return [note for note in notes if note.kind in kinds]


def notes_of_json(texts: Any, records: Any, name: str = "notes") -> tuple[Note, ...]:
    """The notes of a JSON file that has their texts, and the same as objects beside them.

    Parameters
    ----------
    texts : list of str
        In their order.
    records : list of dict, optional
        What :func:`note_records` returned; None: an older file, whose notes are remarks.
    name : str
        Of the list of texts, for messages.

    Raises
    ------
    InvalidInstance
        Not such lists, or their texts differ.

    Examples
    --------
    >>> notes = (Note(NoteKind.KEPT, "5 jobs kept", subject="jobs", count=5),)
    >>> notes_of_json(list(notes), note_records(notes))[0].count
    5
    """
    remarks = as_notes(texts, name)
    if records is None:
        return remarks
    if not isinstance(records, list):
        raise InvalidInstance(f"{name}: records {shorten(records)}: expected a list of objects")
    notes = tuple(map(Note.of_record, records))
    if notes != remarks:
        raise InvalidInstance(f"{name}: expected the texts of the records in their order")
    return notes


def note_records(notes: Iterable[str]) -> list[dict[str, Any]]:
    """The notes as JSON outputs have them, see :meth:`Note.record`.

    Parameters
    ----------
    notes : iterable of str
        Notes; other texts are remarks.

    Examples
    --------
    >>> note_records(["measured in March"])
    [{'kind': 'remark', 'subject': '', 'text': 'measured in March', 'count': None}]
    """
    return [Note.of(note).record() for note in notes]


described(globals())
