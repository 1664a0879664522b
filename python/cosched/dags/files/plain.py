"""Two formats of lines of numbers: the benchmark of Amaris et al. 2017, and STG."""

import math
import re
from collections.abc import Iterable

from cosched import io
from cosched.dags.files.parsed import Parsed, bytes_of, number
from cosched.errors import InvalidInstance, shorten
from cosched.notes import Note, NoteKind

_INTEGER = re.compile(r"[0-9]{1,18}")

Lines = list[tuple[int, list[str]]]


def fields_of(text: str) -> Lines:
    """(line number, fields) of the lines that are neither blank nor ``#`` comments."""
    return [
        (k, fields)
        for k, line in enumerate(io.polled(text.splitlines()), start=1)
        if (fields := line.split("#", 1)[0].split())
    ]


def read_amaris(
    text: str, path: str, types: int | None = None, likely: int | None = None
) -> Parsed:
    """``id t_0 ... t_{Q-1} [predecessor,predecessor,...]``, a line a task, no header.

    A time of -1 says that the task cannot run there; ids are any words; predecessors are
    separated by commas or blanks (the published files have both). Q is the fewest columns
    less one, since every graph has a task without predecessors; `types` overrides it. Where each
    task has predecessors (so there is a cycle), `likely` types tell them from times.
    """
    lines = fields_of(text)
    if not lines:
        raise InvalidInstance(f"{path}: line 1: empty: expected 'id t_CPU t_GPU [predecessors]'")
    shortest, fields = min(lines, key=lambda line: len(line[1]))
    q = types if types is not None else len(fields) - 1
    if types is None and likely == q - 1 and _all_predecessors(lines, q):
        q = likely
    if q < (2 if types is None else 1) or len(fields) < q + 1:
        noun = "column" if len(fields) == 1 else "columns"
        raise InvalidInstance(
            f"{path}: line {shortest}: {len(fields)} {noun}: expected "
            f"'id t_CPU t_GPU [predecessors]'" + (f" with {q} times" if types is not None else "")
        )
    parsed = Parsed(
        path, hint=f" (line {shortest} has {len(fields)} columns, so all lines have {q} times)"
    )
    for k, fields in io.polled(lines):
        where = f"line {k}"
        times = [_amaris_time(cell, f"{path}: {where}", parsed.hint) for cell in fields[1 : q + 1]]
        parsed.add(fields[0], times, where)
        for cell in fields[q + 1 :]:
            for name in filter(None, cell.split(",")):
                parsed.precede(name, fields[0], where)
    return parsed


def _all_predecessors(lines: Lines, column: int) -> bool:
    """Return whether the cells of a column are lists of this file's tasks."""
    ids = {fields[0] for _, fields in lines}
    cells = (fields[column] for _, fields in lines)
    return all(name in ids for cell in cells for name in cell.split(",") if name)


def _amaris_time(text: str, where: str, hint: str) -> float:
    what = f"seconds >= 0, or -1 where the task cannot run{hint}"
    value = number(text, where, what)
    if value == -1:
        return math.inf
    if value < 0:
        raise InvalidInstance(f"{where}: {shorten(text)}: expected {what}")
    return value


def read_stg(text: str, path: str, dummies: bool = False) -> Parsed:
    """Standard Task Graph: a header, then ``id time count predecessor ...``, a line a task.

    The header is the number of tasks, with or without the dummy entry and exit (the sets in
    circulation disagree), and in "proto" files one number more, which goes to the notes.
    Some files have one more column before the count (a deadline): skipped, in the notes.
    With communication costs each predecessor is followed by its cost, on the same line or on a line
    of the two: data of the arc, in the file's unit of time (so a bandwidth of 1 gives them back).
    The dummies, a first task of time 0 without predecessors and a last one of time 0 without
    successors, are left out unless `dummies`; they change no makespan.
    """
    lines = fields_of(text)
    if not lines:
        raise InvalidInstance(f"{path}: line 1: empty: expected the number of tasks")
    (first, header), rows = lines[0], _joined(lines[1:])
    if len(header) > 2:
        raise InvalidInstance(f"{path}: line {first}: {len(header)} numbers: expected 1 or 2")
    declared = _integer(header[0], f"{path}: line {first}")
    if not declared <= len(rows) <= declared + 2 or not rows:
        raise InvalidInstance(
            f"{path}: line {first}: {declared} tasks declared, {len(rows)} lines of tasks follow: "
            f"expected {declared}..{declared + 2} (up to two dummies)"
        )
    parsed = Parsed(path)
    if len(header) == 2:
        second = _integer(header[1], f"{path}: line {first}")
        text = f"second number of the header: {second} (not used)"
        parsed.notes.append(Note(NoteKind.NOT_USED, text, subject="second number of the header"))
    count_at = 2
    if not _counts_fit(rows, 2) and _counts_fit(rows, 3):
        count_at = 3
        text = "a column between time and number of predecessors was skipped"
        parsed.notes.append(Note(NoteKind.NOT_READ, text, subject="column before the predecessors"))
    costs = not _counts_fit(rows, count_at) and _counts_fit(rows, count_at, 2)
    for k, fields in io.polled(rows):
        _stg_task(parsed, fields, f"line {k}", count_at, costs)
    if costs:
        text = "communication costs are data: a bandwidth of 1 makes them times"
        parsed.notes.append(Note(NoteKind.READING, text, subject="communication costs"))
    if not dummies:
        _drop_dummies(parsed, has_predecessor=rows[0][1][count_at] != "0")
    return parsed


def _joined(rows: Lines) -> Lines:
    """Return lines of a predecessor and its cost, as one with the task's line before."""
    joined: Lines = []
    for k, fields in rows:
        if len(fields) == 2 and joined:
            joined[-1][1].extend(fields)
        else:
            joined.append((k, list(fields)))
    return joined


def _counts_fit(rows: Lines, at: int, width: int = 1) -> bool:
    return all(
        len(fields) > at
        and _INTEGER.fullmatch(fields[at])
        and len(fields) == at + 1 + width * int(fields[at])
        for _, fields in rows
    )


def _stg_task(
    parsed: Parsed, fields: list[str], where: str, count_at: int, costs: bool = False
) -> None:
    place = f"{parsed.path}: {where}"
    if len(fields) <= count_at:
        raise InvalidInstance(
            f"{place}: {len(fields)} columns: expected 'id time count [predecessors]'"
        )
    what = "a time >= 0"
    time = number(fields[1], place, what)
    if time < 0:
        raise InvalidInstance(f"{place}: {shorten(fields[1])}: expected {what}")
    count, predecessors = _integer(fields[count_at], place), fields[count_at + 1 :]
    data: list[float | None] = [None] * len(predecessors)
    if costs:
        data = [bytes_of(text, place) for text in predecessors[1::2]]
        predecessors = predecessors[::2]
    if count != len(predecessors):
        raise InvalidInstance(
            f"{place}: {count} predecessors announced, {len(predecessors)} follow"
        )
    parsed.add(fields[0], [time], where)
    for name, cost in zip(predecessors, data, strict=True):
        parsed.precede(name, fields[0], where, cost)


def read_edges(text: str, path: str, tasks: Iterable[str]) -> Parsed:
    """CSV ``from,to[,data]``: an arc a line; the tasks are those of the table of times."""
    rows = io.parse_csv(text, path)
    lower = [name.strip().lower() for name in rows.header]
    if lower not in (["from", "to"], ["from", "to", "data"]):
        raise InvalidInstance(f"{path}: line 1: expected a header 'from,to' or 'from,to,data'")
    parsed = Parsed(path, hint=" (a task of the table of times)")
    for name in tasks:
        parsed.add(name, [0.0], "times")
    for line, cells in io.polled(rows.rows):
        where = f"line {line}"
        before, after, *extra_cells = (cell.strip() for cell in cells)
        data = (
            bytes_of(extra_cells[0], f"{path}: {where}") if extra_cells and extra_cells[0] else None
        )
        parsed.precede(before, after, where, 0.0 if extra_cells and data is None else data)
    return parsed


def _drop_dummies(parsed: Parsed, has_predecessor: bool) -> None:
    entry, leaving = parsed.names[0], parsed.names[-1]
    removed = []
    if parsed.times[0][0] == 0 and not has_predecessor:
        removed.append(entry)
    if leaving != entry and parsed.times[-1][0] == 0 and not parsed.has_successor(leaving):
        removed.append(leaving)
    if removed and len(removed) < len(parsed.names):
        parsed.edges()  # refuses unknown predecessors before any arc is dropped
        parsed.drop(removed)
        text = f"left out the dummy tasks {', '.join(removed)} of time 0"
        parsed.notes.append(Note(NoteKind.DROPPED, text, subject="dummy tasks", count=len(removed)))


def _integer(text: str, where: str) -> int:
    if not _INTEGER.fullmatch(text):
        raise InvalidInstance(f"{where}: {shorten(text)}: expected an integer >= 0")
    return int(text)
