"""Task graphs with a time on each resource type: reading, checking, writing.

``read_graph`` tells these formats apart:

=============  ==============================================================================
amaris_het     ``id t_CPU t_GPU [t_GPU2] [pred,pred,...]``, -1 = cannot run there
wfformat       WfFormat 1.5 (WfCommons): one time a task
stg            Standard Task Graph set: one time a task
dot, graphml   node attributes; see :mod:`cosched.dags.files.networks`
starpu         ``tasks.rec`` of StarPU: a time a type, and the run; see
               :mod:`cosched.dags.files.starpu`
csv            ``from,to[,data]``, an arc a line; times come from a table
json           this package's own; see :func:`write_graph`
=============  ==============================================================================

Each may be a plain file, a ``.gz`` file, or a member of an archive
(``graphs.tar.gz:folder/name.txt``).
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from cosched import io
from cosched.core.arrays import integer
from cosched.dags.files import networks, plain, starpu, types, wfformat
from cosched.dags.files.graph import Graph
from cosched.dags.files.parsed import Parsed
from cosched.errors import InvalidInstance, shorten

#: Of this package's own JSON, of a graph or an instance.
_KEYS = {"times", "edges", "names", "kernels", "notes", "units"}
_KEYS |= {"data", "bandwidth", "latency", "memories", "memory_capacity", "executed"}

FORMATS = ("amaris_het", "wfformat", "stg", "dot", "graphml", "starpu", "csv", "json")


def read_graph(
    path: str | PathLike[str],
    *,
    format: str | None = None,
    acceleration: types.Acceleration | None = None,
    times: types.TimesTable | None = None,
    types_in_file: int | None = None,
    likely_types: int | None = None,
    dummies: bool = False,
    edge_data: str | None = None,
    perfmodels: str | PathLike[str] | None = None,
) -> Graph:
    """Read a task graph; the suffix, else the content, tells the format.

    Formats with one time a task (WfFormat, STG, DOT and GraphML with ``time``) give that
    time as the CPU's. Without `acceleration` or `times` the graph has one resource type. What moves
    along the arcs is read too: sizes of files (WfFormat), ``data`` or ``size`` (DOT, GraphML, CSV),
    communication costs (STG).

    Parameters
    ----------
    path : path
        A file, a .gz file, or ``archive.tar.gz:member``.
    format : str, optional
        One of ``FORMATS``, where neither suffix nor content tells.
    acceleration : number, sequence, mapping or path, optional
        CPU time / time on each further resource type; 0 = cannot run there. One factor, or
        one a further type; or a mapping from program to such factors; or a CSV file
        ``program,factor[,factor2,...]`` (an empty cell is 0). A task takes the entry of
        its kernel, else the longest entry that its name begins with, else that of ``*``.
    times : mapping or path, optional
        A CSV file ``id,t0,t1,...`` (empty or ``inf``: cannot run there), or a mapping, with
        the times of every task; those of the graph's file are not used.
    types_in_file : int, optional
        amaris_het: the number of times a line, where it cannot be told from the file.
    likely_types : int, optional
        The resource types of the machine at hand: tells a last column of times from one of
        predecessors where it could be either.
    dummies : bool
        STG: keep the dummy entry and exit, as tasks of time 0.
    edge_data : str, optional
        DOT, GraphML: the attribute of arcs that says bytes; None: ``data``, else ``size``.
    perfmodels : path, optional
        StarPU: what ``starpu_perfmodel_recdump tasks.rec`` wrote: times of its models on each
        worker, and workers that ran nothing.

    Raises
    ------
    InvalidInstance
        One line with file, and line or task: a cycle, an unknown predecessor, a repeated
        id, a task that can run nowhere, a time that is none, a missing member, ...

    Examples
    --------
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "graph.dot"
    >>> _ = path.write_text("digraph { a [time=4]; b [time=3]; a -> b }")
    >>> read_graph(path, acceleration=4).times.tolist()
    [[4.0, 1.0], [3.0, 0.75]]
    """
    if format is not None and format not in FORMATS:
        raise InvalidInstance(f"format = {shorten(format)}: expected one of {', '.join(FORMATS)}")
    if acceleration is not None and times is not None:
        raise InvalidInstance("expected either acceleration or times, got both")
    if types_in_file is not None:
        types_in_file = integer(types_in_file, "types_in_file", 1)
    options = _Options(
        format, acceleration, times, types_in_file, likely_types, dummies, edge_data, perfmodels
    )
    return _graph(io.read_text(path), str(path), options)


def write_graph(graph: Graph, path: str | PathLike[str]) -> None:
    """Write ``{"times": [[...]], "edges": [[i, j]], "names": [...], ...}``, kernels and data too.

    JSON; null is a time where the task cannot run. :func:`read_graph` reads it back exactly.

    Parameters
    ----------
    path : str or path-like
        Ends in .json.

    Examples
    --------
    >>> graph = Graph(np.array([[2.0, 1.0], [3.0, np.inf]]), np.array([[0, 1]]))
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "graph.json"
    >>> write_graph(graph, path)
    >>> read_graph(path).times.tolist()
    [[2.0, 1.0], [3.0, inf]]
    """
    if not isinstance(graph, Graph):
        raise InvalidInstance(f"expected a Graph, got {type(graph).__name__}")
    io.check_suffix(path, (".json",))
    data = {"times": graph.times, "edges": graph.edges, "names": graph.names}
    for key in ("kernels", "data"):
        if getattr(graph, key) is not None:
            data[key] = getattr(graph, key)
    parts = [
        f'"{key}": {json.dumps(io.plain(value), allow_nan=False)}' for key, value in data.items()
    ]
    io.write_text("{" + ",\n ".join(parts) + "}\n", path)


# --- reading --------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Options:
    """Of :func:`read_graph`."""

    format: str | None = None
    acceleration: types.Acceleration | None = None
    times: types.TimesTable | None = None
    types_in_file: int | None = None
    likely_types: int | None = None
    dummies: bool = False
    edge_data: str | None = None
    perfmodels: str | PathLike[str] | None = None


def _graph(text: str, name: str, asked: _Options) -> Graph:
    data = io.parse_json(text, name) if _looks_like_json(text, name, asked.format) else None
    format = asked.format or _format(text, name, data)
    if format == "json":
        if asked.acceleration is not None or asked.times is not None:
            raise InvalidInstance(f"{name}: has a time a resource type: no acceleration, no times")
        return _own(data, name)
    return _assembled(_parsed(format, text, name, data, asked), asked.acceleration, asked.times)


def _parsed(format: str, text: str, name: str, data: Any, asked: _Options) -> Parsed:
    need = asked.times is None
    if asked.perfmodels is not None and format != "starpu":
        raise InvalidInstance(f"{name}: perfmodels: expected a tasks.rec of StarPU beside them")
    if format == "wfformat":
        if not isinstance(data, dict) or "workflow" not in data:
            raise InvalidInstance(f"{name}: expected an object with 'workflow' (WfFormat 1.5)")
        return wfformat.read_wfformat(data, name, need_times=need)
    if format == "amaris_het":
        return plain.read_amaris(text, name, asked.types_in_file, asked.likely_types)
    if format == "stg":
        return plain.read_stg(text, name, asked.dummies)
    if format == "starpu":
        return starpu.read_starpu(text, name, asked.perfmodels)
    if format == "csv":
        if asked.times is None:
            raise InvalidInstance(f"{name}: a list of arcs has no times: expected times as well")
        return plain.read_edges(text, name, types.named(asked.times))
    reader = networks.read_dot if format == "dot" else networks.read_graphml
    return reader(text, name, need_times=need, edge_data=asked.edge_data)


def _assembled(
    parsed: Parsed, acceleration: types.Acceleration | None, times: types.TimesTable | None
) -> Graph:
    edges, data = parsed.edges(), parsed.data()
    if data is not None:
        parsed.notes.append(_said(data))
    table = np.array(parsed.times)
    if times is not None:
        table = types.replaced(parsed, times)
        if parsed.executed is not None:
            parsed.notes.append("the run is not used: times are from elsewhere")
            parsed.executed = None
    elif acceleration is not None:
        if table.shape[1] > 1:
            raise InvalidInstance(
                f"{parsed.path}: has {table.shape[1]} times a task: acceleration is for one"
            )
        table = types.accelerated(parsed, acceleration)
    elif table.shape[1] == 1:
        parsed.notes.append("one resource type: pass acceleration= or times= for more")
    kernels = None
    if any(kernel is not None for kernel in parsed.kernels):
        kernels = tuple(kernel or "" for kernel in parsed.kernels)
    with io.naming(parsed.path):
        notes = tuple(dict.fromkeys(parsed.notes))
        return Graph(
            table,
            edges,
            tuple(parsed.names),
            kernels,
            notes,
            data=data,
            units=parsed.units,
            executed=parsed.executed,
        )


def _said(data: np.ndarray) -> str:
    edges, moving = len(data), int((data > 0).sum())
    return f"data on {moving} of {edges} edge{'s' * (edges != 1)}: {data.sum():.6g} bytes"


def _looks_like_json(text: str, name: str, format: str | None) -> bool:
    if format is not None:
        return format in ("json", "wfformat")
    return io.bare_name(name).endswith(".json") or text.lstrip()[:1] in ("{", "[")


def _format(text: str, name: str, data: Any) -> str:
    if data is not None:
        return "wfformat" if isinstance(data, dict) and "workflow" in data else "json"
    bare = io.bare_name(name)
    for suffix, format in (
        (".dot", "dot"),
        (".gv", "dot"),
        (".graphml", "graphml"),
        (".xml", "graphml"),
        (".stg", "stg"),
        (".csv", "csv"),
        (".rec", "starpu"),
    ):
        if bare.endswith(suffix):
            return format
    start = text.lstrip()[:8].lower()
    if start.startswith("<"):
        return "graphml"
    if start.startswith(("digraph", "strict", "graph", "//", "/*")):
        return "dot"
    lines = plain.fields_of(text)
    if not lines:
        raise InvalidInstance(f"{name}: line 1: empty: expected a task graph")
    # An amaris_het line has three columns or more, an STG header one or two.
    return "stg" if len(lines[0][1]) <= 2 else "amaris_het"


def _own(data: Any, name: str) -> Graph:
    """This package's own JSON, of a graph or (with units) of an instance."""
    if not isinstance(data, dict) or not isinstance(data.get("times"), list):
        raise InvalidInstance(f"{name}: expected an object with 'times' (a row a task)")
    if unknown := data.keys() - _KEYS:
        raise InvalidInstance(f"{name}: unknown key {shorten(min(unknown))}")
    rows = _finite_or_infinite(data["times"])
    texts: dict[str, Any] = {}
    for key in ("names", "kernels", "notes"):
        values = data.get(key)
        if values is None:
            continue
        if not isinstance(values, list) or not all(isinstance(text, str) for text in values):
            raise InvalidInstance(f"{name}: {key}: expected a list of texts")
        texts[key] = tuple(values)
    edges = data.get("edges", [])
    if not isinstance(edges, list):
        raise InvalidInstance(f"{name}: edges: expected a list of pairs [i, j]")
    edges = list(io.polled(edges))
    links = {key: data[key] for key in ("data", "latency", "memories", "executed") if key in data}
    if "memory_capacity" in data:
        (links["memory_capacity"],) = _finite_or_infinite([data["memory_capacity"]])
    if "bandwidth" in data:
        links["bandwidth"] = _finite_or_infinite(data["bandwidth"])
    with io.naming(name):
        return Graph(rows, edges, **texts, units=data.get("units"), **links)  # type: ignore[arg-type]


def _finite_or_infinite(rows: Any) -> Any:
    """A table in which null is infinity."""
    if not isinstance(rows, list):
        return rows
    return [
        [math.inf if value is None else value for value in row] if isinstance(row, list) else row
        for row in io.polled(rows)
    ]
