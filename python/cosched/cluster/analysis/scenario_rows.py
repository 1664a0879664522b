"""What each what-if gives, beside the machine as it is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cosched.cluster.analysis.audit_runs import AuditRuns, ScenarioRun
from cosched.cluster.analysis.group_changes import GroupChange, JobWaits, largest_changes
from cosched.cluster.analysis.policy_rows import Measures, measures_in_window
from cosched.cluster.analysis.replications import (
    COMPARISON_NUMBERS,
    CommonJobs,
    Comparison,
    compare,
    mean_waits,
    measures_of,
    numbers_of_comparison,
    waits,
)
from cosched.cluster.analysis.scenario import ScenarioClass
from cosched.cluster.machine.parts import managed_resources
from cosched.core.text import count_of
from cosched.units import format_exact_duration

#: The class of the machine as it is in JSON: each what-if has one of :class:`ScenarioClass`.
BASELINE = "baseline"


@dataclass(frozen=True)
class WaitRange:
    """The mean wait over replications (s).

    Attributes
    ----------
    mean, p05, p95 : float
        Of the mean waits of all replications.
    base_mean : float
        The mean wait of the same jobs on the machine as it is.
    """

    mean: float
    p05: float
    p95: float
    base_mean: float


@dataclass(frozen=True)
class ScenarioRow:
    """One what-if under the reference policy; the first row is the machine as it is.

    Attributes
    ----------
    name : str
    scenario_class : ScenarioClass or None
        None: the machine as it is.
    reason, remarks : str
        Why the row has its class; what else readers have to know, the reason included.
    measures : Measures
        Waits are of the jobs that the row has in common with the first row.
    base_mean_wait : float or None
        The mean wait of these jobs on the machine as it is (s); None: no comparison.
    in_use : dict
        Resource -> share in use.
    comparison : Comparison or None
        None: the row, or the machine as it is, has no result.
    waits : WaitRange or None
        None where the comparison is.
    has_other_jobs : bool
        Whether the row lacks jobs of the first row, or has more.
    group_changes : tuple of GroupChange
        The groups whose waits change most, the largest change first.
    """

    name: str
    scenario_class: ScenarioClass | None
    reason: str
    remarks: str
    measures: Measures
    base_mean_wait: float | None = None
    in_use: dict[str, float] = field(default_factory=dict)
    comparison: Comparison | None = None
    waits: WaitRange | None = None
    has_other_jobs: bool = False
    group_changes: tuple[GroupChange, ...] = ()


def scenario_rows(runs: AuditRuns) -> tuple[ScenarioRow, ...]:
    """Return a row for the machine as it is and for each what-if."""
    return tuple(_scenario_row(runs, run) for run in runs.rows)


def _scenario_row(runs: AuditRuns, run: ScenarioRun) -> ScenarioRow:
    base, common = runs.base.result, common_jobs(runs, run)
    if base is None or run.result is None or common is None:
        return ScenarioRow(
            name=run.name,
            scenario_class=run.scenario_class,
            reason=run.reason,
            remarks=remarks_of(runs, run),
            measures=measures_in_window(run.result, runs.window),
            in_use=_in_use(runs, run),
        )
    means = mean_waits(run.result, common.in_other)
    p05, p95 = np.percentile(means, [5, 95]).tolist()
    base_mean = float(mean_waits(base, common.in_base).mean())
    return ScenarioRow(
        name=run.name,
        scenario_class=run.scenario_class,
        reason=run.reason,
        remarks=remarks_of(runs, run),
        measures=measures_in_window(run.result, runs.window, common.in_other),
        base_mean_wait=measures_of(base, common.in_base)["mean_wait"],
        in_use=_in_use(runs, run),
        comparison=compare(base, run.result, is_random=runs.is_random),
        waits=WaitRange(float(means.mean()), p05, p95, base_mean),
        has_other_jobs=not common.are_all,
        group_changes=_group_changes(runs, run, common),
    )


def common_jobs(runs: AuditRuns, run: ScenarioRun) -> CommonJobs | None:
    """Return the jobs that a row has in common with the machine as it is: those that its waits and
    its difference are of. None: one of the two has no result."""
    base = runs.base.result
    if base is None or run.result is None:
        return None
    return CommonJobs.of(base.instance, run.result.instance)


def _in_use(runs: AuditRuns, run: ScenarioRun) -> dict[str, float]:
    """Return the shares of memory and GPUs in use, where the policies hand them out."""
    names = managed_resources(runs.instance.raw_columns, runs.instance.machine)
    if run.result is None or not names:
        return {}
    shares = runs.window.utilization_of_resources(run.result)
    return {name: shares[name] for name in names if name in shares}


def _group_changes(
    runs: AuditRuns, run: ScenarioRun, common: CommonJobs
) -> tuple[GroupChange, ...]:
    """Return the groups that wait longer or shorter, of the jobs that both rows have."""
    base = runs.base.result
    is_simulated = run.scenario_class is ScenarioClass.SIMULATED
    if base is None or run.result is None or not is_simulated:
        return ()
    base_jobs = JobWaits(base.instance.take(common.in_base), waits(base, common.in_base))
    jobs = JobWaits(run.result.instance.take(common.in_other), waits(run.result, common.in_other))
    return tuple(largest_changes(base_jobs, jobs))


def remarks_of(runs: AuditRuns, run: ScenarioRun) -> str:
    """Return what readers have to know of a row: in the table, in the terminal and in JSON."""
    return "; ".join(filter(None, [run.remarks, _about_common_jobs(runs, run)]))


def _about_common_jobs(runs: AuditRuns, run: ScenarioRun) -> str:
    """Return the two means of a row that has other jobs than the machine as it is, and of which
    jobs they are; else an empty text."""
    base, common = runs.base.result, common_jobs(runs, run)
    if common is None or common.are_all or run.result is None or base is None:
        return ""
    mean = format_exact_duration(measures_of(run.result, common.in_other)["mean_wait"])
    base_mean = format_exact_duration(measures_of(base, common.in_base)["mean_wait"])
    exclusive_jobs = [
        f"{count_of(count, 'job')} only {where}"
        for count, where in ((common.only_in_base, "as it is"), (common.only_in_other, "here"))
        if count
    ]
    return (
        f"waits are those of {count_of(common.count, 'job')} in both: mean {mean} here, "
        f"{base_mean} as it is ({', '.join(exclusive_jobs)})"
    )


def scenario_records(runs: AuditRuns) -> list[dict[str, Any]]:
    """Return the rows as JSON has them: numbers (s), class and remarks, the machine as it is first;
    None where no number stands for the row."""
    base = runs.base.result
    records = []
    for run in runs.rows:
        record: dict[str, Any] = dict.fromkeys(("what_if", "policy", *COMPARISON_NUMBERS))
        record |= {
            "what_if": run.name,
            "policy": runs.reference_policy,
            "class": BASELINE if run.scenario_class is None else run.scenario_class.value,
            "reason": run.reason,
            "remarks": remarks_of(runs, run),
            "utilization": None,
        }
        if base is not None and run.result is not None:
            record |= numbers_of_comparison(base, run.result, is_random=runs.is_random)
            record["utilization"] = runs.window.utilization(run.result)
        records.append(record)
    return records
