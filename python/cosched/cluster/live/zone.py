"""How far local times are from those since 1970, by a moment that is told both ways."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any
from zoneinfo import ZoneInfo

from cosched.cluster.live.outputs import rows
from cosched.cluster.live.records import moment
from cosched.errors import InvalidInstance, shorten

_QUARTER = 900.0  # zones differ by whole quarters of an hour
_LOCAL = ("scontrol_config.txt", "sacct.txt")


def offset_of(
    texts: Mapping[str, str],
    jobs: Sequence[Mapping[str, Any]],
    shown: Iterable[Mapping[str, Any]],
    taken: float | None,
    zone: str | None,
    where: str,
) -> float:
    """Seconds to add to local times, read as if they were UTC.

    `jobs` know their times since 1970, `shown` are the same with local ones; `taken`: the moment;
    `zone`: a name, for where nothing tells. InvalidInstance where local times matter and nothing
    tells.
    """
    if zone is not None:
        return _of_zone(zone, taken or max((job["submit"] or 0 for job in jobs), default=0))
    submitted = {job["id"]: job["submit"] for job in jobs if job["submit"]}
    pairs = _pairs(texts, submitted, shown, taken)
    found = next((since - local for since, local in pairs if since and local), None)
    if found is not None:
        return round(found / _QUARTER) * _QUARTER
    dated = [name for name in _LOCAL if name in texts]
    if dated:
        raise InvalidInstance(
            f"{where}: nothing tells of which time zone the dates of {dated[0]} are: expected "
            "scontrol_job.txt, sdiag.txt or times.json beside it, or a name such as "
            "Europe/Stockholm (timezone, --timezone)"
        )
    return 0.0


def _pairs(
    texts: Mapping[str, str],
    submitted: Mapping[int, float],
    shown: Iterable[Mapping[str, Any]],
    taken: float | None,
) -> Iterator[tuple[float | None, float | None]]:
    """The same moment since 1970, and as a local date."""
    for job in shown:
        yield submitted.get(job["id"]), job["submit"]
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
    config = re.search(r"Configuration data as of (\S+)", texts.get("scontrol_config.txt", ""))
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
