"""Reading task graphs: every format, every refusal, the real files."""

import gzip
import io
import json
import tarfile

import numpy as np
import pytest
from note_facts import counts, has_note

import cosched as cs
from cosched import NoteKind
from cosched.dags.files import read_graph
from cosched.io import archive_members
from support import data, members

INF = np.inf


def edges(graph):
    return sorted((graph.names[i], graph.names[j]) for i, j in graph.edges)


def read(tmp_path, text, name="g.txt", **options):
    (tmp_path / name).write_text(text)
    return read_graph(tmp_path / name, **options)


def archive(path, **members):
    with tarfile.open(path, "w:gz") as tar:
        for name, text in members.items():
            info = tarfile.TarInfo(f"folder/{name}.txt")
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))
    return path


AMARIS = "7 3.5 -1\n\n# comment\n9 2 1 7\r\nx 1 0 7,9\ny 4 2 7 9,x\n"


def test_amaris(tmp_path):
    graph = read(tmp_path, AMARIS)
    assert graph.names == ("7", "9", "x", "y")
    assert graph.times.tolist() == [[3.5, INF], [2, 1], [1, 0], [4, 2]]
    assert edges(graph) == [
        ("7", "9"), ("7", "x"), ("7", "y"), ("9", "x"), ("9", "y"), ("x", "y"),
    ]  # fmt: skip
    three = read(tmp_path, "a 1 2 3\nb 1 -1 2 a\n")
    assert three.times.tolist() == [[1, 2, 3], [1, INF, 2]]
    assert read(tmp_path, "a 1 2 b\nb 1 2 c\nc 1 2\n").edges.tolist() == [[1, 0], [2, 1]]
    repeated = read(tmp_path, "a 1 2\nb 1 2 a,a\n").notes
    assert counts(repeated, NoteKind.REPAIRED) == {"repeated arcs": 1}


def test_archive(tmp_path):
    path = archive(tmp_path / "g.tar.gz", first=AMARIS, second="1 2 3\n")
    assert archive_members(path) == ["folder/first.txt", "folder/second.txt"]
    for member in ("folder/first.txt", "first.txt", "first"):
        assert len(read_graph(f"{path}:{member}").names) == 4
    with pytest.raises(cs.InvalidInstance, match=r"no member 'frist'.*near.*folder/first.txt"):
        read_graph(f"{path}:frist")
    with pytest.raises(cs.InvalidInstance, match=r"an archive: expected .*:MEMBER"):
        read_graph(path)
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(cs.InvalidInstance, match="not a complete tar archive"):
        read_graph(f"{path}:first")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"line 1: empty"),
        ("s 1 2\na 1 2 c\nb 1 2 a\nc 1 2 b,s\n", r"cycle of 3 tasks: '\w' -> '\w' -> '\w' -> '\w'"),
        ("a 1 2 a\nb 1 2\n", "cycle: 'a' precedes itself"),
        ("a 1 2\nb 1 2 q\n", r"line 2: unknown predecessor 'q'"),
        ("a 1 2 3\nb 1 2\n", r"line 1: unknown predecessor '3'.*line 2 has 3 columns"),
        ("a 1 2\n\na 1 2\n", r"line 3: task id 'a' is there twice \(before: line 1\)"),
        ("a -1 -1\n", "line 1: task 'a' can run nowhere"),
        ("a 1 2\nb 1 -2 a\n", "line 2: '-2': expected seconds >= 0, or -1"),
        ("a nan 2\n", "line 1: 'nan'"),
        ("a 1 two\n", "line 1: 'two'"),
        ("a 1 1_0\n", "line 1: '1_0'"),
        ("a 1 inf\n", "line 1: 'inf'"),
    ],
)
def test_amaris_refusals(tmp_path, text, message):
    with pytest.raises(cs.InvalidInstance, match=r"g\.txt: .*" + message) as error:
        read(tmp_path, text)
    assert "\n" not in str(error.value)


def test_amaris_columns(tmp_path):
    for text in ("a 1 2\nb 1\n", "a 1 2\nb\n"):
        with pytest.raises(cs.InvalidInstance, match=r"line 2: . columns?: expected 'id t_CPU"):
            read(tmp_path, text)
    with pytest.raises(cs.InvalidInstance, match="with 3 times"):
        read(tmp_path, "a 1 2\n", types_in_file=3)


STG = "3\n 0 0 0\n 1 5 1 0\n 2 0 1 0\n 3 4 2 1 2\n 4 0 1 3\n# end\n"


def test_stg(tmp_path):
    graph = read(tmp_path, STG, acceleration=2)
    assert graph.names == ("1", "2", "3")
    assert graph.times.tolist() == [[5, 2.5], [0, 0], [4, 2]]
    assert edges(graph) == [("1", "3"), ("2", "3")]
    assert counts(graph.notes, NoteKind.DROPPED) == {"dummy tasks": 2}
    with_dummies = read(tmp_path, STG, dummies=True)
    assert len(with_dummies.names) == 5
    assert with_dummies.times.shape == (5, 1)
    assert counts(with_dummies.notes, NoteKind.ASSUMED) == {"resource types": 1}
    second = read(tmp_path, STG.replace("3\n", "3 20\n", 1)).notes
    assert has_note(second, NoteKind.NOT_USED, "second number of the header")
    deadlines = "2\n0 0 9 0\n1 5 9 1 0\n2 6 9 2 0 1\n"
    assert edges(read(tmp_path, deadlines)) == [("1", "2")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("9\n0 0 0\n", "line 1: 9 tasks declared, 1 lines"),
        ("2\n0 1 0\n1 1 2 0\n", "line 3: 2 predecessors announced, 1 follow"),
        ("2\n0 1 0\n1 -1 1 0\n", "line 3: '-1'"),
        ("2\n0 1 0\n1 1 1 7\n", "line 3: unknown predecessor '7'"),
        ("2\n0 1 0\n0 1 0\n", "line 3: task id '0' is there twice"),
        ("x\n0 1 0\n", "line 1: 'x': expected an integer"),
        ("2\n0 1\n1 1 0\n", "line 2: 2 columns"),
        ("2\n0 1 1 1\n1 1 1 0\n", "cycle of 2 tasks"),
    ],
)
def test_stg_refusals(tmp_path, text, message):
    with pytest.raises(cs.InvalidInstance, match=message):
        read(tmp_path, text)


def workflow(**changes):
    tasks = [
        {"name": "split_ID1", "id": "s1", "parents": [], "children": ["w2"]},
        {"name": "work_ID2", "id": "w2", "parents": ["s1"], "children": []},
        {"name": "work_ID3", "id": "w3", "parents": ["s1"]},
    ]
    runs = [
        {"id": "s1", "runtimeInSeconds": 0, "command": {"program": "split"}},
        {"id": "w2", "runtimeInSeconds": 6.0},
        {"id": "w3", "runtimeInSeconds": 9.0, "command": {"program": "a b"}},
    ]
    for key, value in changes.items():
        (tasks[1] if key in ("id", "parents", "children") else runs[1])[key] = value
    return {"workflow": {"specification": {"tasks": tasks}, "execution": {"tasks": runs}}}


def test_wfformat(tmp_path):
    text = json.dumps(workflow())
    graph = read(tmp_path, text, "w.json", acceleration={"split": [0, 2], "*": [3, 1]})
    assert graph.kernels == ("split", "work", "work")
    assert graph.times.tolist() == [[0, INF, 0], [6, 2, 6], [9, 3, 9]]
    assert edges(graph) == [("s1", "w2"), ("s1", "w3")]
    assert graph.notes == ()
    with gzip.open(tmp_path / "w.json.gz", "wt") as file:
        file.write(text)
    (tmp_path / "f.csv").write_text("program,factor\nwork,2\n*,\n")
    graph = read_graph(tmp_path / "w.json.gz", acceleration=tmp_path / "f.csv")
    assert graph.times.tolist() == [[0, INF], [6, 3], [9, 4.5]]
    (tmp_path / "t.csv").write_text("id,t0,t1\nw3,1,\nw2,inf,2\ns1,3,4\n")
    graph = read_graph(tmp_path / "w.json.gz", times=tmp_path / "t.csv")
    assert graph.times.tolist() == [[3, 4], [INF, 2], [1, INF]]
    prefixed = read(tmp_path, text, "w.json", acceleration={"w": 2.0, "w3": 3.0, "s": 1.0})
    assert prefixed.times[:, 1].tolist() == [0, 3, 3]


@pytest.mark.parametrize(
    ("changes", "options", "message"),
    [
        ({"runtimeInSeconds": -1}, {}, "'w2': runtimeInSeconds = -1"),
        ({"runtimeInSeconds": "6"}, {}, "'w2': runtimeInSeconds = '6'"),
        ({"runtimeInSeconds": float("nan")}, {}, "'w2': runtimeInSeconds = nan"),
        ({"id": "s1"}, {}, "'s1' is there twice"),
        ({"parents": ["zz"]}, {}, "unknown predecessor 'zz'"),
        ({"children": ["zz"]}, {}, "unknown successor 'zz'"),
        ({"children": ["s1"]}, {}, "cycle of 2 tasks"),
        ({}, {"acceleration": {"split": 2.0}}, "'w2' of program 'work' has no acceleration"),
        ({}, {"acceleration": -1.0}, "expected factors > 0"),
        ({}, {"acceleration": {"split": [2.0], "*": [1.0, 2.0]}}, "as many factors"),
        ({}, {"times": {"s1": [1.0, 2.0]}}, "no times of task 'w2'"),
        ({}, {"times": {"s1": [INF, INF]}}, "can run nowhere"),
        ({}, {"times": {"q": [1.0]}}, "has no task 'q'"),
        ({}, {"times": {}, "acceleration": 1.0}, "got both"),
        ({}, {"format": "swf"}, "format = 'swf'"),
    ],
)
def test_wfformat_refusals(tmp_path, changes, options, message):
    with pytest.raises(cs.InvalidInstance, match=message):
        read(tmp_path, json.dumps(workflow(**changes)), "w.json", **options)


def test_dot(tmp_path):
    text = """digraph G { node [time=3]; a [times="3 0.5"]; "b b" [t0=1, t1=inf, kernel=gemm];
      c [times="1,2"]; a -> "b b" -> c:p [weight=3]; a -> {d e}; subgraph s { x -> c }
      d [times="1;1"]; e [times="[2, 2]"]; x [t0=1,t1=1] }"""
    graph = read(tmp_path, text, "g.dot")
    assert dict(zip(graph.names, graph.times.tolist(), strict=True)) == {
        "a": [3, 0.5], "b b": [1, INF], "c": [1, 2], "d": [1, 1], "e": [2, 2], "x": [1, 1],
    }  # fmt: skip
    assert edges(graph) == [("a", "b b"), ("a", "d"), ("a", "e"), ("b b", "c"), ("x", "c")]
    assert graph.kernels is not None
    graph_of_gv = read(tmp_path, "digraph { node [time=3]; a -> b }", "g.gv", acceleration=3)
    assert graph_of_gv.times.tolist() == [[3, 1], [3, 1]]
    for bad, message in [
        ("digraph { a -> ; }", "line 1, column 16: not DOT: ';': expected the node"),
        ("graph { a -- b }", "expected a digraph"),
        ("digraph {\n a }", "line 2: task 'a': no time"),
        ("digraph {\n a; b;\n\n a [time=1, time=-1] }", "line 4: task 'a': '-1'"),
        ("digraph { a [time=x] }", "task 'a': 'x'"),
        ("digraph { a [time=inf] }", "'a' can run nowhere"),
        ("digraph { node [time=1]; a -> b -> a }", "cycle of 2"),
    ]:
        with pytest.raises(cs.InvalidInstance, match=message):
            read(tmp_path, bad, "g.dot")


def test_graphml(tmp_path):
    import networkx as nx

    graph = nx.DiGraph()
    graph.add_node("a", t0=1.5, t1=2)
    graph.add_node("b", times="4 inf")
    graph.add_edge("a", "b")
    nx.write_graphml(graph, tmp_path / "g.graphml")
    got = read_graph(tmp_path / "g.graphml")
    assert got.times.tolist() == [[1.5, 2], [4, INF]]
    assert edges(got) == [("a", "b")]
    for bad in ("<graphml", "<a/>", "", '<!DOCTYPE g [<!ENTITY a "b">]><graphml/>'):
        with pytest.raises(cs.InvalidInstance, match="not GraphML"):
            read(tmp_path, bad, "h.graphml")


def test_own_json(tmp_path):
    graph = cs.workloads.cholesky(4, spread=0.3, seed=3)
    graph.write(tmp_path / "g.json")
    assert cs.dags.Instance.read(tmp_path / "g.json") == graph
    for bad, message in [
        ("{", "not JSON"),
        ("{}", "expected an object with 'times'"),
        ('{"times": [[null]]}', "can run nowhere"),
        ('{"times": [[1], [2]], "edges": [[0, 1], [1, 0]]}', "cycle"),
        ('{"times": [[1]], "edges": [[0, 1]]}', r"edges\[0\] = \(0, 1\)"),
        ('{"times": [[1]], "tasks": 3}', "unknown key"),
        ('{"times": [[NaN]]}', "nan"),
        ('{"times": [["1"]]}', "number"),
    ]:
        (tmp_path / "b.json").write_text(bad)
        with pytest.raises(cs.InvalidInstance, match=r"b\.json: .*" + message):
            cs.dags.Instance.read(tmp_path / "b.json", units=[1])


def test_not_gzip_not_text_not_there(tmp_path):
    (tmp_path / "a.json.gz").write_bytes(b"plain")
    (tmp_path / "b.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(cs.InvalidInstance, match="not a complete gzip"):
        read_graph(tmp_path / "a.json.gz")
    with pytest.raises(cs.InvalidInstance, match="not UTF-8"):
        read_graph(tmp_path / "b.txt")
    with pytest.raises(FileNotFoundError):
        read_graph(tmp_path / "c.txt")


TABLE_4 = {
    "sgetrf_nopiv": (55, 385, 2870),
    "sposv": (65, 330, 1960),
    "spotrf": (35, 220, 1540),
    "spotri": (105, 660, 4620),
    "spotrs": (30, 110, 420),
}


@pytest.mark.data
@pytest.mark.parametrize("types", [2, 3])
def test_benchmark_of_the_paper(types, tmp_path):
    path = data("amaris_het", f"formatedTasks_{types}.tar.gz")
    seen = 0
    for member, text in members(path):
        graph = read(tmp_path, text)
        app, width, other = member.split("/")[-1].removesuffix(".txt").split("-")
        if app == "forkJoin":
            expected = int(width) * (int(other) + 1) + 1
        else:
            expected = TABLE_4[app][{"5": 0, "10": 1, "20": 2}[other]]
        assert graph.times.shape == (expected, types), member
        assert graph.notes == ()
        seen += 1
    assert seen == {2: 105, 3: 110}[types]


@pytest.mark.data
def test_factorisations_are_those_of_the_benchmark():
    import networkx as nx

    path = data("amaris_het", "formatedTasks_2.tar.gz")
    for make, app in ((cs.workloads.cholesky, "spotrf"), (cs.workloads.lu, "sgetrf_nopiv")):
        real, generated = read_graph(f"{path}:{app}-512-5"), make(5)
        ours, theirs = (nx.DiGraph(g.edges.tolist()) for g in (generated, real))
        assert nx.is_isomorphic(ours, theirs)
        assert len(read_graph(f"{path}:{app}-512-20").edges) == len(make(20).edges)


@pytest.mark.data
def test_real_workflows_and_stg(tmp_path):
    files = sorted(data("wfcommons").glob("*.json.gz"))
    assert len(files) == 12
    for file in files:
        graph = read_graph(file, acceleration={"*": [4.0, 0.0]})
        assert graph.times.shape[1] == 3
        assert len(graph.edges) > 0
        assert graph.kernels is not None
    graphs = {
        name: read(tmp_path, text, acceleration=2.0)
        for name, text in members(data("stg", "stg_apps_and_proto.tar.gz"))
    }
    # Counts without dummies, from the comments that the files end with.
    sizes = {name: (len(g.names), len(g.edges)) for name, g in graphs.items()}
    assert sizes["apps/stg/sparse"] == (96, 67)
    assert sizes["apps/stg/fpppp"] == (334, 1145)
    assert len(graphs) == 14


GRAPHML = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><key id="d" for="node" '
GRAPHML += 'attr.name="time" attr.type="double"/>{}</graphml>'
GRAPH = '<graph edgedefault="directed">{}</graph>'
NODE = '<node id="{}"><data key="d">3</data>{}</node>'


def test_several_graphs_in_one_graphml_are_refused(tmp_path):
    first_graph, other = GRAPH.format(NODE.format("a", "")), GRAPH.format(NODE.format("b", ""))
    for inner in (first_graph + other, GRAPH.format(NODE.format("a", other))):
        with pytest.raises(
            cs.InvalidInstance, match="2 graphs, 2 nodes, of which the first graph has 1"
        ):
            read(tmp_path, GRAPHML.format(inner), "g.graphml")
    assert read(tmp_path, GRAPHML.format(first_graph), "g.graphml").names == ("a",)


def test_groups_of_yed_are_one_graph(tmp_path):
    inner = NODE.format("a", "") + NODE.format("g", GRAPH.format(NODE.format("b", ""))).replace(
        '"g"', '"g" yfiles.foldertype="group"'
    )
    assert read(tmp_path, GRAPHML.format(GRAPH.format(inner)), "g.graphml").names == ("a", "g", "b")
