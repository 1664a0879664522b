"""The tables of an audit about waits: by resource, by group, and the longest ones with their
causes."""

from __future__ import annotations

from typing import Any

from cosched.cluster.analysis.audit import Audit
from cosched.cluster.analysis.group_changes import MAX_GROUPS
from cosched.cluster.analysis.group_waits import Grouping
from cosched.cluster.analysis.longest_waits import BlockedJobs, LongestWait, WaitDiagnosis
from cosched.cluster.analysis.scenario import ScenarioClass
from cosched.cluster.analysis.wording import clock, display_name, units
from cosched.cluster.instance import Instance
from cosched.cluster.judgement.judge import SIMULATOR
from cosched.cluster.machine.parts import managed_resources
from cosched.core.formats import share
from cosched.core.text import count_of
from cosched.reports.document import Block, Column, Paragraph, Table
from cosched.reports.sentences import group_changes_table
from cosched.units import format_duration

#: What a section says where neither the log nor the reference policy has a schedule.
NO_RESULT = "Neither the log nor EASY has a result."
_MAX_GROUP_ROWS = 8
_GROUPING_TITLES = {
    "partition": "Waits by partition",
    "account": "Waits by account",
    "qos": "Waits by QOS",
    "group": "Waits by user group",
    "size": "Waits by size (tasks)",
    "gpu": "Waits with and without GPUs",
    "user": "Waits by user",
}
_ABOUT_LONGEST_WAITS = (
    "Jobs ahead: jobs that were eligible earlier, or are of a partition with a greater priority, "
    "and had not started. A job that waited although enough was free waited for something else: a "
    "limit of its user, account or QOS, a reservation, or enough free resources on one node."
)
_ABOUT_RESOURCES = (
    "Waited for: the share of all waiting in which too little of it was free for the first job in "
    "the queue. In the rest of the waiting no resource was short as a whole: limits of users, "
    "reservations, or free resources in pieces that fit no job."
)


def group_change_blocks(audit: Audit) -> tuple[Block, ...]:
    """Return a table for each simulated what-if: the groups whose mean wait changes most."""
    return tuple(
        group_changes_table(
            row.group_changes, f"{row.name}: the {MAX_GROUPS} groups that change most"
        )
        for row in audit.scenarios
        if row.group_changes and row.scenario_class is ScenarioClass.SIMULATED
    )


def grouping_blocks(audit: Audit) -> tuple[Block, ...]:
    """Return the table of resources, and one for each column that has several groups of jobs."""
    if audit.groupings is None:
        return ()
    resources = [_resource_table(audit)] if audit.resources else []
    return (*resources, *(_grouping_table(audit, group) for group in audit.groupings.several))


def about_groupings(audit: Audit) -> tuple[Block, ...]:
    """Return what has no table: columns that the log does not have, or with one value only."""
    groupings = audit.groupings
    if groupings is None:
        return (Paragraph(NO_RESULT),)
    sentences = []
    if groupings.unknown:
        sentences.append(f"The log does not say: {', '.join(groupings.unknown)}.")
    if groupings.uniform:
        uniform = ", ".join(f"{by} {name}" for by, name in groupings.uniform.items())
        sentences.append(f"All jobs: {uniform}.")
    return (Paragraph(" ".join(sentences), is_small=True),) if sentences else ()


def _resource_table(audit: Audit) -> Table:
    """Return the table of cores, memory and GPUs in use, and of those that jobs waited for."""
    names = list(audit.resources[0].in_use)
    columns = [Column("resource", "name", "resource"), Column("capacity", "count", "capacity")]
    for name in names:
        columns.append(Column(f"in use, {_schedule_name(name)}", "share", f"in_use_{name}"))
        columns.append(Column(f"waited for, {_schedule_name(name)}", "share", f"waited_for_{name}"))
    rows = []
    for resource in audit.resources:
        values: list[Any] = [
            display_name(resource.name),
            _capacity(resource.name, resource.capacity),
        ]
        for name in names:
            values += [resource.in_use[name], resource.waited_for[name]]
        rows.append(tuple(values))
    instance = audit.runs.instance
    allocated = ", ".join(
        display_name(name)
        for name in ("cores", *managed_resources(instance.raw_columns, instance.machine))
    )
    return Table(
        tuple(columns),
        tuple(rows),
        title="Cores, memory and GPUs",
        note=f"{_ABOUT_RESOURCES} Policies allocate {allocated}.",
    )


def _schedule_name(name: str) -> str:
    return {"log": "observed", SIMULATOR: "simulated"}.get(name, name)


def _capacity(resource: str, capacity: float) -> float | str:
    return f"{capacity:,.0f} GB" if resource == "memory_gb" else capacity


def _grouping_table(audit: Audit, grouping: Grouping) -> Table:
    is_ordered = grouping.by in ("size", "gpu")
    groups = grouping.groups if is_ordered else grouping.groups[:_MAX_GROUP_ROWS]
    unit = "core" if audit.runs.instance.machine is not None else "node"
    names = list(groups[0].waits)
    columns = [
        Column(grouping.by, "name", grouping.by),
        Column("jobs", "count", "jobs"),
        Column(f"{unit}-hours", "count", "core_hours"),
    ]
    for name in names:
        columns.append(Column(f"mean, {_schedule_name(name)}", "duration", f"mean_{name}"))
        columns.append(Column(f"P95, {_schedule_name(name)}", "duration", f"p95_{name}"))
    rows = tuple(
        (
            str(group.name),
            group.jobs,
            group.core_hours,
            *(value for name in names for value in group.waits[name]),
        )
        for group in groups
    )
    n_hidden = len(grouping.groups) - len(groups)
    note = f"The {_MAX_GROUP_ROWS} with the most {unit}-hours; {n_hidden} more." if n_hidden else ""
    return Table(tuple(columns), rows, title=_GROUPING_TITLES[grouping.by], note=note)


def longest_wait_blocks(audit: Audit) -> tuple[Block, ...]:
    """Return the table of the longest waits, and how long jobs were ineligible."""
    runs = audit.runs
    if runs.logged is None and runs.reference_result is None:
        return (Paragraph(NO_RESULT),)
    blocks: list[Block] = []
    if audit.blocked:
        blocks.append(Paragraph(blocked_sentence(audit.blocked), is_small=True))
    if audit.longest_waits:
        blocks.append(_longest_wait_table(audit))
    else:
        blocks.append(Paragraph("No job waited."))
    return tuple(blocks)


def _longest_wait_table(audit: Audit) -> Table:
    has_users = audit.longest_waits[0].user is not None
    columns = _longest_wait_columns(audit)
    rows = []
    for wait in audit.longest_waits:
        values = _longest_wait_values(wait, audit.runs.instance)
        rows.append(tuple(values[column.name] for column in columns))
    about = _ABOUT_LONGEST_WAITS
    if has_users:
        about = f"The longest wait of each user. {about}"
    return Table(tuple(columns), tuple(rows), note=about)


def _longest_wait_columns(audit: Audit) -> list[Column]:
    """Return the columns of what the log and the reference policy tell of waits."""
    runs, first_wait = audit.runs, audit.longest_waits[0]
    columns = [Column("job", "name", "job")]
    if first_wait.user is not None:
        columns.append(Column("user", "text", "user"))
    if first_wait.partition is not None:
        columns.append(Column("partition", "text", "partition"))
    columns += [
        Column(units(runs.instance), "count", "size"),
        Column("eligible", "name", "eligible"),
        Column("waited", "duration", "wait"),
    ]
    if audit.blocked:
        columns.append(Column("ineligible before", "duration", "blocked"))
    if runs.logged and runs.reference_result:
        heading = f"under {runs.reference_policy}"
        columns.append(Column(heading, "duration", "wait_under_reference"))
    columns += [Column("blocked by", "text", "blocked_by"), Column("details", "text", "details")]
    return columns


def _longest_wait_values(wait: LongestWait, instance: Instance) -> dict[str, Any]:
    """Return the values of a row by the names of their columns."""
    return {
        "job": str(wait.job),
        "user": None if wait.user is None else str(wait.user),
        "partition": None if wait.partition is None else str(wait.partition),
        "size": wait.size,
        "eligible": clock(instance, wait.eligible),
        "wait": wait.wait,
        "blocked": wait.blocked,
        "wait_under_reference": wait.wait_under_reference,
        "blocked_by": blocked_by(wait),
        "details": diagnosis_in_words(wait.diagnosis),
    }


def blocked_sentence(blocked: BlockedJobs) -> str:
    """Return the sentence on time before jobs were eligible, which no scheduler decides."""
    return (
        "Ineligible time is in no wait here (dependency, begin time, hold, array limit): "
        f"{count_of(blocked.jobs, 'job')}, on average {format_duration(blocked.mean_time)}, at "
        f"most {format_duration(blocked.max_time)}."
    )


def blocked_by(wait: LongestWait) -> str:
    """Return what blocked a job for most of its wait."""
    diagnosis = wait.diagnosis
    if wait.limit:
        return f"limit {wait.limit} (simulated)"
    if wait.has_unexplained_wait:
        return "a limit, a reservation, or fragmented resources"
    if diagnosis.lacking:
        scarce = max(diagnosis.lacking, key=lambda name: diagnosis.lacking[name])
        return f"too few free {display_name(scarce)}"
    return "jobs ahead" if diagnosis.jobs_ahead else "unknown"


def diagnosis_in_words(diagnosis: WaitDiagnosis) -> str:
    """Return the numbers of a diagnosis."""
    at_most = "at most " if diagnosis.is_upper_bound else ""
    clauses = [
        f"{count_of(diagnosis.jobs_ahead, 'job')} ahead"
        if diagnosis.jobs_ahead
        else "no job ahead",
        f"{at_most}{diagnosis.free:,.0f} of {diagnosis.capacity:,.0f} free at the eligible time",
        f"enough free in {at_most}{share(diagnosis.share_with_room)} of the wait",
    ]
    clauses += [
        f"too little {display_name(name)} in {share(part)}"
        for name, part in diagnosis.lacking.items()
        if name not in ("cores", "nodes")
    ]
    if diagnosis.jobs_overtaking:
        clauses.append(f"{count_of(diagnosis.jobs_overtaking, 'job')} backfilled ahead of it")
    return "; ".join(clauses)
