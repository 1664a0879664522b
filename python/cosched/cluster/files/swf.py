"""Job logs in the Standard Workload Format of the Parallel Workloads Archive."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from cosched import io
from cosched.core.arrays import INT_MAX
from cosched.core.text import unknown_name
from cosched.errors import InvalidInstance, SolverError, no_folder_for, optional, printable
from cosched.lazy import pd
from cosched.notes import Note, NoteKind

#: The 18 fields of a line, in their order.
FIELDS = (
    "job", "submit", "wait", "run", "allocated_procs", "average_cpu", "used_memory",
    "requested_procs", "requested_time", "requested_memory", "status", "user", "group",
    "executable", "queue", "partition", "preceding_job", "think_time",
)  # fmt: skip

#: There is one way to read it: a long line that fails at its end fails at once.
_NUMBER = rb"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?"
_JOB = re.compile(rb" *" + rb" +".join([_NUMBER] * len(FIELDS)) + rb" *")
#: All that parts words within a line is a blank.
_BLANKS = bytes.maketrans(b"\t\r\v\f", b"    ")
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
    notes : list of Note
        How the file was read, and what is odd in lines that are kept.

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
    notes: list[Note] = field(default_factory=list)

    @property
    def data_lines(self) -> int:
        """Lines that are neither blank nor comments."""
        return self.kept + sum(map(len, self.dropped.values()))

    def __str__(self) -> str:
        return "\n".join(self.all_notes())

    def all_notes(self) -> list[Note]:
        """What is kept, dropped and repaired, with the lines, and ``notes`` behind."""
        n_dropped = self.data_lines - self.kept
        text = f"{self.data_lines} jobs, {self.kept} kept, {n_dropped} dropped"
        notes = [
            Note(NoteKind.KEPT, text, subject="jobs", count=self.kept).with_place(
                printable(self.path)
            )
        ]
        for kind, reasons in (
            (NoteKind.DROPPED, self.dropped),
            (NoteKind.REPAIRED, self.repaired),
        ):
            for reason, numbers in reasons.items():
                lines = io.shown_lines(numbers)
                text = f"  {kind.value} {len(numbers)}: {reason} ({lines})"
                notes.append(Note(kind, text, subject=reason, count=len(numbers), where=lines))
        return [*notes, *self.notes]


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
    io.refuse_foreign_file(path)
    raw, notes = io.as_utf8(io.read_bytes(path, renamed=True), path)
    lines = raw.replace(b"\r\n", b"\n").translate(_BLANKS).split(b"\n")
    numbers, values, unreadable = _parse(lines)
    if not len(numbers) and not unreadable:
        problem = "no job" if raw.strip() else "the file is empty"
        raise InvalidInstance(f"{path}: {problem}: expected lines of 18 numbers")
    dropped = {"unreadable line": unreadable}
    values, numbers = _drop_unusable(values, numbers, dropped)
    processors, from_allocated = _processors(values)
    odd = (processors != np.floor(processors)) | (processors > INT_MAX)
    dropped["processors is no integer below 2^31"] = numbers[odd].tolist()
    values, numbers, processors = values[~odd], numbers[~odd], processors[~odd]
    submit = values[:, FIELDS.index("submit")]
    is_out_of_order = submit < np.maximum.accumulate(submit)
    repaired = {
        "processors: requested unknown, allocated taken": numbers[from_allocated[~odd]].tolist(),
        "submitted before an earlier line: moved": numbers[is_out_of_order].tolist(),
    }
    order = np.argsort(submit, kind="stable")
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
        notes=[*notes, *_odd_values(table)],
    )
    return table, report


def exceeds_run(table: pd.DataFrame) -> np.ndarray:
    """Whether jobs had more CPU time on a processor than they ran for: run is cut to seconds."""
    return (table["average_cpu"] > table["run"] + 1.0).to_numpy()


def _odd_values(table: pd.DataFrame) -> list[Note]:
    """Return notes about job numbers and CPU times of lines that are kept."""
    number = table["job"]
    odd = {
        "job numbers that a line before has, too": number.duplicated().to_numpy()
        & number.notna().to_numpy(),
        "job numbers that are no integers": (number != np.floor(number)).to_numpy()
        & number.notna().to_numpy(),
        "more CPU time than run: no CPU efficiency": exceeds_run(table),
    }
    lines = table["line"].to_numpy()
    notes = []
    for what, is_odd in odd.items():
        if not is_odd.any():
            continue
        count, where = int(is_odd.sum()), io.shown_lines(np.sort(lines[is_odd]))
        text = f"  {count}: {what} ({where})"
        notes.append(Note(NoteKind.UNUSUAL, text, subject=what, count=count, where=where))
    return notes


def _processors(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return processors a row (requested if > 0, else allocated), and where allocated was taken."""
    requested = values[:, FIELDS.index("requested_procs")]
    from_allocated = requested <= 0
    allocated = values[:, FIELDS.index("allocated_procs")]
    return np.where(from_allocated, allocated, requested), from_allocated


def _drop_unusable(
    values: np.ndarray, numbers: np.ndarray, dropped: dict[str, list[int]]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the usable rows; `dropped` gets the line numbers of the others, by their first
    reason."""
    usable = np.ones(len(values), dtype=bool)
    for reason, wrong in (
        ("submit < 0", values[:, FIELDS.index("submit")] < 0),
        ("run < 0", values[:, FIELDS.index("run")] < 0),
        ("no processors", _processors(values)[0] <= 0),
    ):
        dropped[reason] = numbers[usable & wrong].tolist()
        usable &= ~wrong
    return values[usable], numbers[usable]


def _parse(lines: Sequence[bytes]) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Return line numbers and values (k, 18) of the readable lines, and the numbers of the
    others."""
    job_lines = [k for k, line in enumerate(lines, 1) if line.strip() and not _is_comment(line)]
    good = [k for k in job_lines if _JOB.fullmatch(lines[k - 1])]
    values = np.fromstring(b" ".join(lines[k - 1] for k in good), sep=" ").reshape(-1, len(FIELDS))
    finite = np.isfinite(values).all(axis=1)
    numbers = np.array(good, dtype=np.int64)[finite]
    return numbers, values[finite], sorted({*job_lines} - {*numbers.tolist()})


def _is_comment(line: bytes) -> bool:
    return line.lstrip().startswith(b";")


def _header(lines: Sequence[bytes]) -> dict[str, str]:
    """Return ``; Key: value`` lines; the values of a repeated key (Note, Queue) are joined by
    lines."""
    header: dict[str, str] = {}
    for line in filter(_is_comment, lines):
        header_match = _HEADER.fullmatch(line.decode())
        if header_match:
            key, value = header_match.groups()
            header[key] = f"{header[key]}\n{value}" if key in header else value
    return header


@dataclass(frozen=True)
class Log:
    """A named log: where it is, its SHA-256 checksum, what it records."""

    #: Where the log is fetched from.
    url: str
    #: The checksum of the file, in hexadecimal.
    sha256: str
    #: What the log records, in a sentence.
    about: str

    @property
    def file(self) -> str:
        return self.url.rpartition("/")[2]


_FILE = Path(__file__).with_name("logs.toml")
KNOWN: dict[str, Any] = io.parse_toml(_FILE.read_text("utf-8"), str(_FILE))
#: Logs that :func:`fetch` knows. Acknowledge the donor that each log's header names.
LOGS = {name: Log(**log_fields) for name, log_fields in KNOWN["logs"].items()}


def fetch(name: str, out: str | PathLike[str] = ".") -> Path:
    """Download a log of the Parallel Workloads Archive, checked against its checksum.

    A file that is already there with the right checksum is left alone and not downloaded
    again. A download that fails or does not match leaves nothing behind.

    Parameters
    ----------
    name : str
        A key of :data:`LOGS`, e.g. ``"HPC2N-2002"``.
    out : str or path-like
        An existing folder; the file keeps its name in the archive.

    Returns
    -------
    Path
        The file, for :func:`read_swf`.

    Raises
    ------
    OSError
        No network, no such folder, or the archive does not answer.
    SolverError
        The file that came is another one than it should be.

    Examples
    --------
    >>> cs.workloads.fetch("HPC2N-2002", out=".")  # doctest: +SKIP
    PosixPath('HPC2N-2002-2.1-cln.swf.gz')
    >>> cs.workloads.fetch("HPC2N")
    Traceback (most recent call last):
        ...
    cosched.errors.InvalidInstance: unknown log 'HPC2N' (near: HPC2N-2002)
    """
    if name not in LOGS:
        raise InvalidInstance(unknown_name("log", name, LOGS))
    folder = Path(out)
    if not folder.is_dir():
        raise FileNotFoundError(no_folder_for(folder / LOGS[name].file))
    pooch = optional("pooch", extra="fetch")
    log = LOGS[name]
    pooch.get_logger().setLevel(logging.WARNING)
    try:
        pooch.retrieve(
            log.url,
            f"sha256:{log.sha256}",
            fname=log.file,
            path=folder,
            downloader=pooch.HTTPDownloader(timeout=30),
        )
    except OSError as error:
        if type(error).__module__.startswith("requests"):
            reason = getattr(getattr(error, "response", None), "status_code", None)
            what = f"the server says {reason}" if reason else "no network, or no answer"
            raise OSError(f"{name}: cannot download {log.url}: {what}") from None
        raise
    except ValueError as error:
        if "does not match" not in str(error):
            raise
        raise SolverError(
            f"{name}: {log.url} has another checksum than expected: nothing was written"
        ) from None
    return folder / log.file
