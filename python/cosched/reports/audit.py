"""The report of an audit: a log, what other policies and settings would have given, and why jobs
waited."""

from __future__ import annotations

import os
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from cosched import io
from cosched.cluster.analysis.audit import Audit
from cosched.cluster.analysis.audit_runs import AuditRuns
from cosched.cluster.analysis.wording import display_name, period, used_in_words
from cosched.cluster.instance import Instance
from cosched.cluster.judgement.sentences import lines_of_judgement
from cosched.cluster.machine.parts import managed_resources
from cosched.cluster.result.log_fit import to_records
from cosched.core.text import count_of
from cosched.reports.anonymous import anonymous_names, anonymous_report, anonymous_values
from cosched.reports.audit_charts import draw_load
from cosched.reports.audit_lead import lead
from cosched.reports.audit_notes import data_notes
from cosched.reports.audit_policies import policy_blocks, scenario_blocks, scenario_name
from cosched.reports.audit_waits import (
    NO_RESULT,
    about_groupings,
    group_change_blocks,
    grouping_blocks,
    longest_wait_blocks,
)
from cosched.reports.charts import svg_of
from cosched.reports.document import Block, Figure, KeyFigure, Paragraph, Report, Section
from cosched.reports.sentences import judgement_paragraphs, subject_of
from cosched.units import format_duration

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing


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
            say(f"{scenario_name(row)}: {row.remarks}")


def _link(page: str | PathLike[str] | None, path: str | PathLike[str]) -> str:
    """Return the address of the page of ``rightsize``, relative to this one."""
    return "" if page is None else quote(os.path.relpath(page, Path(path).parent))


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
        Section("Observed schedule and other policies", policy_blocks(audit)),
        Section("What-if scenarios", scenario_blocks(audit), css_class="dense"),
        Section("", group_change_blocks(audit), has_two_columns=True, css_class="gains"),
        Section("", grouping_blocks(audit), has_two_columns=True),
        Section("", about_groupings(audit)),
        Section(f"The longest waits{under}", longest_wait_blocks(audit)),
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


def _usage_paragraphs(audit: Audit, link: str) -> tuple[Paragraph, ...]:
    usage = used_in_words(audit.runs.instance)
    if not usage:
        return ()
    text = "Recommended requests, and their effect on wait times"
    if not link:
        return (Paragraph(f"Jobs used {usage}. {text}: cosched rightsize.", is_small=True),)
    return (Paragraph(f"Jobs used {usage}.", is_small=True), Paragraph(f"{text}.", True, link))


def _judgement_blocks(runs: AuditRuns) -> tuple[Paragraph, ...]:
    if not runs.has_simulator:
        return ()
    return judgement_paragraphs(
        runs.judgement, runs.reference_policy, is_chosen=bool(runs.chosen_reference)
    )


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


def _load_blocks(audit: Audit, figure: Drawing | None) -> tuple[Block, ...]:
    if figure is None:
        return (Paragraph(NO_RESULT),)
    title = "Core utilization, jobs in the queue and mean wait over time"
    return (Figure(svg_of(figure), title, has_caption=False),)
