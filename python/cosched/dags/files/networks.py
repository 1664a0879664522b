"""DOT, and GraphML (through networkx): times as node attributes.

``times="3 0.5"`` (blanks, commas or semicolons between), or ``t0="3", t1="0.5"``, or one
``time`` (or ``weight``) for one resource type. ``inf`` says that a task cannot run there.
``kernel`` labels the task. An arc's ``data``, else its ``size``, is what moves along it, in bytes;
another attribute (``weight``) where the reader is told so. What else arcs carry is named in a note.

The DOT of PaRSEC's grapher says of a task what it computes (``tname=`` in its tooltip) and no time:
a table gives those. Its pieces of data (circles) are no tasks.
"""

import itertools
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from xml.etree import ElementTree

from cosched import io
from cosched.dags.files.dot import parse_dot
from cosched.dags.files.parsed import Parsed, bytes_of, number
from cosched.errors import InvalidInstance, optional, shorten
from cosched.notes import Note, NoteKind

_EXPECTED = 'attributes times="t0 t1 ...", or t0, t1, ..., or time'
#: What Graphviz, yEd and networkx write for pictures.
_PICTURES = """arrowhead arrowsize arrowtail class color colorscheme comment constraint decorate
description dir distortion edgehref edgeurl fillcolor fixedsize fontcolor fontname fontsize
gradientangle group head_lp headclip headhref headlabel headport headtarget headtooltip headurl
height href id image imagepos imagescale key label labelangle labeldistance labelfloat
labelfontcolor labelfontname labelfontsize labelhref labelloc labeltarget labeltooltip labelurl
layer len lhead lp ltail margin minlen nojustify ordering orientation penwidth peripheries pin pos
rank rects regular root samehead samplepoints sametail shape shape_type shapefile showboxes sides
skew sortv style tail_lp tailclip tailhref taillabel tailport tailtarget tailtooltip tailurl target
texlbl tooltip url vertices width x xlabel xlp y z"""
_DRAWING = frozenset(_PICTURES.split())
#: Attributes of arcs: bytes.
_DATA = ("data", "size")
#: What PaRSEC says of a task.
_PARSEC = re.compile(r"(?:^|:)tname=([^:]+)")
_INFINITE = {"inf", "+inf", "infinity", "+infinity"}


def read_dot(
    text: str, path: str, *, need_times: bool = True, edge_data: str | None = None
) -> Parsed:
    """A directed DOT graph; ``node [...]`` defaults, subgraphs and ports are understood."""
    graph = parse_dot(text, path)
    if not graph.directed:
        raise InvalidInstance(f"{path}: expected a digraph, got an undirected graph")
    kernels = {
        name: _PARSEC.search(attributes.get("tooltip", ""))
        for name, attributes in graph.nodes.items()
    }
    of_parsec = any(kernels.values())
    data = {name for name, kernel_match in kernels.items() if of_parsec and kernel_match is None}
    for name, kernel_match in kernels.items():
        if kernel_match is not None:
            graph.nodes[name].setdefault("kernel", kernel_match[1])
    nodes = (
        (name, attributes, graph.lines[name])
        for name, attributes in graph.nodes.items()
        if name not in data
    )
    arcs = [arc for arc in graph.arcs if not data & {arc[0], arc[1]}]
    parsed = _parsed(path, nodes, arcs, need_times, edge_data)
    if data:
        text = f"left out: {len(data)} nodes that are data of PaRSEC, no tasks"
        parsed.notes.append(Note(NoteKind.DROPPED, text, subject="data of PaRSEC", count=len(data)))
    return parsed


def read_graphml(
    text: str, path: str, *, need_times: bool = True, edge_data: str | None = None
) -> Parsed:
    """A directed GraphML graph."""
    nx = optional("networkx", extra="graphs")
    if "<!ENTITY" in text:  # a short text that stands for a long one
        raise InvalidInstance(f"{path}: not GraphML that is read: expected no entities of its own")
    try:
        graph = nx.parse_graphml(text)
    except Exception as error:  # a parser of foreign text: anything may come
        error_text = " ".join(str(error).split())[:120] or type(error).__name__
        raise InvalidInstance(f"{path}: not GraphML ({error_text})") from None
    _require_all_nodes(text, path, graph.number_of_nodes())
    if not graph.is_directed():
        raise InvalidInstance(f"{path}: expected a directed graph (edgedefault='directed')")
    nodes = ((str(name), attributes, None) for name, attributes in graph.nodes(data=True))
    arcs = (
        (str(source), str(other), attributes, None)
        for source, other, attributes in graph.edges(data=True)
    )
    return _parsed(path, nodes, arcs, need_times, edge_data)


def _require_all_nodes(text: str, path: str, nodes_read: int) -> None:
    """Check that no node of the text is outside of the graph that was read.

    Such nodes are of a second graph, or of one inside a node that is no group of yEd.
    """
    elements = list(ElementTree.fromstring(text).iter())
    names = [element.tag.rpartition("}")[2] for element in elements]
    nodes = {
        element.get("id") for element, name in zip(elements, names, strict=True) if name == "node"
    }
    if names.count("graph") > 1 and len(nodes) > nodes_read:
        raise InvalidInstance(
            f"{path}: {names.count('graph')} graphs, {len(nodes)} nodes, of which the first graph "
            f"has {nodes_read}: expected one graph a file (one file for each)"
        )


def _parsed(
    path: str,
    nodes: Iterable[tuple[str, Mapping[str, object], int | None]],
    arcs: Iterable[tuple[str, str, Mapping[str, object], int | None]],
    need_times: bool,
    edge_data: str | None,
) -> Parsed:
    parsed = Parsed(path)
    width = None
    unused: Counter[str] = Counter()
    for name, attributes, line in io.polled(nodes):
        where = _where(line, "task", name)
        keys = _time_keys(attributes)
        row = _times(attributes, keys, f"{path}: {where}") if need_times else [0.0]
        if width is None:
            width = len(row)
        if len(row) != width:
            raise InvalidInstance(f"{path}: {where}: {len(row)} times, the task before has {width}")
        kernel = attributes.get("kernel")
        parsed.add(name, row, where, None if kernel is None else _plain(kernel))
        unused.update(_meant(attributes) - {*keys, "kernel"})
    _note_unused(parsed, unused, "task")
    unused.clear()
    for before, after, attributes, line in io.polled(arcs):
        where = _where(line, "arc", before)
        data_keys = _DATA if edge_data is None else (edge_data,)
        key = next((key_name for key_name in data_keys if key_name in attributes), None)
        text = None if key is None else _plain(attributes[key])
        data = None if text is None else bytes_of(text, f"{path}: {where}: {key}")
        parsed.precede(before, after, where, data)
        unused.update(_meant(attributes) - {key})
    _note_unused(parsed, unused, "arc")
    return parsed


def _where(line: int | None, what: str, name: str) -> str:
    place = "" if line is None else f"line {line}: "
    return f"{place}{what} {shorten(name)}"


def _meant(attributes: Mapping[str, object]) -> set[str]:
    """Return names of attributes that say more than how to draw."""
    return {name for name in attributes if name.lower() not in _DRAWING}


def _note_unused(parsed: Parsed, unused: Counter[str], noun: str) -> None:
    """Add a note of the attributes of tasks or arcs that are not used."""
    if unused:
        counts = ", ".join(
            f"{shorten(name)} of {count} {noun if count == 1 else noun + 's'}"
            for name, count in sorted(unused.items())[:9]
        )
        text = f"not used: {counts}{', ...' if len(unused) > 9 else ''}"
        subject = f"attributes of {noun}s"
        parsed.notes.append(Note(NoteKind.NOT_USED, text, subject=subject, count=len(unused)))


def _time_keys(attributes: Mapping[str, object]) -> list[str]:
    """Return which attributes are the times of a task."""
    if "times" in attributes:
        return ["times"]
    if "t0" in attributes:
        return list(
            itertools.takewhile(attributes.__contains__, map("t{}".format, itertools.count()))
        )
    return [key for key in ("time", "weight") if key in attributes][:1]


def _times(attributes: Mapping[str, object], keys: list[str], where: str) -> list[float]:
    if keys == ["times"]:
        texts = re.split(r"[\s,;]+", _plain(attributes["times"]).strip("[]() "))
    else:
        texts = [_plain(attributes[key]) for key in keys]
    if not texts:
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


def _plain(value: object) -> str:
    return str(value).strip().strip('"').strip()
