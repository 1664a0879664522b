"""Write recommended requests for workflow systems and batch scripts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from cosched.cluster.instance.job_names import names_a_kind
from cosched.core.text import count_of
from cosched.errors import InvalidInstance, shorten
from cosched.lazy import pd
from cosched.units import format_time_limit, megabytes_rounded_up

FORMS = ("snakemake", "nextflow", "sbatch")
_NO_ADVICE = (
    "no named step has enough past jobs for advice: a larger --risk needs fewer, and --by name "
    "takes all jobs of a name together"
)
_NO_ADVICE_FOR_GROUPS = "no group has enough past jobs for advice: a larger --risk needs fewer"
_ENOUGH_FOR = "enough for the jobs of"
_NO_DEFAULT = (
    "a group has too few past jobs for advice, so no default is enough for all: a larger --risk "
    "needs fewer"
)
_WORDS_OF_YAML = ("true", "false", "yes", "no", "on", "off", "null", "y", "n")
#: Columns of groups that distinguish the steps of a workflow; the first that exists counts.
_STEP_COLUMNS = ("name", "comment")
#: Columns of groups that the line above some options of sbatch lists.
_GROUP_COLUMNS = ("user", "account", "partition", "group", "qos", "comment", "cores")
#: What means something else in a withName of Nextflow, which takes a regular expression.
_PATTERN = re.compile(r"[\\^$.|?*+()\[\]{}!]")
#: What workflow systems put around the names of their steps.
_STEP_NAME_DECORATION = re.compile(r"^(?:snakejob\.|nf-|smk-)|\.sh$|[^A-Za-z0-9]*#.*$")


def export(advice: pd.DataFrame, form: str, risk: float) -> str:
    """The advice as text.

    Steps of a workflow are called after the column ``name`` of the advice, or after ``comment``.
    Where the groups have neither (``--by account``), nothing tells steps apart: a workflow gets
    one default for all of them, which is enough for the jobs of each group.

    Parameters
    ----------
    advice : pandas.DataFrame
        Of :class:`RightSize`.
    form : {"snakemake", "nextflow", "sbatch"}
        A profile's ``set-resources``, ``withName`` blocks, or lines by group.
    risk : float
        What is promised.
    """
    if form not in FORMS:
        raise InvalidInstance(f"export {shorten(form)}: expected {', '.join(FORMS)}")
    about = f"killed at most {100 * risk:g}% of the jobs"
    column = _step_column(advice)
    if column is not None:
        has_name = names_a_kind(advice[column].astype(str))
        nameless_jobs = int(advice["jobs"][~has_name].sum())
        if nameless_jobs:
            about += f"; {_left_out_clause(nameless_jobs, column)}"
        advice = advice[has_name]
    writers = {"snakemake": _snakemake, "nextflow": _nextflow, "sbatch": _sbatch}
    lines = writers[form](advice, about)
    return "".join(f"{line}\n" for line in lines)


def _step_column(advice: pd.DataFrame) -> str | None:
    """Return the column that distinguishes the steps of a workflow, or None."""
    return next((column for column in _STEP_COLUMNS if column in advice), None)


def _left_out_clause(jobs: int, column: str) -> str:
    """Return the clause that says why an export lacks jobs."""
    if column == "comment":
        return (
            f"{count_of(jobs, 'job')} left out, whose Comment is empty or differs in every run "
            "(UUIDs or numbers)"
        )
    return f"{jobs:,} jobs left out, whose names differ in every run (UUIDs or numbers)"


def _group_text(row: Any, step_column: str | None) -> str:
    """Return the group of a row of advice, as in ``user ada, partition long``."""
    columns = [column for column in _GROUP_COLUMNS if column in row and column != step_column]
    return _on_a_line(", ".join(f"{column} {row[column]}" for column in columns))


def options_of(row: Any) -> Iterator[str]:
    """Yield the options of sbatch for a row of advice; ``--mem`` is per node."""
    if row["limit"] > 0:
        yield f"--time={format_time_limit(row['limit'])}"
    if row["memory_gb"] > 0:
        gigabytes_of_node, megabytes_left = divmod(
            megabytes_rounded_up(row["node_memory_gb"]), 1024
        )
        yield (
            f"--mem={1024 * gigabytes_of_node + megabytes_left}M"
            if megabytes_left
            else f"--mem={gigabytes_of_node}G"
        )


def _sbatch(advice: pd.DataFrame, about: str) -> Iterator[str]:
    advised_groups = advice[(advice["limit"] > 0) | (advice["memory_gb"] > 0)]
    column = _step_column(advice)
    yield f"# {about}"
    if not len(advised_groups):
        yield f"# {_NO_ADVICE_FOR_GROUPS if column is None else _NO_ADVICE}"
    for _, row in advised_groups.iterrows():
        group = _group_text(row, column)
        step = "" if column is None else _on_a_line(str(row[column]))
        heading = ": ".join(text for text in (step, group) if text) or "all jobs"
        yield f"# {heading}; {row['jobs']} jobs"
        yield from (f"#SBATCH {option}" for option in options_of(row))


def _steps(advice: pd.DataFrame) -> Iterator[tuple[str, Any]]:
    """Yield each step of a workflow and what suffices for all its jobs.

    A measure is 0 where one of the groups of the step has no advice for it.
    """
    names = advice[_step_column(advice)].astype(str)
    # Names may be decorated twice, as in snakejob.STEP.sh.
    step_names = [
        _STEP_NAME_DECORATION.sub("", _STEP_NAME_DECORATION.sub("", name)) for name in names
    ]
    steps = _whole_units(advice).assign(name=step_names)
    aggregations = {"minutes": "max", "mb": "max", "jobs": "sum"}
    steps = (
        steps[steps["name"] != ""]
        .groupby("name")[[*aggregations]]
        .agg(aggregations)
        .replace(np.inf, 0)
    )
    for name, row in steps[(steps["mb"] > 0) | (steps["minutes"] > 0)].iterrows():
        yield str(name), row


def _whole_units(advice: pd.DataFrame) -> pd.DataFrame:
    """Return the advice with whole ``minutes`` and ``mb``; infinite where there is none."""
    return advice.assign(
        mb=[megabytes_rounded_up(x) if x > 0 else np.inf for x in advice["node_memory_gb"]],
        minutes=np.ceil(advice["limit"] / 60).fillna(np.inf),
    )


def _default_of_all_steps(advice: pd.DataFrame) -> tuple[list[str], int, int]:
    """Return comments that list the groups, and the MB and minutes that suffice for all of them.

    A number is 0 where a group has no advice.
    """
    comments = [
        f"{_group_text(row, None) or 'all jobs'}; {row['jobs']} jobs"
        for _, row in advice.iterrows()
    ]
    largest = _whole_units(advice)[["mb", "minutes"]].max().replace([np.inf, np.nan], 0)
    return comments, int(largest["mb"]), int(largest["minutes"])


def _snakemake(advice: pd.DataFrame, about: str) -> Iterator[str]:
    yield f"# {about}"
    if _step_column(advice) is None:
        comments, mb, minutes = _default_of_all_steps(advice)
        yield from (f"# {_ENOUGH_FOR} {comment}" for comment in comments)
        if not mb and not minutes:
            yield f"# {_NO_DEFAULT}"
            yield "default-resources: {}"
            return
        yield "default-resources:"
        if mb:
            yield f"  mem_mb: {mb}"
        if minutes:
            yield f"  runtime: {minutes}"
        return
    steps = list(_steps(advice))
    if steps:
        yield "set-resources:"
    else:
        yield f"# {_NO_ADVICE}"
        yield "set-resources: {}"
    for name, row in steps:
        is_plain_yaml_key = (
            re.fullmatch(r"[A-Za-z_]\w*", name) and name.lower() not in _WORDS_OF_YAML
        )
        key = name if is_plain_yaml_key else json.dumps(_on_a_line(name), ensure_ascii=False)
        yield f"  {key}:  # {row['jobs']:.0f} jobs"
        if row["mb"] > 0:
            yield f"    mem_mb: {row['mb']:.0f}"
        if row["minutes"] > 0:
            yield f"    runtime: {row['minutes']:.0f}"


def _nextflow(advice: pd.DataFrame, about: str) -> Iterator[str]:
    yield f"// {about}"
    if _step_column(advice) is None:
        comments, mb, minutes = _default_of_all_steps(advice)
        yield from (f"// {_ENOUGH_FOR} {comment}" for comment in comments)
        if not mb and not minutes:
            yield f"// {_NO_DEFAULT}"
        yield "process {"
        if mb:
            yield f"  memory = '{mb} MB'"
        if minutes:
            yield f"  time = '{minutes} min'"
        yield "}"
        return
    steps = list(_steps(advice))
    if not steps:
        yield f"// {_NO_ADVICE}"
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
