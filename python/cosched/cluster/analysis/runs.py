"""The simulations of an audit page: the log, policies, what-if scenarios and their differences."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, replace
from os import sched_getaffinity
from typing import Any, TypeVar

import numpy as np

from cosched import _core
from cosched.cluster.analysis.replications import (
    CommonJobs,
    Spread,
    compare,
    numbers_of_comparison,
    replications_of,
    with_first_replications,
)
from cosched.cluster.analysis.scenario import Scenario, ScenarioClass, Verdict
from cosched.cluster.analysis.window import Window, window_of
from cosched.cluster.family import FAMILY
from cosched.cluster.instance import Instance
from cosched.cluster.instance.usage import has_requested_times, has_waits
from cosched.cluster.judgement.judge import SIMULATOR, judge_log, replications_of_log
from cosched.cluster.judgement.log_start import start_of_log
from cosched.cluster.judgement.verdict import LogJudgement
from cosched.cluster.result import NO_ESTIMATES, PERFECT, REQUESTED, Result
from cosched.cluster.result.groups import keys_of, range_of
from cosched.cluster.schedule import Schedule
from cosched.core import Bound
from cosched.core.comparison import apply_best_bound
from cosched.core.freed_memory import return_freed_memory
from cosched.core.text import count_of, unknown_name
from cosched.errors import InfeasibleError, InvalidInstance
from cosched.notes import Note, NoteKind, notes_of_kind

_GROUPS = ("partition", "account", "qos", "user", "size", "gpu")
#: Groups of fewer jobs say little.
_MIN_GROUP_JOBS = 5
#: Groups that are shown: those that change most.
MAX_GROUPS = 10


@dataclass(frozen=True)
class GroupChange:
    """How much longer a group of jobs waits (s)."""

    #: The column that makes the groups, such as ``account``.
    what: str
    #: The value of the column.
    name: str
    #: How many jobs the group has.
    jobs: int
    #: Mean wait under the change minus mean wait today (s), over the replications.
    difference: Spread


def row_of(
    what: str, policy: str, base: Result, other: Result, *, is_random: bool = True
) -> dict[str, Any]:
    """A row of the audit's JSON; seconds."""
    numbers = numbers_of_comparison(base, other, is_random=is_random)
    return {"what_if": what, "policy": policy, **numbers}


def _paired_differences(values: np.ndarray, base_values: np.ndarray) -> np.ndarray:
    """Return differences replication by replication, as far as both have them: they share the
    clocks."""
    count = min(len(values), len(base_values))
    return values[:count] - base_values[:count]


def groups_between(
    base: tuple[Instance, np.ndarray], other: tuple[Instance, np.ndarray]
) -> list[GroupChange]:
    """The groups whose mean wait changes most, the largest difference first.

    `base` and `other` are the jobs and the waits (s) of the measured jobs, one row per replication.
    """
    all_changes = (change for what in _GROUPS for change in _changes_by(what, base, other))
    changes = [change for change in all_changes if change.difference != Spread(0.0, 0.0, 0.0)]
    changes.sort(key=lambda change: (-abs(change.difference.mean), change.what, change.name))
    return changes[:MAX_GROUPS]


def _changes_by(
    what: str, base: tuple[Instance, np.ndarray], other: tuple[Instance, np.ndarray]
) -> Iterator[GroupChange]:
    (base_instance, base_waits), (other_instance, other_waits) = base, other
    base_keys, other_keys = _keys(base_instance, what), _keys(other_instance, what)
    if base_keys is None or other_keys is None or len(set(base_keys.tolist())) < 2:
        return
    for key in dict.fromkeys(other_keys.tolist()):
        is_other, is_base = other_keys == key, base_keys == key
        if is_other.sum() >= _MIN_GROUP_JOBS and is_base.any():
            means = other_waits[:, is_other].mean(axis=1), base_waits[:, is_base].mean(axis=1)
            name = range_of(key) if what == "size" else str(key)
            difference = Spread.of(_paired_differences(*means))
            yield GroupChange(what, name, int(is_other.sum()), difference)


def _keys(instance: Instance, what: str) -> np.ndarray | None:
    keys = keys_of(instance, what)
    return None if keys is None else np.asarray(keys)[instance.measured]


#: The two best of the paper's Table 2.
DFRS = ("GreedyPM */per/opt=min/minvt=600", "MCB8 */per/opt=min/minvt=600")
#: The reference policy where the simulator of Slurm is not: every batch system has such backfill.
EASY = "EASY"
#: Replications of the simulator of Slurm, unless the user or the time limit says otherwise.
_DEFAULT_REPLICATIONS = 20
#: Simulations that run at the same time: few, since replications use several processors themselves.
_MAX_SIMULTANEOUS_RUNS = 1 + min(2, len(sched_getaffinity(0)))
#: A scenario may take so many times as long as the simulation of the machine as it is, times
#: :data:`_MAX_SIMULTANEOUS_RUNS`, as others run at the same time.
_PATIENCE = 4
#: The same with the run times of all jobs, which no scheduler knows.
EASY_WITH_PERFECT_ESTIMATES = "EASY (perfect estimates)"


@dataclass(frozen=True)
class AuditRun:
    """One row of a table of the page.

    Attributes
    ----------
    name : str
        Of the policy or the scenario.
    row : dict
        The numbers of ``compare``, by column.
    result : Result or None
        None: the simulation has no result; ``row["message"]`` says why.
    """

    name: str
    row: dict[str, Any]
    result: Result | None

    @property
    def lacks_jobs(self) -> bool:
        """Whether Slurm's limits keep jobs of the log out; the bound does not hold then."""
        return self.result is not None and "left_out" in self.result.outcome


@dataclass(frozen=True)
class PolicyRun(AuditRun):
    """One policy on the machine as it is."""

    #: The run-time estimates of the policy: ``requested``, ``perfect``, ``none``; ``-`` of the log.
    estimates: str


@dataclass(frozen=True)
class ScenarioRun(AuditRun):
    """One what-if scenario under the reference policy."""

    #: Remarks of the row, the reason of its class first, with semicolons between them.
    remarks: str
    #: None: the machine as it is.
    scenario_class: ScenarioClass | None = None
    #: Why the row has its class; empty for a simulated row.
    reason: str = ""


@dataclass(frozen=True)
class Runs:
    """All simulations of a page."""

    #: The log.
    instance: Instance
    #: The log's own schedule, where it has one, and those of the policies.
    policy_runs: tuple[PolicyRun, ...]
    #: The current configuration, then each what-if.
    scenario_runs: tuple[ScenarioRun, ...]
    #: Seconds for the bound and for each policy; None: no limit.
    time_limit: float | None
    #: How well the simulator of Slurm explains the log; None where the log has no waits or the
    #: machine is not a slurm.conf.
    judgement: LogJudgement | None = None
    #: The policy that the user chose for what-ifs; empty: the judgement decides.
    chosen_reference: str = ""

    @property
    def has_simulator(self) -> bool:
        """Whether the scheduler itself is among the policies."""
        return self.result(SIMULATOR) is not None

    @property
    def reference_policy(self) -> str:
        """The policy that what-ifs are about."""
        if self.chosen_reference:
            return self.chosen_reference
        trusted = self.judgement is None or self.judgement.is_explained
        return SIMULATOR if self.has_simulator and trusted else EASY

    @property
    def not_followed(self) -> list[Note]:
        """Settings and jobs that the simulator of Slurm leaves out, and what that may do."""
        return _notes(self.result(SIMULATOR), NoteKind.NOT_FOLLOWED, NoteKind.REFUSED_JOBS)

    @property
    def is_random(self) -> bool:
        """Whether the reference policy has replications: hidden clocks decide with its rules."""
        return self.reference_policy == SIMULATOR

    @property
    def base(self) -> ScenarioRun:
        """The reference policy on the machine as it is."""
        base = next(run for run in self.policy_runs if run.name == self.reference_policy)
        return _row_of_scenario("as it is", (), base.row, base.result)

    @property
    def rows(self) -> list[ScenarioRun]:
        """The reference policy on the machine as it is, and under each scenario."""
        return [self.base, *self.scenario_runs]

    @property
    def window(self) -> Window:
        """The time over which the utilization of all rows is taken."""
        return window_of(self.instance, self.reference_result or self.logged)

    @property
    def bound(self) -> Bound | None:
        """On the maximum stretch; None: not reached."""
        return next((proof for run in self.policy_runs if (proof := run.row.get("proof"))), None)

    def result(self, name: str) -> Result | None:
        """The result of the policy of this name; None: it has none."""
        return next((run.result for run in self.policy_runs if run.name == name), None)

    @property
    def logged(self) -> Result | None:
        """What happened, where the log has it."""
        return self.result("as-logged")

    @property
    def reference_result(self) -> Result | None:
        """What a policy gives that can be had: the scheduler itself, or plain backfilling."""
        return self.result(self.reference_policy)


def why_no_dfrs(instance: Instance) -> str:
    """Why DFRS policies have no meaning here, or an empty text."""
    if len(instance.partition_layout[0]):
        return "they know no partitions"
    return "" if (instance.column("memory") < 1).any() else "every task has a whole node"


def run_all(
    instance: Instance,
    scenarios: Iterable[Scenario],
    limit: float | None,
    draws: int | None = None,
    reference: str = "",
    judgement: LogJudgement | None = None,
) -> Runs:
    """Simulate the policies of the page, and each scenario under the reference policy.

    The bound is computed at the same time. All rows of the reference policy have the same
    replications.

    Parameters
    ----------
    limit : float or None
        Seconds for each policy and for the bound.
    draws : int, optional
        Replications; 20 by default, fewer where `limit` ends them.
    reference : str
        The reference policy; empty: the judgement decides.
    judgement : LogJudgement, optional
        The judgement of the log, where it is known already.
    """
    unbounded_instance = instance.unbounded()
    check_reference(unbounded_instance, reference)
    with ThreadPoolExecutor(_MAX_SIMULTANEOUS_RUNS) as pool:
        bound = pool.submit(FAMILY.bound_within, instance, limit)
        try:
            scheduler, options = _scheduler(unbounded_instance, limit, draws)
            _require_feasible(scheduler)
            policies = pool.submit(_policies, unbounded_instance, limit)
            judgement = _judgement(unbounded_instance, scheduler, judgement)
            runs = Runs(instance, scheduler, (), limit, judgement, reference)
            if runs.reference_policy != SIMULATOR:
                runs = replace(runs, policy_runs=scheduler + policies.result())
            _require_feasible(run for run in runs.policy_runs if run.name == runs.reference_policy)
            rows = _simulate_scenarios(pool, runs, scenarios, options, draws is None)
            runs = replace(
                runs,
                policy_runs=scheduler + policies.result(),
                scenario_runs=tuple(rows),
            )
            runs = _with_common_replications(runs)
            proof = bound.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            _core.request_stop()  # the simulations that still run have no reader any more
            try:
                pool.shutdown()
            finally:
                _core.forget_stop()
            raise
    bound_columns = {} if proof is None else {"bound": proof.value, "proof": proof}
    rows_with_bound = [
        run.row | ({} if run.lacks_jobs else bound_columns) for run in runs.policy_runs
    ]
    results = [run.result for run in runs.policy_runs]
    settled_rows = apply_best_bound(list(zip(rows_with_bound, results, strict=True)))
    pairs = zip(runs.policy_runs, settled_rows, strict=True)
    return replace(runs, policy_runs=tuple(replace(run, row=row) for run, row in pairs))


def _require_feasible(runs: Iterable[AuditRun]) -> None:
    """Raise InfeasibleError where the machine as it is does not hold a job of the log: what-ifs and
    the judgement would be of other jobs than the log's."""
    for run in runs:
        if run.row.get("infeasible"):
            raise InfeasibleError(run.row["message"])


def _scheduler(
    unbounded_instance: Instance, limit: float | None, draws: int | None
) -> tuple[tuple[PolicyRun, ...], dict[str, Any]]:
    """Run the simulator of Slurm where the machine is a slurm.conf; its row and its options."""
    if unbounded_instance.machine is None or unbounded_instance.machine.slurm is None:
        return (), {}
    # Settings without a rule are left out, which the page says, where solve refuses them.
    options: dict[str, Any] = {"draws": draws or _DEFAULT_REPLICATIONS, "approximate": True}
    min_replications = _MIN_REPLICATIONS
    if has_waits(unbounded_instance):
        options |= start_of_log(unbounded_instance).host_options
        if replications_of_log(unbounded_instance) <= options["draws"]:
            min_replications = replications_of_log(
                unbounded_instance
            )  # the judgement is of these, too
    bounded = options
    if not draws and limit is not None:
        bounded = options | {"enough": _stop_when_late(limit, min_replications)}
    return _runs_of(unbounded_instance, {SIMULATOR: REQUESTED}, None, {SIMULATOR: bounded}), options


def _judgement(
    unbounded_instance: Instance, scheduler: tuple[PolicyRun, ...], judgement: LogJudgement | None
) -> LogJudgement | None:
    """Judge the log by the simulations of Slurm, where these have a result."""
    result = next((run.result for run in scheduler if run.result is not None), None)
    if result is None or judgement is not None:
        return judgement
    # What-ifs are of the whole log; the judgement begins where all jobs that run are known.
    is_whole = not has_waits(unbounded_instance) or start_of_log(unbounded_instance).begin is None
    return judge_log(unbounded_instance, simulated=result if is_whole else None)


def check_reference(instance: Instance, reference: str) -> None:
    """Raise InvalidInstance for a reference that is no policy of the page."""
    names = [EASY, "conservative", "FCFS"]
    if instance.machine is not None and instance.machine.slurm is not None:
        names.insert(0, SIMULATOR)
    if not why_no_dfrs(instance):
        names += DFRS
    if reference and reference not in names:
        raise InvalidInstance(unknown_name("reference policy", reference, names))


def _policies(unbounded_instance: Instance, limit: float | None) -> tuple[PolicyRun, ...]:
    """Simulate the jobs of the log under each policy on the machine as it is."""
    has_requested = has_requested_times(unbounded_instance)
    estimates = {"as-logged": "-"} if has_waits(unbounded_instance) else {}
    estimates |= {"FCFS": NO_ESTIMATES}
    estimates |= dict.fromkeys((EASY, "conservative"), REQUESTED if has_requested else PERFECT)
    if not why_no_dfrs(unbounded_instance):
        estimates |= dict.fromkeys(DFRS, NO_ESTIMATES)
    if has_requested:
        estimates |= {EASY_WITH_PERFECT_ESTIMATES: PERFECT}
    return _runs_of(unbounded_instance, estimates, limit, {})


def _runs_of(
    unbounded_instance: Instance,
    estimates: dict[str, str],
    limit: float | None,
    options: dict[str, dict[str, Any]],
) -> tuple[PolicyRun, ...]:
    """Run the policies that `estimates` names, each with its kind of run-time estimates."""
    rows = FAMILY.compare_rows(unbounded_instance, list(estimates), 0, limit, options)
    runs = []
    for (name, text), (row, result) in zip(estimates.items(), rows, strict=True):
        result_or_none = _result_or_none(result)
        schedule = None if result_or_none is None else result_or_none.schedule
        if isinstance(schedule, Schedule) and name != SIMULATOR:
            schedule.release_rows()
            return_freed_memory()
        runs.append(PolicyRun(name, row, result_or_none, text))
    return tuple(runs)


def _simulate_scenarios(
    pool: Executor,
    runs: Runs,
    scenarios: Iterable[Scenario],
    options: dict[str, Any],
    stops_when_late: bool,
) -> list[ScenarioRun]:
    """Simulate the reference policy under each scenario, with the same random clocks.

    The simulator of Slurm runs as many replications as on the machine as it is, and at least two
    where the time limit ends them (`stops_when_late`). The limit of a scenario is
    the larger of the limit of any policy and :data:`_MAX_SIMULTANEOUS_RUNS` times
    :data:`_PATIENCE` times the base run. A reference policy without replications has the limit of
    any policy.
    """
    policy, limit = runs.reference_policy, runs.time_limit
    base = next(run for run in runs.policy_runs if run.name == policy)
    known_notes = _notes(base.result, NoteKind.NOT_FOLLOWED)
    half_limit = None
    if runs.is_random and limit is not None:
        limit = max(limit, _MAX_SIMULTANEOUS_RUNS * _PATIENCE * base.row["seconds"])
        half_limit = limit / 2 if stops_when_late else None

    def simulate(scenario: Scenario) -> ScenarioRun:
        verdict = scenario.verdict(policy, is_scheduler=runs.is_random)
        if verdict.scenario_class is not ScenarioClass.SIMULATED:
            return _row_without_run(scenario, verdict, base)
        scenario_options = options if runs.is_random else {}
        if runs.is_random and base.result is not None:
            scenario_options = scenario_options | {
                "enough": _stop_at_count(replications_of(base.result), half_limit)
            }
        ((row, result),) = FAMILY.compare_rows(
            scenario.instance.without_bound(), [policy], 0, limit, {policy: scenario_options}
        )
        notes = _notes(_result_or_none(result), NoteKind.NOT_FOLLOWED)
        remarks = (*verdict.remarks, *(note for note in notes if note not in known_notes))
        return _row_of_scenario(scenario.text, remarks, row, _result_or_none(result), verdict)

    final_scenarios = [scenario.with_final_classes(base.result) for scenario in scenarios]
    futures = [pool.submit(simulate, scenario) for scenario in final_scenarios]
    return [future.result() for future in futures]


def _row_without_run(scenario: Scenario, verdict: Verdict, base: AuditRun) -> ScenarioRun:
    """Return a row that is not simulated: that of the machine as it is, or one without numbers."""
    is_as_today = verdict.scenario_class in (ScenarioClass.UNCHANGED, ScenarioClass.NO_EFFECT)
    if not is_as_today:
        return _row_of_scenario(scenario.text, verdict.remarks, {"message": ""}, None, verdict)
    return _row_of_scenario(scenario.text, verdict.remarks, base.row, base.result, verdict)


def _with_common_replications(runs: Runs) -> Runs:
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


#: A row of the policies, or of the what-ifs.
RunKind = TypeVar("RunKind", bound=AuditRun)


def _with_replications(run: RunKind, count: int) -> RunKind:
    if run.result is None or replications_of(run.result) <= count:
        return run
    result = with_first_replications(run.result, count)
    return replace(run, result=result, row=run.row | result.metrics())


def _with_class_by_starts(
    run: ScenarioRun, base: Result, policy: str, is_random: bool
) -> ScenarioRun:
    if run.scenario_class is not ScenarioClass.SIMULATED or run.result is None:
        return run
    comparison = compare(base, run.result, is_random=is_random)
    if not comparison.has_same_starts:
        return run
    where = f"in {count_of(comparison.replications, 'replication')}"
    reason = f"no job starts at another time {where if is_random else f'under {policy}'}"
    remarks = "; ".join(filter(None, [reason, run.remarks]))
    return replace(run, scenario_class=ScenarioClass.NO_EFFECT, reason=reason, remarks=remarks)


def _row_of_scenario(
    name: str,
    remarks: tuple[str, ...],
    row: dict[str, Any],
    result: Result | None,
    verdict: Verdict | None = None,
) -> ScenarioRun:
    """Return a row with its class, its reason and its remarks.

    Remarks say why the scenario has no result, and which jobs a limit keeps out. The reason of a
    scenario without a result is the message of its simulation.
    """
    reason = "" if verdict is None else verdict.reason
    refused_jobs = _notes(result, NoteKind.REFUSED_JOBS)
    texts = dict.fromkeys([row["message"], reason, *remarks, *refused_jobs])
    scenario_class = None if verdict is None else verdict.scenario_class
    if scenario_class is ScenarioClass.SIMULATED and result is None:
        scenario_class = ScenarioClass.NO_RESULT
    return ScenarioRun(
        name=name,
        remarks="; ".join(filter(None, texts)),
        row=row,
        result=result,
        scenario_class=scenario_class,
        reason=reason or row["message"],
    )


def _about_common_jobs(run: ScenarioRun, base: Result) -> ScenarioRun:
    """Return the row, without numbers where no job of it is a job of the machine as it is."""
    if run.result is None or CommonJobs.of(base.instance, run.result.instance).count:
        return run
    return _without_comparison(run, "no job runs both on the machine as it is and here")


def _without_comparison(run: ScenarioRun, reason: str) -> ScenarioRun:
    """Return the row without numbers, since no other row can be compared with it."""
    if run.result is None:
        return run
    remarks = "; ".join(filter(None, [reason, run.remarks]))
    return replace(
        run, scenario_class=ScenarioClass.NO_RESULT, result=None, reason=reason, remarks=remarks
    )


def _notes(result: Result | None, *kinds: NoteKind) -> list[Note]:
    """Return the notes of these kinds of a result's instance; none without a result."""
    return [] if result is None else notes_of_kind(result.instance.notes, *kinds)


#: So many replications run however long they take: a single one does not show how they differ.
_MIN_REPLICATIONS = 2


def _stop_when_late(
    limit: float | None, min_replications: int = _MIN_REPLICATIONS
) -> Callable[[np.ndarray], bool]:
    """Return a test whether `least` replications exist and the time is over."""
    end = np.inf if limit is None else clock.monotonic() + limit
    return lambda waits: len(waits) >= min_replications and clock.monotonic() > end


def _stop_at_count(count: int, limit: float | None) -> Callable[[np.ndarray], bool]:
    """Return a test whether `count` replications exist or the time is over."""
    is_late = _stop_when_late(limit)
    return lambda waits: len(waits) >= count or is_late(waits)


def _result_or_none(result: object) -> Result | None:
    return result if isinstance(result, Result) else None
