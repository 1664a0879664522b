"""Files of task graphs: which format one has, and what it says.

``read_graph`` tells these formats apart:

=============  ==============================================================================
amaris_het     ``id t_CPU t_GPU [t_GPU2] [pred,pred,...]``, -1 = cannot run there
wfformat       WfFormat 1.5 (WfCommons): one time a task
stg            Standard Task Graph set: one time a task
dot, graphml   node attributes; see :mod:`cosched.dags.files.networks`
starpu         ``tasks.rec`` of StarPU: a time a type, and the run; see
               :mod:`cosched.dags.files.starpu`
csv            ``from,to[,data]``, an arc a line; times come from a table
json           this package's own; see :meth:`cosched.dags.Instance.write`
=============  ==============================================================================

Each may be a plain file, a ``.gz`` file, or a member of an archive
(``graphs.tar.gz:folder/name.txt``).
"""

import math
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from cosched import io
from cosched.core.arrays import integer, real_array
from cosched.dags.files import networks, plain, starpu, types, wfformat
from cosched.dags.files.parsed import Graph, Parsed, run_of
from cosched.errors import InvalidInstance, shorten

#: Of this package's own JSON, of a graph or an instance.
_KEYS = {"times", "edges", "names", "kernels", "notes", "units"}
_KEYS |= {"data", "bandwidth", "latency", "memories", "memory_capacity", "executed"}

FORMATS = ("amaris_het", "wfformat", "stg", "dot", "graphml", "starpu", "csv", "json")


def read_graph(path: str | PathLike[str], **options: Any) -> Graph:
    """What a file says; the suffix, else the content, tells the format.

    Options as of :meth:`cosched.dags.Instance.read`, and ``likely_types``, the resource types of
    the machine at hand: they tell a last column of times from one of predecessors where it could be
    either.
    """
    asked = _Options(**options)
    if asked.format is not None and asked.format not in FORMATS:
        known = ", ".join(FORMATS)
        raise InvalidInstance(f"format = {shorten(asked.format)}: expected one of {known}")
    if asked.acceleration is not None and asked.times is not None:
        raise InvalidInstance("expected either acceleration or times, got both")
    if asked.types_in_file is not None:
        integer(asked.types_in_file, "types_in_file", 1)
    return _graph(io.read_text(path), str(path), asked)


@dataclass(frozen=True)
class _Options:
    """Of :func:`read_graph`; a name that is none of these is a TypeError."""

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
    return Graph(
        table,
        edges,
        tuple(parsed.names),
        kernels,
        notes=tuple(dict.fromkeys(parsed.notes)),
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
    for key in ("names", "kernels", "notes"):
        values = data.get(key)
        if values is None:
            continue
        if not isinstance(values, list) or not all(isinstance(text, str) for text in values):
            raise InvalidInstance(f"{name}: {key}: expected a list of texts")
    if not isinstance(data.get("edges", []), list):
        raise InvalidInstance(f"{name}: edges: expected a list of pairs [i, j]")
    said = {"edges": [], **{key: value for key, value in data.items() if value is not None}}
    for key in ("times", "bandwidth", "memory_capacity"):
        if key in said:
            (said[key],) = _finite_or_infinite([said[key]])
    with io.naming(name):
        said["times"] = real_array(said["times"], "times", 2)
        if "data" in said:
            said["data"] = real_array(said["data"], "data", 1)
        said["executed"] = run_of(data.get("executed"), len(said["times"]))
    return Graph(**said)


def _finite_or_infinite(values: list[Any]) -> list[Any]:
    """Numbers and tables of them, in which null is infinity."""
    return [
        math.inf if one is None else _finite_or_infinite(one) if isinstance(one, list) else one
        for one in io.polled(values)
    ]
