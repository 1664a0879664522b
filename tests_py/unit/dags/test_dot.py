"""The DOT language: what Graphviz means by it, and the work it may cost."""

import sys

import pytest

import cosched as cs
from cosched.dags.files.dot import parse_dot
from cosched.errors import InvalidInstance


def arcs(text):
    return sorted((before, after) for before, after, _, _ in parse_dot(text, "g.dot").arcs)


def attributes_of(text, node):
    return dict(parse_dot(text, "g.dot").nodes[node])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("digraph{}", []),
        ("digraph { a -> b -> c }", [("a", "b"), ("b", "c")]),
        ("strict digraph g { a -> {b c} }", [("a", "b"), ("a", "c")]),
        ("DiGraph { {a b} -> {c d} }", [("a", "c"), ("a", "d"), ("b", "c"), ("b", "d")]),
        ("digraph { a -> subgraph { b -> c } }", [("a", "b"), ("a", "c"), ("b", "c")]),
        ("digraph { subgraph s {a; {b}} subgraph s -> c }", [("a", "c"), ("b", "c")]),
        ("digraph { subgraph s { subgraph s { a } b } -> c }", [("a", "c"), ("b", "c")]),
        ("digraph { a -> {} -> b }", []),
        ("digraph { a:p -> b:p:ne; a -> b:_ }", [("a", "b"), ("a", "b")]),
        ('digraph { "a->b" -> "c\\"d" }', [("a->b", 'c"d')]),
        ('digraph { "ab" + "cd" -> "e\\\nf" }', [("abcd", "ef")]),
        ("digraph { -1.5 -> .5 1e5 -> 2nd a.b -> \u00e9 }", [("-1.5", ".5"), ("1e5", "2nd"),
                                                             ("a.b", "\u00e9")]),
        ("digraph { a -> <b <i>c</i>> }", [("a", "<b <i>c</i>>")]),
        ("// x\n# line\n/* a -> b */ digraph { a /* */ -> // \n c\n# d -> e\n}", [("a", "c")]),
        ("digraph { rankdir=LR; graph [a=1] edge [b=2] ;;, a -> b, c }", [("a", "b")]),
        ("\ufeffdigraph { a\t->\r\nb }", [("a", "b")]),
    ],
)  # fmt: skip
def test_arcs(text, expected):
    assert arcs(text) == expected


def test_attributes_come_from_defaults_until_the_brace_closes():
    text = """digraph { before; node [time=1, kernel="x y"]; a; { node [time=2] b; a; c [time=3] }
        d; d [weight=7; other] ["third" = -4]; node [time=5] a }"""
    assert attributes_of(text, "before") == {}
    assert attributes_of(text, "a") == {"time": "1", "kernel": "x y"}
    assert attributes_of(text, "b") == {"time": "2", "kernel": "x y"}
    assert attributes_of(text, "c")["time"] == "3"
    assert attributes_of(text, "d") == {
        "time": "1", "kernel": "x y", "weight": "7", "other": "true", "third": "-4",
    }  # fmt: skip
    edges = parse_dot("digraph { edge [data=1] a -> b [weight=2]\n{ edge [data=3] b -> c } }", "g")
    assert [(dict(about), line) for _, _, about, line in edges.arcs] == [
        ({"data": "1", "weight": "2"}, 1),
        ({"data": "3"}, 2),
    ]


@pytest.mark.parametrize(
    ("text", "place", "what"),
    [
        ("", "line 1, column 1", "the end of the file: expected digraph"),
        ("graf { }", "line 1, column 1", "'graf'"),
        ("digraph [", "line 1, column 9", "'[': expected {"),
        ("digraph {\n a -> }", "line 2, column 7", "'}': expected the node"),
        ("digraph {\n a -- b }", "line 2, column 4", "'--': expected ->"),
        ("digraph { node; }", "line 1, column 15", "';': expected ["),
        ("digraph { a [b=] }", "line 1, column 16", "']': expected a value"),
        ("digraph { a [b c", "line 1, column 17", "the end of the file: expected an attribute"),
        ("digraph { a", "line 1, column 12", "the end of the file: expected a statement"),
        ('digraph { "a }', "line 1, column 11", "expected a name, or an end of the text"),
        ("digraph { /* a }", "line 1, column 11", "expected a name, or an end of the text"),
        ("digraph { <a }", "line 1, column 11", "expected a > for each <"),
        ("digraph { a ? b }", "line 1, column 13", "'? b }'"),
        ("digraph { = }", "line 1, column 11", "expected a statement"),
        ("digraph { a:[b=1] }", "line 1, column 13", "expected a port"),
        ("digraph { " + "node [" + ", ".join(f"k{k}=1" for k in range(201)) + "] }", "line 1",
         "at most 200 attributes"),
    ],
)  # fmt: skip
def test_what_is_no_dot_is_named_with_its_place(text, place, what):
    with pytest.raises(cs.InvalidInstance) as error:
        parse_dot(text, "g.dot")
    assert str(error.value).startswith(f"g.dot: {place}")
    assert what in str(error.value)


def steps(text):
    """Function calls that reading takes: the same on every machine."""
    count = 0

    def tick(frame, event, argument):
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(tick)
    try:
        parse_dot(text, "g.dot")
    except cs.InvalidInstance:
        pass
    finally:
        sys.setprofile(before)
    return count


SHAPES = {
    "arcs": lambda n: "digraph {" + "".join(f"a{k} -> a{k + 1} [d={k}];" for k in range(n)) + "}",
    "braces": lambda n: "digraph {" + "{" * n + "a" + "}" * n + "}",
    "named braces": lambda n: (
        "digraph {" + "".join(f"subgraph s{k} {{ a{k} " for k in range(n)) + "}" * n + "}"
    ),
    "defaults": lambda n: (
        "digraph {" + "".join(f"node [k{k % 90}=1] a{k};" for k in range(n)) + "}"
    ),
    "angles": lambda n: "digraph { a [b=" + "<" * n + ">" * n + "] }",
    "text": lambda n: 'digraph { "' + "\\\\" * n + '" }',
    "no end": lambda n: 'digraph { "' + "\\\\" * n,
    "comments": lambda n: "digraph { " + "/* a */ // b\n" * n + "}",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_work_grows_with_the_text(shape):
    few_steps, many = steps(SHAPES[shape](300)), steps(SHAPES[shape](3000))
    assert many < 11 * few_steps + 1000


def test_arcs_between_groups_have_a_limit():
    half = " ".join(f"a{k}" for k in range(1001))
    for text in (
        f"digraph {{ {{ {half} }} -> {{ {half.replace('a', 'b')} }} }}",
        "digraph { subgraph s { " + half + "} " + "subgraph s -> {} " * 1000 + "}",
    ):
        with pytest.raises(cs.InvalidInstance, match="at most 1,000,000 arcs between groups"):
            parse_dot(text, "g.dot")


def test_a_second_graph_is_refused_with_its_place(tmp_path):
    path = tmp_path / "two.dot"
    path.write_text("digraph a { a1 [time=3]; }\n digraph b { b1 [time=4]; }\n")
    with pytest.raises(InvalidInstance, match=r"two.dot: line 2, column 2: a second graph"):
        cs.dags.Instance.read(path, units=(1,))
    for rest in ("strict digraph {}", "graph {}", "x -> y", "}"):
        path.write_text("digraph a { a1 [time=3]; }\n" + rest)
        with pytest.raises(InvalidInstance, match="line 2, column 1"):
            cs.dags.Instance.read(path, units=(1,))
    path.write_text("digraph a { a1 [time=3]; };\n// the end\n")
    assert len(cs.dags.Instance.read(path, units=(1,)).names) == 1
