"""Records of a snapshot: what is converted, what is refused, and by which words."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from msgspec import structs
from unit.slurm.test_when import SACCT, folder_of

import cosched as cs
from cosched.slurm.live.model import (
    Allocated,
    FinishedJob,
    Share,
    SnapshotJob,
    moment_of,
    numbers,
    parse_record,
    parse_records,
    texts_of,
)


def test_values_of_other_programs_are_converted():
    """Nulls for texts, whole floats, numpy's numbers, an infinite limit, unknown fields."""
    values = {
        "id": np.int64(7), "user": None, "limit": math.inf, "nodes": 2.0, "memory": 5,
        "cpus": np.float64(8.0), "array": [3, 0.0], "holds": [["n1", np.int64(4)], ["n2", 4, 10]],
        "measured": [np.float32(2.5)], "colour": "red", 5: 6,
    }  # fmt: skip
    expected = SnapshotJob(
        id=7, limit=math.inf, nodes=2, memory=5.0, cpus=8, array=(3, 0),
        holds=(Allocated("n1", 4), Allocated("n2", 4, 10.0)), measured=(2.5,),
    )  # fmt: skip
    assert parse_record(SnapshotJob, values, "x") == expected
    assert parse_records(SnapshotJob, [values, expected], "jobs") == [expected, expected]
    for name in ("memory", "cpus", "nodes"):
        assert type(getattr(parse_record(SnapshotJob, values, "x"), name)) is type(expected[name])


def test_nulls_of_an_allocation_are_an_empty_name_and_no_memory():
    values = {"id": 1, "holds": [[None, 2, None, 3], ["n1", 4, None]]}
    (job,) = parse_records(SnapshotJob, [values], "jobs")
    assert job.holds == (Allocated("", 2, 0.0, 3), Allocated("n1", 4, 0.0))


def test_half_a_surrogate_pair_is_kept_in_a_text_and_refused_elsewhere():
    values = {"id": 1, "user": "\ud800", "\ud800": 1}
    assert parse_records(SnapshotJob, [values], "jobs") == [SnapshotJob(id=1, user="\ud800")]
    for parse in (texts_of, numbers, moment_of):
        with pytest.raises(cs.InvalidInstance, match=r"^x: .*expected"):
            parse({"a": "\ud800"} if parse is numbers else "\ud800", "x")


@pytest.mark.parametrize(
    ("name", "value", "expectation"),
    [
        ("id", "7", "a whole number in -9007199254740992..9007199254740992"),
        ("id", None, "a whole number in -9007199254740992..9007199254740992"),
        ("user", 7, "a text"),
        ("user", "x" * 100_001, "a text"),
        ("limit", "soon", "seconds >= 0, at most 1e+11"),
        ("limit", 1e12, "seconds >= 0, at most 1e+11"),
        ("limit", -math.inf, "seconds >= 0, at most 1e+11"),
        ("submit", math.inf, "a finite number of seconds, at most 1e+11"),
        ("submit", 10**400, "a finite number of seconds, at most 1e+11"),
        ("memory", True, "a finite number"),
        ("memory", 1e300, "a finite number"),
        ("nodes", 1.5, "a whole number in 0..1000000"),
        ("cpus", 2**40, "a whole number in 0..2147483647"),
        ("exact", 1, "true or false"),
        ("array", [1], "[number, how many may run], both >= 0"),
        ("array", [1, -1], "[number, how many may run], both >= 0"),
        ("holds", None, "a list of [node, CPUs, MB, GPUs], numbers >= 0"),
        ("holds", [["n1"]], "a list of [node, CPUs, MB, GPUs], numbers >= 0"),
        ("holds", [["n1", -3, 0.0, 0]], "a list of [node, CPUs, MB, GPUs], numbers >= 0"),
        ("holds", (Allocated("n1", -3),), "a list of [node, CPUs, MB, GPUs], numbers >= 0"),
        ("holds", [["n1", 1, math.nan]], "a list of [node, CPUs, MB, GPUs], numbers >= 0"),
        ("measured", [math.nan], "a list of seconds, at most 1e+11"),
        ("limit", "\ud800", "seconds >= 0, at most 1e+11"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_value_that_cannot_be_is_named_with_its_place_and_what_is_expected(
    name, value, expectation
):
    with pytest.raises(cs.InvalidInstance) as error:
        parse_record(SnapshotJob, {"id": 1, name: value}, "jobs[1]")
    assert str(error.value).startswith(f"jobs[1]: {name} = ")
    assert str(error.value).endswith(f": expected {expectation}")


@pytest.mark.parametrize(
    ("kind", "records", "message"),
    [
        (SnapshotJob, [{"id": 1}, {"user": "ann"}], "x[1]: no id"),
        (SnapshotJob, [{"id": 1}, 3], "x[1]: 3: expected an object"),
        (FinishedJob, {"id": 1}, "x: {'id': 1}: expected a list"),
        (Share, [{"parent": 0.5}],
         "x[0]: parent = 0.5: expected a whole number in -2147483647..2147483647"),
    ],
)  # fmt: skip
def test_lists_of_records_name_the_row(kind, records, message):
    with pytest.raises(cs.InvalidInstance) as error:
        parse_records(kind, records, "x")
    assert str(error.value) == message


def test_a_file_is_written_as_it_was_read(tmp_path):
    snapshot = cs.slurm.Snapshot.read(folder_of(tmp_path / "a", **{"sacct.txt": SACCT}))
    snapshot.write(tmp_path / "now.json")
    reread_snapshot = cs.slurm.Snapshot.read(tmp_path / "now.json")
    reread_snapshot.write(tmp_path / "again.json")
    assert (tmp_path / "now.json").read_bytes() == (tmp_path / "again.json").read_bytes()
    assert (reread_snapshot.jobs, reread_snapshot.history) == (snapshot.jobs, snapshot.history)


def test_a_repeated_key_in_a_snapshot_is_refused(tmp_path):
    """msgspec alone would take the last of the two."""
    file = tmp_path / "now.json"
    job = json.dumps(structs.asdict(SnapshotJob(id=1)))
    file.write_text(f'{{"cosched_snapshot": 1, "jobs": [{job[:-1]}, "id": 2}}]}}')
    with pytest.raises(cs.InvalidInstance, match="the key 'id' is there twice in an object"):
        cs.slurm.Snapshot.read(file)
