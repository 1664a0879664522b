"""What a user says of units, edges, data and links: checked, and read from the command line."""

from collections.abc import Sequence, Sized
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosched import io
from cosched.core.arrays import any_array, integer, integer_array, real_array
from cosched.dags.files import Graph, Run, run_of
from cosched.errors import InvalidInstance, shorten
from cosched.notes import Note, NoteKind

#: Resource types of a machine.
MOST_TYPES = 1_000_000
#: Names of memory models.
MEMORIES = ("host", "unit")


def links(
    data: object,
    bandwidth: object,
    latency: object,
    memories: object,
    types: int,
    units: Sequence[int],
) -> tuple[NDArray[np.float64], NDArray[np.float64], Any]:
    """Matrices of bandwidth and latency, memories; judged with and without data."""
    if bandwidth is None and data is not None:
        raise InvalidInstance("data without bandwidth: expected bytes/s, a number or (Q, Q)")
    return (
        checked_matrix(np.inf if bandwidth is None else bandwidth, "bandwidth", types),
        checked_matrix(latency, "latency", types),
        checked_memories(memories, units),
    )


def of_file(graph: Graph, **arguments: object) -> dict[str, Any]:
    """Arguments of the constructor for the data of a file, and what to note of it.

    `asked`: bandwidth, latency, memories and memory_capacity, None where the file is to say.
    """
    fields = {
        name: getattr(graph, name) if value is None else value for name, value in arguments.items()
    }
    given_fields = {name: value for name, value in fields.items() if value is not None}
    notes = list(graph.notes)
    if graph.data is None:
        if given_fields:
            text = "no data on the edges: transfers take no time"
            notes.append(Note(NoteKind.ASSUMED, text, subject="transfers"))
    elif given_fields:
        return {"data": graph.data, "notes": notes, **given_fields}
    elif graph.data.any():
        edges = int((graph.data > 0).sum())
        text = (
            f"not used (no bandwidth, so transfers take no time): data of {edges} "
            f"{'edge' if edges == 1 else 'edges'}"
        )
        notes.append(Note(NoteKind.NOT_USED, text, subject="data", count=edges))
    return {"notes": notes, **given_fields}


def checked_data(data: Any, edges: int) -> NDArray[np.float64] | None:
    """(e,) bytes an edge as given; None where nothing moves. Values are judged in C++."""
    if data is None:
        return None
    values = real_array(data, "data", 1) if np.size(data) else np.zeros(0)
    if len(values) != edges:
        raise InvalidInstance(
            f"data has {len(values)} entries: expected one for each of the {edges} edges"
        )
    return values


def checked_matrix(value: object, name: str, types: int) -> NDArray[np.float64]:
    """(Q, Q) read-only: a scalar everywhere, or row = sender's type, column = receiver's."""
    if any_array(value, name, 2).ndim == 0:
        matrix = np.full((types, types), real_array([value], name, 1)[0])
    else:
        matrix = real_array(value, name, 2)
    if matrix.shape != (types, types):
        raise InvalidInstance(
            f"{name} has shape {matrix.shape}: expected a number, or ({types}, {types}): a row "
            "and a column a resource type"
        )
    high = np.inf if name == "bandwidth" else np.finfo(float).max
    good = (matrix > 0 if name == "bandwidth" else matrix >= 0) & (matrix <= high)
    if not good.all():
        row, column = map(int, np.argwhere(~good)[0])
        expected = "bytes/s > 0" if name == "bandwidth" else "finite seconds >= 0"
        raise InvalidInstance(
            f"{name}[{row}, {column}] = {matrix[row, column]:g}: expected {expected}"
        )
    matrix += 0.0  # no negative zero
    matrix.flags.writeable = False
    return matrix


def checked_memories(memories: object, units: Sequence[int]) -> str | tuple[int, ...]:
    """``"host"``, ``"unit"``, or an integer a unit."""
    if isinstance(memories, str):
        if memories not in MEMORIES:
            raise InvalidInstance(
                f"memories = {shorten(memories)}: expected 'host', 'unit' or an integer a unit"
            )
        return memories
    if memories is None or not np.iterable(memories):
        raise InvalidInstance(
            f"memories = {shorten(memories)}: expected 'host', 'unit' or an integer a unit"
        )
    numbers = integer_array(memories, "memories", 1)
    if len(numbers) != sum(units):
        raise InvalidInstance(
            f"memories has {len(numbers)} entries: expected one for each of the {sum(units)} units"
        )
    return tuple(numbers.tolist())


def checked_capacity(capacity: object, units: Sequence[int]) -> float | tuple[float, ...] | None:
    """A number of bytes, one a type, or one a unit; None: no limit."""
    if capacity is None:
        return None
    if not np.iterable(capacity):
        values = real_array([capacity], "memory_capacity", 1)
    else:
        values = real_array(capacity, "memory_capacity", 1)
        if len(values) not in (len(units), sum(units)):
            raise InvalidInstance(
                f"memory_capacity has {len(values)} entries: expected a number, or one for each of "
                f"the {len(units)} types or {sum(units)} units"
            )
    wrong = np.flatnonzero(~(values >= 0))
    if len(wrong):
        which = f"memory_capacity[{wrong[0]}]" if np.iterable(capacity) else "memory_capacity"
        raise InvalidInstance(f"{which} = {values[wrong[0]]:g}: expected bytes >= 0")
    return tuple(values.tolist()) if np.iterable(capacity) else float(values[0])


def capacity_of_units(
    capacity: float | tuple[float, ...] | None, units: Sequence[int]
) -> NDArray[np.float64] | None:
    """Bytes of each unit's memory, type by type."""
    if capacity is None:
        return None
    if isinstance(capacity, float):
        return np.full(sum(units), capacity)
    if len(capacity) == len(units):
        return np.repeat(capacity, units)
    return np.array(capacity)


def distinct(
    pairs: NDArray[np.int64], by_tasks: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
    """Each edge once, where it came first, and its row among all `by_tasks`; None: the same."""
    if np.array_equal(pairs, by_tasks):
        by_tasks.flags.writeable = False
        return by_tasks, None
    _, first, row = np.unique(pairs, axis=0, return_index=True, return_inverse=True)
    sorted_pairs = np.sort(first)
    edges = pairs[sorted_pairs].astype(by_tasks.dtype)
    edges.flags.writeable = False
    return edges, row.ravel()[sorted_pairs]


def as_given(rows: NDArray[Any], core_rows: NDArray[np.int64] | None) -> NDArray[Any]:
    """Rows an edge, from the core's order (by tasks) to that of ``edges``."""
    if core_rows is None:
        return rows
    rows_of_edges: np.ndarray = rows[core_rows]
    rows_of_edges.flags.writeable = False
    return rows_of_edges


def edge_number(edge: object, edges: NDArray[np.int64]) -> int:
    """Row of `edges`, given as such or as (i, j)."""
    if not np.iterable(edge):
        return integer(edge, "edge", 0, len(edges) - 1)
    pair = integer_array(edge, "edge", 1)
    matching_edges = np.flatnonzero((edges == pair).all(axis=1) if len(pair) == 2 else [])
    if len(matching_edges) == 0:
        raise InvalidInstance(
            f"edge = {shorten(edge)}: expected a row of edges, or its two tasks (i, j)"
        )
    return int(matching_edges[0])


def place(unit: object, name: str, units: Sequence[int]) -> tuple[int, int]:
    """(type, unit) of a unit given as such, or as its number among all, type by type."""
    if np.iterable(unit):
        pair = integer_array(unit, name, 1)
        if len(pair) != 2 or pair[0] >= len(units) or pair[1] >= units[pair[0]]:
            raise InvalidInstance(f"{name} = {shorten(unit)}: expected (type, unit of the type)")
        return int(pair[0]), int(pair[1])
    number = integer(unit, name, 0, sum(units) - 1)
    kind = 0
    while number >= units[kind]:
        number -= units[kind]
        kind += 1
    return kind, number


def checked_places(
    kind: object, unit: object, tasks: int, units: Sequence[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Type and unit of each task."""
    kinds = integer_array(kind, "kind", 1, 0, len(units) - 1)
    numbers = integer_array(unit, "unit", 1)
    if len(kinds) != tasks or len(numbers) != tasks:
        raise InvalidInstance(
            f"kind has {len(kinds)} entries, unit {len(numbers)}: expected one for each of the "
            f"{tasks} tasks"
        )
    wrong = np.flatnonzero(numbers >= np.asarray(units)[kinds])
    if len(wrong):
        raise InvalidInstance(
            f"unit[{wrong[0]}] = {numbers[wrong[0]]}: type {kinds[wrong[0]]} has "
            f"{units[kinds[wrong[0]]]}"
        )
    return kinds, numbers


def memory_numbers(
    kinds: NDArray[np.int64],
    numbers: NDArray[np.int64],
    units: Sequence[int],
    memories: str | tuple[int, ...],
) -> NDArray[np.int64]:
    """The memory of each unit: equal numbers are the same one."""
    of_all: np.ndarray = np.concatenate([[0], np.cumsum(units)])[kinds] + numbers
    if memories == "host":
        return np.where(kinds == 0, 0, of_all)
    if memories == "unit":
        return of_all
    memory_of_unit: np.ndarray = np.array(memories)[of_all]
    return memory_of_unit


def checked_run(executed: object, tasks: int, units: Sequence[int]) -> Run | None:
    """A recorded run on units that the machine has; what else it breaks, the validator says."""
    run = run_of(executed, tasks)
    if run is not None:
        checked_places(run.kind, run.unit, tasks, units)
    return run


def fitting(run: Run | None, units: object) -> Run | None:
    """The run, where a machine has the units that it used."""
    counts = np.array(units)
    if run is None or run.kind.max() >= len(counts) or (run.unit >= counts[run.kind]).any():
        return None
    return run


def is_same_run(run: Run | None, other: Run | None) -> bool:
    if run is None or other is None:
        return run is other
    return all(map(np.array_equal, run, other))


def is_same_array(array: NDArray[Any] | None, other: NDArray[Any] | None) -> bool:
    if array is None or other is None:
        return array is other
    return np.array_equal(array, other)


def sequence(units: object) -> Any:
    if isinstance(units, (str, bytes)) or not np.iterable(units):
        raise InvalidInstance(f"units = {shorten(units)}: expected a sequence, one number per type")
    if isinstance(units, Sized) and len(units) > MOST_TYPES:
        raise InvalidInstance(f"units has {len(units)} entries: expected at most {MOST_TYPES}")
    return list(units)


def checked_units(units: object, path: str | PathLike[str]) -> Any:
    if units is None:
        raise InvalidInstance(f"{path}: units are missing: expected one number per type, as 16,4")
    if isinstance(units, (int, np.integer)):
        return (integer(units, "units", 1),)
    return units


def parse_units(text: str) -> tuple[int, ...]:
    """``"16,4"`` as (16, 4)."""
    return tuple(io.parse_integer(part, "units", 1, 2**31 - 1) for part in text.split(","))


def parse_acceleration(text: str) -> Any:
    """``"4"`` or ``"4,2"`` as factors of the further types; else a CSV file's name."""
    if not all(map(io.is_number, text.split(","))):
        return text
    factors = [float(part) for part in text.split(",")]
    return factors[0] if len(factors) == 1 else factors


def parse_matrix(text: str) -> Any:
    """``"12e9"``, or one row per type, as ``"inf,12e9;12e9,6e9"``."""
    rows = [[_number(cell.strip()) for cell in row.split(",")] for row in text.split(";")]
    return rows[0][0] if len(rows) == len(rows[0]) == 1 else rows


def parse_memories(text: str) -> Any:
    """``"host"``, ``"unit"``, or a number a unit, as ``"0,0,1,2"``."""
    if text in MEMORIES or not all(map(io.is_number, text.split(","))):
        return text
    return [io.parse_integer(part, "memories", 0, 2**31 - 1) for part in text.split(",")]


def parse_capacity(text: str) -> Any:
    """``"16e9"``, or one number per type, as ``"inf,16e9"``."""
    values = [_number(cell.strip()) for cell in text.split(",")]
    return values[0] if len(values) == 1 else values


def _number(text: str) -> float:
    if text.lower() in ("inf", "infinity"):
        return np.inf
    return io.parse_number(text, "entry", "a number, or one row per type as inf,12e9;12e9,6e9")
