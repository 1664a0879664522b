"""What cosched wants to know of a job, in Snakemake's words."""

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def rule(job: object) -> str:
    """Name of the job's rule."""
    return getattr(getattr(job, "rule", None), "name", "job")


def name(job: Any) -> str:
    """Rule and first output: what people know a job by. The same in every run."""
    members = group(job)
    if members:
        return " + ".join(sorted(map(name, members)))
    return " ".join([rule(job), *(str(path) for path in list(job.output)[:1])])


def group(job: object) -> tuple[Any, ...]:
    """The jobs of a group; () of a single one."""
    return tuple(getattr(job, "jobs", ()))


def subjects(job: object) -> tuple[tuple[str, str], ...]:
    """Values of its wildcards: what it works on."""
    return tuple((getattr(job, "wildcards_dict", None) or {}).items())


def needs(resources: Mapping[str, object]) -> dict[str, int]:
    """Amounts; what Snakemake does not know yet (TBD), and texts, are left out."""
    return {k: v for k, v in resources.items() if isinstance(v, int) and not isinstance(v, bool)}


def resources(job: Any) -> Mapping[str, Any]:
    """Of a job that is not ready. Not its `scheduler_resources`: Snakemake keeps what is read
    there, and what is not known yet would be missing for good."""
    return getattr(job, "resources", None) or job.scheduler_resources


def runtime(job: object) -> float | None:
    """Seconds by `resources.runtime` (minutes), where it is known."""
    minutes = resources(job).get("runtime")
    return 60.0 * minutes if isinstance(minutes, (int, float)) and minutes > 0 else None


def benchmark(job: object, before: float = float("inf")) -> float | None:
    """Seconds that the benchmark file of an earlier run, written before that time, holds, of all
    its repetitions."""
    path = getattr(job, "benchmark", None)
    if not path:
        return None
    try:
        if Path(str(path)).stat().st_mtime >= before:
            return None
        lines = Path(str(path)).read_text().splitlines()
        rows: Sequence[Mapping[str, Any]]
        if str(path).endswith(".jsonl"):
            rows = [json.loads(line) for line in lines]
        else:
            rows = list(csv.DictReader(lines, delimiter="\t"))
        seconds = sum(float(row["s"]) for row in rows)
    except (OSError, ValueError, KeyError, TypeError):
        return None  # there is none, or it is no benchmark: another source says it
    return seconds if rows and 0 <= seconds < float("inf") else None
