"""Everything that an audit says about a log, as numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cosched.cluster.analysis.audit_runs import AuditRuns
from cosched.cluster.analysis.group_waits import (
    Groupings,
    ResourceRow,
    groupings_of,
    resource_rows,
)
from cosched.cluster.analysis.key_figures import KeyFigures, key_figures_of
from cosched.cluster.analysis.load import Load, load_over_time
from cosched.cluster.analysis.longest_waits import (
    BlockedJobs,
    LongestWait,
    blocked_jobs,
    longest_waits,
)
from cosched.cluster.analysis.policy_rows import PolicyRow, attainable_run, policy_rows
from cosched.cluster.analysis.scenario_rows import ScenarioRow, scenario_records, scenario_rows


@dataclass(frozen=True)
class Attainable:
    """The smallest largest stretch that a policy without perfect knowledge has."""

    #: The largest bounded slowdown of the policy's schedule.
    value: float
    #: The name of the policy.
    policy: str
    #: What the policy plans with, such as ``requested``.
    estimates: str


@dataclass(frozen=True)
class Audit:
    """What a log shows, and what policies and what-ifs would have given.

    Attributes
    ----------
    runs : AuditRuns
        The simulations that all numbers are of.
    key_figures : KeyFigures
    policies : tuple of PolicyRow
    attainable : Attainable or None
    scenarios : tuple of ScenarioRow
        The machine as it is first.
    scenario_records : list of dict
        The same rows as JSON has them.
    resources : tuple of ResourceRow
    groupings : Groupings or None
    blocked : BlockedJobs or None
    longest_waits : tuple of LongestWait
    load : Load or None
    """

    runs: AuditRuns
    key_figures: KeyFigures
    policies: tuple[PolicyRow, ...]
    attainable: Attainable | None
    scenarios: tuple[ScenarioRow, ...]
    scenario_records: list[dict[str, Any]]
    resources: tuple[ResourceRow, ...]
    groupings: Groupings | None
    blocked: BlockedJobs | None
    longest_waits: tuple[LongestWait, ...]
    load: Load | None

    @property
    def best_scenario(self) -> ScenarioRow | None:
        """The what-if with the largest clear reduction of the mean wait; None without any.

        What-ifs that leave out jobs of users are no change of the machine or its settings.
        """
        candidates = [
            row
            for row in self.scenarios[1:]
            if row.comparison is not None
            and row.comparison.is_clear
            and row.comparison.difference.mean < 0
            and not row.has_other_jobs
        ]
        return min(candidates, key=_change_of_mean_wait, default=None)


def analyse_runs(runs: AuditRuns) -> Audit:
    """Return the numbers of an audit."""
    result = runs.logged or runs.reference_result
    return Audit(
        runs=runs,
        key_figures=key_figures_of(runs),
        policies=policy_rows(runs),
        attainable=_attainable(runs),
        scenarios=scenario_rows(runs),
        scenario_records=scenario_records(runs),
        resources=resource_rows(runs),
        groupings=groupings_of(runs),
        blocked=None if result is None else blocked_jobs(result.instance),
        longest_waits=longest_waits(runs),
        load=load_over_time(runs),
    )


def _change_of_mean_wait(row: ScenarioRow) -> float:
    assert row.comparison is not None
    return row.comparison.difference.mean


def _attainable(runs: AuditRuns) -> Attainable | None:
    run = attainable_run(runs)
    if run is None or run.result is None:
        return None
    estimates = next(row.estimates for row in runs.policy_runs if row is run)
    return Attainable(run.result.value, run.name, estimates)
