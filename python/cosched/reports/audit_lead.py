"""The answer of an audit in a few sentences: waits, the reference policy, the best what-if, the
bound."""

from __future__ import annotations

import math
from math import floor

from cosched.cluster.analysis.audit import Audit
from cosched.cluster.analysis.audit_runs import EASY
from cosched.cluster.analysis.policy_rows import AS_LOGGED
from cosched.cluster.instance.usage import has_requested_times, has_waits
from cosched.cluster.judgement.judge import SIMULATOR
from cosched.core.text import count_of
from cosched.reports.audit_policies import WEAK_BOUND
from cosched.units import format_duration, format_exact_duration


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


def _bound_sentence(audit: Audit) -> str:
    runs = audit.runs
    bound = runs.bound
    if bound is None:
        return "No lower bound on the maximum bounded slowdown was computed."
    if bound.value < WEAK_BOUND:
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
