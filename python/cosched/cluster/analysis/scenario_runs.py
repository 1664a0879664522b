"""Simulate what-if scenarios under the reference policy, comparable with the machine as it is."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Executor
from dataclasses import replace
from os import sched_getaffinity
from typing import Any, TypeVar

from cosched.cluster.analysis.audit_runs import (
    AuditRun,
    AuditRuns,
    ScenarioRun,
    notes_of_result,
    scenario_run,
)
from cosched.cluster.analysis.replications import (
    CommonJobs,
    compare,
    replications_of,
    with_first_replications,
)
from cosched.cluster.analysis.scenario import Scenario, ScenarioClass, Verdict
from cosched.cluster.analysis.stop_replications import stop_at_count
from cosched.cluster.family import FAMILY
from cosched.cluster.result import Result
from cosched.core.text import count_of
from cosched.notes import NoteKind

#: Simulations that run at the same time: few, since replications use several processors themselves.
MAX_SIMULTANEOUS_RUNS = 1 + min(2, len(sched_getaffinity(0)))
#: A scenario may take so many times as long as the simulation of the machine as it is, times
#: :data:`MAX_SIMULTANEOUS_RUNS`, as others run at the same time.
_MAX_SLOWDOWN = 4


def result_or_none(result: object) -> Result | None:
    """Return what a comparison has of a policy, where it is a result of a simulation."""
    return result if isinstance(result, Result) else None


def simulate_scenarios(
    pool: Executor,
    runs: AuditRuns,
    scenarios: Iterable[Scenario],
    options: dict[str, Any],
    stops_when_late: bool,
) -> list[ScenarioRun]:
    """Simulate the reference policy under each scenario, with the same random clocks.

    The simulator of Slurm runs as many replications as on the machine as it is, and at least two
    where the time limit ends them. The limit of a scenario is the larger of the limit of any policy
    and :data:`MAX_SIMULTANEOUS_RUNS` times :data:`_MAX_SLOWDOWN` times the base run. A reference
    policy without replications has the limit of any policy.

    Parameters
    ----------
    pool : Executor
        Runs the simulations.
    runs : AuditRuns
        The policies on the machine as it is.
    scenarios : iterable of Scenario
        The what-ifs.
    options : dict
        Options of the simulator of Slurm.
    stops_when_late : bool
        Whether the time limit may end replications.
    """
    policy, limit = runs.reference_policy, runs.time_limit
    base = next(run for run in runs.policy_runs if run.name == policy)
    known_notes = notes_of_result(base.result, NoteKind.NOT_FOLLOWED)
    half_limit = None
    if runs.is_random and limit is not None:
        limit = max(limit, MAX_SIMULTANEOUS_RUNS * _MAX_SLOWDOWN * base.columns["seconds"])
        half_limit = limit / 2 if stops_when_late else None

    def simulate(scenario: Scenario) -> ScenarioRun:
        verdict = scenario.verdict(policy, is_scheduler=runs.is_random)
        if verdict.scenario_class is not ScenarioClass.SIMULATED:
            return _run_without_simulation(scenario, verdict, base)
        scenario_options = options if runs.is_random else {}
        if runs.is_random and base.result is not None:
            scenario_options = scenario_options | {
                "enough": stop_at_count(replications_of(base.result), half_limit)
            }
        ((columns, result),) = FAMILY.compare_rows(
            scenario.instance.without_bound(), [policy], 0, limit, {policy: scenario_options}
        )
        cluster_result = result_or_none(result)
        notes = notes_of_result(cluster_result, NoteKind.NOT_FOLLOWED)
        remarks = (*verdict.remarks, *(note for note in notes if note not in known_notes))
        return scenario_run(scenario.text, remarks, columns, cluster_result, verdict)

    final_scenarios = [scenario.with_final_classes(base.result) for scenario in scenarios]
    futures = [pool.submit(simulate, scenario) for scenario in final_scenarios]
    return [future.result() for future in futures]


def _run_without_simulation(scenario: Scenario, verdict: Verdict, base: AuditRun) -> ScenarioRun:
    """Return the run of a scenario that is not simulated: the numbers of the machine as it is where
    nothing changes, else none."""
    is_as_today = verdict.scenario_class in (ScenarioClass.UNCHANGED, ScenarioClass.NO_EFFECT)
    if not is_as_today:
        return scenario_run(scenario.text, verdict.remarks, {"message": ""}, None, verdict)
    return scenario_run(scenario.text, verdict.remarks, base.columns, base.result, verdict)


def with_common_replications(runs: AuditRuns) -> AuditRuns:
    """Reduce all rows of the reference policy to the replications that all of them have.

    Each mean of the page is then over the same replications. A scenario under which no job starts
    at another time has no effect.
    """
    number = [run.name for run in runs.policy_runs].index(runs.reference_policy)
    base = runs.policy_runs[number]
    if base.result is None:
        reason = "the machine as it is has no result to compare with"
        rows = [_without_comparison(run, reason) for run in runs.scenario_runs]
        return replace(runs, scenario_runs=tuple(rows))
    rows = [_about_common_jobs(run, base.result) for run in runs.scenario_runs]
    results = [base.result, *(run.result for run in rows if run.result is not None)]
    count = min(map(replications_of, results))
    base = _with_replications(base, count)
    assert base.result is not None
    rows = [
        _with_class_by_starts(
            _with_replications(run, count), base.result, runs.reference_policy, runs.is_random
        )
        for run in rows
    ]
    policies = (*runs.policy_runs[:number], base, *runs.policy_runs[number + 1 :])
    return replace(runs, policy_runs=policies, scenario_runs=tuple(rows))


#: A run of a policy, or of a what-if.
RunKind = TypeVar("RunKind", bound=AuditRun)


def _with_replications(run: RunKind, count: int) -> RunKind:
    """Return the run with its first replications alone."""
    if run.result is None or replications_of(run.result) <= count:
        return run
    result = with_first_replications(run.result, count)
    return replace(run, result=result, columns=run.columns | result.metrics())


def _with_class_by_starts(
    run: ScenarioRun, base: Result, policy: str, is_random: bool
) -> ScenarioRun:
    """Return the run, with the class of no effect where no job starts at another time."""
    if run.scenario_class is not ScenarioClass.SIMULATED or run.result is None:
        return run
    comparison = compare(base, run.result, is_random=is_random)
    if not comparison.has_same_starts:
        return run
    where = f"in {count_of(comparison.replications, 'replication')}"
    reason = f"no job starts at another time {where if is_random else f'under {policy}'}"
    remarks = "; ".join(filter(None, [reason, run.remarks]))
    return replace(run, scenario_class=ScenarioClass.NO_EFFECT, reason=reason, remarks=remarks)


def _about_common_jobs(run: ScenarioRun, base: Result) -> ScenarioRun:
    """Return the run, without numbers where no job of it is a job of the machine as it is."""
    if run.result is None or CommonJobs.of(base.instance, run.result.instance).count:
        return run
    return _without_comparison(run, "no job runs both on the machine as it is and here")


def _without_comparison(run: ScenarioRun, reason: str) -> ScenarioRun:
    """Return the run without numbers, since no other row can be compared with it."""
    if run.result is None:
        return run
    remarks = "; ".join(filter(None, [reason, run.remarks]))
    return replace(
        run, scenario_class=ScenarioClass.NO_RESULT, result=None, reason=reason, remarks=remarks
    )
