"""GNU parallel: what ``--joblog`` wrote.

Tabs between ``Seq Host Starttime JobRuntime Send Receive Exitval Signal Command``; a line end in a
command is a NUL. Times are seconds since 1970. Source: print_joblog of GNU parallel 20221122.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import tzinfo

from cosched.profiles.task_logs.task import LAST_TIME, LoggedTask, SkippedLine, TaskRow, Tasks

_FIELDS = (
    "Seq", "Host", "Starttime", "JobRuntime", "Send", "Receive", "Exitval", "Signal", "Command",
)  # fmt: skip
#: Signals of somebody, or of --timeout, that wants the job to end.
_SIGNALS_TO_END = ("2", "9", "15")
_LOCAL_HOST = ":"


def read_parallel_joblog(lines: Iterable[tuple[int, str]], path: object, zone: tzinfo) -> Tasks:
    r"""The jobs of a job log.

    Parameters
    ----------
    lines : iterable of (int, str)
        Numbers from 1, and texts.
    path : path-like
        For messages.
    zone : tzinfo
        Not used: the times of these logs are UTC.

    Raises
    ------
    InvalidInstance
        A cell that is no number.

    Examples
    --------
    >>> import datetime
    >>> rows = ["Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n",
    ...         "1\t:\t1796126515.002\t     0.106\t0\t0\t0\t0\tsleep 0.1\n"]
    >>> (task,) = read_parallel_joblog(enumerate(rows, 1), "jobs.log", datetime.timezone.utc)
    >>> task.command, task.seconds, task.state
    ('sleep 0.1', 0.106, 'COMPLETED')
    """
    for line, text in lines:
        cells = text.rstrip("\n").split("\t", len(_FIELDS) - 1)
        if not text.strip() or cells[0] == "Seq":  # --joblog +FILE may have it again
            continue
        if len(cells) != len(_FIELDS):
            yield SkippedLine(line, "its fields are not those of the header")
            continue
        row = TaskRow(f"{path}: line {line}", dict(zip(_FIELDS, cells, strict=True)))
        yield _task_of(row, line, cells[-1].replace("\0", "\n").strip())


def _task_of(row: TaskRow, line: int, command: str) -> LoggedTask:
    start = row.number("Starttime")
    seconds = row.number("JobRuntime")
    for field, value in (("Starttime", start), ("JobRuntime", seconds)):
        if not 0 <= value <= LAST_TIME:
            raise row.refusal(field, "seconds")
    exit_status, signal = row.text("Exitval"), row.text("Signal")
    for field, text in (("Exitval", exit_status), ("Signal", signal)):
        # "-1" is the exit status of a job that --timeout ended.
        if text.removeprefix("-") and not text.removeprefix("-").isdecimal():
            raise row.refusal(field, "a whole number")
    host = row.text("Host")
    return LoggedTask(
        line=line,
        name=command or f"job {row.text('Seq')}",
        code=command or f"job {row.text('Seq')}",
        state=_state_of(exit_status, signal),
        seconds=seconds,
        number=row.text("Seq"),
        command=command,
        start=start,
        host="" if host == _LOCAL_HOST else host,
    )


def _state_of(exit_status: str, signal: str) -> str:
    if signal not in ("", "0"):
        return "CANCELLED" if signal in _SIGNALS_TO_END else "FAILED"
    if not exit_status:
        return "UNKNOWN"
    return "COMPLETED" if exit_status == "0" else "FAILED"
