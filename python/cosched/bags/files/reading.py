"""Files of bags: a folder of CSV matrices (plain, or as pandas writes them, with gaps), JSON, and
tables that openbenchmarking exports."""

import csv
import io as streams
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosched import io
from cosched.core.arrays import any_array, integer
from cosched.core.options import one_of
from cosched.core.text import labels, not_read
from cosched.errors import InvalidInstance, shorten
from cosched.io.limit import require_length
from cosched.notes import Note, NoteKind

_GAPS = ("", "nan", "na", "n/a", "inf", "infinity", "-")


def is_gap(text: str) -> bool:
    """Whether a cell says that there is no number."""
    return text.strip().lower() in _GAPS


class LabelledTable:
    """Times and powers of task types on machine types; cells are put in one by one."""

    def __init__(self, missing: str, tasks: list[str], machines: list[str]) -> None:
        self.missing = missing
        self.tasks, self.machines = tasks, machines
        self.seconds = np.full((len(tasks), len(machines)), math.nan)
        self.watts = self.seconds.copy()

    def put(
        self, table: NDArray[np.float64], i: int, j: int, text: str, where: str, what: str
    ) -> None:
        """One cell; a gap is refused, or stays NaN."""
        if is_gap(text) and self.missing != "refuse":
            return
        try:
            table[i, j] = io.parse_positive(text, where, what)
        except InvalidInstance as error:
            hint = " (missing='drop' drops it)" if is_gap(text) else ""
            raise InvalidInstance(f"{error}{hint}") from None

    def fields(self, counts: object, machines: object, idle_power: object = None) -> dict[str, Any]:
        """The arguments of Instance, without what is to be dropped."""
        is_known = np.isfinite(self.seconds) & np.isfinite(self.watts)
        rows, columns = np.ones(len(is_known), dtype=bool), np.ones(is_known.shape[1], dtype=bool)
        if self.missing == "drop-tasks":
            rows = is_known.all(axis=1)
            dropped = [name for name, is_kept in zip(self.tasks, rows, strict=True) if not is_kept]
        elif self.missing == "drop-machines":
            columns = is_known.all(axis=0)
            dropped = [
                name for name, is_kept in zip(self.machines, columns, strict=True) if not is_kept
            ]
        else:
            dropped = [f"{self.tasks[i]} on {self.machines[j]}" for i, j in np.argwhere(~is_known)]
        chosen = np.ix_(rows, columns)
        return {
            "counts": np.asarray(counts)[rows],
            "machines": np.asarray(machines)[columns],
            "etc": self.seconds[chosen],
            "apc": self.watts[chosen],
            "allowed": None if is_known[chosen].all() else is_known[chosen],
            "idle_power": None if idle_power is None else np.asarray(idle_power)[columns],
            "names": [name for name, is_kept in zip(self.tasks, rows, strict=True) if is_kept],
            "machine_names": [
                n for n, is_kept in zip(self.machines, columns, strict=True) if is_kept
            ],
            "notes": [
                Note(NoteKind.DROPPED, f"dropped {what}: a time or power is missing", subject=what)
                for what in dropped
            ],
        }


#: Optional files: idle watts of each machine type, watts of all machines together.
IDLE, CAP = "IDLE.csv", "CAP.csv"
_MAX_INTEGER = 2**53


@dataclass(frozen=True)
class _Cells:
    """The cells of a file without its labels: (line, first column of them, texts)."""

    path: Path
    rows: list[tuple[int, int, list[str]]]
    index: list[str] | None
    header: list[str] | None


def read_folder(folder: Path, missing: str) -> dict[str, Any]:
    """The arguments of ``Instance`` that ETC, EPC, MPT, TPT and perhaps IDLE and CAP hold."""
    tasks, machines = _numbers(folder / "TPT.csv"), _numbers(folder / "MPT.csv")
    entries = sum(len(texts) for _, _, texts in machines.rows)
    times, powers = _matrix(folder / "ETC.csv", entries), _matrix(folder / "EPC.csv", entries)
    if not times.rows:
        raise InvalidInstance(f"{times.path}: empty: expected one row per task type")
    idle = _numbers(folder / IDLE) if (folder / IDLE).exists() else None
    shape = (len(times.rows), len(times.rows[0][2]))
    _require_entries(shape, tasks, machines, powers, idle)
    by_type = [(times, times.index), (powers, powers.index), (tasks, tasks.index)]
    by_machine = [(times, times.header), (powers, powers.header), (machines, machines.index)]
    if idle is not None:
        by_machine.append((idle, idle.index))
    names = labels(_agreed(by_type), shape[0], "task type")
    machine_names = labels(_agreed(by_machine), shape[1], "machine type")
    table = LabelledTable(missing, list(names), list(machine_names))
    _fill(table, table.seconds, times, "a positive number of seconds")
    _fill(table, table.watts, powers, "a positive number of watts")
    watts = (
        None if idle is None else [io.parse_nonnegative(*cell) for cell in _label_and_text(idle)]
    )
    counts = [io.parse_integer(*cell, 0, _MAX_INTEGER) for cell in _label_and_text(tasks)]
    units = [io.parse_integer(*cell, 0, _MAX_INTEGER) for cell in _label_and_text(machines)]
    return {**table.fields(counts, units, watts), **_cap(folder / CAP)}


def _cap(path: Path) -> dict[str, float]:
    if not path.exists():
        return {}
    power_values = [
        io.parse_positive(*cell, "watts, > 0") for cell in _label_and_text(_numbers(path))
    ]
    if len(power_values) != 1:
        raise InvalidInstance(
            f"{path}: {len(power_values)} numbers: expected one, watts of all machines"
        )
    return {"power_cap": power_values[0]}


def _require_entries(
    shape: tuple[int, int], tasks: _Cells, machines: _Cells, powers: _Cells, idle: _Cells | None
) -> None:
    sizes = [(tasks, shape[0]), (machines, shape[1])]
    if idle is not None:
        sizes.append((idle, shape[1]))
    for cells, expected in sizes:
        _require(cells, sum(len(texts) for _, _, texts in cells.rows), expected)
    _require(powers, len(powers.rows), shape[0])


def _require(cells: _Cells, count: int, expected: int) -> None:
    if count != expected:
        hint = " (line 1 is taken as a header)" if cells.header is not None else ""
        raise InvalidInstance(
            f"{cells.path}: {count} entries: expected {expected}, as ETC.csv has{hint}"
        )


def _fill(table: LabelledTable, target: np.ndarray, cells: _Cells, what: str) -> None:
    for i, (line, first, texts) in enumerate(cells.rows):
        if len(texts) != target.shape[1]:
            raise InvalidInstance(
                f"{cells.path}: line {line}: {len(texts) + first - 1} cells: expected "
                f"{target.shape[1] + first - 1}"
            )
        for j, text in enumerate(texts):
            table.put(target, i, j, text, f"{cells.path}: line {line}, column {j + first}", what)


def _label_and_text(cells: _Cells) -> list[tuple[str, str]]:
    """Yield each cell and where it is."""
    return [
        (text, f"{cells.path}: line {line}, column {column}")
        for line, first, texts in cells.rows
        for column, text in enumerate(texts, first)
    ]


def _is_label(text: str) -> bool:
    return not is_gap(text) and not io.is_number(text)


def _are_numbered(texts: Sequence[str]) -> bool:
    """Return whether labels are 0, 1, 2, ..., which pandas writes where there are no labels."""
    return list(texts) == [str(k) for k in range(len(texts))]


def _split(path: Path, header: bool, index: bool, rows: list[tuple[int, list[str]]]) -> _Cells:
    first = int(index)
    above = [text.strip() for text in rows[0][1][first:]] if header else None
    row_labels = [cells[0].strip() for _, cells in rows[header:]] if index else None
    cells = [(line, first + 1, texts[first:]) for line, texts in rows[header:]]
    return _Cells(path, cells, row_labels, above)


def _matrix(path: Path, machines: int) -> _Cells:
    """Return a table of times or powers; `machines` decides where a column could be labels or
    times."""
    rows = io.read_rows(path)
    if not rows:
        return _Cells(path, [], None, None)
    top = [text.strip() for text in rows[0][1]]
    words = [text for text in top if not is_gap(text)]
    pandas_wrote = not top[0] and len(top) > 1 and _are_numbered(top[1:])
    header = pandas_wrote or (bool(words) and all(map(_is_label, words)))
    row_labels = [cells[0] for _, cells in rows[header:]]
    index = bool(row_labels) and all(map(_is_label, row_labels))
    if header and not index:
        index = not top[0] or len(top) == machines + 1
    return _split(path, header, index, rows)


def _numbers(path: Path) -> _Cells:
    """Return numbers, one or more a line, or a line a label and its number."""
    rows = io.read_rows(path)
    if not rows:
        return _Cells(path, [], None, None)
    top = [text.strip() for text in rows[0][1]]
    header = not top[0] or all(map(_is_label, top))
    row_labels = [cells[0] for _, cells in rows[header:]]
    pairs = bool(row_labels) and all(len(cells) == 2 for _, cells in rows)
    index = pairs and (header or all(map(_is_label, row_labels)))
    return _split(path, header, index, rows)


def _agreed(tables_read: list[tuple[_Cells, list[str] | None]]) -> list[str] | None:
    """Return the labels that all files give which have some; None where there are none."""
    named_tables = [
        (cells.path, names) for cells, names in tables_read if names and not _are_numbered(names)
    ]
    for path, names in named_tables[1:]:
        for name, expected in zip(names, named_tables[0][1], strict=False):
            if name != expected:
                raise InvalidInstance(
                    f"{path}: {shorten(name)}: expected {shorten(expected)}, as "
                    f"{named_tables[0][0]} has "
                    "(the order of types is the same in all files)"
                )
    return named_tables[0][1] if named_tables else None


def write_folder(folder: Path, fields: Mapping[str, Any], labelled: bool) -> None:
    """Write the files; labels, idle watts and the cap only where there are some."""
    require_length(folder)
    folder.mkdir(exist_ok=True)
    names, machines = fields["names"], fields["machine_names"]
    for name, table in (("ETC.csv", fields["etc"]), ("EPC.csv", fields["apc"])):
        rows = [["" if not math.isfinite(x) else repr(float(x)) for x in row] for row in table]
        _write(folder / name, rows, names if labelled else None, machines)
    idle, cap = fields["idle_power"], fields["power_cap"]
    for name, numbers, row_labels, title in (
        ("TPT.csv", fields["counts"], names, "tasks"),
        ("MPT.csv", fields["machines"], machines, "machines"),
        (IDLE, idle if np.any(idle) else (), machines, "watts"),
        (CAP, [cap] if math.isfinite(cap) else (), None, ""),
    ):
        if len(numbers):
            column = [[str(x)] for x in np.asarray(numbers).tolist()]
            _write(folder / name, column, row_labels if labelled else None, [title])
        else:  # of another instance that was written here before
            (folder / name).unlink(missing_ok=True)


def _write(
    path: Path, rows: list[list[str]], index: Sequence[str] | None, header: Sequence[str]
) -> None:
    text = streams.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if index is not None:
        writer.writerow(["", *header])
        rows = [[name, *row] for name, row in zip(index, rows, strict=True)]
    writer.writerows(rows)
    io.write_text(text.getvalue(), path)


MISSING = ("refuse", "drop", "drop-tasks", "drop-machines")
#: Work of one task where a benchmark reports a rate: the constants behind the data of Tarplee et
#: al. (million instructions, frames, frames).
WORK = {"7-Zip Compression": 1e6, "Warsow": 1e5, "Unigine Heaven": 1e4}
#: The paper's first experiment.
TASKS, MACHINES = 12_000, 40


def read(
    path: str | PathLike[str], *, missing: str, counts: object, machines: object
) -> dict[str, Any]:
    """The arguments of ``Instance`` that a file or folder holds."""
    one_of(missing, "missing", MISSING)
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


def write(path: str | PathLike[str], fields: Mapping[str, object], labelled: bool) -> None:
    """See ``Instance.write``; `fields` are the arguments of ``Instance``, all of them."""
    place = Path(path)
    if not place.suffix:
        write_folder(place, fields, labelled)
        return
    io.check_suffix(path, (".json",))
    io.write_json(fields, path)


def _read_json(path: Path) -> dict[str, Any]:
    data = io.read_json(path)
    required_keys = ("counts", "machines", "etc", "apc")
    optional = ("price", "energy_cost", "idle_power", "power_cap", "names", "machine_names")
    if not isinstance(data, Mapping) or any(key not in data for key in required_keys):
        raise InvalidInstance(f"{path}: expected an object with {', '.join(required_keys)}")
    fields = {key: data[key] for key in (*required_keys, *optional) if data.get(key) is not None}
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
    fields["notes"] = not_read("fields", [k for k in data if k not in (*required_keys, *optional)])
    return fields


def _read_openbenchmarking(
    path: Path, missing: str, counts: object, machines: object
) -> dict[str, Any]:
    systems, results, powers = _results(path)
    names = [name for name in results if name in powers]
    if not names:
        raise InvalidInstance(f"{path}: expected tests with a result and watts of each system")
    table = LabelledTable(missing, names, systems)
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
        _shared_out(TASKS if counts is None else counts, len(names)),
        _repeated(MACHINES if machines is None else machines, len(systems)),
    )


def _results(
    path: Path,
) -> tuple[list[str], dict[Any, Any], dict[Any, Any]]:
    """Return systems, test -> (line, unit, cells) of its result, test -> (line, cells) of its
    watts."""
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


def _shared_out(counts: Any, types: int) -> list[int]:
    """Return one number split evenly (the first types get what is left over), or a number a
    type."""
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
