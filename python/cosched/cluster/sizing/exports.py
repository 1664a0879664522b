"""Advice as workflow systems, batch scripts and people read it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from cosched.errors import InvalidInstance, shorten
from cosched.lazy import pd

FORMS = ("snakemake", "nextflow", "sbatch")
_NONE = (
    "no named step has past enough for advice that holds: a larger --risk needs less, and --by "
    "name takes all jobs of a name together"
)
_WORDS_OF_YAML = ("true", "false", "yes", "no", "on", "off", "null", "y", "n")
#: What means something else in a withName of Nextflow, which takes a regular expression.
_PATTERN = re.compile(r"[\\^$.|?*+()\[\]{}!]")
#: What workflow systems put around the names of their steps.
_AROUND = re.compile(r"^(?:snakejob\.|nf-|smk-)|\.sh$|[^A-Za-z0-9]*#.*$")


def limit_as_typed(seconds: float) -> str:
    """A limit as sbatch takes it.

    >>> limit_as_typed(4500.0)
    '1:15:00'
    """
    minutes, rest = divmod(math.ceil(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def megabytes(gigabytes: float) -> int:
    """Of a node, as Slurm counts them; of a partition's largest node not one more than it has.

    >>> megabytes(1.5)
    1536
    """
    return math.ceil(round(gigabytes * 1024, 6))


def export(advice: pd.DataFrame, form: str, risk: float) -> str:
    """The advice as text.

    Parameters
    ----------
    advice : pandas.DataFrame
        Of :class:`RightSize`.
    form : {"snakemake", "nextflow", "sbatch"}
        A profile's ``set-resources``, ``withName`` blocks, or lines by job name.
    risk : float
        What is promised.
    """
    if form not in FORMS:
        raise InvalidInstance(f"export {shorten(form)}: expected {', '.join(FORMS)}")
    if "name" not in advice:
        raise InvalidInstance(f"export {form}: the log does not say how jobs are called: JobName")
    about = f"killed at most {100 * risk:g}% of the jobs"
    lines = {"snakemake": _snakemake, "nextflow": _nextflow, "sbatch": _sbatch}[form](advice, about)
    return "".join(f"{line}\n" for line in lines)


def options_of(row: Any) -> Iterator[str]:
    """Options of sbatch; ``--mem`` is that of a node."""
    if row["limit"] > 0:
        yield f"--time={limit_as_typed(row['limit'])}"
    if row["memory_gb"] > 0:
        whole, rest = divmod(megabytes(row["node_memory_gb"]), 1024)
        yield f"--mem={1024 * whole + rest}M" if rest else f"--mem={whole}G"


def _sbatch(advice: pd.DataFrame, about: str) -> Iterator[str]:
    said = advice[(advice["limit"] > 0) | (advice["memory_gb"] > 0)]
    yield f"# {about}" if len(said) else f"# {_NONE}"
    for _, row in said.iterrows():
        who = ", ".join(f"{key} {row[key]}" for key in ("user", "partition", "cores") if key in row)
        yield f"# {_on_a_line(row['name'])}: {_on_a_line(who)}; {row['jobs']} jobs"
        yield from (f"#SBATCH {option}" for option in options_of(row))


def _steps(advice: pd.DataFrame) -> Iterator[tuple[str, Any]]:
    """What is enough for all jobs of a step of a workflow: nothing of what one of its groups has
    no advice for, 0."""
    steps = advice.assign(name=[_AROUND.sub("", _AROUND.sub("", n)) for n in advice["name"]],
                          mb=[megabytes(x) if x > 0 else np.inf for x in advice["node_memory_gb"]],
                          minutes=np.ceil(advice["limit"] / 60).fillna(np.inf))  # fmt: skip
    each = {"minutes": "max", "mb": "max", "jobs": "sum"}
    steps = steps[steps["name"] != ""].groupby("name")[[*each]].agg(each).replace(np.inf, 0)
    for name, row in steps[(steps["mb"] > 0) | (steps["minutes"] > 0)].iterrows():
        yield str(name), row


def _snakemake(advice: pd.DataFrame, about: str) -> Iterator[str]:
    steps = list(_steps(advice))
    yield from [f"# {about}", "set-resources:"] if steps else [f"# {_NONE}", "set-resources: {}"]
    for name, row in steps:
        plain = re.fullmatch(r"[A-Za-z_]\w*", name) and name.lower() not in _WORDS_OF_YAML
        key = name if plain else json.dumps(_on_a_line(name), ensure_ascii=False)
        yield f"  {key}:  # {row['jobs']:.0f} jobs"
        if row["mb"] > 0:
            yield f"    mem_mb: {row['mb']:.0f}"
        if row["minutes"] > 0:
            yield f"    runtime: {row['minutes']:.0f}"


def _nextflow(advice: pd.DataFrame, about: str) -> Iterator[str]:
    steps = list(_steps(advice))
    yield f"// {about if steps else _NONE}"
    yield "process {"
    for name, row in steps:
        quoted = (
            _PATTERN.sub(r"\\\g<0>", _on_a_line(name)).replace("\\", "\\\\").replace("'", "\\'")
        )
        yield f"  withName: '{quoted}' {{  // {row['jobs']:.0f} jobs"
        if row["mb"] > 0:
            yield f"    memory = '{row['mb']:.0f} MB'"
        if row["minutes"] > 0:
            yield f"    time = '{row['minutes']:.0f} min'"
        yield "  }"
    yield "}"


def _on_a_line(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)
