"""When a snapshot was taken, in which zone, and where the controller's clocks are."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from typing import NamedTuple
from zoneinfo import ZoneInfo

from cosched import io
from cosched.cluster.machine import Machine
from cosched.errors import InvalidInstance, shorten
from cosched.notes import Note, NoteKind
from cosched.slurm.live.command_outputs import rows
from cosched.slurm.live.job_records import finite_number, moment, object_of
from cosched.slurm.live.model import SnapshotJob, moment_of, numbers
from cosched.units import parse_slurm_time

_QUARTER = 900.0  # zones differ by whole quarters of an hour
_MAX_UTC_OFFSET = 14 * 3600.0 + _QUARTER
_SLACK = 60.0  # s between two commands
_MAX_OVERRUN = 3600.0  # s that a job may run beyond its limit
_CONFIG_DATE = re.compile(r"Configuration data as of (\S+)")
_LOCAL = ("scontrol_config.txt", "sacct.txt")


class _Range(NamedTuple):
    """What a number may be, both ends included."""

    #: Lowest and highest value, and what they are measured in.
    low: float
    high: float
    unit: str


_MOMENT = _Range(0.0, 1e11, "seconds since 1970")
_PERIOD = _Range(0.0, 1e9, "seconds")
_WEIGHT = _Range(0.0, 2.0**32, "a priority weight")
_FLAG = _Range(0.0, 1.0, "0 or 1")
#: Numbers of a snapshot about the controller, and what each may be.
_RANGES = {
    "boot": _MOMENT, "last_cycle": _MOMENT, "last_pass": _MOMENT,
    "cycle": _Range(0.0, 86400.0, "seconds"), "test": _Range(0.0, 86400.0, "seconds"),
    "weight_age": _WEIGHT, "weight_fairshare": _WEIGHT, "max_age": _PERIOD, "half_life": _PERIOD,
    "calc_period": _PERIOD, "offset": _Range(-_MAX_UTC_OFFSET, _MAX_UTC_OFFSET, "seconds"),
    "enforces": _FLAG, "multifactor": _FLAG,
}  # fmt: skip
#: Slurm counts PriorityCalcPeriod in minutes; 0: its default.
_SHORTEST_PERIOD = 60.0


def checked_clocks(clocks_object: object) -> dict[str, float]:
    """Return numbers about the controller as a snapshot file has them; others are passed over.

    InvalidInstance names the field, its value and what is expected.
    """
    values = numbers(clocks_object, "clocks")
    for name, value in values.items():
        span = _RANGES.get(name)
        if span is not None and not span.low <= value <= span.high:
            raise InvalidInstance(
                f"clocks: {name} = {value:.15g}: expected {span.unit}, from {span.low:.15g} to "
                f"{span.high:.15g}"
            )
    if 0 < values.get("calc_period", 0.0) < _SHORTEST_PERIOD:
        raise InvalidInstance(
            f"clocks: calc_period = {values['calc_period']:.15g}: expected 0 or at least "
            f"{_SHORTEST_PERIOD:g} seconds"
        )
    return values


#: Subject of the note on a time zone that nothing tells.
TIME_ZONE = "time zone"


def offset_of(
    texts: Mapping[str, str],
    jobs: Sequence[SnapshotJob],
    shown_jobs: Iterable[SnapshotJob],
    snapshot_time: float | None,
    zone: str | None,
    where: str,
    missing: list[Note],
) -> float:
    """Return seconds to add to local times, read as if they were UTC.

    `jobs` know their times since 1970, `shown` are the same with local ones; `taken`: the moment;
    `zone`: a name, for where nothing tells. What is guessed goes to `missing`. InvalidInstance
    where local times matter and nothing tells.
    """
    if zone is not None:
        return utc_offset(zone, snapshot_time or max((job.submit or 0 for job in jobs), default=0))
    submitted = {job.id: job.submit for job in jobs if job.submit}
    pairs = _time_pairs(texts, submitted, shown_jobs, snapshot_time)
    differences = (since - local for since, local in pairs if since and local)
    # A recycled job number tells of another day.
    difference = next(
        (
            difference_of_pair
            for difference_of_pair in differences
            if abs(difference_of_pair) <= _MAX_UTC_OFFSET
        ),
        None,
    )
    if difference is not None:
        return round(difference / _QUARTER) * _QUARTER
    possible = _possible_offsets(texts.get("scontrol_config.txt", ""), jobs)
    if possible:
        if len(possible) > 1:
            text = (
                "the time zone of dates is the first in which all jobs shown have been submitted: "
                "timezone (--timezone) says another"
            )
            missing.append(Note(NoteKind.ASSUMED, text, subject=TIME_ZONE))
        return possible[0]
    dated = [name for name in _LOCAL if name in texts]
    if dated:
        raise InvalidInstance(
            f"{where}: nothing tells of which time zone the dates of {dated[0]} are: expected "
            "scontrol_job.txt, sdiag.txt or times.json beside it, or a name such as "
            "Europe/Stockholm (timezone, --timezone)"
        )
    return 0.0


def _possible_offsets(config: str, jobs: Sequence[SnapshotJob]) -> list[float]:
    """Return offsets of zones in which no job came or started later than the configuration was
    shown, and none that runs should have ended long before."""
    match = _CONFIG_DATE.search(config)
    config_date = moment(match[1]) if match else None
    job_times = [
        t
        for job in jobs
        for t in (job.submit, job.start)
        if t and (job.state == "RUNNING" or t == job.submit)  # of one that waits, it is a plan
    ]
    if config_date is None or not job_times:
        return []
    ends = [
        job.start + job.limit for job in jobs if job.state == "RUNNING" and job.start and job.limit
    ]
    first, last = max(job_times), min(ends, default=float("inf")) + _MAX_OVERRUN
    hours = [3600.0 * hour for hour in range(-14, 13)]
    return [
        offset
        for offset in hours
        if first <= config_date + offset + _SLACK and config_date + offset <= last
    ]


def _time_pairs(
    texts: Mapping[str, str],
    submitted: Mapping[int, float],
    shown_jobs: Iterable[SnapshotJob],
    snapshot_time: float | None,
) -> Iterator[tuple[float | None, float | None]]:
    """Yield moments twice: in seconds since 1970, and as a local date."""
    for job in shown_jobs:
        yield submitted.get(job.id), job.submit
    header = re.search(
        r"sdiag output at (\w+ +\w+ +[0-9]+ [0-9:]+ [0-9]+) \(([0-9]{1,12})\)",
        texts.get("sdiag.txt", ""),
    )
    if header:
        yield float(header[2]), _ctime_seconds(header[1])
    for row in rows(texts.get("sacct.txt", ""), "sacct.txt"):
        number = row.get("JobID", "")
        submit_time = submitted.get(int(number)) if number.isdecimal() else None
        yield submit_time, moment(row.get("Submit", ""))
    config = _CONFIG_DATE.search(texts.get("scontrol_config.txt", ""))
    if config:
        yield snapshot_time, moment(config[1])


def _ctime_seconds(text: str) -> float | None:
    """Return the seconds of a date as ``Mon Nov 23 01:33:00 2026``, read as UTC; None: it is
    none."""
    try:
        date = datetime.strptime(" ".join(text.split()), "%a %b %d %H:%M:%S %Y")
    except ValueError:
        return None
    return date.replace(tzinfo=timezone.utc).timestamp()


def utc_offset(name: str, seconds: float) -> float:
    """Return the seconds to add to local times of a zone at a moment."""
    try:
        offset = datetime.fromtimestamp(seconds, ZoneInfo(name)).utcoffset()
    except (KeyError, ValueError, OSError, OverflowError, TypeError):
        raise InvalidInstance(
            f"timezone = {shorten(name)}: expected a name such as Europe/Stockholm"
        ) from None
    return -offset.total_seconds() if offset is not None else 0.0


_PARTS = ("SITE", "AGE", "ASSOC", "FAIRSHARE", "JOBSIZE", "PARTITION", "QOS", "NICE")
#: What sdiag tells: when it was asked and when the last cycle of the backfill scheduler was
#: (seconds since 1970), how long that took (microseconds), and how many jobs it tried; by the key
#: of its JSON, and the line of its text.
_SDIAG = {
    "asked": ("req_time", r"sdiag output at .*\(([0-9]{1,15})\)"),
    "last": ("bf_when_last_cycle", r"Last cycle when:.*\(([0-9]{1,15})\)"),
    "cost": ("bf_cycle_last", r"(?s)Backfilling stats.*?Last cycle:\s+([0-9]{1,15})"),
    "depth": (
        "bf_last_depth_try",
        r"(?s)Backfilling stats.*?Last depth cycle \(try sched\):\s+([0-9]{1,15})",
    ),
}


def query_time(texts: Mapping[str, str]) -> float | None:
    """Return when the first command ran (s since 1970), as times.json says; None: it does not."""
    if "times.json" not in texts:
        return None
    times = io.parse_json(texts["times.json"], "times.json")
    if not isinstance(times, Mapping):
        raise InvalidInstance("times.json: expected an object by the names of files")
    first = times.get("squeue.json") or times.get("scontrol_job.txt")
    if not first:
        return None
    if not isinstance(first, list) or len(first) < 2:
        raise InvalidInstance(f"times.json: {shorten(first)}: expected [begin, end, ...]")
    return moment_of(first[1], "times.json")


def snapshot_time(texts: Mapping[str, str], jobs: Iterable[SnapshotJob], offset: float) -> float:
    """Return when the first command ran (s since 1970), as far as the texts say."""
    first = query_time(texts)
    if first is not None:
        return first
    match = re.search(r"Configuration data as of (\S+)", texts.get("scontrol_config.txt", ""))
    config_time = moment(match[1], offset) if match else None
    if config_time is None:
        config_time = _parse_sdiag(texts).get("asked")
    job_times = [t for job in jobs for t in (job.submit, job.start) if t]
    if start_times := [job.start for job in jobs if job.start and job.state == "RUNNING"]:
        job_times = [*start_times, *(job.submit or 0 for job in jobs)]
    return config_time if config_time is not None else max(job_times, default=0.0)


def parse_priorities(text: str) -> dict[int, dict[str, float]]:
    """Parts of the priority of each pending job, as ``sprio -l`` prints them."""
    parts_by_job: dict[int, dict[str, float]] = {}
    columns: list[str] = []
    for line, cells in enumerate(map(str.split, text.splitlines()), 1):
        if "PRIORITY" in cells:
            columns = cells[cells.index("PRIORITY") :]
        elif cells and re.fullmatch("[0-9]{1,15}", cells[0]):
            if not columns:
                raise InvalidInstance(f"sprio.txt: line {line}: no header: expected sprio -l")
            parts = _priority_parts(columns, cells[1:])
            if parts is None:
                numbers = ", ".join(name for name in columns if name in ("PRIORITY", *_PARTS))
                raise InvalidInstance(f"sprio.txt: line {line}: expected numbers: {numbers}")
            parts_by_job.setdefault(int(cells[0]), parts)
    return parts_by_job


def _priority_parts(columns: list[str], cells: list[str]) -> dict[str, float] | None:
    """Return the parts of a priority by name, counted from the end of a line: users and accounts
    may be missing, or numbers. The name of a QOS is a text, and may be missing too; TRES are the
    last, where there are some."""
    if columns[-1] == "TRES":
        columns = columns[:-1]
        cells = cells[:-1] if cells and "=" in cells[-1] else cells
    for names in (columns, [name for name in columns if name != "QOSNAME"]):
        text_by_name = dict(zip(names, cells[len(cells) - len(names) :], strict=False))
        texts = [text_by_name.get(name, "") for name in names if name != "QOSNAME"]
        if all(re.fullmatch(r"-?[0-9]{1,18}(\.[0-9]+)?", text) for text in texts):
            return {
                name: float(text_by_name[name])
                for name in ("PRIORITY", *_PARTS)
                if name in text_by_name
            }
    return None


def _parse_sdiag(texts: Mapping[str, str]) -> dict[str, float]:
    """Return what sdiag tells, by the names above: of its text, or of ``sdiag --json``."""
    text = texts.get("sdiag.txt", "")
    if not text.lstrip().startswith("{"):
        match_by_name = {name: re.search(line, text) for name, (_, line) in _SDIAG.items()}
        return {name: float(match[1]) for name, match in match_by_name.items() if match}
    statistics = object_of(io.parse_json(text, "sdiag.txt")).get("statistics")
    if not isinstance(statistics, Mapping):
        raise InvalidInstance("sdiag.txt: statistics: expected an object, as sdiag --json has it")
    number_by_name = {name: finite_number(statistics.get(key)) for name, (key, _) in _SDIAG.items()}
    return {name: value for name, value in number_by_name.items() if value is not None}


def clocks(
    texts: Mapping[str, str],
    jobs: Iterable[SnapshotJob],
    parts: Mapping[int, Mapping[str, float]],
    machine: Machine,
    now: float,
    offset: float,
) -> dict[str, float]:
    """``boot``, ``last_cycle``, ``last_pass`` (seconds since 1970, where known), ``cycle`` (s that
    one takes) and ``test`` (s of that for each job), and weights:
    ``weight_age, max_age, weight_fairshare, half_life, calc_period, enforces``."""
    config = texts.get("scontrol_config.txt", "")
    setting_by_name = dict(re.findall(r"(?m)^(\w+)[ \t]*=[ \t]*(.*?)[ \t]*$", config))
    clock_values: dict[str, float] = {}
    boot = moment(setting_by_name.get("BOOT_TIME", ""), offset)
    if boot is not None:
        clock_values["boot"] = boot
    sdiag = _parse_sdiag(texts)
    if 0 < sdiag.get("last", 0.0) <= now:
        clock_values["last_cycle"] = sdiag["last"]
    if "last" in sdiag and "cost" in sdiag:
        clock_values["cycle"] = sdiag["cost"] / 1e6
        clock_values["test"] = clock_values["cycle"] / max(sdiag.get("depth", 0.0), 1.0)
    for key, name in (
        ("weight_age", "PriorityWeightAge"),
        ("weight_fairshare", "PriorityWeightFairShare"),
    ):
        if re.fullmatch("[0-9]{1,18}", setting_by_name.get(name, "")):
            clock_values[key] = float(setting_by_name[name])
    for key, name in (
        ("max_age", "PriorityMaxAge"),
        ("half_life", "PriorityDecayHalfLife"),
        ("calc_period", "PriorityCalcPeriod"),
    ):
        text = setting_by_name.get(name, "")
        if ":" in text and (seconds := parse_slurm_time(text)) is not None:
            clock_values[key] = seconds
    clock_values["offset"] = offset
    clock_values["enforces"] = float(
        "limits" in setting_by_name.get("AccountingStorageEnforce", "").lower()
    )
    clock_values["multifactor"] = float(
        setting_by_name.get("PriorityType", "") == "priority/multifactor"
    )
    last = _last_pass(jobs, parts, clock_values, now)
    if last is not None:
        clock_values["last_pass"] = last
    return clock_values


def _last_pass(
    jobs: Iterable[SnapshotJob],
    parts: Mapping[int, Mapping[str, float]],
    clock_values: Mapping[str, float],
    now: float,
) -> float | None:
    """Return when priorities were computed last: the ages in them tell it, else the controller's
    start."""
    period = clock_values.get("calc_period", 300.0) or 300.0
    weight, full = clock_values.get("weight_age", 0.0), clock_values.get("max_age", 0.0)
    low, high = now - period, now
    if weight and full:
        for job in jobs:
            age = parts.get(job.id, {}).get("AGE")
            since = job.accrue or job.eligible or job.submit
            if not age or not since or age >= weight or job.state != "PENDING":
                continue
            interval = (since + (age - 0.5) / weight * full, since + (age + 0.5) / weight * full)
            if interval[1] > low and interval[0] < high:
                low, high = max(low, interval[0]), min(high, interval[1])
    if high - low < period * 0.9:
        return (low + high) / 2
    if "boot" in clock_values:
        return now - (now - clock_values["boot"]) % period
    return None
