"""A note is a text that carries its kind, its subject, a count and a place."""

import copy
import json
import pickle

import pytest
from note_facts import counts, has_note, places

import cosched as cs
from cosched.cluster.judgement.reasons import denied_jobs_by_partition
from cosched.notes import (
    Note,
    NoteKind,
    as_notes,
    not_followed,
    note_records,
    notes_of_json,
    notes_of_kind,
)

DROPPED = Note(
    NoteKind.DROPPED, "2: no CPUs (lines 3, 4)", subject="no CPUs", count=2, where="lines 3, 4",
    prefix="dropped ",
)  # fmt: skip
JOBS = {"submit": [0, 5], "tasks": [1, 2], "cpu": [1, 1], "memory": [1, 1], "runtime": [60, 900]}


def test_a_note_is_its_text():
    assert DROPPED == "dropped 2: no CPUs (lines 3, 4)"
    assert hash(DROPPED) == hash(str(DROPPED))
    assert type(str(DROPPED)) is type(DROPPED.text) is str
    assert f"note: {DROPPED}" == "note: dropped 2: no CPUs (lines 3, 4)"
    assert "no CPUs" in DROPPED
    assert json.loads(json.dumps([DROPPED])) == [str(DROPPED)]
    assert "; ".join([DROPPED, DROPPED]).count("dropped") == 2


@pytest.mark.parametrize(
    "copy_of", [copy.copy, copy.deepcopy, lambda n: pickle.loads(pickle.dumps(n))]
)
def test_a_copy_keeps_all_fields(copy_of):
    note = copy_of(DROPPED.with_prefix("  "))
    assert note == "  dropped 2: no CPUs (lines 3, 4)"
    assert note.statement == "2: no CPUs (lines 3, 4)"
    assert (note.kind, note.subject, note.count, note.where) == (
        NoteKind.DROPPED, "no CPUs", 2, "lines 3, 4",
    )  # fmt: skip


def test_a_note_never_changes():
    with pytest.raises(AttributeError, match="immutable: cannot set 'count'"):
        DROPPED.count = 3
    with pytest.raises(AttributeError, match="immutable: cannot delete 'kind'"):
        del DROPPED.kind


def test_a_place_stands_before_the_text():
    note = Note(NoteKind.READING, "column User is there twice", subject="User")
    note = note.with_place("sacct.txt")
    assert note == "sacct.txt: column User is there twice"
    assert note.where == "sacct.txt"
    assert note.statement == "column User is there twice"


def test_another_text_keeps_the_data():
    note = DROPPED.with_text("2 jobs without CPUs")
    assert note == "2 jobs without CPUs"
    assert (note.kind, note.subject, note.count) == (DROPPED.kind, DROPPED.subject, DROPPED.count)
    assert note.with_text("without CPUs", where="line 4").where == "line 4"


@pytest.mark.parametrize(
    ("place", "shown"),
    [
        ("/site/ada/log.txt:7", "log.txt:7"),
        ("logs of March/log.txt", "log.txt"),
        ("log.txt", "log.txt"),
        ("lines 2, 3", "lines 2, 3"),
    ],
)
def test_folders_are_cut_off_the_place_of_a_note(place, shown):
    note = Note(NoteKind.READING, "1/2 of the fields", subject="x").with_place(place)
    note = note.with_prefix("  ").without_folder()
    assert note == f"  {shown}: 1/2 of the fields"
    assert (note.where, note.kind, note.subject) == (shown, NoteKind.READING, "x")


def test_a_text_of_the_caller_is_a_remark():
    assert [note.kind for note in as_notes(["measured in March"])] == [NoteKind.REMARK]
    assert as_notes("one text") == ("one text",)
    assert as_notes([DROPPED])[0] is DROPPED
    for wrong in (3, None, [3], [None]):
        with pytest.raises(cs.InvalidInstance, match=r"^notes"):
            as_notes(wrong)


def test_kinds_are_asked_for():
    notes = [DROPPED, not_followed("exclude n1 of 3 jobs", subject="exclude n1", count=3)]
    assert notes_of_kind(notes, NoteKind.NOT_FOLLOWED) == ["not followed: exclude n1 of 3 jobs"]
    assert notes_of_kind(notes, *NoteKind) == notes
    assert counts(notes, NoteKind.NOT_FOLLOWED) == {"exclude n1": 3}
    assert places(notes, NoteKind.DROPPED) == {"no CPUs": (2, "lines 3, 4")}
    assert has_note(notes, NoteKind.DROPPED, "no CPUs")
    assert not has_note(notes, NoteKind.DROPPED, "no GPUs")


def test_records_have_the_fields_and_the_text():
    assert note_records([DROPPED, "by hand"]) == [
        {"kind": "dropped", "subject": "no CPUs", "text": str(DROPPED), "count": 2,
         "where": "lines 3, 4"},
        {"kind": "remark", "subject": "", "text": "by hand", "count": None},
    ]  # fmt: skip


def test_a_file_gives_its_notes_back():
    (note,) = notes_of_json([str(DROPPED)], json.loads(json.dumps(note_records([DROPPED]))))
    assert (note, note.kind, note.count) == (DROPPED, NoteKind.DROPPED, 2)
    assert [note.kind for note in notes_of_json(["old"], None)] == [NoteKind.REMARK]
    for texts, records in ((["a"], note_records(["b"])), (["a"], 3), (["a"], [3]), (["a"], [{}]),
                           (["a"], [{"kind": "odd", "text": "a"}])):  # fmt: skip
        with pytest.raises(cs.InvalidInstance, match="note"):
            notes_of_json(texts, records)


@pytest.mark.parametrize(
    "instance",
    [
        cs.packs.Instance([[4.0, 2.0], [3.0, 2.0]], notes=[DROPPED, "by hand"]),
        cs.moldable.Instance([[4.0, 2.0], [3.0, 2.0]], notes=[DROPPED, "by hand"]),
        cs.dags.Instance([[4.0, 2.0], [3.0, 2.0]], [], [1, 1], notes=[DROPPED, "by hand"]),
        cs.bags.Instance([1], [1], [[2.0]], [[3.0]], gamma=2, notes=[DROPPED, "by hand"]),
        cs.cluster.Instance(JOBS, 4, notes=[DROPPED, "by hand"]),
    ],
    ids=lambda instance: instance.family,
)
def test_instances_keep_notes_and_take_texts(instance):
    for same in (instance, pickle.loads(pickle.dumps(instance))):
        first, second, *_ = same.notes
        assert (first, first.kind, first.count) == (DROPPED, NoteKind.DROPPED, 2)
        assert (second, second.kind) == ("by hand", NoteKind.REMARK)


def test_a_further_note_makes_no_new_data():
    log = cs.cluster.Instance(JOBS, 4, notes=[DROPPED], min_runtime=100)
    log.once("costly", lambda: ["computed once"])
    noted = log.with_notes(["by hand"])
    assert noted._core is log._core
    assert noted.column("runtime") is log.column("runtime")
    assert noted.cached("costly") is log.cached("costly")
    assert noted == log
    assert log.notes[0] == DROPPED
    assert len(log.notes) == 2
    kinds = [note.kind for note in noted.notes]
    assert kinds == [NoteKind.DROPPED, NoteKind.REMARK, NoteKind.MEASURED_JOBS]
    assert noted.with_notes(["by hand", DROPPED]).notes == noted.notes
    noted.once("bound of one", lambda: 1)
    assert log.cached("bound of one") is None


@pytest.mark.parametrize("limit", [30.0, 3600.0])
def test_jobs_that_end_at_their_limit_keep_further_notes(limit):
    log = cs.cluster.Instance(JOBS | {"estimate": [limit, limit]}, 4, notes=[DROPPED])
    cs.cluster.solve(log, "EASY", kill=True)
    result = cs.cluster.solve(log.with_notes(["by hand"]), "EASY", kill=True)
    assert result.instance.notes == (DROPPED, "by hand")
    assert cs.cluster.solve(log, "EASY", kill=True).instance.notes == (DROPPED,)


def test_which_jobs_are_measured_is_said_once():
    log = cs.cluster.Instance(JOBS, 4, min_runtime=100)
    assert counts(log.notes, NoteKind.MEASURED_JOBS) == {"min_runtime": 1}
    part = log.take([1]).replace(runtime=[700.0])
    assert counts(part.notes, NoteKind.MEASURED_JOBS) == {"min_runtime": 1}
    assert len(part.notes) == 1


def test_the_wording_of_a_note_changes_no_behaviour():
    text = (
        "3 jobs of partition a whose AllowAccounts, AllowQos or their likes do not let them in: "
        "they run here"
    )
    assert denied_jobs_by_partition(cs.cluster.Instance(JOBS, 4, notes=[text])) == {}
    note = Note(NoteKind.DENIED_JOBS, "in any other words", subject="a", count=3)
    assert denied_jobs_by_partition(cs.cluster.Instance(JOBS, 4, notes=[note])) == {"a": 3}
