"""Files of task graphs: which format one has, and what it says.

``read_graph`` tells these formats apart:

=============  ==============================================================================
amaris_het     ``id t_CPU t_GPU [t_GPU2] [pred,pred,...]``, -1 = cannot run there
wfformat       WfFormat 1.5 (WfCommons): one time per task
stg            Standard Task Graph set: one time per task
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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cosched import io
from cosched.core.arrays import integer, real, real_array
from cosched.core.options import one_of
from cosched.dags.files import networks, plain, starpu, wfformat
from cosched.dags.files.parsed import Graph, Parsed, number, run_of
from cosched.errors import InvalidInstance, shorten
from cosched.notes import Note, NoteKind, as_notes

#: One factor a further resource type.
Factors: TypeAlias = float | Sequence[float]
Acceleration: TypeAlias = Factors | Mapping[str, Factors] | str | PathLike[str]
TimesTable: TypeAlias = Mapping[str, Sequence[float]] | str | PathLike[str]

#: The key of the factors of every program that has none of its own.
REST = "*"


def accelerated(parsed: Parsed, acceleration: Acceleration) -> NDArray[np.float64]:
    """(n, 1 + F) times: the CPU's, and it divided by each factor (0: cannot run there).

    A mapping or CSV names programs: the kernel itself, else the longest prefix of the
    task's name, else ``*``.
    """
    cpu = np.array(parsed.times)[:, 0]
    table = _factor_table(acceleration)
    widths = {len(factors) for factors in table.values()}
    if len(widths) > 1:
        raise InvalidInstance(
            "acceleration: expected as many factors for each program, got "
            + " and ".join(map(str, sorted(widths)))
        )
    longest_first = sorted(table, key=lambda key: (-len(key), key))
    rows = np.array(
        [
            table[_key(table, longest_first, kernel, name, parsed.path)]
            for kernel, name in zip(parsed.kernels, parsed.names, strict=True)
        ]
    )
    with np.errstate(divide="ignore", over="ignore"):
        further = np.where(rows > 0, cpu[:, None] / np.where(rows > 0, rows, 1), np.inf)
    over = np.argwhere(np.isinf(further) & (rows > 0))
    if len(over):
        raise InvalidInstance(
            f"{parsed.path}: task {shorten(parsed.names[over[0][0]])}: CPU time / factor overflows"
        )
    return np.column_stack([cpu, further])


def replaced(parsed: Parsed, times: TimesTable) -> NDArray[np.float64]:
    """(n, Q) times of a table by task id, else kernel: CSV ``id,t0,t1,...`` or a mapping.

    An empty cell or ``inf`` says that the task cannot run there. Tasks of the table that
    the graph lacks are refused, like those that the table lacks.
    """
    source, rows = (
        ("times", {key: _plain_row(key, row) for key, row in times.items()})
        if isinstance(times, Mapping)
        else (str(times), _times_csv(times))
    )
    known_names = {*parsed.names, *parsed.kernels}
    for name in rows:
        if name not in known_names:
            raise InvalidInstance(f"{source}: {parsed.path} has no task {shorten(name)}")
    kernels = []
    for name, kernel in zip(parsed.names, parsed.kernels, strict=True):
        row = rows.get(name, rows.get(kernel or ""))
        if row is None:
            raise InvalidInstance(f"{source}: no times of task {shorten(name)} of {parsed.path}")
        kernels.append(row)
        if len(row) != len(kernels[0]):
            raise InvalidInstance(
                f"{source}: task {shorten(name)} has {len(row)} times, the first one "
                f"{len(kernels[0])}"
            )
    return np.array(kernels)


def named(times: TimesTable) -> list[str]:
    """The tasks of a table of times, in its order."""
    return list(map(str, times)) if isinstance(times, Mapping) else list(_times_csv(times))


def _factor_table(acceleration: Acceleration) -> dict[str, tuple[float, ...]]:
    if isinstance(acceleration, (str, PathLike)):
        return _factor_csv(acceleration)
    if isinstance(acceleration, Mapping):
        if not acceleration:
            raise InvalidInstance("acceleration: expected at least one program, or '*' for all")
        return {
            str(key): _factors(value, f"acceleration[{shorten(key)}]")
            for key, value in acceleration.items()
        }
    return {REST: _factors(acceleration, "acceleration")}


def _factors(value: object, where: str) -> tuple[float, ...]:
    values = list(value) if isinstance(value, (list, tuple, np.ndarray)) else [value]
    factors = tuple(real(factor, where) for factor in values)
    if not factors or not all(0 <= factor < math.inf for factor in factors):
        raise InvalidInstance(
            f"{where} = {shorten(value)}: expected factors > 0, or 0 where tasks cannot run"
        )
    return factors


def _factor_csv(path: str | PathLike[str]) -> dict[str, tuple[float, ...]]:
    csv = io.read_csv(path)
    if csv.header[0].strip().lower() != "program" or len(csv.header) < 2:
        raise InvalidInstance(f"{path}: line 1: expected a header 'program,factor[,factor2,...]'")
    table: dict[str, tuple[float, ...]] = {}
    for line, cells in csv.rows:
        where, program = f"{path}: line {line}", cells[0].strip()
        if not program or program in table:
            what = "is there twice" if program else "expected a name, or * for the rest"
            raise InvalidInstance(f"{where}: program {shorten(program)}: {what}")
        what = "a factor (0 or empty: cannot run there)"
        numbers = [number(cell, where, what) if cell.strip() else 0.0 for cell in cells[1:]]
        table[program] = _factors(numbers, where)
    return table


def _key(
    table: Mapping[str, object],
    longest_first: Sequence[str],
    kernel: str | None,
    name: str,
    path: str,
) -> str:
    if kernel in table:
        return str(kernel)
    for key in longest_first:
        if key != REST and name.startswith(key):
            return key
    if REST in table:
        return REST
    what = f"task {shorten(name)}" + (f" of program {shorten(kernel)}" if kernel else "")
    raise InvalidInstance(
        f"{path}: {what} has no acceleration: name the program, a prefix of the task, or '*' "
        "for the rest"
    )


def _plain_row(name: object, row: object) -> list[float]:
    where = f"times[{shorten(name)}]"
    if not isinstance(row, (list, tuple, np.ndarray)) or len(row) == 0:
        raise InvalidInstance(f"{where} = {shorten(row)}: expected a time a resource type")
    return _checked([real(value, where) for value in row], where)


def _times_csv(path: str | PathLike[str]) -> dict[str, list[float]]:
    csv = io.read_csv(path)
    if csv.header[0].strip().lower() != "id" or len(csv.header) < 2:
        raise InvalidInstance(f"{path}: line 1: expected a header 'id,t0,t1,...'")
    rows: dict[str, list[float]] = {}
    for line, cells in csv.rows:
        where, name = f"{path}: line {line}", cells[0].strip()
        if name in rows:
            raise InvalidInstance(f"{where}: task id {shorten(name)} is there twice")
        cell_times = [
            math.inf
            if cell.strip().lower() in ("", "inf", "infinity")
            else number(cell.strip(), where)
            for cell in cells[1:]
        ]
        rows[name] = _checked(cell_times, where)
    return rows


def _checked(row: list[float], where: str) -> list[float]:
    for value in row:
        if not value >= 0:
            raise InvalidInstance(f"{where}: {value:g}: expected seconds >= 0")
    if all(math.isinf(value) for value in row):
        raise InvalidInstance(f"{where}: the task can run nowhere")
    return row


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
    read_options = _Options(**options)
    if read_options.format is not None:
        one_of(read_options.format, "format", FORMATS)
    if read_options.acceleration is not None and read_options.times is not None:
        raise InvalidInstance("expected either acceleration or times, got both")
    if read_options.types_in_file is not None:
        integer(read_options.types_in_file, "types_in_file", 1)
    return _graph(io.read_text(path), str(path), read_options)


@dataclass(frozen=True)
class _Options:
    """Of :func:`read_graph`; a name that is none of these is a TypeError."""

    format: str | None = None
    acceleration: Acceleration | None = None
    times: TimesTable | None = None
    types_in_file: int | None = None
    likely_types: int | None = None
    dummies: bool = False
    edge_data: str | None = None
    perfmodels: str | PathLike[str] | None = None


def _graph(text: str, name: str, read_options: _Options) -> Graph:
    io.refuse_foreign_text(text, name)
    looks = io.bare_name(name).endswith(".json") or text.lstrip()[:1] in ("{", "[")
    is_json = looks if read_options.format is None else read_options.format in ("json", "wfformat")
    data = io.parse_json(text, name) if is_json else None
    io.refuse_foreign_json(data, name)
    format = read_options.format or _format(text, name, data)
    if format == "json":
        if read_options.acceleration is not None or read_options.times is not None:
            raise InvalidInstance(f"{name}: has a time a resource type: no acceleration, no times")
        return _cosched_graph(data, name)
    return _assembled(
        _parsed(format, text, name, data, read_options),
        read_options.acceleration,
        read_options.times,
    )


def _parsed(format: str, text: str, name: str, data: object, read_options: _Options) -> Parsed:
    need = read_options.times is None
    if read_options.perfmodels is not None and format != "starpu":
        raise InvalidInstance(f"{name}: perfmodels: expected a tasks.rec of StarPU beside them")
    if format == "wfformat":
        if not isinstance(data, dict) or "workflow" not in data:
            raise InvalidInstance(f"{name}: expected an object with 'workflow' (WfFormat 1.5)")
        return wfformat.read_wfformat(data, name, need_times=need)
    if format == "amaris_het":
        return plain.read_amaris(text, name, read_options.types_in_file, read_options.likely_types)
    if format == "stg":
        return plain.read_stg(text, name, read_options.dummies)
    if format == "starpu":
        return starpu.read_starpu(text, name, read_options.perfmodels)
    if format == "csv":
        if read_options.times is None:
            raise InvalidInstance(f"{name}: a list of arcs has no times: expected times as well")
        return plain.read_edges(text, name, named(read_options.times))
    reader = networks.read_dot if format == "dot" else networks.read_graphml
    return reader(text, name, need_times=need, edge_data=read_options.edge_data)


def _assembled(
    parsed: Parsed, acceleration: Acceleration | None, times: TimesTable | None
) -> Graph:
    edges, data = parsed.edges(), parsed.data()
    if data is not None:
        n_moving = int((data > 0).sum())
        noun = "edge" if len(data) == 1 else "edges"
        text = f"data on {n_moving} of {len(data)} {noun}: {data.sum():.6g} bytes"
        parsed.notes.append(Note(NoteKind.READING, text, subject="data", count=n_moving))
    table = np.array(parsed.times)
    if times is not None:
        table = replaced(parsed, times)
        if parsed.executed is not None:
            text = "the run is not used: times are from elsewhere"
            parsed.notes.append(Note(NoteKind.NOT_USED, text, subject="run"))
            parsed.executed = None
    elif acceleration is not None:
        if table.shape[1] > 1:
            raise InvalidInstance(
                f"{parsed.path}: has {table.shape[1]} times a task: acceleration is for one"
            )
        table = accelerated(parsed, acceleration)
    elif table.shape[1] == 1:
        text = "one resource type: pass acceleration= or times= for more"
        parsed.notes.append(Note(NoteKind.ASSUMED, text, subject="resource types", count=1))
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


def _format(text: str, name: str, data: object) -> str:
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


def _cosched_graph(data: object, name: str) -> Graph:
    """Return the package's own JSON, of a graph or (with units) of an instance."""
    if not isinstance(data, dict) or not isinstance(data.get("times"), list):
        raise InvalidInstance(f"{name}: expected an object with 'times' (one row per task)")
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
    fields = {"edges": [], **{key: value for key, value in data.items() if value is not None}}
    for key in ("times", "bandwidth", "memory_capacity"):
        if key in fields:
            (fields[key],) = _finite_or_infinite([fields[key]])
    with io.naming(name):
        fields["times"] = real_array(fields["times"], "times", 2)
        if "data" in fields:
            fields["data"] = real_array(fields["data"], "data", 1)
        fields["executed"] = run_of(data.get("executed"), len(fields["times"]))
    fields["notes"] = as_notes(fields.get("notes", ()))
    return Graph(**fields)


def _finite_or_infinite(values: list[Any]) -> list[Any]:
    """Return numbers and tables of them, in which null is infinity."""
    return [
        math.inf
        if element is None
        else _finite_or_infinite(element)
        if isinstance(element, list)
        else element
        for element in io.polled(values)
    ]
