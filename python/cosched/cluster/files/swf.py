"""Job logs in the Standard Workload Format of the Parallel Workloads Archive.

Feitelson, Tsafrir, Krakov: Experience with using the Parallel Workloads Archive, JPDC 74(10),
2014. A line that can be read in one go is; any other takes a slower, careful path, and what
cannot be read there is dropped and named. Nothing is changed without a word in the report.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from io import BytesIO
from os import PathLike

import numpy as np

from cosched import io
from cosched.core.arrays import INT_MAX
from cosched.errors import InvalidInstance
from cosched.lazy import pd

#: The 18 fields of a line, in their order.
FIELDS = (
    "job",
    "submit",
    "wait",
    "run",
    "allocated_procs",
    "average_cpu",
    "used_memory",
    "requested_procs",
    "requested_time",
    "requested_memory",
    "status",
    "user",
    "group",
    "executable",
    "queue",
    "partition",
    "preceding_job",
    "think_time",
)

UNREADABLE = "unreadable line"
NEGATIVE_SUBMIT = "submit < 0"
NEGATIVE_RUN = "run < 0"
NO_PROCESSORS = "no processors"
ODD_PROCESSORS = "processors is no integer below 2^31"
ALLOCATED = "processors: requested unknown, allocated taken"
UNSORTED = "submitted before an earlier line: moved"

_NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
_HEADER = re.compile(r"\s*;\s*([A-Za-z][\w ]*?)\s*:\s*(.*?)\s*")


@dataclass(frozen=True)
class SwfReport:
    """What :func:`read_swf` found, dropped and repaired.

    A dropped line has one reason, so ``kept`` and the dropped lines sum to ``data_lines``; a
    repaired line is kept and may have several.

    Attributes
    ----------
    path : str
    kept : int
        Jobs in the table.
    dropped, repaired : dict of str to list of int
        Reason -> 1-based numbers of the lines.
    header : dict of str to str
        Fields of the header comments, such as MaxProcs.

    Examples
    --------
    >>> report = SwfReport("small.swf", 2, dropped={"run < 0": [4]})
    >>> report.data_lines
    3
    >>> print(report)
    small.swf: 3 jobs, 2 kept, 1 dropped
      dropped 1: run < 0 (line 4)
    """

    path: str
    kept: int
    dropped: dict[str, list[int]] = field(default_factory=dict)
    repaired: dict[str, list[int]] = field(default_factory=dict)
    header: dict[str, str] = field(default_factory=dict)

    @property
    def data_lines(self) -> int:
        """Lines that are neither blank nor comments."""
        return self.kept + sum(map(len, self.dropped.values()))

    def __str__(self) -> str:
        dropped = self.data_lines - self.kept
        lines = [f"{self.path}: {self.data_lines} jobs, {self.kept} kept, {dropped} dropped"]
        for verb, reasons in (("dropped", self.dropped), ("repaired", self.repaired)):
            for reason, where in reasons.items():
                shown = ", ".join(map(str, where[:5])) + (", ..." if len(where) > 5 else "")
                plural = "s" if len(where) > 1 else ""
                lines.append(f"  {verb} {len(where)}: {reason} (line{plural} {shown})")
        return "\n".join(lines)


def read_swf(path: str | PathLike[str]) -> tuple[pd.DataFrame, SwfReport]:
    """Read a log of the Parallel Workloads Archive, gzip or plain, with or without a header.

    Parameters
    ----------
    path : str or path-like
        The log. Times are seconds, memory is KB a processor; fractions are read as such.

    Returns
    -------
    table : DataFrame
        A row a job, sorted by ``submit`` (stable). Columns: the 18 fields of the format
        (in snake case) as floats, -1 as NaN; then two integers: ``processors`` (requested
        if > 0, else allocated: a repair) and ``line``, the job's line in the file.
    report : SwfReport
        ``kept``, ``dropped``, ``repaired``, ``header``; ``print(report)`` sums it up.
        Dropped are lines that are not 18 numbers, jobs with submit < 0 or run < 0, and jobs
        whose processors are unknown, fractional or above 2^31 - 1. A run of 0 s is kept.

    Raises
    ------
    InvalidInstance
        No data line at all, or a broken gzip file.

    Examples
    --------
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.swf"
    >>> _ = path.write_text(
    ...     "; MaxProcs: 8\\n"
    ...     "1 0 5 60 4 -1 -1 4 120 -1 1 1 1 1 1 1 -1 -1\\n"
    ...     "2 9 0 30 2 -1 -1 -1 -1 -1 1 1 1 1 1 1 -1 -1\\n"
    ...     "3 9 0 -1 2 -1 -1 2 -1 -1 1 1 1 1 1 1 -1 -1\\n"
    ... )
    >>> table, report = read_swf(path)
    >>> table[["job", "submit", "run", "processors", "line"]].to_numpy().tolist()
    [[1.0, 0.0, 60.0, 4.0, 2.0], [2.0, 9.0, 30.0, 2.0, 3.0]]
    >>> report.kept, report.dropped, report.header
    (2, {'run < 0': [4]}, {'MaxProcs': '8'})
    """
    text = _read_lines(path)
    lines = _Lines(text)
    if not lines.is_data.any():
        raise InvalidInstance(f"{path}: no job: expected lines of 18 numbers")
    numbers, values, unreadable = _parse(lines)
    dropped = {UNREADABLE: unreadable}
    values, numbers = _drop_unusable(values, numbers, dropped)
    processors, from_allocated = _processors(values)
    odd = (processors != np.floor(processors)) | (processors > INT_MAX)
    dropped[ODD_PROCESSORS] = numbers[odd].tolist()
    values, numbers, processors = values[~odd], numbers[~odd], processors[~odd]
    repaired = {
        ALLOCATED: numbers[from_allocated[~odd]].tolist(),
        UNSORTED: numbers[_late(values[:, FIELDS.index("submit")])].tolist(),
    }

    order = np.argsort(values[:, FIELDS.index("submit")], kind="stable")
    values = values[order]
    values[values == -1] = np.nan

    table = pd.DataFrame(values, columns=list(FIELDS))
    table["processors"] = processors[order].astype(np.int64)
    table["line"] = numbers[order]
    report = SwfReport(
        path=str(path),
        kept=len(table),
        dropped={reason: where for reason, where in dropped.items() if where},
        repaired={reason: where for reason, where in repaired.items() if where},
        header=_header(lines),
    )
    return table, report


# --- usable jobs ----------------------------------------------------------------------------


def _processors(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Processors a row (requested if > 0, else allocated), and where allocated was taken."""
    requested = values[:, FIELDS.index("requested_procs")]
    from_allocated = requested <= 0
    allocated = values[:, FIELDS.index("allocated_procs")]
    return np.where(from_allocated, allocated, requested), from_allocated


def _drop_unusable(
    values: np.ndarray, numbers: np.ndarray, dropped: dict[str, list[int]]
) -> tuple[np.ndarray, np.ndarray]:
    """The usable rows; `dropped` gets the line numbers of the others, by their first reason."""
    usable = np.ones(len(values), dtype=bool)
    for reason, wrong in (
        (NEGATIVE_SUBMIT, values[:, FIELDS.index("submit")] < 0),
        (NEGATIVE_RUN, values[:, FIELDS.index("run")] < 0),
        (NO_PROCESSORS, _processors(values)[0] <= 0),
    ):
        dropped[reason] = numbers[usable & wrong].tolist()
        usable &= ~wrong
    return values[usable], numbers[usable]


def _late(submit: np.ndarray) -> np.ndarray:
    """Which jobs come after a line with a later submission."""
    return submit < np.maximum.accumulate(submit)


# --- lines and numbers ----------------------------------------------------------------------


class _Lines:
    """Where the lines of a text begin, and of which kind they are; arrays over the lines."""

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.bytes = np.frombuffer(text, dtype=np.uint8)
        self.begin = np.concatenate([[0], np.flatnonzero(self.bytes == ord("\n")) + 1])
        self.end = np.append(self.begin[1:], len(text))
        blank = _among(self.bytes, b" \t\r\n\v\f")
        word_begins = np.flatnonzero(~blank & np.concatenate([[True], blank])[: len(blank)])
        first = np.searchsorted(word_begins, self.begin)
        words = np.diff(np.append(first, len(word_begins)))
        at = np.append(word_begins, 0)[first]
        comment = np.zeros(len(self.begin), dtype=bool)
        comment[words > 0] = self.bytes[at[words > 0]] == ord(";")
        self.is_comment = comment
        self.is_data = (words > 0) & ~comment
        odd = np.flatnonzero(~_among(self.bytes, b"0123456789.- \t\n"))
        odd_bytes = np.diff(np.append(np.searchsorted(odd, self.begin), len(odd)))
        #: Data lines of 18 words made of digits, dots and minus signs.
        self.is_plain = self.is_data & (words == len(FIELDS)) & (odd_bytes == 0)

    def line(self, index: np.integer) -> bytes:
        return self.text[self.begin[index] : self.end[index]]


def _among(data: np.ndarray, characters: bytes) -> np.ndarray:
    table = np.zeros(256, dtype=bool)
    table[list(characters)] = True
    return table[data]


def _parse(lines: _Lines) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Line numbers and values (k, 18) of the readable lines, and the numbers of the others."""
    plain = np.flatnonzero(lines.is_plain)
    others = np.flatnonzero(lines.is_data & ~lines.is_plain)
    values = _parse_plain(lines, plain)
    if values is None:
        plain, others = plain[:0], np.flatnonzero(lines.is_data)
        values = np.empty((0, len(FIELDS)))
    careful = [(index, _parse_carefully(lines.line(index))) for index in others]
    unreadable = [int(index) + 1 for index, row in careful if row is None]
    good = [(index, row) for index, row in careful if row is not None]
    if good:
        plain = np.concatenate([plain, [index for index, _ in good]])
        values = np.concatenate([values, [row for _, row in good]])
        order = np.argsort(plain)
        plain, values = plain[order], values[order]
    return plain.astype(np.int64) + 1, values, unreadable


def _parse_plain(lines: _Lines, plain: np.ndarray) -> np.ndarray | None:
    """Values of the plain lines by the bulk reader; None where one is no number after all."""
    if not len(plain):
        return np.empty((0, len(FIELDS)))
    chosen = np.repeat(lines.is_plain, lines.end - lines.begin)
    text = lines.text if chosen.all() else lines.bytes[chosen].tobytes()
    frame = _bulk_read(text)
    # The bulk reader is exact for integers only: what it took for anything else is read as
    # text, a few columns of a log at most.
    inexact = [name for name in FIELDS if frame[name].dtype != np.int64]
    values = np.empty((len(frame), len(FIELDS)))
    try:
        if inexact:
            words = _bulk_read(text, usecols=inexact, dtype=str)
        for column, name in enumerate(FIELDS):
            source = words[name].to_numpy(dtype=object) if name in inexact else frame[name]
            values[:, column] = np.asarray(source).astype(np.float64)
    except ValueError:
        return None
    return values if len(values) == len(plain) and np.isfinite(values).all() else None


def _bulk_read(text: bytes, **options) -> pd.DataFrame:
    return pd.read_csv(
        BytesIO(text),
        sep=r"\s+",
        header=None,
        names=list(FIELDS),
        index_col=False,
        na_filter=False,
        low_memory=False,
        **options,
    )


def _parse_carefully(line: bytes) -> list[float] | None:
    """The 18 numbers of a line, or None."""
    words = line.split()
    if len(words) != len(FIELDS) or not all(_NUMBER.fullmatch(word) for word in words):
        return None
    row = [float(word) for word in words]
    return row if all(map(math.isfinite, row)) else None


# --- bytes and header -----------------------------------------------------------------------


def _read_lines(path: str | PathLike[str]) -> bytes:
    raw = io.read_bytes(path, renamed=True).removeprefix(b"\xef\xbb\xbf")
    return raw.replace(b"\r\n", b"\n") if b"\r" in raw else raw


def _header(lines: _Lines) -> dict[str, str]:
    """``; Key: value`` lines; the values of a repeated key (Note, Queue) are joined by lines."""
    header: dict[str, str] = {}
    for index in np.flatnonzero(lines.is_comment):
        found = _HEADER.fullmatch(lines.line(index).decode("utf-8", "replace").rstrip("\n"))
        if found:
            key, value = found.groups()
            header[key] = f"{header[key]}\n{value}" if key in header else value
    return header
