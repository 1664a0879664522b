"""Which format a file or folder of bags has; JSON, and tables that openbenchmarking exports."""

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from cosched import io
from cosched.bags.files.folders import Table, read_folder, write_folder
from cosched.core.arrays import any_array, integer
from cosched.core.text import not_read
from cosched.errors import InvalidInstance, shorten

MISSING = ("refuse", "drop", "drop-tasks", "drop-machines")
#: Work of one task where a benchmark reports a rate: the constants behind the data of Tarplee et
#: al. (million instructions, frames, frames).
WORK = {"7-Zip Compression": 1e6, "Warsow": 1e5, "Unigine Heaven": 1e4}
#: The paper's first experiment.
TASKS, MACHINES = 12_000, 40


def read(path: str | PathLike[str], *, missing: str, counts: Any, machines: Any) -> dict[str, Any]:
    """The arguments of ``Instance`` that a file or folder holds."""
    if missing not in MISSING:
        raise InvalidInstance(f"missing = {shorten(missing)}: expected {', '.join(MISSING)}")
    name, place = io.bare_name(path), Path(path)
    if place.is_dir():
        name = ""
    if name.endswith(".csv"):
        return _read_openbenchmarking(place, missing, counts, machines)
    if counts is not None or machines is not None:
        raise InvalidInstance(
            f"{path}: counts and machines are for openbenchmarking tables, this has its own"
        )
    if name.endswith(".json"):
        return _read_json(place)
    if name and place.exists():
        raise InvalidInstance(f"{path}: expected a folder, or a name that ends in .json or .csv")
    return read_folder(place, missing)


def write(path: str | PathLike[str], fields: Mapping[str, Any], labelled: bool) -> None:
    """See ``Instance.write``; `fields` are the arguments of ``Instance``, all of them."""
    place = Path(path)
    if not place.suffix:
        write_folder(place, fields, labelled)
        return
    io.check_suffix(path, (".json",))
    io.write_json(fields, path)


# --- JSON -----------------------------------------------------------------------------------


def _read_json(path: Path) -> dict[str, Any]:
    data = io.read_json(path)
    needed = ("counts", "machines", "etc", "apc")
    optional = ("price", "energy_cost", "idle_power", "power_cap", "names", "machine_names")
    if not isinstance(data, Mapping) or any(key not in data for key in needed):
        raise InvalidInstance(f"{path}: expected an object with {', '.join(needed)}")
    fields = {key: data[key] for key in (*needed, *optional) if data.get(key) is not None}
    for key in ("etc", "apc"):
        rows = fields[key]
        if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
            raise InvalidInstance(f"{path}: {key}: expected a list of rows")
    closed = [[x is None for x in row] for row in fields["etc"]]
    if any(any(row) for row in closed):
        for key in ("etc", "apc"):  # a pair that is closed is null in the file
            fields[key] = [[1.0 if x is None else x for x in row] for row in fields[key]]
        if len({len(row) for row in closed}) == 1:
            fields["allowed"] = ~np.array(closed)
    fields["notes"] = not_read("fields", [k for k in data if k not in (*needed, *optional)])
    return fields


# --- openbenchmarking -----------------------------------------------------------------------


def _read_openbenchmarking(path: Path, missing: str, counts: Any, machines: Any) -> dict[str, Any]:
    systems, results, powers = _results(path)
    names = [name for name in results if name in powers]
    if not names:
        raise InvalidInstance(f"{path}: expected tests with a result and watts of each system")
    table = Table(missing, names, systems)
    for i, name in enumerate(names):
        line, unit, cells = results[name]
        is_time = unit.lower().startswith("sec")
        if not is_time and name not in WORK:
            raise InvalidInstance(
                f"{path}: line {line}: {name} is in {unit}: expected seconds, or one of "
                f"{', '.join(WORK)}, whose work is known"
            )
        for j, text in enumerate(cells):
            where = f"{path}: line {line}, column {j + 3} ({name} on {systems[j]})"
            table.put(table.seconds, i, j, text, where, f"a positive number ({unit})")
        if not is_time:
            table.seconds[i] = WORK[name] / table.seconds[i]
        line, cells = powers[name]
        for j, text in enumerate(cells):
            where = f"{path}: line {line}, column {j + 3} ({name} on {systems[j]})"
            table.put(table.watts, i, j, text, where, "a positive number of watts")
    return table.fields(
        _split(TASKS if counts is None else counts, len(names)),
        _repeated(MACHINES if machines is None else machines, len(systems)),
    )


def _results(path: Path) -> tuple[list[str], dict, dict]:
    """Systems, test -> (line, unit, cells) of its result, test -> (line, cells) of its watts."""
    systems: list[str] = []
    results: dict[str, tuple[int, str, list[str]]] = {}
    powers: dict[str, tuple[int, list[str]]] = {}
    for line, cells in io.read_rows(path):
        first = cells[0].strip()
        if not first and len(cells) > 2 and any(cell.strip() for cell in cells[2:]):
            header = [cell.strip() for cell in cells[2:]]
            if systems and len(header) != len(systems):
                raise InvalidInstance(
                    f"{path}: line {line}: a header of {len(header)} systems: expected "
                    f"{len(systems)}, as in the one before"
                )
            systems = header
            continue
        test, dash, metric = first.partition(" - ")
        if not dash or not systems or not metric.endswith(")"):
            continue
        if len(cells) != len(systems) + 2:
            raise InvalidInstance(
                f"{path}: line {line}: {len(cells)} cells: expected {len(systems) + 2}"
            )
        unit = metric[:-1].rpartition("(")[2]
        if unit == "Watts":
            powers.setdefault(test, (line, cells[2:]))
        elif unit != "Celsius" and "/watt" not in unit.lower():
            results.setdefault(test, (line, unit, cells[2:]))
    return systems, results, powers


def _split(counts: Any, types: int) -> list[int]:
    """One number split evenly (the first types get what is left over), or a number a type."""
    if any_array(counts, "counts", 1).ndim > 0:
        if len(counts) != types:
            raise InvalidInstance(f"counts has {len(counts)} entries: expected {types}, one a test")
        return list(counts)
    total = integer(counts, "counts", types, 2**53)
    return [total // types + (i < total % types) for i in range(types)]


def _repeated(machines: Any, types: int) -> list[int]:
    if any_array(machines, "machines", 1).ndim > 0:
        if len(machines) != types:
            raise InvalidInstance(
                f"machines has {len(machines)} entries: expected {types}, one a system"
            )
        return list(machines)
    return [integer(machines, "machines", 1)] * types
