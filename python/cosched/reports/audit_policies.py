"""The tables of an audit that compare: policies beside the observed schedule, and what-ifs."""

from __future__ import annotations

import math
from typing import Any

from cosched.cluster.analysis.audit import Audit
from cosched.cluster.analysis.scenario_rows import ScenarioRow
from cosched.cluster.analysis.wording import display_name
from cosched.cluster.machine.parts import managed_resources
from cosched.cluster.result import PERFECT, REQUESTED
from cosched.core.formats import number
from cosched.reports.audit_charts import draw_scenarios
from cosched.reports.charts import svg_of
from cosched.reports.document import Block, Column, Figure, Paragraph, Table

#: A lower bound of the largest stretch below this says little: a stretch is 1 at least.
WEAK_BOUND = 1.1
_STRETCH = (
    "The maximum bounded slowdown is the largest of all jobs: from the eligible time to the end, "
    "over the run time (10 s at least)."
)
_UTILIZATION = "Utilization is from the first to the last submission."
_ESTIMATES = (
    "Run-time estimates are what a policy plans with: the requested time limits, or the true run "
    "times (perfect), which no scheduler knows."
)


def policy_blocks(audit: Audit) -> tuple[Block, ...]:
    """Return the table of the observed schedule and of each policy, and remarks on its rows."""
    runs = audit.runs
    has_log = runs.logged is not None
    columns = [
        Column("policy", "name", "policy"),
        Column("run-time estimates", "text", "estimates"),
        Column("mean wait", "exact duration", "mean_wait"),
        Column("median wait", "exact duration", "median_wait"),
        Column("P95 wait", "exact duration", "p95_wait"),
        Column("maximum bounded slowdown", "number", "max_bounded_slowdown"),
        Column("utilization", "share", "utilization"),
    ]
    if has_log:
        columns.append(Column("starts within 1 min of the log", "share", "starts_within_minute"))
    rows = []
    for row in audit.policies:
        measures = row.measures
        values = [
            row.name,
            row.estimates,
            measures.mean_wait,
            measures.median_wait,
            measures.p95_wait,
            measures.largest_stretch,
            measures.utilization,
        ]
        if has_log:
            values.append(row.starts_within_minute)
        rows.append(tuple(values))
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
    if bound.value < WEAK_BOUND:
        return (
            f"{attainable} The lower bound is weak here: {number(bound.value)}{so_far}, and every "
            "bounded slowdown is 1 or more."
        ).strip()
    return (
        f"No schedule can have a lower maximum than {number(bound.value)}{so_far}. {attainable}"
    ).strip()


def scenario_blocks(audit: Audit) -> tuple[Block, ...]:
    """Return the figure and the table of what-if scenarios; nothing without any."""
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
    ]
    if has_other_jobs:
        columns.append(Column("mean wait, same jobs, current", "exact duration", "base_mean_wait"))
    columns += [
        Column("median wait", "exact duration", "median_wait"),
        Column("P95 wait", "exact duration", "p95_wait"),
        Column("maximum bounded slowdown", "number", "max_bounded_slowdown"),
        Column("utilization", "share", "utilization"),
        *(Column(f"{display_name(name)} in use", "share", f"{name}_in_use") for name in resources),
        Column("change of mean wait", "difference", "difference"),
        Column("class and remarks", "text", "remarks"),
    ]
    rows = []
    for row in audit.scenarios:
        measures = row.measures
        values: list[Any] = [scenario_name(row), measures.mean_wait]
        if has_other_jobs:
            values.append(row.base_mean_wait)
        values += [
            measures.median_wait,
            measures.p95_wait,
            measures.largest_stretch,
            measures.utilization,
            *(row.in_use.get(name, math.nan) for name in resources),
            "" if row.scenario_class is None else row.comparison,
            _class_and_remarks(row),
        ]
        rows.append(tuple(values))
    return Table(tuple(columns), tuple(rows), note=_about_scenarios(audit), marked_row=0)


def scenario_name(row: ScenarioRow) -> str:
    """Return what a report calls a row."""
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
