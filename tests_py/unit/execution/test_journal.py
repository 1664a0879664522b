"""The journal of a run, line by line, without a process."""

from __future__ import annotations

import json

import pytest

import cosched as cs
from cosched.execution.journal import Journal, read_past

RUN = {"format": "cosched-journal", "version": 1, "run": "f", "plan": "p", "barrier": True,
       "begun": 5.0}  # fmt: skip


def _lines(*events):
    return "".join(json.dumps({"event": name, **fields}) + "\n" for name, fields in events)


def _starting(task, time, attempt=1):
    return ("starting", {"task": task, "attempt": attempt, "units": [task], "time": time})


def _ended(task, time, state="completed", **extra_fields):
    return ("ended", {"task": task, "state": state, "exit_code": 0, "time": time, **extra_fields})


@pytest.fixture
def path(tmp_path):
    return tmp_path / "journal.jsonl"


def _past(path, *events):
    path.write_text(_lines(("run", RUN), *events))
    return read_past(path)


def test_a_task_from_start_to_end(path):
    started = ("started", {"task": 3, "time": 1.5})
    past = _past(path, _starting(3, 1.0, 2), started, _ended(3, 4.0, cpu_seconds=2.5))
    task = past.of(3)
    assert (task.attempt, task.state, task.start, task.end) == (2, "completed", 1.5, 4.0)
    assert (task.exit_code, task.units, task.cpu_seconds, task.driver) == (0, (3,), 2.5, 1)
    assert (past.plan, past.barrier, past.begun, past.runs) == ("p", True, 5.0, ["f"])
    assert (past.elapsed, past.drivers, past.started_tasks()) == (4.0, 1, {3})


def test_states_of_tasks(path):
    past = _past(
        path, _starting(0, 1.0), ("lost", {"task": 0, "time": 2.0}), _starting(1, 1.0, 4),
        _ended(1, 3.0, "failed"), ("cancelled", {"task": 2}), _starting(4, 0.5),
    )  # fmt: skip
    states = {task: task_record.state for task, task_record in past.tasks.items()}
    assert past.at_work == {1}
    assert states == {0: "lost", 1: "failed", 2: "cancelled", 4: "running"}
    assert past.of(1).attempt == 4
    assert past.of(1).cpu_seconds is None
    assert (past.of(7).state, past.of(7).attempt) == ("pending", 0)
    assert past.started_tasks() == {0, 1, 4}
    assert past.elapsed == 3.0
    assert _past(path, _starting(0, 0.5)).elapsed == 0.5


def test_a_task_that_a_signal_ended(path):
    ended = ("ended", {"task": 0, "state": "failed", "exit_code": -9, "time": 2.0})
    assert _past(path, _starting(0, 1.0), ended).of(0).exit_code == -9


def test_an_attempt_that_is_cancelled_was_tried(path):
    past = _past(path, _starting(0, 1.0, 3), ("cancelled", {"task": 0}))
    assert (past.of(0).attempt, past.of(0).state) == (3, "cancelled")


def test_who_ran_what(path):
    past = _past(path, _starting(0, 1.0), _ended(0, 2.0), ("run", RUN), _starting(1, 3.0))
    assert past.drivers == 2
    assert past.started_tasks() == {1}
    assert past.at_work == {1, 2}
    assert past.runs == ["f", "f"]


def test_to_run_again_forgets_all_but_attempts(path):
    repeated_run = ("run", {**RUN, "again": True})
    placed = ("replanned", {"placements": [{"task": 0, "units": [1], "start": 0, "end": 2}]})
    past = _past(path, _starting(0, 1.0, 2), _ended(0, 2.0), placed)
    assert past.replanned == [{"task": 0, "units": (1,), "start": 0.0, "end": 2.0}]
    past = _past(path, _starting(0, 1.0, 2), _ended(0, 2.0), placed, repeated_run)
    assert (past.of(0).attempt, past.of(0).state) == (2, "pending")
    assert (past.elapsed, past.drivers, past.replanned) == (0.0, 1, None)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"event": "run", "format": "x", "version": 1}', r"\('format'\)"),
        (json.dumps({"event": "run", **RUN, "version": 2}), "version"),
        (_lines(("run", RUN), _ended(0, 1.0, "strange")), "state = 'strange'"),
        (_lines(("run", RUN), ("ended", {"task": 0, "state": "completed"})), "time"),
        (_lines(("run", RUN)) + "7\n", "expected a line"),
        (_lines(("run", RUN)) + "7", "expected a line"),
        (_lines(("run", RUN)) + "[" * 5000 + "\n", "expected a line"),
    ],
)
def test_lines_that_are_none(path, line, said):
    path.write_text(line if line.endswith(("\n", "7")) else line + "\n")
    with pytest.raises(cs.InvalidInstance, match=rf"journal\.jsonl: line \d: .*{said}"):
        read_past(path)


def test_the_line_is_told_by_its_number(path):
    path.write_text(_lines(("run", RUN)) + "7\n")
    with pytest.raises(cs.InvalidInstance, match=r"line 2: .*7"):
        read_past(path)


def test_a_line_that_was_cut_short_is_taken_away(path):
    complete_lines = _lines(("run", RUN), _starting(0, 1.0))
    path.write_text(complete_lines + '{"event": "ended", "ta')
    assert read_past(path).of(0).state == "running"
    journal = Journal.open(path, True, "p")
    journal.write("lost", task=0, time=9.0)
    journal.close()
    assert path.read_text() == complete_lines + _lines(("lost", {"task": 0, "time": 9.0}))
    assert (journal.past.of(0).state, journal.past.elapsed) == ("lost", 9.0)


def test_opening_twice_changes_nothing(path):
    path.write_text(_lines(("run", RUN), _starting(0, 1.0)))
    before = path.read_bytes()
    for _ in range(2):
        journal = Journal.open(path, True, "p")
        journal.write_all([])
        journal.close()
        assert path.read_bytes() == before
        assert journal.past.drivers == 1


def test_what_may_go_on(path):
    Journal.open(path, False, "p").close()  # nobody ran
    path.write_text(_lines(("run", RUN), _starting(0, 1.0), _ended(0, 2.0)))
    with pytest.raises(cs.InvalidInstance, match="a run is there: add --resume"):
        Journal.open(path, False, "p")
    for resume, repeated_tasks in ((True, None), (False, [0])):
        with pytest.raises(cs.InvalidInstance, match="the journal of another plan"):
            Journal.open(path, resume, "q", repeated_tasks)
        Journal.open(path, resume, "p", repeated_tasks).close()
    path.write_text(_lines(("run", RUN), _ended(0, 2.0, "failed"), _ended(1, 2.0, "timeout")))
    Journal.open(path, False, "p", [0, 1]).close()
    with pytest.raises(cs.InvalidInstance, match="1 of 2 tasks are not done"):
        Journal.open(path, False, "p", [1, 2])
