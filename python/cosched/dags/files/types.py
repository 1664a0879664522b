"""From one time a task to one time a resource type: factors by program, or a second table."""

import math
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, TypeAlias

import numpy as np

from cosched import io
from cosched.core.arrays import real
from cosched.dags.files.parsed import Parsed, number
from cosched.errors import InvalidInstance, shorten

#: One factor a further resource type.
Factors: TypeAlias = float | Sequence[float]
Acceleration: TypeAlias = Factors | Mapping[str, Factors] | str | PathLike[str]
TimesTable: TypeAlias = Mapping[str, Sequence[float]] | str | PathLike[str]

#: The key of the factors of every program that has none of its own.
REST = "*"


def accelerated(parsed: Parsed, acceleration: Acceleration) -> np.ndarray:
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


def replaced(parsed: Parsed, times: TimesTable) -> np.ndarray:
    """(n, Q) times of a table by task id, else kernel: CSV ``id,t0,t1,...`` or a mapping.

    An empty cell or ``inf`` says that the task cannot run there. Tasks of the table that
    the graph lacks are refused, like those that the table lacks.
    """
    source, rows = (
        ("times", {key: _plain_row(key, row) for key, row in times.items()})
        if isinstance(times, Mapping)
        else (str(times), _times_csv(times))
    )
    known = {*parsed.names, *parsed.kernels}
    for name in rows:
        if name not in known:
            raise InvalidInstance(f"{source}: {parsed.path} has no task {shorten(name)}")
    found = []
    for name, kernel in zip(parsed.names, parsed.kernels, strict=True):
        row = rows.get(name, rows.get(kernel or ""))
        if row is None:
            raise InvalidInstance(f"{source}: no times of task {shorten(name)} of {parsed.path}")
        found.append(row)
        if len(row) != len(found[0]):
            raise InvalidInstance(
                f"{source}: task {shorten(name)} has {len(row)} times, the first one "
                f"{len(found[0])}"
            )
    return np.array(found)


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


def _factors(value: Any, where: str) -> tuple[float, ...]:
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
    table: Mapping[str, Any], longest_first: Sequence[str], kernel: str | None, name: str, path: str
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


def _plain_row(name: object, row: Any) -> list[float]:
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
