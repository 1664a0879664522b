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
from cosched.cluster.files.sacct.remarks import Remark
from cosched.errors import InvalidInstance, shorten
from cosched.lazy import pd
from cosched.notes import NoteKind
from cosched.units import BYTES_OF_UNIT, ELAPSED_TIME_PATTERN, GIGABYTE, parse_elapsed_times


def map_unique(texts: pd.Series, reader: Callable[[pd.Series], object]) -> np.ndarray:
    """Apply `reader` to the distinct texts only, and return its values by row."""
    if isinstance(texts.dtype, pd.CategoricalDtype):
        codes, distinct = texts.cat.codes.to_numpy(), texts.cat.categories
    else:
        codes, distinct = pd.factorize(texts)
    return np.asarray(reader(pd.Series(distinct, dtype=str)))[codes]


#: Of times: what Slurm's clock can say, and nanoseconds since 1970 can hold.
_YEARS = (1970, 2261)
#: Where a job has not come to that yet.
NOT_YET = ("Unknown", "None", "")


def times_of(
    path: object,
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
    seconds_of_columns: list[pd.Series] = []
    twice = pd.Series(data=False, index=rows.index)
    for name in names:
        seconds, local = _dated_and_local(rows[name])
        if timezone is not None:
            first, later = (_utc(path, local, timezone, first=k) for k in (True, False))
            if name == "Start" and expected_starts is not None:
                first = first.where(~(later == expected_starts), later)
            twice |= first < later
            seconds_before = seconds_of_columns[-1] if seconds_of_columns else first
            seconds = seconds.fillna(first.where(~(first < seconds_before), later))
        else:
            seconds = seconds.fillna((local - pd.Timestamp(0)).dt.total_seconds())
        seconds_of_columns.append(seconds)
    return seconds_of_columns, twice


def _dated_and_local(texts: pd.Series) -> tuple[pd.Series, pd.Series]:
    """Return seconds of texts that say their zone (epochs, %z); local times of the others, cell by
    cell: a bad one costs its row only."""
    length = texts.str.len()
    seconds = pd.Series(np.nan, index=texts.index)
    local = pd.to_datetime(texts.where(length == 19), format="%Y-%m-%dT%H:%M:%S", errors="coerce")
    spaced = texts[local.isna() & (length == 19)]  # SLURM_TIME_FORMAT="%Y-%m-%d %H:%M:%S"
    if len(spaced):
        local[spaced.index] = pd.to_datetime(spaced, format="%Y-%m-%d %H:%M:%S", errors="coerce")
    epoch_texts = texts[length.between(9, 11)]  # SLURM_TIME_FORMAT=%s
    if len(epoch_texts):
        epoch_texts = epoch_texts[epoch_texts.str.fullmatch("[0-9]+")]
        seconds[epoch_texts.index] = pd.to_numeric(epoch_texts).astype(float)
    zoned_texts = texts[length > 19]  # SLURM_TIME_FORMAT=%Y-%m-%dT%H:%M:%S%z
    if len(zoned_texts):
        zoned = pd.to_datetime(zoned_texts, format="%Y-%m-%dT%H:%M:%S%z", errors="coerce", utc=True)
        zoned = zoned.dt.tz_localize(None)
        zoned = zoned.where(zoned.dt.year.between(*_YEARS))
        seconds[zoned_texts.index] = (zoned - pd.Timestamp(0)).dt.total_seconds()
    return seconds, local.where(local.dt.year.between(*_YEARS))


def _utc(path: object, local: pd.Series, timezone: str, first: bool) -> pd.Series:
    try:
        ambiguous = np.full(len(local), first)
        utc = (
            local.dt.tz_localize(timezone, ambiguous=ambiguous, nonexistent="shift_forward")
            .dt.tz_convert("UTC")
            .dt.tz_localize(None)
        )
    except (KeyError, ValueError):
        raise InvalidInstance(
            f"{path}: timezone = {shorten(timezone)}: expected a name such as Europe/Stockholm"
        ) from None
    return (utc - pd.Timestamp(0)).dt.total_seconds()


def durations(texts: pd.Series) -> pd.Series:
    """Seconds of ``[days-]hours:minutes:seconds`` or ``minutes:seconds``; nan of others."""
    return pd.Series(map_unique(texts, parse_elapsed_times), index=texts.index)


def carries_over(texts: pd.Series) -> pd.Series:
    """Whether a duration has 60 seconds or minutes, or 24 hours, behind a larger unit: sacct prints
    none such."""
    parts = texts.str.extract(f"^{ELAPSED_TIME_PATTERN}$")
    hours, minutes, seconds = (pd.to_numeric(parts[k].fillna("0")) for k in (1, 2, 3))
    return (seconds > 59) | ((minutes > 59) & parts[1].notna()) | ((hours > 23) & parts[0].notna())


def ends_of(
    path: object, texts: pd.Series, timezone: str | None, expected: np.ndarray
) -> np.ndarray:
    """Seconds since the epoch of ends, nan where there is none. In the hour that comes twice it is
    the one that is `expected`, where one is."""
    seconds, local = _dated_and_local(texts)
    if timezone is None:
        return seconds.fillna((local - pd.Timestamp(0)).dt.total_seconds()).to_numpy()
    first, later = (_utc(path, local, timezone, first=k).to_numpy() for k in (True, False))
    ends = np.where(later == expected, later, first)
    return np.where(np.isnan(seconds), ends, seconds)


def unambiguous_ends(path: object, texts: pd.Series, timezone: str) -> np.ndarray:
    """Seconds since the epoch of ends, nan where there is none or its hour comes twice."""
    seconds, local = _dated_and_local(texts)
    first, later = (_utc(path, local, timezone, first=k) for k in (True, False))
    return seconds.fillna(first.where(first == later)).to_numpy()


#: GB (2^30 bytes) of Slurm's units; without one: megabytes.
_GB = {unit: size / GIGABYTE for unit, size in BYTES_OF_UNIT.items()} | {"": 2**-10}
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
    requested = _first_known(rows, ("ReqCPUS", "ReqTRES"), "cpu")
    nodes = _first_known(rows, ("AllocTRES", "AllocNodes", "NNodes", "ReqNodes", "ReqTRES"), "node")
    is_allocated = allocated > 0
    return np.where(is_allocated, allocated, requested), nodes, ~is_allocated


def has_conflicts(rows: pd.DataFrame) -> np.ndarray:
    """True for jobs whose CPUs or nodes in AllocTRES differ from the columns of their own."""
    has_conflict = np.zeros(len(rows), dtype=bool)
    for names, of_tres in ((("AllocCPUS", "NCPUS"), "cpu"), (("AllocNodes", "NNodes"), "node")):
        count_in_tres, count_in_column = (
            _first_known(rows, column_names, of_tres) for column_names in (("AllocTRES",), names)
        )
        has_conflict |= (
            (count_in_tres > 0) & (count_in_column > 0) & (count_in_tres != count_in_column)
        )
    return has_conflict


def memory_gb(rows: pd.DataFrame, cpus: np.ndarray, nodes: np.ndarray) -> np.ndarray | None:
    """Return the GB of the whole job: allocated, else requested; nan where neither is known."""
    gigabytes = np.full(len(rows), np.nan)
    columns = [name for name in ("AllocTRES", "ReqTRES") if name in rows]
    for name in columns:
        gigabytes = np.where(
            gigabytes > 0, gigabytes, map_unique(rows[name], lambda t: _size(_tres(t, "mem")))
        )
    if "ReqMem" in rows:
        # Of old versions: n = a node, c = a CPU; since 21.08 it is that of the job.
        pattern = rf"^{SIZE}([nc]?)$"
        amount = map_unique(rows["ReqMem"], lambda t: _size(t.str.extract(pattern)))
        per = map_unique(rows["ReqMem"], lambda t: t.str.extract(pattern)[2].fillna(""))
        flagged = (per != "") & (amount >= _PER_CPU) & (amount < 2 * _PER_CPU)
        amount, per = np.where(flagged, amount - _PER_CPU, amount), np.where(flagged, "c", per)
        times = np.select([per == "n", per == "c"], [nodes, cpus], 1.0)
        gigabytes = np.where(gigabytes > 0, gigabytes, amount * times)
    elif not columns:
        return None
    return np.where(gigabytes > 0, gigabytes, np.nan)  # --mem=0: all of its nodes


def gpus(rows: pd.DataFrame) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the GPUs of each job and their type (empty: unknown); None without such columns."""
    columns = [name for name in ("AllocTRES", "ReqTRES") if name in rows]
    if not columns:
        return None
    count, kind = np.zeros(len(rows)), np.full(len(rows), "", dtype=object)
    has_allocation = ~rows[columns[0]].isin(("",)).to_numpy()  # an allocation without GPUs has none
    for name in columns:
        is_from_column = (
            ~has_allocation if name == "ReqTRES" and len(columns) == 2 else np.ones(len(rows), bool)
        )
        count = np.where(is_from_column, map_unique(rows[name], _gpu_count), count)
        kind = np.where(is_from_column, map_unique(rows[name], _gpu_type), kind)
    return count.astype(np.int64), np.where(count > 0, kind, "").astype(str)


def cores_of(cpus: np.ndarray, nodes: np.ndarray, per_core: np.ndarray | float) -> np.ndarray:
    """Return the whole cores of the given CPUs: at least one on every node."""
    whole_cores = np.ceil(cpus / per_core - 1e-9)
    return np.where(nodes > whole_cores, nodes, whole_cores)


# --- texts such as billing=4,cpu=4,gres/gpu:a100=2,mem=8G,node=1 ----------------------------------


def _first_known(rows: pd.DataFrame, names: tuple[str, ...], of_tres: str) -> np.ndarray:
    counts = np.full(len(rows), np.nan)
    for name in (name for name in names if name in rows):
        number = map_unique(rows[name], partial(_number, of_tres if name.endswith("TRES") else ""))
        number = number.astype(float)
        counts = np.where(counts > 0, counts, number)
    return counts


def _number(of_tres: str, texts: pd.Series) -> Any:
    counts = _tres(texts, of_tres) if of_tres else texts
    return pd.to_numeric(counts.where(counts.str.fullmatch(COUNT)), errors="coerce")


def _tres(texts: pd.Series, name: str) -> Any:
    if name == "mem":
        return texts.str.extract(rf"(?:^|,)mem={SIZE}(?:,|$)")
    return texts.str.extract(rf"(?:^|,){name}=([0-9]{{1,9}})(?:,|$)")[0]


def too_large(texts: pd.Series) -> pd.Series:
    """True for texts with a size that no job can have."""
    parts = texts.str.extract(rf"(?:^|mem=){SIZE}[nc]?(?:,|$)")
    return parts[0].notna() & _size(parts).isna()


def _size(parts: Any) -> Any:
    gigabytes = (pd.to_numeric(parts[0], errors="coerce") * parts[1].map(_GB)).astype(float)
    return gigabytes.where(gigabytes <= _MOST_GB)


def _gpu_count(texts: pd.Series) -> Any:
    """Return the count of ``gres/gpu``, which covers all types, else the sum over the types."""
    every = pd.to_numeric(_tres(texts, "gres/gpu"), errors="coerce")
    counts_by_type = texts.str.extractall(r"(?:^|,)gres/gpu:[^=,]+=([0-9]{1,9})(?=,|$)")
    summed = pd.to_numeric(counts_by_type[0]).groupby(level=0).sum().reindex(texts.index)
    return every.fillna(summed).fillna(0.0)


def _gpu_type(texts: pd.Series) -> Any:
    types = texts.str.extractall(r"(?:^|,)gres/gpu:([^=,]+)=[1-9]")
    joined = types[0].groupby(level=0).agg(",".join) if len(types) else types[0]
    return joined.reindex(texts.index).fillna("").to_numpy(dtype=object)


#: GB (2^30 bytes) of the units of what was used; without one: bytes.
_GB_USED = {unit: size / GIGABYTE for unit, size in BYTES_OF_UNIT.items()}
#: Steps that last as long as their job.
_JOB_LONG_STEP = r"\.(?:batch|extern|interactive)$"
_SUMMARY = "JS1:"


class StepUsage(NamedTuple):
    """What jobs used.

    Attributes
    ----------
    columns : dict
        Columns of an instance, by name.
    remarks : dict
        Masks of rows, by the note about them.
    """

    columns: dict[str, np.ndarray]
    remarks: dict[Remark, np.ndarray]


def usage_columns(
    path: object,
    rows: pd.DataFrame,
    steps: pd.DataFrame,
    cpus: np.ndarray,
    nodes: np.ndarray,
    elapsed: np.ndarray,
    timezone: str | None,
) -> StepUsage:
    """``used_memory_gb, cpu_seconds, cpu_efficiency, gpu_efficiency`` of each job, where a column
    says it; nan where its cell does not. A zero says that nobody looked."""
    if not len(rows):
        return StepUsage({}, {})
    job = _job_of(rows, steps)
    steps, job = steps[job >= 0], job[job >= 0]
    columns, remarks = {}, {}
    if len(steps) and {"MaxRSS", "TRESUsageInTot", "TRESUsageInMax"} & set(steps):
        columns["used_memory_gb"] = _memory(path, steps, job, nodes, timezone)
    of_jobs, of_steps = _cpu_seconds(rows), _cpu_seconds(steps)
    if of_jobs is not None and of_steps is not None:
        of_steps = np.bincount(job, np.nan_to_num(of_steps), len(rows))
        seconds = _nan_unless_positive(np.where(of_jobs > 0, of_jobs, of_steps))
        columns["cpu_seconds"] = seconds
        # Elapsed is cut to whole seconds.
        is_impossible = seconds > cpus * (elapsed + 1.0)
        efficiency = np.minimum(seconds / _nan_unless_positive(cpus * elapsed), 1.0)
        columns["cpu_efficiency"] = np.where(is_impossible, np.nan, efficiency)
        text = "more CPU time than its CPUs have in Elapsed: no CPU efficiency"
        remarks[Remark(NoteKind.UNUSUAL, "CPU efficiency", text)] = is_impossible
    if "AdminComment" in rows:
        share = map_unique(rows["AdminComment"], lambda t: t.map(_of_summary)).astype(float)
        columns["gpu_efficiency"] = np.where(share <= 1.0, share, np.nan)
        text = "GPUs used above 100%: no GPU efficiency"
        remarks[Remark(NoteKind.UNUSUAL, "GPU efficiency", text)] = share > 1.0
    reported_columns = {
        name: column for name, column in columns.items() if not np.isnan(column).all()
    }
    return StepUsage(reported_columns, remarks)


def _cpu_seconds(rows: pd.DataFrame) -> np.ndarray | None:
    """Return TotalCPU, or the sum of UserCPU and SystemCPU; None without these columns."""
    if "TotalCPU" in rows:
        return durations(rows["TotalCPU"]).to_numpy()
    if not {"UserCPU", "SystemCPU"} <= set(rows):
        return None
    return (durations(rows["UserCPU"]) + durations(rows["SystemCPU"])).to_numpy()


def _nan_unless_positive(values: np.ndarray) -> np.ndarray:
    return np.where(values > 0, values, np.nan)


def _job_of(rows: pd.DataFrame, steps: pd.DataFrame) -> np.ndarray:
    """Return the row of each step's job, else -1; of a requeued job the run above the step."""
    if not len(steps):
        return np.full(len(steps), -1)
    names, ids = steps["JobID"].str.partition(".")[0].to_numpy(), rows["JobID"].to_numpy()
    above = np.maximum(np.searchsorted(rows.index, steps.index) - 1, 0)
    last = pd.Series(np.arange(len(ids)), index=ids)
    last = last[~last.index.duplicated(keep="last")]
    return np.where(ids[above] == names, above, last.index.get_indexer(pd.Index(names)))


def _memory(
    path: object, steps: pd.DataFrame, job: np.ndarray, nodes: np.ndarray, timezone: str | None
) -> np.ndarray:
    """Return the peak GB of each job as requests count it: equal parts on each node.

    Steps that run at the same time count together.
    """
    largest = _gigabytes(steps, "MaxRSS", "TRESUsageInMax")
    tasks = map_unique(steps["NTasks"], _finite) if "NTasks" in steps else np.ones(len(steps))
    total = _gigabytes(steps, "TRESUsageInTot")
    total = np.where(total > 0, total, largest * np.fmax(tasks, 1.0))
    # Of a job on several nodes one may have the largest task: all parts are as large as its.
    node_counts = np.fmax(nodes, 1.0)[job]
    peak = np.where(node_counts > 1, np.fmax(total, node_counts * np.nan_to_num(largest)), total)
    has_peak = peak > 0
    steps, job, peak = steps[has_peak], job[has_peak], peak[has_peak]
    is_job_long = steps["JobID"].str.contains(_JOB_LONG_STEP).to_numpy()
    begin, end = np.full((2, len(job)), [[-np.inf], [np.inf]])
    several = ~is_job_long & (np.bincount(job[~is_job_long], minlength=len(nodes))[job] > 1)
    if several.any() and {"Start", "Elapsed"} <= set(steps):
        parallel_steps = steps[several]
        start = times_of(path, parallel_steps, ("Start",), timezone)[0][0]
        length = durations(parallel_steps["Elapsed"])
        has_times = (start.notna() & length.notna()).to_numpy()
        begin[several] = np.where(has_times, start, -np.inf)
        # Of a step that was over within its second the peak counts, too.
        end[several] = np.where(has_times, start + np.fmax(length, 0.5), np.inf)
    return _nan_unless_positive(_largest_sum_at_one_time(job, begin, end, peak, len(nodes)))


def _largest_sum_at_one_time(
    job: np.ndarray, begin: np.ndarray, end: np.ndarray, amount: np.ndarray, jobs: int
) -> np.ndarray:
    """Return the largest sum of simultaneous amounts by job; at one instant ends come first."""
    jobs_of_changes, change = np.concatenate([job, job]), np.concatenate([amount, -amount])
    order = np.lexsort((change, np.concatenate([begin, end]), jobs_of_changes))
    level = np.cumsum(change[order])  # back at 0 after each job
    largest_sums = np.zeros(jobs)
    np.maximum.at(largest_sums, jobs_of_changes[order], level)
    return largest_sums


def _gigabytes(steps: pd.DataFrame, *names: str) -> np.ndarray:
    """Return the GB by the first of these columns that has a number; nan where none has."""
    gigabytes = np.full(len(steps), np.nan)
    for name in (name for name in names if name in steps):
        begin = r"(?:^|,)mem=" if name.startswith("TRES") else "^"
        size = map_unique(steps[name], partial(_size_used, begin))
        gigabytes = np.where(gigabytes > 0, gigabytes, size)
    return gigabytes


def _size_used(begin: str, texts: pd.Series) -> np.ndarray:
    parts = texts.str.extract(f"{begin}{SIZE}(?:,|$)")
    return _finite(parts[0]) * parts[1].map(_GB_USED).to_numpy(dtype=float)


def _finite(texts: pd.Series) -> np.ndarray:
    numbers = pd.to_numeric(texts, errors="coerce").to_numpy(dtype=float)
    return np.where(numbers < np.inf, numbers, np.nan)


def _of_summary(text: str) -> float:
    """Return the mean use of a job's GPUs (0..1) from a jobstats summary: gzip in base64."""
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
    "Timelimit": f"{ELAPSED_TIME_PATTERN}|{_NO_LIMIT}",
    "TimelimitRaw": rf"[0-9]+(?:\.0+)?|{_NO_LIMIT}",
    **dict.fromkeys(
        ("AllocTRES", "ReqTRES"),
        rf"(?:(?:cpu|node|gres/gpu(?::[^=,]+)?)=[0-9]{{1,9}}(?:,|$)|mem={SIZE}(?:,|$)"
        r"|(?!(?:cpu|node|mem|gres/gpu(?::[^=,]+)?)=)[^,]*(?:,|$))*",
    ),
}  # fmt: skip
#: Of what jobs and steps used.
_SOUND |= dict.fromkeys(("TotalCPU", "UserCPU", "SystemCPU", "Suspended"), ELAPSED_TIME_PATTERN)
_SOUND_STEPS = {
    "MaxRSS": SIZE,
    "TotalCPU": ELAPSED_TIME_PATTERN,
    "UserCPU": ELAPSED_TIME_PATTERN,
    "SystemCPU": ELAPSED_TIME_PATTERN,
    "NTasks": COUNT,
}
#: Columns of durations.
_DURATIONS = ("Elapsed", "Suspended", "Timelimit", "TotalCPU", "UserCPU", "SystemCPU")


def not_understood(rows: pd.DataFrame, *, of_steps: bool = False) -> dict[str, np.ndarray]:
    """Return by column the lines of cells that are neither empty nor what sacct prints there."""
    lines_by_column = {}
    sound = _SOUND_STEPS if of_steps else _SOUND
    for name in (name for name in sound if name in rows):
        wrong = map_unique(rows[name], partial(_wrong, sound[name])).astype(bool)
        if name.endswith(("Mem", "TRES", "RSS")):
            wrong |= map_unique(rows[name], too_large).astype(bool)
        if wrong.any():
            lines_by_column[name] = rows["line"].to_numpy()[wrong]
    return lines_by_column


def _wrong(form: str, texts: pd.Series) -> pd.Series:
    return ~texts.str.fullmatch(f"(?:{form})?")


def carried_over(rows: pd.DataFrame) -> dict[str, np.ndarray]:
    """Return by column the lines of durations that sacct would print otherwise: ``02:99:99``."""
    lines_by_column = {}
    for name in (name for name in _DURATIONS if name in rows):
        is_odd = map_unique(rows[name], carries_over).astype(bool)
        if is_odd.any():
            lines_by_column[name] = rows["line"].to_numpy()[is_odd]
    return lines_by_column
