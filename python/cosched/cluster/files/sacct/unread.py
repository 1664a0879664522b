"""Cells of sacct that cannot be read: they are taken as empty, and counted in a note."""

from __future__ import annotations

from functools import partial

import numpy as np

from cosched.cluster.files.sacct.holds import COUNT, SIZE, too_large
from cosched.cluster.files.sacct.texts import each
from cosched.cluster.files.sacct.times import DURATION
from cosched.lazy import pd

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
#: Of what steps used.
_SOUND_STEPS = {"MaxRSS": SIZE, "TotalCPU": DURATION, "NTasks": COUNT}


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
