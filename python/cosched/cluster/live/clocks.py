"""When a snapshot was taken, and where the controller's clocks are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone

from cosched import io
from cosched.cluster.live.model import Job, moment_of
from cosched.cluster.live.records import moment
from cosched.cluster.machine import Machine
from cosched.errors import InvalidInstance, shorten

_PARTS = ("SITE", "AGE", "ASSOC", "FAIRSHARE", "JOBSIZE", "PARTITION", "QOS", "NICE")


def told(texts: Mapping[str, str]) -> float | None:
    """Seconds since 1970 of the first command, as who ran it wrote it down."""
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


def taken(texts: Mapping[str, str], jobs: Iterable[Job], offset: float) -> float:
    """Seconds since 1970: of the first command, where that is said."""
    first = told(texts)
    if first is not None:
        return first
    found = re.search(r"Configuration data as of (\S+)", texts.get("scontrol_config.txt", ""))
    when = moment(found[1], offset) if found else None
    if when is None:
        seen = re.search(r"sdiag output at .*\(([0-9]+)\)", texts.get("sdiag.txt", ""))
        when = float(seen[1]) if seen else None
    known = [t for job in jobs for t in (job.submit, job.start) if t]
    if job_times := [job.start for job in jobs if job.start and job.state == "RUNNING"]:
        known = [*job_times, *(job.submit or 0 for job in jobs)]
    return when if when is not None else max(known, default=0.0)


def priorities(text: str) -> dict[int, dict[str, float]]:
    """Parts of the priority of each pending job, as ``sprio -l`` prints them."""
    found: dict[int, dict[str, float]] = {}
    lines = text.splitlines()
    names = lines[0].split() if lines else []
    if "PRIORITY" not in names:
        return found
    columns = names[names.index("PRIORITY") :]
    for line in lines[1:]:
        cells = line.split()
        # The user's name may be empty; numbers are counted from the priority on.
        begin = next((k for k in range(2, len(cells)) if _is_number(cells[k])), None)
        if begin is None or not cells[0].isdigit():
            continue
        numbers = [float(cell) for cell in cells[begin:] if _is_number(cell)]
        own = dict(zip(columns, numbers, strict=False))
        found.setdefault(
            int(cells[0]), {key: own[key] for key in ("PRIORITY", *_PARTS) if key in own}
        )
    return found


def _is_number(text: str) -> bool:
    return re.fullmatch(r"-?[0-9.]+", text) is not None


def clocks(
    texts: Mapping[str, str],
    jobs: Iterable[Job],
    parts: Mapping[int, Mapping[str, float]],
    machine: Machine,
    now: float,
    offset: float,
) -> dict[str, float]:
    """``boot``, ``last_cycle``, ``last_pass`` (seconds since 1970, where known), ``cycle`` (s that
    one takes) and ``test`` (s of that for each job), and weights:
    ``weight_age, max_age, weight_fairshare, half_life, calc_period, enforces``."""
    config = texts.get("scontrol_config.txt", "")
    given = dict(re.findall(r"(?m)^(\w+)[ \t]*=[ \t]*(.*?)[ \t]*$", config))
    found: dict[str, float] = {}
    boot = moment(given.get("BOOT_TIME", ""), offset)
    if boot is not None:
        found["boot"] = boot
    cycle = re.search(r"Last cycle when:.*\(([0-9]+)\)", texts.get("sdiag.txt", ""))
    if cycle and 0 < float(cycle[1]) <= now:
        found["last_cycle"] = float(cycle[1])
    cost = re.search(
        r"Backfilling stats.*?Last cycle:\s+([0-9]+)", texts.get("sdiag.txt", ""), re.S
    )
    depth = re.search(
        r"Backfilling stats.*?Last depth cycle \(try sched\):\s+([0-9]+)",
        texts.get("sdiag.txt", ""), re.S,
    )  # fmt: skip
    if cycle and cost:
        found["cycle"] = float(cost[1]) / 1e6
        found["test"] = found["cycle"] / max(float(depth[1]) if depth else 0.0, 1.0)
    for key, name in (
        ("weight_age", "PriorityWeightAge"), ("weight_fairshare", "PriorityWeightFairShare"),
    ):  # fmt: skip
        if given.get(name, "").isdigit():
            found[key] = float(given[name])
    for key, name in (
        ("max_age", "PriorityMaxAge"), ("half_life", "PriorityDecayHalfLife"),
        ("calc_period", "PriorityCalcPeriod"),
    ):  # fmt: skip
        if (seconds := _seconds(given.get(name, ""))) is not None:
            found[key] = seconds
    found["offset"] = offset
    found["enforces"] = float("limits" in given.get("AccountingStorageEnforce", "").lower())
    found["multifactor"] = float(given.get("PriorityType", "") == "priority/multifactor")
    last = _last_pass(jobs, parts, found, now)
    if last is not None:
        found["last_pass"] = last
    return found


def _seconds(text: str) -> float | None:
    found = re.fullmatch(r"(?:(\d+)-)?(\d+):(\d+):(\d+)", text)
    if not found:
        return None
    days, hours, minutes, rest = (int(part or 0) for part in found.groups())
    return days * 86400.0 + hours * 3600 + minutes * 60 + rest


def _last_pass(
    jobs: Iterable[Job],
    parts: Mapping[int, Mapping[str, float]],
    known: Mapping[str, float],
    now: float,
) -> float | None:
    """When priorities were computed last: the ages in them tell it, else the controller's start."""
    period = known.get("calc_period", 300.0) or 300.0
    weight, full = known.get("weight_age", 0.0), known.get("max_age", 0.0)
    low, high = now - period, now
    if weight and full:
        for job in jobs:
            age = parts.get(job.id, {}).get("AGE")
            since = job.accrue or job.eligible or job.submit
            if not age or not since or age >= weight or job.state != "PENDING":
                continue
            own = (since + (age - 0.5) / weight * full, since + (age + 0.5) / weight * full)
            if own[1] > low and own[0] < high:
                low, high = max(low, own[0]), min(high, own[1])
    if high - low < period * 0.9:
        return (low + high) / 2
    if "boot" in known:
        return now - (now - known["boot"]) % period
    return None


def day_of(seconds: float) -> datetime:
    """Its date, in UTC."""
    return datetime.fromtimestamp(seconds, timezone.utc)
