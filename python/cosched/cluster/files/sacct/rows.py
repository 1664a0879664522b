"""Rows of ``sacct -P`` as texts."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cosched import io
from cosched.cluster.files.sacct.alignment import NAMES, AlignedRecord, Aligner
from cosched.cluster.files.sacct.broken_lines import DelimitedLines, Repaired, repair
from cosched.cluster.files.sacct.row_blocks import read_block
from cosched.cluster.files.sbatch import EXTRA_OPTIONS, OptionReader, options_of
from cosched.core.text import count_of
from cosched.errors import InvalidInstance, shorten
from cosched.lazy import pd
from cosched.notes import Note, NoteKind

if TYPE_CHECKING:
    from cosched.cluster.machine import Machine

_NEEDED = ("JobID", "State", "Submit", "Start")
_CPUS = ("NCPUS", "AllocCPUS", "ReqCPUS", "AllocTRES")
_FILE = Path(__file__).with_name("columns.toml")
_COLUMNS: dict[str, str] = io.parse_toml(_FILE.read_text("utf-8"), str(_FILE))
_READ_COLUMNS = frozenset(_COLUMNS["read"].split())
_CATEGORY_COLUMNS = frozenset(_COLUMNS["few"].split())
#: As sacct prints them, by names in lower case.
_NAMES = {name.lower(): name for name in (*_READ_COLUMNS, "JobIDRaw")}
#: Of the CPU time, if TotalCPU does not say it.
_PARTS_OF_CPU_TIME = ("UserCPU", "SystemCPU")
#: Columns in which a quote is not part of the text: a table that was written as CSV has them.
_UNQUOTED = ("Constraints", "Licenses")


class SacctRows(NamedTuple):
    """What a file of sacct holds.

    Attributes
    ----------
    texts : pandas.DataFrame
        The columns that are looked at, and ``line``, where the row begins in the file.
    unaligned : numpy.ndarray
        Lines where rows begin whose columns cannot be told apart.
    repaired : numpy.ndarray
        Lines where rows begin that have a delimiter or a line end inside a text.
    enclosed : numpy.ndarray
        Lines with the form of a row that are part of a text of the row around them.
    assumed : list of int
        Lines of repaired rows whose delimiters are taken for those of ``Constraints``: a text
        beside it could have some.
    undecided : dict of str to list of int
        By column, lines of repaired rows whose text cannot be told from others; it is empty.
    notes : list of Note
        How the file was read.
    """

    texts: pd.DataFrame
    unaligned: np.ndarray
    repaired: np.ndarray
    enclosed: np.ndarray
    assumed: list[int]
    undecided: dict[str, list[int]]
    notes: list[Note]


class _Repeat(NamedTuple):
    """A column whose name an earlier column has, too."""

    #: The name in the header.
    name: str
    #: The name that the repeat gets here, which no other column has.
    renamed: str


def read_rows(
    path: str | PathLike[str], delimiter: str, machine: Machine | None = None
) -> SacctRows:
    """The rows of a file; `machine`: whose partitions and features its jobs ask for.

    A line with as many delimiters as the first is a row. What other lines are, the forms of the
    columns say: see :class:`~cosched.cluster.files.sacct.alignment.Aligner`.
    """
    text, notes = io.as_utf8(io.read_bytes(path, renamed=True), path)
    require_text(text, path)
    text, mark = _with_mark(text.replace(b"\r\n", b"\n"), delimiter)
    header, repeats = _header_of(text.partition(b"\n")[0].decode(), mark)
    if "JobID" not in header and "JobIDRaw" in header:
        header[header.index("JobIDRaw")] = "JobID"
        statement = "JobIDRaw is taken for JobID, which is missing"
        notes.append(Note(NoteKind.ASSUMED, statement, subject="JobID", prefix="assumed: "))
    _require_columns(path, header, delimiter)
    lines = DelimitedLines(text, mark)
    read_columns = [name for name in header if name in _READ_COLUMNS]
    if "TotalCPU" in read_columns:
        read_columns = [name for name in read_columns if name not in _PARTS_OF_CPU_TIME]
    repeats = [repeat for repeat in repeats if repeat.name in read_columns]
    closing = int(lines.marks[0]) + 1 - len(header)  # sacct -p ends lines with a delimiter
    columns = header + [f"_{k}" for k in range(closing)]
    texts = _frame(lines, columns, read_columns, mark)
    texts = texts.assign(line=np.flatnonzero(lines.is_row) + 1)
    if repeats:
        renamed_columns = [repeat.renamed for repeat in repeats]
        _require_same(path, texts, _frame(lines, columns, renamed_columns, mark), repeats)
        notes += _notes_of_repeats(repeats)
    has_no_number = texts["JobID"] == ""
    if has_no_number.any() and "JobIDRaw" in header:
        raw_numbers = _frame(lines, columns, ["JobIDRaw"], mark)["JobIDRaw"]
        takes_raw_number = has_no_number & (raw_numbers != "")
        texts["JobID"] = texts["JobID"].where(~takes_raw_number, raw_numbers)
        if takes_raw_number.any():
            count = int(takes_raw_number.sum())
            statement = f"JobIDRaw is taken for JobID of {count_of(count, 'row')}"
            notes.append(
                Note(NoteKind.ASSUMED, statement, subject="JobID", count=count, prefix="assumed: ")
            )
    if not lines.broken:
        no_lines = np.zeros(0, dtype=np.int64)
        return SacctRows(texts, no_lines, no_lines, no_lines, [], {}, notes)
    is_closed = closing > 0
    aligner = Aligner(
        columns[:-1] if is_closed else columns,
        mark,
        closed=is_closed,
        names=_names_in(texts, machine),
    )
    repaired = repair(lines, aligner)
    for number, record in repaired.records:
        _require_same_cells(f"{path}: line {number + 1}", record.cells, repeats)
    del text, lines
    return SacctRows(
        _with_records(texts, repaired, read_columns, delimiter, mark),
        np.array(repaired.unaligned, dtype=np.int64) + 1,
        np.array([number for number, _ in repaired.records], dtype=np.int64) + 1,
        np.array(repaired.enclosed, dtype=np.int64) + 1,
        [number + 1 for number, record in repaired.records if record.is_assumed],
        _undecided(repaired.records, read_columns),
        notes,
    )


class TextRows(NamedTuple):
    """The rows of what ``sacct -P`` printed, all columns as texts."""

    #: Line from 1, and texts by column.
    rows: list[tuple[int, dict[str, str]]]
    #: Lines from 1 of rows whose columns cannot be told apart.
    unaligned: list[int]
    #: How the text was read.
    notes: list[Note]


def rows_of_text(text: str, name: str, needed: Sequence[str]) -> TextRows:
    """The rows of a text; `name`: of its file, for messages; `needed`: columns, ``JobID`` first.

    Raises
    ------
    InvalidInstance
        A needed column is missing, or a column is there twice with different values.
    """
    lines = DelimitedLines(text.replace("\r\n", "\n").encode("utf-8", "replace"), "|")
    header, repeats = _header_of(lines[0], "|")
    missing = [column for column in needed if column not in header]
    if missing:
        problem = f"no column {missing[0]}" if len(missing) < len(needed) else "no header"
        raise InvalidInstance(f"{name}: line 1: {problem}: expected {', '.join(needed)}")
    is_closed = bool(lines.marks[0] >= len(header))
    rows = {
        number: dict(zip(header, lines[number].split("|"), strict=False))
        for number in np.flatnonzero(lines.is_row).tolist()
    }
    names = {
        column: {row[column] for row in rows.values()} - {""}
        for column in NAMES
        if column in header
    }
    repaired = repair(lines, Aligner(header, "|", closed=is_closed, names=names))
    for number in repaired.replaced:
        rows.pop(number)
    for number, record in repaired.records:
        rows[number] = {column: record.cells.get(column, "") for column in header}
    for number, row in sorted(rows.items()):
        _require_same_cells(f"{name}: line {number + 1}", row, repeats)
        for repeat in repeats:
            del row[repeat.renamed]
    notes = _notes_of_repeats(repeats)
    if repaired.enclosed:
        notes.append(note_of_enclosed([number + 1 for number in repaired.enclosed]))
    return TextRows(
        [(number + 1, rows[number]) for number in sorted(rows)],
        [number + 1 for number in repaired.unaligned],
        notes,
    )


def note_of_enclosed(line_numbers: Sequence[int] | np.ndarray) -> Note:
    """What became of lines that look like rows and stand inside a text."""
    count, where = len(line_numbers), io.shown_lines(line_numbers)
    text = (
        f"{count_of(count, 'line')} inside a text of another row with the number of "
        f"another row, taken as text ({where})"
    )
    subject = "lines inside a text"
    return Note(NoteKind.REPAIRED, text, subject=subject, count=count, where=where)


def require_text(text: bytes | str, path: str | PathLike[str]) -> None:
    """Refuse a file without any text, such as sacct leaves when it could not ask slurmdbd."""
    if not text.strip():
        raise InvalidInstance(f"{path}: the file is empty: expected sacct -P output")


def _header_of(line: str, mark: str) -> tuple[list[str], list[_Repeat]]:
    """Return names of the columns as sacct spells them, each once, and which are repeats."""
    header: list[str] = []
    repeats: list[_Repeat] = []
    for text in line.rstrip("\r").rstrip(mark).split(mark):
        name = renamed = _NAMES.get(text.lower(), text)
        while renamed in header:
            renamed += "_"
        if renamed != name:
            repeats.append(_Repeat(name, renamed))
        header.append(renamed)
    return header, repeats


def _notes_of_repeats(repeats: Sequence[_Repeat]) -> list[Note]:
    """Return notes of columns that are there twice."""
    return [
        Note(
            NoteKind.READING,
            f"column {repeat.name} is there twice, with the same values",
            subject=repeat.name,
        )
        for repeat in repeats
    ]


def _require_same(
    path: str | PathLike[str],
    texts: pd.DataFrame,
    repeated: pd.DataFrame,
    repeats: Sequence[_Repeat],
) -> None:
    """Check that a column which sacct printed twice, as it was asked to, says the same in each
    row."""
    for name, renamed in repeats:
        differs = np.flatnonzero(texts[name].astype(str) != repeated[renamed].astype(str))
        if len(differs):
            row = differs[0]
            cells = {name: str(texts[name].iloc[row]), renamed: str(repeated[renamed].iloc[row])}
            place = f"{path}: line {texts['line'].iloc[row]}"
            _require_same_cells(place, cells, [_Repeat(name, renamed)])


def _require_same_cells(place: str, cells: Mapping[str, str], repeats: Sequence[_Repeat]) -> None:
    """Refuse a row whose repeated columns differ; a text that cannot be told is not compared."""
    for name, renamed in repeats:
        if name in cells and renamed in cells and cells[name] != cells[renamed]:
            raise InvalidInstance(
                f"{place}: 2 columns {name!r} with {shorten(cells[name])} and "
                f"{shorten(cells[renamed])}: expected one"
            )


def _frame(
    lines: DelimitedLines, columns: list[str], read_columns: list[str], mark: str
) -> pd.DataFrame:
    """The columns `read_columns` of rows that have as many fields as there are columns."""
    kinds = {name: "category" if name in _CATEGORY_COLUMNS else str for name in read_columns}
    blocks = [read_block(text, columns, kinds, mark) for text in lines.row_blocks()]
    if not blocks:
        return pd.DataFrame({name: [] for name in read_columns}).astype(kinds)
    if len(blocks) == 1:
        return blocks[0]
    # Column by column: there are never two tables.
    return pd.DataFrame({name: _joined([block.pop(name) for block in blocks]) for name in kinds})


def _as_text(column: pd.Series) -> pd.Series:
    """The column, whose categories are texts for pandas where it has categories."""
    if not isinstance(column.dtype, pd.CategoricalDtype):
        return column
    categories: Any = column.cat.categories.astype(str)
    return column.cat.rename_categories(categories)


def _joined(parts: Sequence[pd.Series]) -> pd.Series:
    """Parts of a column one after the other; the texts of categories are in order."""
    if isinstance(parts[0].dtype, pd.CategoricalDtype):
        return pd.Series(pd.api.types.union_categoricals(list(parts), sort_categories=True))
    return pd.concat(parts, ignore_index=True)


def _names_in(texts: pd.DataFrame, machine: Machine | None) -> dict[str, set[str]]:
    """Return names of users, accounts, ... in the rows that need no repair, and those of the
    machine."""
    names_of_column: dict[str, set[str]] = {
        name: set(texts[name].cat.categories) - {""} for name in NAMES if name in texts
    }
    if machine is not None:
        if "Partition" in names_of_column:
            names_of_column["Partition"].update(part.name for part in machine.partitions)
        names_of_column["Constraints"] = {
            name for node_type in machine.nodes for name in node_type.features
        }
    return names_of_column


def _with_records(
    texts: pd.DataFrame, repaired: Repaired, read_columns: list[str], delimiter: str, mark: str
) -> pd.DataFrame:
    """The rows with those that were repaired in their places."""
    is_kept = ~texts["line"].isin(np.array(repaired.replaced, dtype=np.int64) + 1).to_numpy()
    if not repaired.records:
        return texts[is_kept]
    table: dict[str, list[Any]] = {
        name: [record.cells.get(name, "") for _, record in repaired.records]
        for name in read_columns
    }
    for name in _UNQUOTED:
        if name in table:
            table[name] = [_unquoted(cell) for cell in table[name]]
    if mark != delimiter:
        table = {
            name: [cell.replace(mark, delimiter) for cell in table[name]] for name in read_columns
        }
    table["line"] = [number + 1 for number, _ in repaired.records]
    lines = np.concatenate([texts["line"].to_numpy(), table["line"]])
    rows = np.flatnonzero(np.concatenate([is_kept, np.ones(len(table["line"]), dtype=bool)]))
    order = rows[np.argsort(lines[rows], kind="stable")]
    columns: dict[str, pd.Series] = {}
    for name in [*read_columns, "line"]:  # column by column: there are never two tables
        kind = "category" if name in _CATEGORY_COLUMNS else np.int64 if name == "line" else str
        column = _joined([_as_text(texts.pop(name)), pd.Series(table.pop(name), dtype=kind)])
        column = column.iloc[order].reset_index(drop=True)
        is_category = isinstance(column.dtype, pd.CategoricalDtype)
        columns[name] = column.cat.remove_unused_categories() if is_category else column
    return pd.DataFrame(columns)


def _unquoted(cell: str) -> str:
    return cell[1:-1] if len(cell) > 1 and cell[0] == cell[-1] == '"' else cell


def _undecided(
    records: list[tuple[int, AlignedRecord]], read_columns: list[str]
) -> dict[str, list[int]]:
    """Return lines from 1 by the columns whose texts cannot be told."""
    lines_of_column: dict[str, list[int]] = {}
    for number, record in records:
        for name in sorted(record.undecided & set(read_columns)):
            lines_of_column.setdefault(name, []).append(number + 1)
    return lines_of_column


def _with_mark(text: bytes, delimiter: str) -> tuple[bytes, str]:
    """Return the text with one byte between fields."""
    if not isinstance(delimiter, str) or not delimiter or set(delimiter) & set("\n\r"):
        raise InvalidInstance(f"delimiter = {shorten(delimiter)}: expected what sacct was given")
    if len(delimiter.encode()) == 1:
        return text, delimiter
    return text.replace(delimiter.encode(), b"\x1f"), "\x1f"


def _require_columns(path: str | PathLike[str], header: list[str], delimiter: str) -> None:
    missing = [name for name in _NEEDED if name not in header]
    if not missing and not {"Elapsed", "ElapsedRaw"} & set(header):
        missing = ["Elapsed"]
    if not missing and not set(_CPUS) & set(header):
        missing = ["NCPUS"]
    if not set(_NEEDED) & set(header) and re.match("[0-9]+[_.|+]?", header[0]):
        raise InvalidInstance(f"{path}: line 1: no header: sacct -P prints one without -n")
    if missing:
        option = "" if delimiter == "|" else f" with --delimiter {delimiter!r}"
        raise InvalidInstance(
            f"{path}: line 1: no column {missing[0]!r}: expected sacct -P output{option}"
        )


#: Columns that submit lines bring, empty where they say nothing.
SUBMIT_LINE_COLUMNS = ("constraint", "memory_per", *EXTRA_OPTIONS, "name")
_OPTIONS_READ = (
    r"\s(?:--(?:constraint|mem|exclusive|licenses|dependency|nodelist|exclude|nice)|-[CLdwx])"
)


def texts_of_submit_lines(rows: pd.DataFrame) -> tuple[dict[str, np.ndarray], list[Note]]:
    """Texts by the names of :data:`SUBMIT_LINE_COLUMNS`, where a line has any; notes of what is
    not followed."""
    if "SubmitLine" not in rows:
        return {}, []
    texts_of_column = {name: np.full(len(rows), "", dtype=object) for name in SUBMIT_LINE_COLUMNS}
    codes, lines = pd.factorize(rows["SubmitLine"])
    has_options = pd.Series(lines, dtype=str).str.contains(_OPTIONS_READ).to_numpy(dtype=bool)
    requests = OptionReader()
    texts_of_line = {
        code: _texts_of_line(lines[code], requests) for code in np.flatnonzero(has_options).tolist()
    }
    for row in np.flatnonzero(has_options[codes]).tolist():
        for name, text in texts_of_line[codes[row]].items():
            texts_of_column[name][row] = text
    filled_columns = {name: texts for name, texts in texts_of_column.items() if (texts != "").any()}
    return filled_columns, requests.notes()


def _texts_of_line(line: str, requests: OptionReader) -> dict[str, str]:
    try:
        options = options_of(shlex.split(line)[1:], "SubmitLine")
    except (ValueError, InvalidInstance):
        requests.unsupported["SubmitLine that cannot be read"] += 1
        return {}
    texts = requests.extra_columns(options)
    if "constraint" in options:
        texts["constraint"] = options["constraint"]
    if "singleton" in texts.get("dependency", ""):
        texts["name"] = options.get("job-name", "")
    if options.get("mem") == "0":
        texts["memory_per"] = "all"
    elif "mem-per-cpu" in options:
        texts["memory_per"] = "core"
    return texts
