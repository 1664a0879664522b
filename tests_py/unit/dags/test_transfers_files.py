"""dags: what moves along the arcs of WfFormat, DOT, GraphML, STG and CSV files."""

import gzip
import json

import numpy as np
import pytest
from note_facts import counts, has_note

import cosched as cs
from cosched import NoteKind
from cosched.cli import main
from cosched.dags import Instance
from cosched.dags.files import read_graph
from support import data, library


def write(folder, name, text):
    path = folder / name
    path.write_text(text)
    return path


def workflow(tasks, files):
    runs = [{"id": task["id"], "runtimeInSeconds": 1.0} for task in tasks]
    specification = {"tasks": tasks, "files": files}
    return json.dumps({"workflow": {"specification": specification, "execution": {"tasks": runs}}})


def test_a_file_that_two_tasks_read_moves_to_each(tmp_path):
    tasks = [
        {"id": "a", "name": "a", "outputFiles": ["x", "y", "w"], "inputFiles": ["in"]},
        {"id": "b", "name": "b", "parents": ["a"], "inputFiles": ["x"], "outputFiles": ["z"]},
        {"id": "c", "name": "c", "parents": ["a"], "inputFiles": ["x", "y", "y"]},
        {"id": "d", "name": "d", "parents": ["b"], "inputFiles": ["z", "w"]},
    ]
    files = [{"id": file, "sizeInBytes": size} for file, size in
             {"in": 7, "x": 10, "y": 5, "z": 0, "w": 99}.items()]  # fmt: skip
    path = write(tmp_path, "w.json", workflow(tasks, files))
    graph = read_graph(path)
    assert graph.edges.tolist() == [[0, 1], [0, 2], [1, 3]]
    assert graph.data.tolist() == [10, 15, 0]
    # The input from outside, and w, which d reads though it does not follow a directly.
    assert counts(graph.notes, NoteKind.NOT_USED) == {"sizeInBytes": 2}
    assert counts(graph.notes, NoteKind.READING) == {"data": 2}
    inst = Instance.read(path, units=(1, 1), acceleration=2, bandwidth=5.0, latency=1.0)
    assert inst.transfer(1, (0, 0), (1, 0)) == 4
    assert inst.transfer(2, (0, 0), (1, 0)) == 0
    assert not has_note(inst.notes, NoteKind.NOT_USED, "data")
    for size in (-1, "big", True, float("inf")):
        files[0]["sizeInBytes"] = size
        path.write_text(workflow(tasks, files))
        with pytest.raises(cs.InvalidInstance, match=r"files\[0\]: sizeInBytes = "):
            read_graph(path)


@pytest.mark.parametrize(
    ("arcs", "options", "expected"),
    [
        ("a -> b [data=10]; b -> c", {}, [10, 0]),
        ('a -> b [size="2.5e3"]; b -> c [data=1, size=9]', {}, [2500, 1]),
        ("a -> b [weight=3, data=1]; b -> c [weight=4]", {"edge_data": "weight"}, [3, 4]),
        ("a -> b [weight=3]; b -> c", {}, None),
        ("edge [data=6] a -> b -> c", {}, [6, 6]),
        ("a -> b [data=5]; a -> b [data=5]; b -> c", {}, [5, 0]),
    ],
)
def test_data_of_dot_arcs(tmp_path, arcs, options, expected):
    path = write(tmp_path, "g.dot", "digraph { node [time=1]; a; b; c; " + arcs + " }")
    data = read_graph(path, **options).data
    assert (None if data is None else data.tolist()) == expected


@pytest.mark.parametrize(
    ("arcs", "part"),
    [
        ("a -> b [data=-1]", "line 1: arc 'a': data: '-1': expected bytes >= 0"),
        ("a -> b [data=many]", "data: 'many': expected bytes >= 0"),
        ("a -> b [data=nan]", "data: 'nan'"),
        ("a -> b [data=1]; a -> b [data=2]", "2 bytes to 'b': the arc was there with 1"),
    ],
)
def test_bad_data_of_arcs_is_refused(tmp_path, arcs, part):
    path = write(tmp_path, "g.dot", "digraph { node [time=1]; " + arcs + " }")
    with pytest.raises(cs.InvalidInstance) as caught:
        read_graph(path)
    assert part in str(caught.value)
    assert "\n" not in str(caught.value)


def test_data_of_graphml_arcs(tmp_path):
    networkx = library("networkx")
    graph = networkx.DiGraph()
    graph.add_node("a", time=1.0)
    graph.add_node("b", time=2.0)
    graph.add_edge("a", "b", data=12.5)
    networkx.write_graphml(graph, tmp_path / "g.graphml")
    assert read_graph(tmp_path / "g.graphml").data.tolist() == [12.5]


SEPARATE = "3\n0 4 0\n1 5 1\n  0 2\n2 6 2\n 0 7\n 1 8.5\n"
TOGETHER = "3\n0 4 0\n1 5 1 0 2\n2 6 2 0 7 1 8.5\n"


@pytest.mark.parametrize("text", [SEPARATE, TOGETHER])
def test_communication_costs_of_stg(tmp_path, text):
    graph = read_graph(write(tmp_path, "g.stg", text))
    assert graph.times.tolist() == [[4], [5], [6]]
    assert graph.edges.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert graph.data.tolist() == [2, 7, 8.5]
    assert has_note(graph.notes, NoteKind.READING, "communication costs")
    inst = Instance.read(tmp_path / "g.stg", units=[2], bandwidth=1, memories="unit")
    assert inst.transfer(1, 0, 1) == 7


def test_stg_without_costs_and_with_wrong_counts(tmp_path):
    plain = read_graph(write(tmp_path, "g.stg", "2\n0 4 0\n1 5 1 0\n"))
    assert plain.data is None
    for text in ("2\n0 4 0\n1 5 2 0 3\n", "2\n0 4 0\n1 5 1\n 0 -2\n", "2\n0 4 0\n1 5 1\n 0 x\n"):
        with pytest.raises(cs.InvalidInstance, match=r"g.stg: line 3"):
            read_graph(write(tmp_path, "g.stg", text))


def test_a_list_of_arcs_takes_its_tasks_from_the_table_of_times(tmp_path):
    times = write(tmp_path, "times.csv", "id,t0,t1\nc,3,1\na,4,inf\nb,1,2\nalone,5,5\n")
    path = write(tmp_path, "edges.csv", "from,to,data\na,b,100\na,c,\n")
    graph = read_graph(path, times=times)
    assert graph.names == ("c", "a", "b", "alone")
    assert graph.edges.tolist() == [[1, 0], [1, 2]]
    assert graph.data.tolist() == [0, 100]
    inst = Instance.read(path, units=(2, 1), times=times, bandwidth=10.0)
    assert inst.transfer((1, 2), (0, 0), (1, 0)) == 10
    write(tmp_path, "edges.csv", "From, To\na,b\n")
    assert read_graph(path, times=times).data is None
    with pytest.raises(cs.InvalidInstance, match="expected times as well"):
        read_graph(path)
    for text, part in (
        ("from,to,bytes\na,b,1\n", "line 1: expected a header 'from,to'"),
        ("from,to\na,d\n", "line 2: unknown successor 'd'"),
        ("from,to,data\na,b,-3\n", "line 2: '-3': expected bytes >= 0"),
    ):
        write(tmp_path, "edges.csv", text)
        with pytest.raises(cs.InvalidInstance) as caught:
            read_graph(path, times=times)
        assert part in str(caught.value)


def test_graphs_with_data_are_written_and_checked(tmp_path):
    for wrong in ([1.0, 2.0], [-1.0], [np.nan], [np.inf]):
        with pytest.raises(cs.InvalidInstance, match="data"):
            Instance([[1.0], [2.0]], [[0, 1]], [1], data=wrong, bandwidth=1.0)
    (tmp_path / "g.json").write_text('{"times": [[1], [2]], "edges": [[0, 1]], "data": [5]}')
    inst = Instance.read(tmp_path / "g.json", units=[1])
    assert counts(inst.notes, NoteKind.NOT_USED) == {"data": 1}
    with pytest.raises(cs.InvalidInstance, match="data without bandwidth"):
        Instance.read(tmp_path / "g.json", units=[1], latency=1.0)
    dot = write(tmp_path, "g.dot", "digraph { a [time=1] }")
    notes = Instance.read(dot, units=[1], bandwidth=1.0).notes
    assert has_note(notes, NoteKind.ASSUMED, "transfers")


@pytest.mark.data
def test_real_workflows_say_what_moves():
    path = data("wfcommons", "montage-chameleon-2mass-005d-001.json.gz")
    inst = Instance.read(path, units=(4, 1), acceleration=5, bandwidth=1e9, latency=1e-4)
    specification = json.loads(gzip.decompress(path.read_bytes()))["workflow"]["specification"]
    size = {file["id"]: file["sizeInBytes"] for file in specification["files"]}
    tasks = {task["id"]: task for task in specification["tasks"]}
    total = sum(
        size[file]
        for task in tasks.values()
        for other in task["parents"]
        for file in set(tasks[other]["outputFiles"]) & set(task["inputFiles"])
    )
    assert inst.data.sum() == pytest.approx(total)
    assert (inst.data > 0).all()
    result = cs.dags.solve(inst, "hlp-best", evaluations=300)
    result.schedule.validate()


def test_the_command_line_says_links_and_memories(tmp_path, capsys):
    path = write(tmp_path, "g.dot", "digraph { a [time=4]; b [time=3]; a -> b [data=8e9, w=4e9] }")
    out = tmp_path / "bound.json"

    def bound(*links):
        asked = ["bound", "dags", str(path), "--units", "1,1", "--times", str(times)]
        assert main([*asked, "--bound", "transfers", "-o", str(out), *links]) == 0
        return json.loads(out.read_text())["value"]

    times = write(tmp_path, "times.csv", "id,t0,t1\na,4,inf\nb,inf,3\n")
    assert bound() == pytest.approx(7, rel=1e-3)
    assert bound("--bandwidth", "8e9", "--latency", "0.5") == pytest.approx(8.5, rel=1e-3)
    assert bound("--bandwidth", "inf,4e9;1e9,inf") == pytest.approx(9, rel=1e-3)
    assert bound("--bandwidth", "8e9", "--edge-data", "w") == pytest.approx(7.5, rel=1e-3)
    assert bound("--bandwidth", "8e9", "--memories", "3,3") == pytest.approx(7, rel=1e-3)
    capsys.readouterr()
    for flag, value, part in (
        ("--bandwidth", "fast", "--bandwidth fast: entry: 'fast': expected a number, or one row"),
        ("--bandwidth", "1,2;3", "bandwidth"),
        ("--memories", "gpu", "--memories: 'gpu': expected 'host', 'unit' or an integer a unit"),
        ("--memories", "0,1,2", "memories has 3 entries: expected one for each of the 2 units"),
    ):
        links = [flag, value] if flag == "--bandwidth" else ["--bandwidth", "1e9", flag, value]
        asked = ["bound", "dags", str(path), "--units", "1,1", "--times", str(times)]
        assert main([*asked, *links]) == 2
        line = capsys.readouterr().err.strip()
        assert part in line
        assert "\n" not in line


@pytest.mark.parametrize(
    "links",
    [{"bandwidth": 5.0}, {"latency": 2.0}, {"memories": "unit"}, {"memories": [0, 1, 1]}],
)
def test_links_without_sizes_are_in_the_file(links, tmp_path):
    """An instance without data lost them."""
    inst = Instance([[1.0, 2.0], [2.0, 3.0]], [(0, 1)], (2, 1), **links)
    inst.write(tmp_path / "x.json")
    assert Instance.read(tmp_path / "x.json") == inst
