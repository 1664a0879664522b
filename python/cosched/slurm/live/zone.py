"""How far local times are from those since 1970, by a moment that is told both ways."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from zoneinfo import ZoneInfo

from cosched.errors import InvalidInstance, shorten
from cosched.slurm.live.model import Job
from cosched.slurm.live.outputs import rows
from cosched.slurm.live.records import moment

_QUARTER = 900.0  # zones differ by whole quarters of an hour
_SLACK = 60.0  # s between two commands
_LATE = 3600.0  # s that a job may run beyond its limit
_SHOWN = re.compile(r"Configuration data as of (\S+)")
_LOCAL = ("scontrol_config.txt", "sacct.txt")


def offset_of(
    texts: Mapping[str, str],
    jobs: Sequence[Job],
    shown: Iterable[Job],
    taken: float | None,
    zone: str | None,
    where: str,
    missing: list[str],
) -> float:
    """Seconds to add to local times, read as if they were UTC.

    `jobs` know their times since 1970, `shown` are the same with local ones; `taken`: the moment;
    `zone`: a name, for where nothing tells. What is guessed goes to `missing`. InvalidInstance
    where local times matter and nothing tells.
    """
    if zone is not None:
        return _of_zone(zone, taken or max((job.submit or 0 for job in jobs), default=0))
    submitted = {job.id: job.submit for job in jobs if job.submit}
    pairs = _pairs(texts, submitted, shown, taken)
    found = next((since - local for since, local in pairs if since and local), None)
    if found is not None:
        return round(found / _QUARTER) * _QUARTER
    possible = _possible(texts.get("scontrol_config.txt", ""), jobs)
    if possible:
        if len(possible) > 1:
            missing.append(
                "the time zone of dates is the first in which all jobs shown have been submitted: "
                "timezone (--timezone) says another"
            )
        return possible[0]
    dated = [name for name in _LOCAL if name in texts]
    if dated:
        raise InvalidInstance(
            f"{where}: nothing tells of which time zone the dates of {dated[0]} are: expected "
            "scontrol_job.txt, sdiag.txt or times.json beside it, or a name such as "
            "Europe/Stockholm (timezone, --timezone)"
        )
    return 0.0


def _possible(config: str, jobs: Sequence[Job]) -> list[float]:
    """Hours of a zone in which no job came or started later than the configuration was shown, and
    none that runs should have ended long before."""
    shown = moment(found[1]) if (found := _SHOWN.search(config)) else None
    began = [t for job in jobs for t in (job.submit, job.start) if t and _past(job, t)]
    if shown is None or not began:
        return []
    ends = [
        job.start + job.limit for job in jobs
        if job.state == "RUNNING" and job.start and job.limit
    ]  # fmt: skip
    first, last = max(began), min(ends, default=float("inf")) + _LATE
    hours = [3600.0 * hour for hour in range(-14, 13)]
    return [
        offset for offset in hours if first <= shown + offset + _SLACK and shown + offset <= last
    ]


def _past(job: Job, time: float) -> bool:
    """Of a job that waits, the start is a plan."""
    return job.state == "RUNNING" or time == job.submit


def _pairs(
    texts: Mapping[str, str],
    submitted: Mapping[int, float],
    shown: Iterable[Job],
    taken: float | None,
) -> Iterator[tuple[float | None, float | None]]:
    """The same moment since 1970, and as a local date."""
    for job in shown:
        yield submitted.get(job.id), job.submit
    header = re.search(
        r"sdiag output at (\w+ +\w+ +[0-9]+ [0-9:]+ [0-9]+) \(([0-9]{1,12})\)",
        texts.get("sdiag.txt", ""),
    )
    if header:
        yield float(header[2]), _of_ctime(header[1])
    for row in rows(texts.get("sacct.txt", ""), "sacct.txt"):
        number = row.get("JobID", "")
        known = submitted.get(int(number)) if number.isdecimal() else None
        yield known, moment(row.get("Submit", ""))
    config = _SHOWN.search(texts.get("scontrol_config.txt", ""))
    if config:
        yield taken, moment(config[1])


def _of_ctime(text: str) -> float | None:
    try:
        date = datetime.strptime(" ".join(text.split()), "%a %b %d %H:%M:%S %Y")
    except ValueError:
        return None
    return date.replace(tzinfo=timezone.utc).timestamp()


def _of_zone(name: str, at: float) -> float:
    try:
        there = datetime.fromtimestamp(at, ZoneInfo(name)).utcoffset()
    except (KeyError, ValueError, OSError, OverflowError, TypeError):
        raise InvalidInstance(
            f"timezone = {shorten(name)}: expected a name such as Europe/Stockholm"
        ) from None
    return -there.total_seconds() if there is not None else 0.0
