"""The wording of notes on tables of times; other tests ask for kinds and subjects."""

import numpy as np

import cosched as cs
from cosched.profiles import complete


def test_notes_on_times():
    inst = cs.packs.Instance([[8.0, 2.0, 3.0], [9.0, np.inf, 4.0]], names=["a", "b"])
    assert inst.notes[:3] == (
        "1 of 6 times are infinite: no task gets such a count",
        "1 of 2 tasks is slower on more processors (a: 3 s on 3, 2 s on 2): the fewer are used",
        "2 of 2 tasks are super-linear (a on 2 processors does less work than on fewer)",
    )


def test_notes_on_what_is_filled_in():
    table = complete({"a": {1: [8.0, 10.0], 4: 3.0}}, 4)
    assert table.notes == (
        "1 tasks x 4 counts: 2 times measured, 2 interpolated (interpolation; hatched in the "
        "picture)",
        "1 times are medians of several runs; their spread, (largest - smallest) / median, is at "
        "most 22.2% (a on 1)",
    )


def test_notes_on_what_is_shared():
    slowdowns = [[1.0, 0.9], [np.nan, 1.0]]
    inst = cs.packs.Instance(
        [[2.0, 1.0], [2.0, 1.0]], names=["a", "b"], resources={"disk": [1, 1]}, slowdowns=slowdowns
    )
    assert inst.notes == (
        "disk: no capacity is given: no limit",
        "1 slow-downs are not measured and count as 1: b beside a",
        "1 slow-downs are below 1 and read as 1: a beside b 0.9",
    )


def test_notes_on_columns(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("task,cores,time,host\na,1,8,n1\na,2,4,n1\n")
    assert cs.packs.Instance.read(path).notes == (
        "column 'cores' is read as processors",
        "column 'time' is read as seconds",
        "columns that are not read: 'host'",
    )


def test_the_numbers_of_generated_jobs_need_no_note(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("job,submit,tasks,cpu,memory,runtime\n1,0,1,1,1,60\n2,5,1,1,1,60\n")
    assert not has_unread_columns(path)
    path.write_text("job,submit,tasks,cpu,memory,runtime\n7,0,1,1,1,60\n2,5,1,1,1,60\n")
    assert has_unread_columns(path)


def has_unread_columns(path):
    notes = cs.cluster.Instance.read(path, nodes=2).notes
    return "columns that are not read: 'job'" in notes
