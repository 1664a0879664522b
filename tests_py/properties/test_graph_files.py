"""Garbage in a graph file is refused in one line; it never crashes a reader."""

import contextlib
import json

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import cosched as cs
from cosched.dags.files import FORMATS, read_graph

TOKENS = st.sampled_from(
    ["0", "1", "2", "-1", "1.5", "nan", "inf", "1e999", "a", ",", "1,2", "\n", "\n", " ", "#", "{"]
    + ["}", "[", '"', "->", "digraph", "time=1", "<graphml", ">", "null", "é", "9" * 400, ":", "[]"]
)
TEXTS = st.lists(TOKENS, max_size=40).map(" ".join) | st.text(max_size=80)
JSONS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["times", "edges", "names", "workflow", "specification", "execution", "tasks", "id"]
                + ["parents", "children", "runtimeInSeconds", "command"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=15,
)


@pytest.mark.parametrize("format", [None, *FORMATS])
@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=TEXTS | JSONS.map(json.dumps))
def test_garbage(tmp_path, format, text):
    path = tmp_path / "garbage"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    with contextlib.suppress(cs.CoschedError, OSError):
        read_graph(path, format=format, acceleration=None if format else 2.0)
