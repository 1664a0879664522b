"""DOT (through pydot) and GraphML (through networkx): times as node attributes.

``times="3 0.5"`` (blanks, commas or semicolons between), or ``t0="3", t1="0.5"``, or one
``time`` (or ``weight``) for one resource type. ``inf`` says that a task cannot run there.
``kernel`` labels the task. Attributes of arcs are ignored: the model has no communication.
"""

from __future__ import annotations

import contextlib
import io
import math
import re
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from cosched.dags.files.parsed import Parsed, number
from cosched.errors import InvalidInstance, optional, shorten

_EXPECTED = 'attributes times="t0 t1 ...", or t0, t1, ..., or time'
_INFINITE = {"inf", "+inf", "infinity", "+infinity"}


def read_dot(text: str, path: str, *, need_times: bool = True) -> Parsed:
    """A directed DOT graph; ``node [...]`` defaults, subgraphs and ports are understood."""
    pydot = optional("pydot", extra="graphs")
    output = io.StringIO()
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(output),
    ):
        warnings.simplefilter("ignore")  # pydot calls old names of pyparsing
        try:
            graphs = pydot.graph_from_dot_data(text)
        except Exception as error:  # a parser of foreign text: anything may come
            raise InvalidInstance(f"{path}: not DOT ({_one_line(error)})") from None
    if not graphs:
        lines = [line for line in output.getvalue().splitlines() if line.strip()]
        raise InvalidInstance(f"{path}: not DOT ({_one_line(lines[-1] if lines else 'empty')})")
    graph = graphs[0]
    if graph.get_type() != "digraph":
        raise InvalidInstance(f"{path}: expected a digraph, got an undirected graph")
    nodes: dict[str, dict[str, Any]] = {}
    arcs: list[tuple[str, str]] = []
    try:
        _walk(graph, {}, nodes, arcs)
    except (AttributeError, KeyError, TypeError, RecursionError) as error:
        raise InvalidInstance(f"{path}: not DOT that can be read ({_one_line(error)})") from None
    return _parsed(path, nodes.items(), arcs, need_times)


def _walk(graph: Any, defaults: Mapping[str, Any], nodes: dict, arcs: list) -> None:
    own = dict(defaults)
    for entry in graph.get_node_defaults():
        own.update(entry)
    for node in graph.get_node_list():
        name = _unquoted(node.get_name())
        if node.get_name() not in ("node", "edge", "graph", "\\n", '"\\n"'):
            nodes.setdefault(name, dict(own)).update(node.get_attributes())
    for subgraph in graph.get_subgraph_list():
        _walk(subgraph, own, nodes, arcs)
    for edge in graph.get_edge_list():
        for before in _ends(edge.get_source()):
            for after in _ends(edge.get_destination()):
                nodes.setdefault(before, dict(own))
                nodes.setdefault(after, dict(own))
                arcs.append((before, after))


def _ends(end: Any) -> list[str]:
    if isinstance(end, str):
        return [_unquoted(end)]
    names = end["nodes"] if "nodes" in end else end.obj_dict["nodes"]  # a -> {b c}
    return [_unquoted(name) for name in names]


def _unquoted(name: str) -> str:
    if len(name) > 1 and name[0] == '"':
        return name[1 : name.index('"', 1)]  # and without a port after the quotes
    return name.split(":", 1)[0]


def read_graphml(text: str, path: str, *, need_times: bool = True) -> Parsed:
    """A directed GraphML graph."""
    nx = optional("networkx", extra="graphs")
    try:
        graph = nx.parse_graphml(text)
    except Exception as error:  # a parser of foreign text: anything may come
        raise InvalidInstance(f"{path}: not GraphML ({_one_line(error)})") from None
    if not graph.is_directed():
        raise InvalidInstance(f"{path}: expected a directed graph (edgedefault='directed')")
    return _parsed(path, graph.nodes(data=True), list(graph.edges()), need_times)


def _parsed(
    path: str,
    nodes: Iterable[tuple[str, Mapping[str, Any]]],
    arcs: Iterable[tuple[str, str]],
    need_times: bool,
) -> Parsed:
    parsed = Parsed(path)
    width = None
    for name, attributes in nodes:
        where = f"task {shorten(str(name))}"
        row = _times(attributes, f"{path}: {where}") if need_times else [0.0]
        if width is None:
            width = len(row)
        if len(row) != width:
            raise InvalidInstance(f"{path}: {where}: {len(row)} times, the task before has {width}")
        kernel = attributes.get("kernel")
        parsed.add(str(name), row, where, None if kernel is None else _plain(kernel))
    for before, after in arcs:
        parsed.precede(str(before), str(after), f"arc {shorten(str(before))}")
    return parsed


def _times(attributes: Mapping[str, Any], where: str) -> list[float]:
    if "times" in attributes:
        texts = re.split(r"[\s,;]+", _plain(attributes["times"]).strip("[]() "))
    elif "t0" in attributes:
        count = next(k for k in range(1, len(attributes) + 2) if f"t{k}" not in attributes)
        texts = [_plain(attributes[f"t{k}"]) for k in range(count)]
    elif "time" in attributes or "weight" in attributes:
        texts = [_plain(attributes.get("time", attributes.get("weight")))]
    else:
        raise InvalidInstance(f"{where}: no time: expected {_EXPECTED}")
    return [_time(text, where) for text in texts]


def _time(text: str, where: str) -> float:
    if text.lower() in _INFINITE:
        return math.inf
    what = "a time >= 0, or inf where the task cannot run"
    value = number(text, where, what)
    if value < 0:
        raise InvalidInstance(f"{where}: {shorten(text)}: expected {what}")
    return value


def _plain(value: Any) -> str:
    return str(value).strip().strip('"').strip()


def _one_line(error: object) -> str:
    return " ".join(str(error).split())[:120] or type(error).__name__
