"""A reader that understands something and does not use it says so in a note."""

import json
from functools import partial

import pytest

import cosched as cs
from cosched.cluster.files import COLUMNS
from cosched.dags.files import read_graph


def test_what_a_graph_says_and_nobody_uses_is_noted(tmp_path):
    path = tmp_path / "g.dot"
    path.write_text(
        "digraph { node [time=1, shape=box] a [weight=3]; b; c; a -> b [data=10, weight=2, "
        "color=red]; b -> c [data=20]; a -> c [label=x] }"
    )
    notes = read_graph(path).notes
    assert "not used: 'weight' of 1 task" in notes
    assert "not used: 'weight' of 1 arc" in notes
    assert "data on 2 of 3 edges: 30 bytes" in notes
    inst = cs.dags.Instance.read(path, units=[2])
    assert inst.data is None
    assert "not used (no bandwidth, so transfers take no time): data of 2 edges" in inst.notes
    path.write_text("digraph { node [time=1] a -> b [color=red, label=x] }")
    assert not any("not used" in note for note in read_graph(path).notes)


def test_sizes_and_cores_of_a_workflow(tmp_path):
    tasks = [{"id": "a", "name": "a", "children": ["b"]}, {"id": "b", "name": "b"}]
    runs = [{"id": "a", "runtimeInSeconds": 1.0, "coreCount": 8},
            {"id": "b", "runtimeInSeconds": 2.0, "coreCount": 1}]  # fmt: skip
    files = [{"id": "f", "sizeInBytes": 100}, {"id": "g", "sizeInBytes": 7}]

    def notes(**specification):
        workflow = {
            "specification": {"tasks": tasks, **specification},
            "execution": {"tasks": runs},
        }
        (tmp_path / "w.json").write_text(json.dumps({"workflow": workflow}))
        return read_graph(tmp_path / "w.json", acceleration=2.0).notes

    cores = "not used: coreCount above 1 of 1 task (a task takes one unit for its runtime)"
    rest = "(from outside, results, or read by no task that follows the writer)"
    sizes = f"not moved along an arc: 2 of 2 files with a sizeInBytes {rest}"
    assert notes(files=files) == (sizes, cores)
    tasks[0]["outputFiles"] = ["f"]
    tasks[1]["inputFiles"] = ["f", "g"]
    sizes = f"not moved along an arc: 1 of 2 files with a sizeInBytes {rest}"
    assert notes(files=files) == (sizes, cores, "data on 1 of 1 edge: 100 bytes")
    runs[0]["coreCount"] = 1
    for odd in (None, [], {}, 3, ["f"], [{"id": "f"}]):
        assert notes(files=odd) == ()


def test_dependencies_of_a_log(tmp_path):
    line = "1 0 5 60 4 -1 -1 4 120 -1 1 1 1 1 1 1 -1 -1\n"
    path = tmp_path / "log.swf"
    path.write_text(line + line.replace("-1 -1\n", "1 30\n"))
    for convention in ("dfrs", "rigid"):
        machine = {} if convention == "rigid" else {"cores_per_node": 2, "memory_per_node": "2GB"}
        notes = cs.cluster.from_swf(path, 8, convention, **machine).notes
        assert any("ended, and its think_time: 1 job of 1 that name one" in note for note in notes)
        assert "  repaired 1: eligible after the start: the start taken" in notes
    path.write_text(line * 2)
    assert not any("preceding" in note for note in cs.cluster.from_swf(path, 8, "rigid").notes)


def test_processors_in_a_header_are_plain_digits(tmp_path):
    line = "1 0 5 60 4 -1 -1 4 120 -1 1 1 1 1 1 1 -1 -1\n"
    path = tmp_path / "log.swf"
    path.write_text("; MaxProcs: 64 (2 x 32)\n" + line)
    assert cs.cluster.from_swf(path, convention="rigid").nodes == 64
    for odd in ("\u00b2", "64x", "9" * 5000, "-1", ""):
        path.write_text(f"; MaxProcs: {odd}\n" + line)
        with pytest.raises(cs.InvalidInstance, match="nodes are missing"):
            cs.cluster.from_swf(path, convention="rigid")


@pytest.mark.parametrize(
    ("read", "name", "text", "unread"),
    [
        (cs.packs.Instance.read, "p.json", {"times": [[2, 1]], "maxtasks": 1}, "'maxtasks'"),
        (
            cs.moldable.Instance.read,
            "m.json",
            {"jobs": [{"processingTimes": [2, 1], "weigth": 3}], "unit": "s"},
            "'unit', 'jobs.weigth'",
        ),
        (
            cs.moldable.Instance.read,
            "f.json",
            {"machines": 3, "jobs": [{"downey": {"t1": 2, "A": 2, "sigma": 0}, "weigth": 3}]},
            "'jobs.weigth'",
        ),
        (
            cs.cluster.Instance.read,
            "c.json",
            {"nodes": 2, "jobs": {name: [1] for name in (*COLUMNS, "pri")}},
            "'jobs.pri'",
        ),
        (
            partial(cs.cluster.Instance.read, nodes=2),
            "c.csv",
            "submit,tasks,cpu,memory,runtime,Estimat\n0,1,1,.1,5,6\n",
            "'Estimat'",
        ),
        (
            partial(cs.bags.Instance.read, gamma=2),
            "b.json",
            {"counts": [1], "machines": [1], "etc": [[2]], "apc": [[3]], "idlepower": [9]},
            "'idlepower'",
        ),
    ],
)
def test_a_column_or_field_that_nothing_reads_is_named(tmp_path, read, name, text, unread):
    path = tmp_path / name
    path.write_text(text if isinstance(text, str) else json.dumps(text))
    assert [note for note in read(path).notes if f"that are not read: {unread}" in note]
    first = read(path)
    first.write(tmp_path / f"again.{name}")
    options = {"nodes": 2} if name == "c.csv" else {}
    reread_instance = type(first).read(tmp_path / f"again.{name}", **options)
    assert not [note for note in reread_instance.notes if "not read" in note]
