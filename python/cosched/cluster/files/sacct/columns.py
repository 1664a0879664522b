"""Columns of sacct: texts, times, what jobs hold and what they used; cells that cannot be read."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from cosched.cluster.files.facts import MEASURES
from cosched.errors import InvalidInstance, shorten
from cosched.lazy import pd


def each(texts: pd.Series, reads: Callable[[pd.Series], Any]) -> np.ndarray:
    """`reads` of the distinct texts, by row: a log repeats few."""
    if isinstance(texts.dtype, pd.CategoricalDtype):
        codes, distinct = texts.cat.codes.to_numpy(), texts.cat.categories
    else:
        codes, distinct = pd.factorize(texts)
    return np.asarray(reads(pd.Series(distinct, dtype=str)))[codes]


#: Of times: what Slurm's clock can say, and nanoseconds since 1970 can hold.
_YEARS = (1970, 2261)
DURATION = r"(?:(?:([0-9]{1,7})-)?([0-9]{1,9}):)?([0-9]{1,9}):([0-9]{1,9})(\.[0-9]{1,9})?"
#: Where a job has not come to that yet.
NOT_YET = ("Unknown", "None", "")


def times_of(
    path: Any,
    rows: pd.DataFrame,
    names: tuple[str, ...],
    timezone: str | None,
    expected_starts: np.ndarray | None = None,
) -> tuple[list[pd.Series], pd.Series]:
    """Seconds since the epoch of each column, nan where it is no time; and whether one of them is
    in the hour that comes twice: the first is taken, but none before that of the column before.

    `expected_starts`: seconds since the epoch, by End and Elapsed; nan where these do not tell. A
    Start that may be this moment is it.
    """
    found: list[pd.Series] = []
    twice = pd.Series(data=False, index=rows.index)
    for name in names:
        seconds, local = _plain(rows[name])
        if timezone is not None:
            first, later = (_utc(path, local, timezone, first=k) for k in (True, False))
            if name == "Start" and expected_starts is not None:
                first = first.where(~(later == expected_starts), later)
            twice |= first < later
            before = found[-1] if found else first
            seconds = seconds.fillna(first.where(~(first < before), later))
        else:
            seconds = seconds.fillna((local - pd.Timestamp(0)).dt.total_seconds())
        found.append(seconds)
    return found, twice


def _plain(texts: pd.Series) -> tuple[pd.Series, pd.Series]:
    """Seconds of texts that say their zone (epochs, %z); local times of the others, cell by cell:
    a bad one costs its row only."""
    length = texts.str.len()
    seconds = pd.Series(np.nan, index=texts.index)
    local = pd.to_datetime(texts.where(length == 19), format="%Y-%m-%dT%H:%M:%S", errors="coerce")
    spaced = texts[local.isna() & (length == 19)]  # SLURM_TIME_FORMAT="%Y-%m-%d %H:%M:%S"
    if len(spaced):
        local[spaced.index] = pd.to_datetime(spaced, format="%Y-%m-%d %H:%M:%S", errors="coerce")
    short = texts[length.between(9, 11)]  # SLURM_TIME_FORMAT=%s
    if len(short):
        short = short[short.str.fullmatch("[0-9]+")]
        seconds[short.index] = pd.to_numeric(short).astype(float)
    long = texts[length > 19]  # SLURM_TIME_FORMAT=%Y-%m-%dT%H:%M:%S%z
    if len(long):
        zoned = pd.to_datetime(long, format="%Y-%m-%dT%H:%M:%S%z", errors="coerce", utc=True)
        zoned = zoned.dt.tz_localize(None)
        zoned = zoned.where(zoned.dt.year.between(*_YEARS))
        seconds[long.index] = (zoned - pd.Timestamp(0)).dt.total_seconds()
    return seconds, local.where(local.dt.year.between(*_YEARS))


def _utc(path: Any, local: pd.Series, timezone: str, first: bool) -> pd.Series:
    try:
        ambiguous = np.full(len(local), first)
        utc = local.dt.tz_localize(
            timezone, ambiguous=ambiguous, nonexistent="shift_forward"
        ).dt.tz_convert("UTC").dt.tz_localize(None)  # fmt: skip
    except (KeyError, ValueError):
        raise InvalidInstance(
            f"{path}: timezone = {shorten(timezone)}: expected a name such as Europe/Stockholm"
        ) from None
    return (utc - pd.Timestamp(0)).dt.total_seconds()


def durations(texts: pd.Series) -> pd.Series:
    """Seconds of ``[days-]hours:minutes:seconds`` or ``minutes:seconds``; nan of others."""
    return pd.Series(each(texts, _durations), index=texts.index)


def _durations(texts: pd.Series) -> pd.Series:
    parts = texts.str.extract(f"^{DURATION}$")
    days, hours, minutes, seconds = (pd.to_numeric(parts[k].fillna("0")) for k in range(4))
    fraction = pd.to_numeric(parts[4].fillna("0"))
    total = days * 86400 + hours * 3600 + minutes * 60 + seconds + fraction
    return total.astype(float).mask(parts[2].isna())


def carries_over(texts: pd.Series) -> pd.Series:
    """Whether a duration has 60 seconds or minutes, or 24 hours, behind a larger unit: sacct prints
    none such."""
    parts = texts.str.extract(f"^{DURATION}$")
    hours, minutes, seconds = (pd.to_numeric(parts[k].fillna("0")) for k in (1, 2, 3))
    return (seconds > 59) | ((minutes > 59) & parts[1].notna()) | ((hours > 23) & parts[0].notna())


def ends_of(path: Any, texts: pd.Series, timezone: str | None, expected: np.ndarray) -> np.ndarray:
    """Seconds since the epoch of ends, nan where there is none. In the hour that comes twice it is
    the one that is `expected`, where one is."""
    seconds, local = _plain(texts)
    if timezone is None:
        return seconds.fillna((local - pd.Timestamp(0)).dt.total_seconds()).to_numpy()
    first, later = (_utc(path, local, timezone, first=k).to_numpy() for k in (True, False))
    ends = np.where(later == expected, later, first)
    return np.where(np.isnan(seconds), ends, seconds)


def unambiguous_ends(path: Any, texts: pd.Series, timezone: str) -> np.ndarray:
    """Seconds since the epoch of ends, nan where there is none or its hour comes twice."""
    seconds, local = _plain(texts)
    first, later = (_utc(path, local, timezone, first=k) for k in (True, False))
    return seconds.fillna(first.where(first == later)).to_numpy()


#: GB (2^30 bytes) of Slurm's units; without one: megabytes.
_GB = {"K": 2**-20, "M": 2**-10, "": 2**-10, "G": 1.0, "T": 2.0**10, "P": 2.0**20, "E": 2.0**30}
#: Slurm's flag of a ReqMem that is that of a CPU (2^31 MB), as old versions print it.
_PER_CPU = 2.0**21
#: GB of a job that somebody can have meant.
_MOST_GB = MEASURES["memory_gb"]
SIZE = r"([0-9]+(?:\.[0-9]+)?)([KMGTPE]?)"
#: Of nodes or CPUs.
COUNT = r"[0-9]{1,9}(?:\.0+)?"


def cpus_and_nodes(rows: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """CPUs of each job as Slurm counts them (allocated where known, else asked for), its nodes
    (nan: unknown), and whether its CPUs are only what it asked for."""
    allocated = _first_known(rows, ("AllocTRES", "AllocCPUS", "NCPUS"), "cpu")
    asked = _first_known(rows, ("ReqCPUS", "ReqTRES"), "cpu")
    nodes = _first_known(rows, ("AllocTRES", "AllocNodes", "NNodes", "ReqNodes", "ReqTRES"), "node")
    known = allocated > 0
    return np.where(known, allocated, asked), nodes, ~known


def contradicted(rows: pd.DataFrame) -> np.ndarray:
    """Whether CPUs or nodes of a job are others in AllocTRES than in the columns of their own."""
    found = np.zeros(len(rows), dtype=bool)
    for names, of_tres in ((("AllocCPUS", "NCPUS"), "cpu"), (("AllocNodes", "NNodes"), "node")):
        counted, own = (_first_known(rows, some, of_tres) for some in (("AllocTRES",), names))
        found |= (counted > 0) & (own > 0) & (counted != own)
    return found


def memory_gb(rows: pd.DataFrame, cpus: np.ndarray, nodes: np.ndarray) -> np.ndarray | None:
    """GB of the whole job: allocated, else asked for; nan where neither is known."""
    found = np.full(len(rows), np.nan)
    columns = [name for name in ("AllocTRES", "ReqTRES") if name in rows]
    for name in columns:
        found = np.where(found > 0, found, each(rows[name], lambda t: _size(_tres(t, "mem"))))
    if "ReqMem" in rows:
        # Of old versions: n = a node, c = a CPU; since 21.08 it is that of the job.
        pattern = rf"^{SIZE}([nc]?)$"
        amount = each(rows["ReqMem"], lambda t: _size(t.str.extract(pattern)))
        per = each(rows["ReqMem"], lambda t: t.str.extract(pattern)[2].fillna(""))
        flagged = (per != "") & (amount >= _PER_CPU) & (amount < 2 * _PER_CPU)
        amount, per = np.where(flagged, amount - _PER_CPU, amount), np.where(flagged, "c", per)
        times = np.select([per == "n", per == "c"], [nodes, cpus], 1.0)
        found = np.where(found > 0, found, amount * times)
    elif not columns:
        return None
    return np.where(found > 0, found, np.nan)  # --mem=0: all of its nodes


def gpus(rows: pd.DataFrame) -> tuple[np.ndarray, np.ndarray] | None:
    """GPUs of each job and their type (empty: not said); None where no column could say it."""
    columns = [name for name in ("AllocTRES", "ReqTRES") if name in rows]
    if not columns:
        return None
    count, kind = np.zeros(len(rows)), np.full(len(rows), "", dtype=object)
    held = ~rows[columns[0]].isin(("",)).to_numpy()  # an allocation without GPUs has none
    for name in columns:
        mine = ~held if name == "ReqTRES" and len(columns) == 2 else np.ones(len(rows), bool)
        count = np.where(mine, each(rows[name], _gpu_count), count)
        kind = np.where(mine, each(rows[name], _gpu_type), kind)
    return count.astype(np.int64), np.where(count > 0, kind, "").astype(str)


def cores_of(cpus: np.ndarray, nodes: np.ndarray, per_core: np.ndarray | float) -> np.ndarray:
    """Whole cores of so many CPUs; on every node one at least."""
    whole = np.ceil(cpus / per_core - 1e-9)
    return np.where(nodes > whole, nodes, whole)


# --- texts such as billing=4,cpu=4,gres/gpu:a100=2,mem=8G,node=1 ----------------------------------


def _first_known(rows: pd.DataFrame, names: tuple[str, ...], of_tres: str) -> np.ndarray:
    found = np.full(len(rows), np.nan)
    for name in (name for name in names if name in rows):
        number = each(rows[name], partial(_number, of_tres if name.endswith("TRES") else ""))
        number = number.astype(float)
        found = np.where(found > 0, found, number)
    return found


def _number(of_tres: str, texts: pd.Series) -> Any:
    counts = _tres(texts, of_tres) if of_tres else texts
    return pd.to_numeric(counts.where(counts.str.fullmatch(COUNT)), errors="coerce")


def _tres(texts: pd.Series, name: str) -> Any:
    if name == "mem":
        return texts.str.extract(rf"(?:^|,)mem={SIZE}(?:,|$)")
    return texts.str.extract(rf"(?:^|,){name}=([0-9]{{1,9}})(?:,|$)")[0]


def too_large(texts: pd.Series) -> pd.Series:
    """Whether a size in it is no job's."""
    parts = texts.str.extract(rf"(?:^|mem=){SIZE}[nc]?(?:,|$)")
    return parts[0].notna() & _size(parts).isna()


def _size(parts: Any) -> Any:
    found = (pd.to_numeric(parts[0], errors="coerce") * parts[1].map(_GB)).astype(float)
    return found.where(found <= _MOST_GB)


def _gpu_count(texts: pd.Series) -> Any:
    """``gres/gpu`` counts all, where it is there; else the sum over the types."""
    every = pd.to_numeric(_tres(texts, "gres/gpu"), errors="coerce")
    typed = texts.str.extractall(r"(?:^|,)gres/gpu:[^=,]+=([0-9]{1,9})(?=,|$)")
    summed = pd.to_numeric(typed[0]).groupby(level=0).sum().reindex(texts.index)
    return every.fillna(summed).fillna(0.0)


def _gpu_type(texts: pd.Series) -> Any:
    found = texts.str.extractall(r"(?:^|,)gres/gpu:([^=,]+)=[1-9]")
    joined = found[0].groupby(level=0).agg(",".join) if len(found) else found[0]
    return joined.reindex(texts.index).fillna("").to_numpy(dtype=object)


#: GB (2^30 bytes) of the units of what was used; without one: bytes.
_GB_USED = {unit: 2.0 ** (10 * power - 30) for power, unit in enumerate(["", *"KMGTPE"])}
#: Steps that are there as long as their job is.
_WHOLE = r"\.(?:batch|extern|interactive)$"
_SUMMARY = "JS1:"


class Used(NamedTuple):
    """What jobs used: columns of an instance, and what is to be noted of which rows."""

    columns: dict[str, np.ndarray]
    remarks: dict[str, np.ndarray]


def used(
    path: Any, rows: pd.DataFrame, steps: pd.DataFrame, cpus: np.ndarray, nodes: np.ndarray,
    elapsed: np.ndarray, timezone: str | None,
) -> Used:  # fmt: skip
    """``used_memory_gb, cpu_seconds, cpu_efficiency, gpu_efficiency`` of each job, where a column
    says it; nan where its cell does not. A zero says that nobody looked."""
    if not len(rows):
        return Used({}, {})
    job = _job_of(rows, steps)
    steps, job = steps[job >= 0], job[job >= 0]
    columns, remarks = {}, {}
    if len(steps) and {"MaxRSS", "TRESUsageInTot", "TRESUsageInMax"} & set(steps):
        columns["used_memory_gb"] = _memory(path, steps, job, nodes, timezone)
    of_jobs, of_steps = _cpu_seconds(rows), _cpu_seconds(steps)
    if of_jobs is not None and of_steps is not None:
        of_steps = np.bincount(job, np.nan_to_num(of_steps), len(rows))
        seconds = _known(np.where(of_jobs > 0, of_jobs, of_steps))
        columns["cpu_seconds"] = seconds
        # Elapsed is cut to whole seconds.
        is_impossible = seconds > cpus * (elapsed + 1.0)
        efficiency = np.minimum(seconds / _known(cpus * elapsed), 1.0)
        columns["cpu_efficiency"] = np.where(is_impossible, np.nan, efficiency)
        remarks["more CPU time than its CPUs have in Elapsed: no CPU efficiency"] = is_impossible
    if "AdminComment" in rows:
        share = each(rows["AdminComment"], lambda t: t.map(_of_summary)).astype(float)
        columns["gpu_efficiency"] = np.where(share <= 1.0, share, np.nan)
        remarks["GPUs used above 100%: no GPU efficiency"] = share > 1.0
    known = {name: column for name, column in columns.items() if not np.isnan(column).all()}
    return Used(known, remarks)


def _cpu_seconds(rows: pd.DataFrame) -> np.ndarray | None:
    """TotalCPU, or UserCPU and SystemCPU together; None: no column says it."""
    if "TotalCPU" in rows:
        return durations(rows["TotalCPU"]).to_numpy()
    if not {"UserCPU", "SystemCPU"} <= set(rows):
        return None
    return (durations(rows["UserCPU"]) + durations(rows["SystemCPU"])).to_numpy()


def _known(values: np.ndarray) -> np.ndarray:
    return np.where(values > 0, values, np.nan)


def _job_of(rows: pd.DataFrame, steps: pd.DataFrame) -> np.ndarray:
    """The row of each step's job, else -1: of the runs of a requeued job that above the step."""
    if not len(steps):
        return np.full(len(steps), -1)
    names, ids = steps["JobID"].str.partition(".")[0].to_numpy(), rows["JobID"].to_numpy()
    above = np.maximum(np.searchsorted(rows.index, steps.index) - 1, 0)
    last = pd.Series(np.arange(len(ids)), index=ids)
    last = last[~last.index.duplicated(keep="last")]
    return np.where(ids[above] == names, above, last.index.get_indexer(pd.Index(names)))


def _memory(
    path: Any, steps: pd.DataFrame, job: np.ndarray, nodes: np.ndarray, timezone: str | None
) -> np.ndarray:
    """Peak GB of each job, as it is asked for: equal parts on each node. The steps that run at one
    time count together."""
    largest = _gigabytes(steps, "MaxRSS", "TRESUsageInMax")
    tasks = each(steps["NTasks"], _finite) if "NTasks" in steps else np.ones(len(steps))
    total = _gigabytes(steps, "TRESUsageInTot")
    total = np.where(total > 0, total, largest * np.fmax(tasks, 1.0))
    # Of a job on several nodes one may have the largest task: all parts are as large as its.
    on = np.fmax(nodes, 1.0)[job]
    peak = np.where(on > 1, np.fmax(total, on * np.nan_to_num(largest)), total)
    said = peak > 0
    steps, job, peak = steps[said], job[said], peak[said]
    whole = steps["JobID"].str.contains(_WHOLE).to_numpy()
    begin, end = np.full((2, len(job)), [[-np.inf], [np.inf]])
    several = ~whole & (np.bincount(job[~whole], minlength=len(nodes))[job] > 1)
    if several.any() and {"Start", "Elapsed"} <= set(steps):
        some = steps[several]
        start = times_of(path, some, ("Start",), timezone)[0][0]
        length = durations(some["Elapsed"])
        known = (start.notna() & length.notna()).to_numpy()
        begin[several] = np.where(known, start, -np.inf)
        # Of a step that was over within its second the peak counts, too.
        end[several] = np.where(known, start + np.fmax(length, 0.5), np.inf)
    return _known(_at_once(job, begin, end, peak, len(nodes)))


def _at_once(
    job: np.ndarray, begin: np.ndarray, end: np.ndarray, amount: np.ndarray, jobs: int
) -> np.ndarray:
    """The largest sum of what is there at one time, by job; at one instant ends come first."""
    who, change = np.concatenate([job, job]), np.concatenate([amount, -amount])
    order = np.lexsort((change, np.concatenate([begin, end]), who))
    level = np.cumsum(change[order])  # back at 0 after each job
    found = np.zeros(jobs)
    np.maximum.at(found, who[order], level)
    return found


def _gigabytes(steps: pd.DataFrame, *names: str) -> np.ndarray:
    """Of the first of these columns that says it, nan: none does."""
    found = np.full(len(steps), np.nan)
    for name in (name for name in names if name in steps):
        begin = r"(?:^|,)mem=" if name.startswith("TRES") else "^"
        size = each(steps[name], partial(_size_used, begin))
        found = np.where(found > 0, found, size)
    return found


def _size_used(begin: str, texts: pd.Series) -> np.ndarray:
    parts = texts.str.extract(f"{begin}{SIZE}(?:,|$)")
    return _finite(parts[0]) * parts[1].map(_GB_USED).to_numpy(dtype=float)


def _finite(texts: pd.Series) -> np.ndarray:
    found = pd.to_numeric(texts, errors="coerce").to_numpy(dtype=float)
    return np.where(found < np.inf, found, np.nan)


def _of_summary(text: str) -> float:
    """Mean use of a job's GPUs, 0..1, of a summary of jobstats: gzip in base64."""
    if not text.startswith(_SUMMARY):
        return np.nan
    try:
        nodes = json.loads(gzip.decompress(base64.b64decode(text[len(_SUMMARY) :])))["nodes"]
        percent = [p for node in nodes.values() for p in node["gpu_utilization"].values()]
        share = float(np.mean(percent)) / 100 if percent else np.nan
        return share if share >= 0 else np.nan
    except (ValueError, KeyError, AttributeError, TypeError, OSError, EOFError):
        return np.nan  # "JS1:Short", cut off by the width of a column, or without GPUs


_NO_LIMIT = "(?i:unlimited|partition_limit)"
_SOUND = {
    "ReqMem": f"{SIZE}[nc]?",
    **dict.fromkeys(
        ("NNodes", "AllocNodes", "ReqNodes", "NCPUS", "AllocCPUS", "ReqCPUS"), COUNT
    ),
    "Timelimit": f"{DURATION}|{_NO_LIMIT}",
    "TimelimitRaw": rf"[0-9]+(?:\.0+)?|{_NO_LIMIT}",
    **dict.fromkeys(
        ("AllocTRES", "ReqTRES"),
        rf"(?:(?:cpu|node|gres/gpu(?::[^=,]+)?)=[0-9]{{1,9}}(?:,|$)|mem={SIZE}(?:,|$)"
        r"|(?!(?:cpu|node|mem|gres/gpu(?::[^=,]+)?)=)[^,]*(?:,|$))*",
    ),
}  # fmt: skip
#: Of what jobs and steps used.
_SOUND |= dict.fromkeys(("TotalCPU", "UserCPU", "SystemCPU", "Suspended"), DURATION)
_SOUND_STEPS = {"MaxRSS": SIZE, "TotalCPU": DURATION, "UserCPU": DURATION, "SystemCPU": DURATION,
                "NTasks": COUNT}  # fmt: skip
#: Columns of durations.
_DURATIONS = ("Elapsed", "Suspended", "Timelimit", "TotalCPU", "UserCPU", "SystemCPU")


def not_understood(rows: pd.DataFrame, *, of_steps: bool = False) -> dict[str, np.ndarray]:
    """By column, lines of its cells that are neither empty nor what sacct prints there."""
    found = {}
    sound = _SOUND_STEPS if of_steps else _SOUND
    for name in (name for name in sound if name in rows):
        wrong = each(rows[name], partial(_wrong, sound[name])).astype(bool)
        if name.endswith(("Mem", "TRES", "RSS")):
            wrong |= each(rows[name], too_large).astype(bool)
        if wrong.any():
            found[name] = rows["line"].to_numpy()[wrong]
    return found


def _wrong(form: str, texts: pd.Series) -> pd.Series:
    return ~texts.str.fullmatch(f"(?:{form})?")


def carried_over(rows: pd.DataFrame) -> dict[str, np.ndarray]:
    """By column, lines of its durations that sacct would print otherwise: ``02:99:99``."""
    found = {}
    for name in (name for name in _DURATIONS if name in rows):
        is_odd = each(rows[name], carries_over).astype(bool)
        if is_odd.any():
            found[name] = rows["line"].to_numpy()[is_odd]
    return found
