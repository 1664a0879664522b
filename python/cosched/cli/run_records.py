"""``cosched validate`` of what a run left behind."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from cosched import io
from cosched.core import Family
from cosched.errors import InvalidSchedule
from cosched.execution.record import FORMAT, Execution


def record_of(of: Family, instance: Any, path: Path) -> Execution | None:
    """The record of a run of this instance; None: the file is none."""
    if not io.bare_name(path).endswith(".json"):
        return None
    data = io.read_json(path)
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        return None
    record = Execution.read(path)
    tasks = sorted(task.task for task in record.tasks)
    if record.family != of.name or tasks != list(range(len(instance.names))):
        raise InvalidSchedule("the record of a run of something else")
    return record


def summary(record: Execution) -> str:
    """What is to be said of a run that kept what there is; InvalidSchedule for another."""
    record.validate()
    done = sum(task.state == "completed" for task in record.tasks)
    kept = ["no unit was used twice at once"]
    if record.capacity:
        kept.append(f"{', '.join(sorted(record.capacity))} kept")
    end = "" if math.isnan(record.makespan) else f", real end {record.makespan:.9g} s"
    return f"valid as it happened: {done} of {len(record.tasks)} tasks completed{end}, " + (
        ", ".join(kept)
    )
