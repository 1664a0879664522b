"""Numbers of a snapshot that cannot be are refused in one line that names file and field."""

from __future__ import annotations

import json
import math

import pytest
from unit.slurm.test_when import NODES, PARTITION, SACCT, folder_of

import cosched as cs
from cosched.cli import main


@pytest.fixture
def written(tmp_path):
    """A snapshot file in which one number is another, by its path of keys."""

    def write(path, value):
        folder = folder_of(tmp_path / "a", **{"sacct.txt": SACCT})
        file = tmp_path / "now.json"
        cs.slurm.Snapshot.read(folder).write(file)
        data = json.loads(file.read_text())
        *keys, last = path
        place = data
        for key in keys:
            place = place[key]
        assert last in place or isinstance(last, int)
        place[last] = value
        file.write_text(json.dumps(data))
        return file

    return write


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("taken",), math.nan, "taken: nan: expected a finite number"),
        (("taken",), 1e15,
         "taken: 1000000000000000.0: expected a finite number of seconds, at most 1e+11"),
        (("jobs", 0, "limit"), math.nan,
         "jobs[0]: limit = nan: expected seconds >= 0, at most 1e+11"),
        (("jobs", 0, "limit"), -1, "jobs[0]: limit = -1: expected seconds >= 0"),
        (("jobs", 0, "start"), math.nan, "jobs[0]: start = nan: expected a finite number"),
        (("jobs", 1, "submit"), math.inf, "jobs[1]: submit = inf: expected a finite number"),
        (("jobs", 1, "priority"), math.nan, "jobs[1]: priority = nan: expected a finite number"),
        (("jobs", 1, "nodes"), 5_000_000,
         "jobs[1]: nodes = 5000000: expected a whole number in 0..1000000"),
        (("jobs", 0, "cpus"), -3, "jobs[0]: cpus = -3: expected a whole number in 0..2147483647"),
        (("history", 0, "nodes"), 5_000_000,
         "history[0]: nodes = 5000000: expected a whole number in 0..1000000"),
        (("history", 0, "end"), math.nan, "history[0]: end = nan: expected a finite number"),
        (("clocks", "calc_period"), -1, "clocks: calc_period = -1: expected seconds, from 0 to"),
        (("clocks", "calc_period"), 1e-9,
         "clocks: calc_period = 1e-09: expected 0 or at least 60 seconds"),
        (("clocks", "half_life"), math.nan, "clocks: 'half_life' = nan: expected a number"),
        (("clocks", "offset"), 1e6, "clocks: offset = 1000000: expected seconds, from -51300 to"),
        (("clocks", "weight_age"), -5, "clocks: weight_age = -5: expected a priority weight"),
    ],
    ids=lambda value: ".".join(map(str, value)) if isinstance(value, tuple) else None,
)  # fmt: skip
def test_a_number_that_cannot_be_is_refused_by_its_field(written, capsys, path, value, said):
    file = written(path, value)
    assert main(["when", str(file), "--draws", "2"]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"cosched: error: {file}: {said}")
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("squeue.json", ('"node_count": 2', '"node_count": 5000000'), "nodes = 5000000: expected"),
        ("squeue.json", ('"nodes": "n[1-3]"', '"nodes": "n[1-50000000]"'), "1000000 hosts"),
        ("scontrol_partition.txt", ("n[1-4]", "n[1-50000000]"), "1000000 hosts"),
    ],
)
def test_millions_of_nodes_in_outputs_are_refused(tmp_path, capsys, name, change, said):
    texts = {"scontrol_node.txt": NODES, "scontrol_partition.txt": PARTITION}
    folder = folder_of(tmp_path / "a", **texts)
    text = (folder / name).read_text()
    assert change[0] in text
    text = text.replace('"allocated_nodes"', '"no_nodes"').replace(*change)
    (folder / name).write_text(text)
    assert main(["when", str(folder), "--draws", "2"]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_a_submission_of_1970_takes_no_more_memory_than_others(written):
    """A past of fifty years would have millions of minutes."""
    file = written(("history", 0, "submit"), 5_000_000)
    assert len(cs.slurm.when(file, draws=2)) == 2
