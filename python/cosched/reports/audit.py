"""The report of an audit: a log, what other policies and settings would have given, and why jobs
waited."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from math import floor
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from cosched import io
from cosched.cluster.analysis.audit import Audit
from cosched.cluster.analysis.group_waits import Grouping
from cosched.cluster.analysis.longest_waits import BlockedJobs, LongestWait, WaitDiagnosis
from cosched.cluster.analysis.policy_rows import AS_LOGGED
from cosched.cluster.analysis.runs import EASY, MAX_GROUPS, Runs, why_no_dfrs
from cosched.cluster.analysis.scenario import ScenarioClass
from cosched.cluster.analysis.scenario_rows import ScenarioRow
from cosched.cluster.analysis.wording import clock, display_name, period, units, used_in_words
from cosched.cluster.instance import Instance
from cosched.cluster.instance.usage import has_requested_times, has_waits
from cosched.cluster.judgement.judge import SIMULATOR
from cosched.cluster.judgement.sentences import lines_of_judgement
from cosched.cluster.machine.parts import managed_resources
from cosched.cluster.result import PERFECT, REQUESTED
from cosched.cluster.result.log_fit import to_records
from cosched.core.formats import number, share
from cosched.core.text import count_of
from cosched.notes import Note, NoteKind
from cosched.reports.anonymous import anonymous_names, anonymous_report, anonymous_values
from cosched.reports.audit_charts import draw_load, draw_scenarios
from cosched.reports.charts import svg_of
from cosched.reports.document import (
    Block,
    Column,
    Figure,
    KeyFigure,
    Paragraph,
    Report,
    Section,
    Table,
)
from cosched.reports.sentences import (
    group_changes_table,
    judgement_paragraphs,
    notes_without_folders,
    subject_of,
)
from cosched.units import format_duration, format_exact_duration

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

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
#: A lower bound of the largest stretch below this says little: a stretch is 1 at least.
_WEAK_BOUND = 1.1
_STRETCH = (
    "The maximum bounded slowdown is the largest of all jobs: from the eligible time to the end, "
    "over the run time (10 s at least)."
)
_UTILIZATION = "Utilization is from the first to the last submission."
_ESTIMATES = (
    "Run-time estimates are what a policy plans with: the requested time limits, or the true run "
    "times (perfect), which no scheduler knows."
)
_NO_RESULT = "Neither the log nor EASY has a result."
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
#: Kinds of notes that tell what has no effect on the numbers of the report.
_IGNORED_KINDS = (
    NoteKind.DROPPED,
    NoteKind.NOT_USED,
    NoteKind.NOT_FOLLOWED,
    NoteKind.REFUSED_JOBS,
)


def write_audit(
    audit: Audit,
    path: str | PathLike[str],
    *,
    rightsize: str | PathLike[str] | None,
    json: str | PathLike[str] | None,
    anonymise: bool,
    say: Callable[[str], object] | None,
) -> Drawing | None:
    """Write the report as a page, and as JSON where a path is given.

    Returns
    -------
    matplotlib.figure.Figure or None
        The figure of load, queue and waits; None where neither the log nor the reference policy
        has a result.
    """
    figure = load_figure(audit, anonymise=anonymise)
    report = audit_report(audit, figure, _link(rightsize, path))
    names = anonymous_names(audit.runs.instance) if anonymise else {}
    report = anonymous_report(report, names)
    io.write_text(report.to_html(), path)
    if json is not None:
        io.write_json(_json(audit, report, names), json)
    if say is not None:
        _say(audit, report, say)
    return figure


def _json(audit: Audit, report: Report, names: dict[str, str]) -> dict[str, Any]:
    """Return the audit as JSON has it."""
    judgement = audit.runs.judgement
    values: dict[str, Any] = {
        "fit": None if judgement is None else to_records(judgement.fit),
        "judgement": None if judgement is None else judgement.to_dict(),
        "reference": audit.runs.reference_policy,
        "rows": audit.scenario_records,
    }
    values = anonymous_values(values, names)
    return io.plain({**values, "report": report.to_dict()})


def _say(audit: Audit, report: Report, say: Callable[[str], object]) -> None:
    """Print the judgement of the log, the answer, the key figures, and remarks on rows."""
    runs = audit.runs
    if runs.judgement is not None:
        for line in lines_of_judgement(runs.judgement):
            say(line)
        chosen = ", as chosen" if runs.chosen_reference else ""
        say(f"reference policy: {runs.reference_policy}{chosen}")
    for line in report.to_text().splitlines():
        say(line)
    for row in audit.scenarios:
        if row.remarks:
            say(f"{_scenario_name(row)}: {row.remarks}")


def _link(page: str | PathLike[str] | None, path: str | PathLike[str]) -> str:
    """Return the address of the page of ``rightsize``, relative to this one."""
    return "" if page is None else quote(os.path.relpath(page, Path(path).parent))


def load_figure(audit: Audit, *, anonymise: bool = False) -> Drawing | None:
    """Return the figure of load, queue and waits; None without a result."""
    if audit.load is None:
        return None
    instance = audit.runs.instance
    subject = "cluster" if anonymise else subject_of(instance)
    title = f"Load, queue and waits per {_slice_name(audit.load.width)}: {subject}"
    return draw_load(audit.load, instance.begins, title)


def _slice_name(width: float) -> str:
    return {3600.0: "hour", 86400.0: "day"}.get(width, format_duration(width))


def audit_report(audit: Audit, figure: Drawing | None = None, link: str = "") -> Report:
    """Return the report of an audit.

    Parameters
    ----------
    figure : matplotlib.figure.Figure, optional
        The figure of load, queue and waits.
    link : str
        The address of the page of ``rightsize``; empty without one.
    """
    runs = audit.runs
    instance = runs.instance
    figures = audit.key_figures
    under = "" if runs.logged else f" under {runs.reference_policy}"
    sections = [
        Section("", _usage_paragraphs(audit, link)),
        Section("Agreement of the simulator with the log", _judgement_blocks(runs)),
        Section("Load, queue and waits", _load_blocks(audit, figure)),
        Section("Observed schedule and other policies", _policy_blocks(audit)),
        Section("What-if scenarios", _scenario_blocks(audit), css_class="dense"),
        Section("", _group_change_blocks(audit), has_two_columns=True, css_class="gains"),
        Section("", _grouping_blocks(audit), has_two_columns=True),
        Section("", _about_groupings(audit)),
        Section(f"The longest waits{under}", _longest_wait_blocks(audit)),
    ]
    return Report(
        kind="audit",
        title=f"Audit of {subject_of(instance)}",
        subtitle=f"{period(instance, figures.begin, figures.end)}; {_machine_size(instance)}",
        lead=lead(audit),
        key_figures=_key_figures(audit),
        sections=tuple(section for section in sections if section.blocks),
        notes=data_notes(runs),
    )


def _key_figures(audit: Audit) -> tuple[KeyFigure, ...]:
    figures, runs = audit.key_figures, audit.runs
    whose = "observed" if figures.is_observed else f"under {runs.reference_policy}"
    unit = "core" if runs.instance.machine is not None else "node"
    return (
        KeyFigure("jobs", figures.jobs, "count"),
        KeyFigure(f"{unit}-hours", figures.core_hours, "count"),
        KeyFigure("utilization", figures.utilization, "share", whose),
        KeyFigure("median wait", figures.median_wait, "duration", whose),
        KeyFigure("P95 wait (95th percentile)", figures.p95_wait, "duration", whose),
        KeyFigure("jobs waiting over 24 h", figures.jobs_with_long_wait, "count", whose),
        KeyFigure("used of requested time", figures.used_time, "share"),
        KeyFigure("used of requested memory", figures.used_memory, "share"),
    )


def _machine_size(instance: Instance) -> str:
    machine = instance.machine
    if machine is None:
        return f"{instance.nodes:,} nodes"
    resources = ("cores", *map(display_name, managed_resources(instance.raw_columns, machine)))
    return (
        f"{machine.cores:,} cores of {count_of(machine.node_count, 'node')} "
        f"(allocated: {', '.join(resources)})"
    )


def lead(audit: Audit) -> str:
    """Return the answer: jobs and their waits, what the reference policy gives, the what-if that
    shortens waits most, and the bound."""
    sentences = [
        _waits_sentence(audit),
        _reference_sentence(audit),
        _best_scenario_sentence(audit),
        _bound_sentence(audit),
    ]
    return " ".join(filter(None, sentences))


def _best_scenario_sentence(audit: Audit) -> str:
    """Return the sentence on the largest clear reduction of the mean wait; empty without any."""
    best = audit.best_scenario
    if best is None or best.comparison is None:
        return ""
    waits = best.comparison
    return (
        f"Of the what-if scenarios, {best.name} shortens the mean wait most: from "
        f"{format_duration(waits.base_mean_wait)} to {format_duration(waits.mean_wait)}."
    )


def _waits_sentence(audit: Audit) -> str:
    figures, runs = audit.key_figures, audit.runs
    jobs = count_of(figures.jobs, "job")
    if not figures.is_observed:
        why = "as-logged has no result" if has_waits(runs.instance) else "the log has no waits"
        return f"{jobs} came, and {why}: observed waits are unknown."
    return (
        f"{jobs} waited {format_duration(figures.mean_wait)} on average: half of them at most "
        f"{format_duration(figures.median_wait)}, 5% of them "
        f"{format_duration(figures.p95_wait)} or more."
    )


def _reference_sentence(audit: Audit) -> str:
    runs = audit.runs
    name = "EASY backfilling" if runs.reference_policy == EASY else runs.reference_policy
    baseline = audit.scenarios[0].measures.mean_wait
    if runs.reference_result is None:
        return f"{name} has no result, see below."
    if runs.reference_policy == SIMULATOR:
        return f"In the Slurm simulator they wait {format_exact_duration(baseline)} on average."
    knowledge = ""
    if runs.reference_policy == EASY:
        has_limits = has_requested_times(runs.instance)
        knowledge = f" with {'the requested time limits' if has_limits else 'known run times'}"
    return f"Under {name}{knowledge} they would wait {format_duration(baseline)} on average."


def _bound_sentence(audit: Audit) -> str:
    runs = audit.runs
    bound = runs.bound
    if bound is None:
        return "No lower bound on the maximum bounded slowdown was computed."
    if bound.value < _WEAK_BOUND:
        return "No useful lower bound on the maximum bounded slowdown is known."
    values = {
        "observed": _largest_stretch(audit, AS_LOGGED),
        runs.reference_policy: _largest_stretch(audit, runs.reference_policy),
    }
    texts = [
        f"{name}: {value:.1f}"
        for name, value in values.items()
        if value >= bound.value  # a log may use more than there is
    ]
    clause = f" ({', '.join(texts)})" if texts else ""
    return (
        "No scheduler can have a maximum bounded slowdown below "
        f"{floor(10 * bound.value) / 10:.1f}{clause}."
    )


def _largest_stretch(audit: Audit, name: str) -> float:
    """Return the value of the first row of a policy; nan without one."""
    rows = (row for row in audit.policies if row.name == name)
    row = next(rows, None)
    return math.nan if row is None else row.measures.largest_stretch


def _usage_paragraphs(audit: Audit, link: str) -> tuple[Paragraph, ...]:
    usage = used_in_words(audit.runs.instance)
    if not usage:
        return ()
    text = "Recommended requests, and their effect on wait times"
    if not link:
        return (Paragraph(f"Jobs used {usage}. {text}: cosched rightsize.", is_small=True),)
    return (Paragraph(f"Jobs used {usage}.", is_small=True), Paragraph(f"{text}.", True, link))


def _judgement_blocks(runs: Runs) -> tuple[Paragraph, ...]:
    if not runs.has_simulator:
        return ()
    return judgement_paragraphs(
        runs.judgement, runs.reference_policy, is_chosen=bool(runs.chosen_reference)
    )


def _load_blocks(audit: Audit, figure: Drawing | None) -> tuple[Block, ...]:
    if figure is None:
        return (Paragraph(_NO_RESULT),)
    title = "Core utilization, jobs in the queue and mean wait over time"
    return (Figure(svg_of(figure), title, has_caption=False),)


def _policy_blocks(audit: Audit) -> tuple[Block, ...]:
    runs = audit.runs
    columns = [
        Column("policy", "name", "policy"),
        Column("run-time estimates", "text", "estimates"),
        Column("mean wait", "exact duration", "mean_wait"),
        Column("median wait", "exact duration", "median_wait"),
        Column("P95 wait", "exact duration", "p95_wait"),
        Column("maximum bounded slowdown", "number", "max_bounded_slowdown"),
        Column("utilization", "share", "utilization"),
    ]
    if runs.logged is not None:
        columns.append(Column("starts within 1 min of the log", "share", "starts_within_minute"))
    rows = []
    for row in audit.policies:
        measures = row.measures
        values = (
            row.name,
            row.estimates,
            measures.mean_wait,
            measures.median_wait,
            measures.p95_wait,
            measures.largest_stretch,
            measures.utilization,
            row.starts_within_minute,
        )
        rows.append(values[: len(columns)])
    marked_row = [row.name for row in audit.policies].index(runs.reference_policy)
    reference = _with_estimates(runs.reference_policy, audit.policies[marked_row].estimates)
    note = (
        f"The reference policy is {reference}. {_STRETCH} {_UTILIZATION} {_ESTIMATES} "
        f"{about_bound(audit)}"
    )
    remarks = [
        Paragraph(f"{_with_estimates(row.name, row.estimates)}: {row.remark}", is_small=True)
        for row in audit.policies
        if row.remark
    ]
    return (Table(tuple(columns), tuple(rows), note=note, marked_row=marked_row), *remarks)


def _with_estimates(policy: str, estimates: str) -> str:
    """Return the name of a policy with its run-time estimates, where it plans with any."""
    has_kind = estimates in (REQUESTED, PERFECT) and not policy.endswith(" estimates)")
    return f"{policy} ({estimates} estimates)" if has_kind else policy


def about_bound(audit: Audit) -> str:
    """Return what is proved of the maximum bounded slowdown, else what is attainable."""
    runs, bound = audit.runs, audit.runs.bound
    attainable = ""
    if audit.attainable is not None:
        best = audit.attainable
        policy = _with_estimates(best.policy, best.estimates)
        attainable = f"Attainable is {number(best.value)}, with {policy}."
    within = "" if runs.time_limit is None else f" in {runs.time_limit:g} s (--time-limit)"
    if bound is None:
        return f"{attainable} A lower bound was not reached{within}.".strip()
    so_far = "" if bound.status == "ok" else f", {bound.method}: what was proved{within}"
    if bound.value < _WEAK_BOUND:
        return (
            f"{attainable} The lower bound is weak here: {number(bound.value)}{so_far}, and every "
            "bounded slowdown is 1 or more."
        ).strip()
    return (
        f"No schedule can have a lower maximum than {number(bound.value)}{so_far}. {attainable}"
    ).strip()


def _scenario_blocks(audit: Audit) -> tuple[Block, ...]:
    if len(audit.scenarios) < 2:
        return ()
    figure = draw_scenarios(audit.scenarios)
    blocks: list[Block] = []
    if figure is not None:
        title = f"Mean wait of each what-if scenario ({audit.runs.reference_policy})"
        blocks.append(Figure(svg_of(figure), title, is_for_screen=True))
    return (*blocks, _scenario_table(audit))


def _scenario_table(audit: Audit) -> Table:
    runs = audit.runs
    resources = managed_resources(runs.instance.raw_columns, runs.instance.machine)
    has_other_jobs = any(row.has_other_jobs for row in audit.scenarios)
    columns = [
        Column("scenario", "name", "what_if"),
        Column("mean wait", "exact duration", "mean_wait"),
        *([Column("mean wait, same jobs, current", "exact duration",
                  "base_mean_wait")] if has_other_jobs else []),
        Column("median wait", "exact duration", "median_wait"),
        Column("P95 wait", "exact duration", "p95_wait"),
        Column("maximum bounded slowdown", "number", "max_bounded_slowdown"),
        Column("utilization", "share", "utilization"),
        *(Column(f"{display_name(name)} in use", "share", f"{name}_in_use") for name in resources),
        Column("change of mean wait", "difference", "difference"),
        Column("class and remarks", "text", "remarks"),
    ]  # fmt: skip
    rows = []
    for row in audit.scenarios:
        measures = row.measures
        base_mean = [row.base_mean_wait] if has_other_jobs else []
        rows.append(
            (
                _scenario_name(row),
                measures.mean_wait,
                *base_mean,
                measures.median_wait,
                measures.p95_wait,
                measures.largest_stretch,
                measures.utilization,
                *(row.in_use.get(name, math.nan) for name in resources),
                "" if row.scenario_class is None else row.comparison,
                _class_and_remarks(row),
            )
        )
    return Table(tuple(columns), tuple(rows), note=_about_scenarios(audit), marked_row=0)


def _scenario_name(row: ScenarioRow) -> str:
    return "current configuration" if row.scenario_class is None else row.name


def _class_and_remarks(row: ScenarioRow) -> str:
    if row.scenario_class is None:
        return row.remarks
    return ": ".join(filter(None, [row.scenario_class.value, row.remarks]))


def _about_scenarios(audit: Audit) -> str:
    """Return what the table compares, and when it calls a difference clear."""
    runs = audit.runs
    estimates = next(row.estimates for row in audit.policies if row.name == runs.reference_policy)
    about = (
        f"{_with_estimates(runs.reference_policy, estimates)} with the same jobs at the same "
        "times, without those that a row leaves out. Users would change what they submit and "
        "request: take a row as a direction, not as a forecast."
    )
    if any(row.has_other_jobs for row in audit.scenarios):
        about += (
            " Waits of a row are those of the jobs that it has in common with the first row; "
            "slowdown and utilization are of all its jobs."
        )
    if runs.has_simulator and not runs.is_random:
        about += (
            f" {runs.reference_policy} knows nodes, partitions and limits, and no other line of "
            "slurm.conf."
        )
    baseline = audit.scenarios[0].comparison
    if baseline is None:
        return about
    if not runs.is_random:
        return (
            f"{about} {runs.reference_policy} has one schedule of a log, without replications: "
            "whether a difference is more than chance is not known."
        )
    if baseline.replications == 1:
        return (
            f"{about} Each number is of one replication: it cannot tell whether a difference is "
            "more than run-to-run variability (--draws 20)."
        )
    return (
        f"{about} Numbers are means of the same {baseline.replications} replications. In brackets: "
        "where the difference of one more replication lies with 95% probability (Student's "
        "quantile); it is clear when this excludes zero."
    )


def _group_change_blocks(audit: Audit) -> tuple[Block, ...]:
    return tuple(
        group_changes_table(
            row.group_changes, f"{row.name}: the {MAX_GROUPS} groups that change most"
        )
        for row in audit.scenarios
        if row.group_changes and row.scenario_class is ScenarioClass.SIMULATED
    )


def _grouping_blocks(audit: Audit) -> tuple[Block, ...]:
    if audit.groupings is None:
        return ()
    resources = [_resource_table(audit)] if audit.resources else []
    return (*resources, *(_grouping_table(audit, group) for group in audit.groupings.several))


def _about_groupings(audit: Audit) -> tuple[Block, ...]:
    groupings = audit.groupings
    if groupings is None:
        return (Paragraph(_NO_RESULT),)
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


def _longest_wait_blocks(audit: Audit) -> tuple[Block, ...]:
    runs, waits = audit.runs, audit.longest_waits
    if runs.logged is None and runs.reference_result is None:
        return (Paragraph(_NO_RESULT),)
    blocked = [Paragraph(blocked_sentence(audit.blocked), is_small=True)] if audit.blocked else []
    if not waits:
        return (*blocked, Paragraph("No job waited."))
    has_users = waits[0].user is not None
    columns = [
        Column("job", "name", "job"),
        *([Column("user", "text", "user")] if has_users else []),
        *([Column("partition", "text", "partition")] if waits[0].partition is not None else []),
        Column(units(runs.instance), "count", "size"),
        Column("eligible", "name", "eligible"),
        Column("waited", "duration", "wait"),
        *([Column("ineligible before", "duration", "blocked")] if audit.blocked else []),
        *([Column(f"under {runs.reference_policy}", "duration", "wait_under_reference")]
          if runs.logged and runs.reference_result else []),
        Column("blocked by", "text", "blocked_by"),
        Column("details", "text", "details"),
    ]  # fmt: skip
    rows = []
    for wait in waits:
        values = {
            "job": str(wait.job),
            "user": None if wait.user is None else str(wait.user),
            "partition": None if wait.partition is None else str(wait.partition),
            "size": wait.size,
            "eligible": clock(runs.instance, wait.eligible),
            "wait": wait.wait,
            "blocked": wait.blocked,
            "wait_under_reference": wait.wait_under_reference,
            "blocked_by": blocked_by(wait),
            "details": diagnosis_in_words(wait.diagnosis),
        }
        rows.append(tuple(values[column.name] for column in columns))
    about = _ABOUT_LONGEST_WAITS
    if has_users:
        about = f"The longest wait of each user. {about}"
    return (*blocked, Table(tuple(columns), tuple(rows), note=about))


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
        for name, part in [*diagnosis.lacking.items()]
        if name not in ("cores", "nodes")
    ]
    if diagnosis.jobs_overtaking:
        clauses.append(f"{count_of(diagnosis.jobs_overtaking, 'job')} backfilled ahead of it")
    return "; ".join(clauses)


def data_notes(runs: Runs) -> tuple[Note, ...]:
    """Return what was ignored, then what was assumed."""
    instance = runs.instance
    notes = [*runs.not_followed, *instance.notes]
    if len(instance.partition_layout[0]):
        text = "assumed: the bound ignores partitions: it is valid, and can be weak"
        notes.append(Note(NoteKind.NOT_USED, text, subject="partitions"))
    if why := why_no_dfrs(instance):
        text = f"assumed: DFRS policies are left out: {why}"
        notes.append(Note(NoteKind.DROPPED, text, subject="DFRS policies"))
    if has_waits(instance):
        text = "assumed: as-logged: the log has starts, and does not say on which nodes"
        notes.append(Note(NoteKind.ASSUMED, text, subject="as-logged"))
    text = "assumed: policies know no limits of users, accounts or QOS, and no reservations"
    notes.append(Note(NoteKind.ASSUMED, text, subject="limits"))
    of_machine = () if instance.machine is None else instance.machine.notes
    ignored_notes = [note for note in notes if note.kind in _IGNORED_KINDS or note in of_machine]
    other_notes = [note for note in notes if note not in ignored_notes]
    return notes_without_folders([*ignored_notes, *other_notes])
