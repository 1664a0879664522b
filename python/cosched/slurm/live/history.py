"""Jobs of the past, as sacct printed them."""

from __future__ import annotations

import re

from cosched.cluster.machine.node_types import time_of
from cosched.slurm.live.model import Ended, made
from cosched.slurm.live.outputs import rows
from cosched.slurm.live.records import moment

_NEEDED = ("JobID", "Submit", "Start", "End")


def history_of(text: str, offset: float = 0.0, name: str = "sacct.txt") -> list[Ended]:
    """Jobs that have ended, by submission."""
    found = []
    for number, row in enumerate(rows(text, name, _NEEDED), 2):
        if "." in row["JobID"] or not row.get("State", "COMPLETED").strip():
            continue
        submit, start, end = (moment(row[key], offset) for key in ("Submit", "Start", "End"))
        if submit is None or start is None or end is None or end < start:
            continue
        first = re.match(r"[0-9]{1,15}", row["JobID"])
        own = {
            "id": int(first[0]) if first else 0,
            "user": row.get("User", ""), "account": row.get("Account", ""),
            "partition": row.get("Partition", ""), "qos": row.get("QOS", ""),
            "submit": submit, "eligible": moment(row.get("Eligible", ""), offset) or submit,
            "start": start, "end": end, "limit": _limit(row),
            "nodes": int(_number(row.get("NNodes", "")) or 1),
            "cpus": int(_number(_requested(row)) or _number(row.get("NCPUS", "")) or 1),
            "state": row.get("State", "").split(" ")[0],
            "nodelist": row.get("NodeList", ""),
            "allocated": int(_number(row.get("NCPUS", "")) or 1),
        }  # fmt: skip
        found.append(made(Ended, own, f"{name}: line {number}"))
    return sorted(found, key=lambda job: (job.submit, job.id))


def _requested(row: dict[str, str]) -> str:
    found = re.search(r"cpu=([0-9]{1,15})", row.get("ReqTRES", ""))
    return found[1] if found else ""


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"[0-9]{1,15}(\.[0-9]+)?", text.strip()) else None


def _limit(row: dict[str, str]) -> float | None:
    """Seconds; TimelimitRaw is minutes."""
    minutes = _number(row.get("TimelimitRaw", ""))
    if minutes is not None:
        return 60 * minutes
    text = row.get("Timelimit", "")
    return time_of(text) if ":" in text else None
