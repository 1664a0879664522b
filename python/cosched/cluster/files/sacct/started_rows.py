"""Jobs of sacct's output that have started; those that wait still, or are there twice."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from cosched.cluster.files.facts import NOT_ENDED
from cosched.cluster.files.sacct.columns import NOT_YET, map_unique
from cosched.core.text import count_of
from cosched.lazy import pd
from cosched.notes import Note, NoteKind

#: States of jobs, see the list in sacct(1).
_RUNNING = ("RUNNING", "SUSPENDED", "RESIZING", "COMPLETING", "STOPPED", "SIGNALING", "STAGE_OUT")
_PENDING = ("PENDING", "REQUEUE_HOLD", "REQUEUE_FED", "RESV_DEL_HOLD", "CONFIGURING",
            "SPECIAL_EXIT")  # fmt: skip
_ENDED = ("COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "BOOT_FAIL",
          "DEADLINE", "OUT_OF_MEMORY", "REQUEUED", "REVOKED", "LAUNCH_FAILED", "RECONFIG_FAIL",
          "POWER_UP_NODE", "EXPEDITING")  # fmt: skip
STATES = (*_RUNNING, *_PENDING, *_ENDED)

#: What sacct prints as NodeList of a job that has no nodes.
NO_NODES = "None assigned"


def started_rows(
    rows: pd.DataFrame, reasons: dict[str, np.ndarray], include_running: bool
) -> tuple[pd.DataFrame, list[Note]]:
    """The rows of jobs that have started, and what waits still."""
    state = map_unique(rows["State"], lambda texts: texts.map(_state_of))
    running, pending = np.isin(state, _RUNNING), np.isin(state, _PENDING)
    if "End" in rows:  # Slurm ends the record of a job that changes its size, and begins another
        has_end = ~rows["End"].isin(NOT_YET).to_numpy()
        running &= ~((state == "RESIZING") & has_end)
    rows = rows.assign(State=state, running=running)
    queue_notes = _still_waiting(rows.loc[pending, "JobID"])
    out = pending if include_running else pending | running
    rows = drop_rows(rows, reasons, out, NOT_ENDED)
    never = rows["Start"].isin(NOT_YET)
    if "NodeList" in rows:
        never |= (rows["NodeList"] == NO_NODES) & ~rows["running"]
    rows = drop_rows(rows, reasons, never, "never started")
    return _deduplicate(rows, reasons), queue_notes


def _state_of(text: str) -> str:
    """Return ``CANCELLED`` of ``CANCELLED by 5``; ``OUT_OF_MEMORY`` of ``OUT_OF_ME+``, cut by a
    column."""
    words = text.split(" ", 1)
    state = words[0].rstrip("+").upper()
    if words[0].endswith("+") and state not in STATES:
        full_names = [name for name in STATES if name.startswith(state)]
        return full_names[0] if len(full_names) == 1 else state
    return state


def _deduplicate(rows: pd.DataFrame, reasons: dict[str, np.ndarray]) -> pd.DataFrame:
    """Drop rows that are there twice: outputs of adjoining months, put together, have jobs that ran
    over midnight twice."""
    is_shared = rows.duplicated(["JobID", "Start"], keep=False).to_numpy()
    shared_rows = rows[is_shared]
    is_repeated, is_ended = np.zeros((2, len(rows)), dtype=bool)
    is_repeated[is_shared] = shared_rows.duplicated(
        [name for name in rows.columns if name != "line"]
    )
    run = shared_rows.set_index(["JobID", "Start"])["running"]
    is_ended[is_shared] = run.to_numpy() & run.index.isin(run.index[~run.to_numpy()])
    reasons["the same row once more"] = rows.loc[is_repeated, "line"].to_numpy()
    reasons["ended in another row"] = rows.loc[is_ended & ~is_repeated, "line"].to_numpy()
    is_left_out = is_repeated | is_ended
    return rows[~is_left_out] if is_left_out.any() else rows


def _still_waiting(ids: pd.Series) -> list[Note]:
    """Return jobs and array tasks that have not started: ``123_[1-10,12%4]`` are eleven of them."""
    if not len(ids):
        return []
    tasks = sum(_tasks(text) for text in ids.tolist())
    tasks_remark = f" ({tasks:,} with the tasks of arrays)" if tasks > len(ids) else ""
    text = f"  {count_of(len(ids), 'job')} still pending{tasks_remark}: they have no run time"
    return [Note(NoteKind.UNKNOWN, text, subject="pending jobs", count=len(ids))]


def _tasks(job: str) -> int:
    index_match = re.search(r"_\[([0-9,:-]+)(?:%[0-9]+)?\]?", job)
    if not index_match:
        return 1
    total = 0
    for part in filter(None, index_match[1].split(",")):
        span_match = re.fullmatch(r"([0-9]{1,9})(?:-([0-9]{1,9})(?::([0-9]{1,9}))?)?", part)
        if span_match:
            first, last, step = (
                int(span_match[1]),
                int(span_match[2] or span_match[1]),
                int(span_match[3] or 1),
            )
            total += max(0, (last - first) // max(step, 1) + 1)
    return max(total, 1)


def drop_rows(
    rows: pd.DataFrame, reasons: dict[str, np.ndarray], out: Any, reason: str
) -> pd.DataFrame:
    reasons[reason] = rows.loc[out, "line"].to_numpy()
    return rows[~out] if len(reasons[reason]) else rows
