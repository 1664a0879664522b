"""Run the simulations of an audit: the bound, the policies, and the what-if scenarios."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from cosched import _core
from cosched.cluster.analysis.audit_runs import (
    DFRS,
    EASY,
    EASY_WITH_PERFECT_ESTIMATES,
    AuditRun,
    AuditRuns,
    PolicyRun,
    why_no_dfrs,
)
from cosched.cluster.analysis.scenario import Scenario
from cosched.cluster.analysis.scenario_runs import (
    MAX_SIMULTANEOUS_RUNS,
    result_or_none,
    simulate_scenarios,
    with_common_replications,
)
from cosched.cluster.analysis.stop_replications import MIN_REPLICATIONS, stop_when_late
from cosched.cluster.family import FAMILY
from cosched.cluster.instance import Instance
from cosched.cluster.instance.usage import has_requested_times, has_waits
from cosched.cluster.judgement.judge import SIMULATOR, judge_log, replications_of_log
from cosched.cluster.judgement.log_start import start_of_log
from cosched.cluster.judgement.verdict import LogJudgement
from cosched.cluster.result import NO_ESTIMATES, PERFECT, REQUESTED, Result
from cosched.cluster.schedule import Schedule
from cosched.core import Bound
from cosched.core.comparison import apply_best_bound
from cosched.core.freed_memory import return_freed_memory
from cosched.core.text import unknown_name
from cosched.errors import InfeasibleError, InvalidInstance

#: Replications of the simulator of Slurm, unless the user or the time limit says otherwise.
_DEFAULT_REPLICATIONS = 20


def simulate_audit(
    instance: Instance,
    scenarios: Iterable[Scenario],
    limit: float | None,
    draws: int | None = None,
    reference: str = "",
    judgement: LogJudgement | None = None,
) -> AuditRuns:
    """Simulate the policies of an audit, and each scenario under the reference policy.

    The bound is computed at the same time. All runs of the reference policy have the same
    replications.

    Parameters
    ----------
    instance : Instance
        The log.
    scenarios : iterable of Scenario
        The what-ifs.
    limit : float or None
        Seconds for each policy and for the bound.
    draws : int, optional
        Replications; 20 by default, fewer where `limit` ends them.
    reference : str
        The reference policy; empty: the judgement decides.
    judgement : LogJudgement, optional
        The judgement of the log, where it is known already.

    Raises
    ------
    InvalidInstance
        A reference that is no policy of an audit.
    InfeasibleError
        The machine as it is does not hold a job of the log.
    """
    unbounded_instance = instance.unbounded()
    check_reference(unbounded_instance, reference)
    with ThreadPoolExecutor(MAX_SIMULTANEOUS_RUNS) as pool:
        bound = pool.submit(FAMILY.bound_within, instance, limit)
        try:
            simulator_runs, options = _run_simulator(unbounded_instance, limit, draws)
            _require_feasible(simulator_runs)
            policies = pool.submit(_run_policies, unbounded_instance, limit)
            if judgement is None:
                judgement = _judge(unbounded_instance, simulator_runs)
            runs = AuditRuns(instance, simulator_runs, (), limit, judgement, reference)
            if runs.reference_policy != SIMULATOR:
                runs = replace(runs, policy_runs=simulator_runs + policies.result())
            _require_feasible(run for run in runs.policy_runs if run.name == runs.reference_policy)
            scenario_runs = simulate_scenarios(pool, runs, scenarios, options, draws is None)
            runs = replace(
                runs,
                policy_runs=simulator_runs + policies.result(),
                scenario_runs=tuple(scenario_runs),
            )
            runs = with_common_replications(runs)
            proof = bound.result()
        except BaseException:
            _stop_simulations(pool)
            raise
    return _with_best_bound(runs, proof)


def _stop_simulations(pool: ThreadPoolExecutor) -> None:
    """End the simulations that still run: nobody waits for their results any more."""
    pool.shutdown(wait=False, cancel_futures=True)
    _core.request_stop()
    try:
        pool.shutdown()
    finally:
        _core.forget_stop()


def _with_best_bound(runs: AuditRuns, proof: Bound | None) -> AuditRuns:
    """Return the runs with the best bound that is known, and each policy's gap to it.

    The bound is of all jobs of the log: it does not hold for a run that lacks some.
    """
    bound_columns = {} if proof is None else {"bound": proof.value, "proof": proof}
    columns_and_results = [
        (run.columns if run.lacks_jobs else run.columns | bound_columns, run.result)
        for run in runs.policy_runs
    ]
    columns_of_runs = apply_best_bound(columns_and_results)
    policy_runs = tuple(
        replace(run, columns=columns)
        for run, columns in zip(runs.policy_runs, columns_of_runs, strict=True)
    )
    return replace(runs, policy_runs=policy_runs)


def _require_feasible(runs: Iterable[AuditRun]) -> None:
    """Raise InfeasibleError where the machine as it is does not hold a job of the log: what-ifs and
    the judgement would be of other jobs than the log's."""
    for run in runs:
        if run.columns.get("infeasible"):
            raise InfeasibleError(run.columns["message"])


def _run_simulator(
    instance: Instance, limit: float | None, draws: int | None
) -> tuple[tuple[PolicyRun, ...], dict[str, Any]]:
    """Run the simulator of Slurm on the machine as it is.

    Returns
    -------
    runs : tuple of PolicyRun
        Empty where the machine is not a slurm.conf.
    options : dict
        The options of its runs, without the time limit.
    """
    if instance.machine is None or instance.machine.slurm is None:
        return (), {}
    replications = draws or _DEFAULT_REPLICATIONS
    # Settings that are not followed are left out, and noted; `solve` would refuse them.
    options: dict[str, Any] = {"draws": replications, "approximate": True}
    min_replications = MIN_REPLICATIONS
    if has_waits(instance):
        options |= start_of_log(instance).host_options
        replications_to_judge = replications_of_log(instance)
        if replications_to_judge <= replications:
            min_replications = replications_to_judge  # the judgement is of these, too
    limited_options = options
    if not draws and limit is not None:
        limited_options = options | {"enough": stop_when_late(limit, min_replications)}
    runs = _run_each(instance, {SIMULATOR: REQUESTED}, None, {SIMULATOR: limited_options})
    return runs, options


def _judge(instance: Instance, simulator_runs: Iterable[PolicyRun]) -> LogJudgement | None:
    """Judge the log by the simulations of Slurm; None: they have no result.

    What-ifs are of the whole log; the judgement begins where all jobs that run are known. Where
    that is the whole log, it uses the same simulations.
    """
    result = next((run.result for run in simulator_runs if run.result is not None), None)
    if result is None:
        return None
    is_whole_log = not has_waits(instance) or start_of_log(instance).begin is None
    return judge_log(instance, simulated=result if is_whole_log else None)


def check_reference(instance: Instance, reference: str) -> None:
    """Raise InvalidInstance for a reference that is no policy of an audit; empty is none."""
    names = [EASY, "conservative", "FCFS"]
    if instance.machine is not None and instance.machine.slurm is not None:
        names.insert(0, SIMULATOR)
    if not why_no_dfrs(instance):
        names += DFRS
    if reference == SIMULATOR and SIMULATOR not in names:
        raise InvalidInstance(
            f"unknown reference policy {SIMULATOR!r} for this machine: expected a slurm.conf "
            "(--machine)"
        )
    if reference and reference not in names:
        raise InvalidInstance(unknown_name("reference policy", reference, names))


def _run_policies(instance: Instance, limit: float | None) -> tuple[PolicyRun, ...]:
    """Simulate the jobs of the log under each policy on the machine as it is.

    Backfilling goes by the requested time limits where the log has them; then EASY runs once more
    with perfect estimates.
    """
    has_requested = has_requested_times(instance)
    estimates = {}
    if has_waits(instance):
        estimates["as-logged"] = "-"
    estimates["FCFS"] = NO_ESTIMATES
    estimates |= dict.fromkeys((EASY, "conservative"), REQUESTED if has_requested else PERFECT)
    if not why_no_dfrs(instance):
        estimates |= dict.fromkeys(DFRS, NO_ESTIMATES)
    if has_requested:
        estimates[EASY_WITH_PERFECT_ESTIMATES] = PERFECT
    return _run_each(instance, estimates, limit, {})


def _run_each(
    instance: Instance,
    estimates: dict[str, str],
    limit: float | None,
    options: dict[str, dict[str, Any]],
) -> tuple[PolicyRun, ...]:
    """Simulate each policy that `estimates` names, with its kind of run-time estimates."""
    comparison = FAMILY.compare_rows(instance, list(estimates), 0, limit, options)
    runs = []
    for (policy, text), (columns, result) in zip(estimates.items(), comparison, strict=True):
        cluster_result = result_or_none(result)
        if policy != SIMULATOR:
            _release_schedule(cluster_result)
        runs.append(PolicyRun(policy, columns, cluster_result, text))
    return tuple(runs)


def _release_schedule(result: Result | None) -> None:
    """Give back the memory of the rows of a schedule, which an audit does not show."""
    if result is not None and isinstance(result.schedule, Schedule):
        result.schedule.release_rows()
        return_freed_memory()
