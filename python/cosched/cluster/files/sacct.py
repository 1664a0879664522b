"""Accounting of Slurm: what ``sacct -P`` prints."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from cosched import io
from cosched.cluster.files.facts import described, dropped
from cosched.cluster.files.window import part_of
from cosched.errors import InvalidInstance, shorten

if TYPE_CHECKING:
    import pandas as pd

    from cosched.cluster.machine import Machine

_TIMES = ("Submit", "Start")
_PENDING = ("PENDING", "RUNNING", "SUSPENDED", "REQUEUE_HOLD", "RESIZING", "CONFIGURING")
_STEP = "a step, not a job"

#: Of times: what Slurm's clock can say, and nanoseconds since 1970 can hold.
_YEARS = (1970, 2261)


def read_sacct(
    path: str | PathLike[str],
    machine: Machine,
    timezone: str | None,
    drop: Any,
    week: int | None = None,
    begin: float | None = None,
    until: float | None = None,
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Jobs (rigid, a task a core) and notes; see :func:`cosched.cluster.from_sacct`."""
    rows, bad = _rows(path)
    reasons: dict[str, np.ndarray] = {"fields are not those of the first line": bad}
    rows = rows[~rows["JobID"].str.contains(".", regex=False)]
    state = rows["State"].str.split(" ", n=1).str[0].str.upper()
    rows = _usable(rows, reasons, state.isin(_PENDING), "not ended yet")
    rows = _usable(rows, reasons, rows["Start"].isin(("Unknown", "None", "")), "never started")
    # Outputs of adjoining months, put together, have jobs that ran over midnight twice.
    fields = [name for name in rows.columns if name != "line"]
    rows = _usable(rows, reasons, rows.duplicated(fields), "the same row once more")
    jobs = _jobs(path, rows, machine, timezone)
    for column, what in (("submit", "Submit"), ("start", "Start"), ("runtime", "Elapsed")):
        jobs = _usable(jobs, reasons, jobs[column].isna(), f"{what} is no time")
    jobs = _usable(jobs, reasons, ~(jobs["tasks"] > 0), "no number of CPUs")
    if not len(jobs):
        dropped_text = "; ".join(
            _counted(reason, lines) for reason, lines in reasons.items() if len(lines)
        )
        raise InvalidInstance(f"{path}: no usable job: {dropped_text or 'the file has none'}")
    jobs, notes = _finished(path, jobs, reasons, timezone)
    jobs, said = part_of(path, jobs, week, begin, until)
    notes += said
    jobs, left_out = dropped(jobs, machine.cores, drop, machine)
    notes += [
        f"assumed: {machine.cores} cores of {machine.node_count} nodes (machine); memory and GPUs "
        "of nodes are not looked at",
        f"assumed: {described(jobs)}",
        f"assumed: left out: {', '.join(left_out) or 'nothing (--drop)'}",
    ]
    return jobs, tuple(notes)


# --- rows -----------------------------------------------------------------------------------


def _rows(path: str | PathLike[str]) -> tuple[pd.DataFrame, np.ndarray]:
    """Rows as texts with their lines, and the lines that have other fields than the first."""
    import pandas as pd

    text = io.read_bytes(path, renamed=True).removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")
    first, _, _ = text.partition(b"\n")
    header = first.decode("utf-8", "replace").rstrip("|").split("|")
    cpus = {"NCPUS", "AllocCPUS", "ReqCPUS", "AllocTRES"}
    missing = [name for name in ("JobID", "State", *_TIMES) if name not in header]
    if not missing and not {"Elapsed", "ElapsedRaw"} & set(header):
        missing = ["Elapsed"]
    if not missing and not cpus & set(header):
        missing = ["NCPUS"]
    twice = [name for name in header if header.count(name) > 1]
    if twice:
        raise InvalidInstance(
            f"{path}: line 1: {header.count(twice[0])} columns {twice[0]!r}: expected one"
        )
    if missing:
        raise InvalidInstance(f"{path}: line 1: no column {missing[0]!r}: expected sacct -P output")
    raw = np.frombuffer(text if text.endswith(b"\n") else text + b"\n", dtype=np.uint8)
    ends = np.flatnonzero(raw == ord("\n"))
    bars = np.searchsorted(np.flatnonzero(raw == ord("|")), ends)
    count = np.diff(bars, prepend=0)
    empty = np.diff(ends, prepend=-1) == 1
    good = (count == count[0]) & ~empty
    wrong = np.flatnonzero(~good & ~empty) + 1
    good[0] = False
    keep = np.repeat(good, np.diff(ends, prepend=-1))
    names = header + ["_"] * (int(count[0]) + 1 - len(header))  # -p ends lines with a bar
    frame = pd.read_csv(
        BytesIO(raw[keep].tobytes()), sep="|", header=None, names=names, dtype=str, quoting=3,
        keep_default_na=False, na_filter=False, encoding_errors="replace", index_col=False,
    ) if good.any() else pd.DataFrame({name: [] for name in names}, dtype=str)  # fmt: skip
    frame["line"] = np.flatnonzero(good) + 1
    return frame, wrong


def _usable(
    rows: pd.DataFrame, reasons: dict[str, np.ndarray], out: pd.Series, reason: str
) -> pd.DataFrame:
    reasons[reason] = rows.loc[out, "line"].to_numpy()
    return rows[~out]


# --- columns --------------------------------------------------------------------------------


def _jobs(path: Any, rows: pd.DataFrame, machine: Machine, timezone: str | None) -> pd.DataFrame:
    import pandas as pd

    jobs = pd.DataFrame({"id": rows["JobID"], "line": rows["line"]})
    jobs["submit"], jobs["start"], jobs["twice"] = _seconds_of_times(path, rows, timezone)
    raw = rows.get("ElapsedRaw")
    jobs["runtime"] = _durations(rows["Elapsed"]) if raw is None else pd.to_numeric(raw, "coerce")
    jobs["tasks"] = _cpus(rows)
    jobs["estimate"] = _estimates(rows, machine)
    for fact, column in (("user", "User"), ("group", "Group"), ("partition", "Partition")):
        if column in rows:
            jobs[fact] = rows[column]
    jobs["status"] = rows["State"].str.split(" ", n=1).str[0].str.lower()
    return jobs


def _seconds_of_times(
    path: Any, rows: pd.DataFrame, timezone: str | None
) -> tuple[pd.Series, pd.Series, pd.Series]:
    """Submission and start in seconds since the epoch, nan where it is no time; and whether one of
    them is in the hour that comes twice: the first is taken, but no start before its submission."""
    import pandas as pd

    found, later = [], []
    for name in _TIMES:
        if rows[name].str.fullmatch(r"[0-9]{9,11}").all():  # SLURM_TIME_FORMAT=%s
            found.append(pd.to_numeric(rows[name]).astype(float))
            later.append(found[-1])
            continue
        local = pd.to_datetime(rows[name], format="%Y-%m-%dT%H:%M:%S", errors="coerce")
        local = local.where(local.dt.year.between(*_YEARS))
        found.append(_utc(path, local, timezone, first=True))
        later.append(found[-1] if timezone is None else _utc(path, local, timezone, first=False))
    submit, start = found
    twice = (submit < later[0]) | (start < later[1])
    return submit, start.where(start >= submit, later[1]), twice


def _utc(path: Any, local: pd.Series, timezone: str | None, first: bool) -> pd.Series:
    import pandas as pd

    if timezone is not None:
        try:
            ambiguous = np.full(len(local), first)
            local = local.dt.tz_localize(
                timezone, ambiguous=ambiguous, nonexistent="shift_forward"
            ).dt.tz_convert("UTC").dt.tz_localize(None)  # fmt: skip
        except (KeyError, ValueError):
            raise InvalidInstance(
                f"{path}: timezone = {shorten(timezone)}: expected a name such as Europe/Stockholm"
            ) from None
    return (local - pd.Timestamp(0)).dt.total_seconds()


def _durations(texts: pd.Series) -> pd.Series:
    """Seconds of ``[days-]hours:minutes:seconds`` or ``minutes:seconds``; nan of others."""
    import pandas as pd

    pattern = r"^(?:(?:([0-9]+)-)?([0-9]+):)?([0-9]+):([0-9]+)(?:\.[0-9]+)?$"
    codes, distinct = pd.factorize(texts)  # a log repeats few
    parts = pd.Series(distinct, dtype=str).str.extract(pattern)
    bad = parts[2].isna()
    days, hours, minutes, rest = (pd.to_numeric(parts[k].fillna("0")) for k in range(4))
    seconds = (days * 86400 + hours * 3600 + minutes * 60 + rest).astype(float).mask(bad)
    return pd.Series(seconds.to_numpy()[codes], index=texts.index)


def _cpus(rows: pd.DataFrame) -> pd.Series:
    """Cores of each job: allocated where known, else asked for."""
    import pandas as pd

    found = pd.Series(np.nan, index=rows.index)
    for name in ("AllocTRES", "AllocCPUS", "NCPUS", "ReqCPUS", "ReqTRES"):
        if name not in rows:
            continue
        text = rows[name]
        if name.endswith("TRES"):
            text = text.str.extract(r"(?:^|,)cpu=([0-9]+)")[0]
        number = pd.to_numeric(text, errors="coerce")
        found = found.where(found > 0, number.where(number < 2**53))  # inf, 1e400: not a number
    return found


def _estimates(rows: pd.DataFrame, machine: Machine) -> pd.Series:
    """Limits in seconds; nan where there is none. ``Partition_Limit`` is the partition's."""
    import pandas as pd

    if "Timelimit" in rows:
        texts = rows["Timelimit"]
        found = _durations(texts)
    elif "TimelimitRaw" in rows:
        texts = rows["TimelimitRaw"]
        minutes = pd.to_numeric(texts, errors="coerce")
        found = minutes.where(minutes < np.inf) * 60.0
    else:
        return pd.Series(np.nan, index=rows.index)
    of_partition = texts.str.lower() == "partition_limit"
    if of_partition.any() and "Partition" in rows:
        limits = machine.limits(rows["Partition"])
        found = found.mask(of_partition & np.isfinite(limits), limits)
    return found


# --- jobs -----------------------------------------------------------------------------------


def _finished(
    path: Any, jobs: pd.DataFrame, reasons: Mapping[str, np.ndarray], timezone: str | None
) -> tuple[pd.DataFrame, list[str]]:
    """Columns as an instance has them, times from the first submission on; and notes."""
    jobs = jobs.sort_values("submit", kind="stable").reset_index(drop=True)
    wait = (jobs["start"] - jobs["submit"]).to_numpy()
    back = wait < 0
    notes = [f"{path}: {len(jobs)} jobs kept"]
    notes += [
        f"  dropped {_counted(reason, lines)}" for reason, lines in reasons.items() if len(lines)
    ]
    if back.any():
        lines = jobs.loc[back, "line"].to_numpy()
        notes.append(f"  repaired {_counted('started before its submission: wait 0', lines)}")
    if jobs["twice"].any():
        lines = jobs.loc[jobs["twice"], "line"].to_numpy()
        notes.append(
            f"  repaired {_counted('in the hour that comes twice: the first taken', lines)}"
        )
    again = int(jobs["id"].duplicated().sum())
    if again:
        notes.append(f"  {again} further runs of requeued jobs: each is a job of its own")
    if timezone is None:
        notes.append(
            "assumed: times as written; across a change of clocks pass timezone (--timezone)"
        )
    ids = jobs["id"]
    if ids.str.fullmatch(r"[0-9]{1,15}").all():
        ids = ids.astype(np.int64)
    named = {"user", "group", "partition", "status"} & set(jobs.columns)
    table = jobs[["submit", "tasks", "runtime", "estimate", "line", *sorted(named)]].assign(
        id=ids,
        submit=jobs["submit"] - jobs["submit"].min(),
        tasks=jobs["tasks"].astype(np.int64),
        cpu=1.0,
        memory=1.0,
        wait=np.maximum(wait, 0.0),
    )
    return table, notes


def _counted(reason: str, lines: np.ndarray) -> str:
    shown = ", ".join(str(line) for line in lines[:5]) + (", ..." if len(lines) > 5 else "")
    return f"{len(lines)}: {reason} (line{'s' * (len(lines) > 1)} {shown})"
