"""Policies by name, and policies of one's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from cosched import _core
from cosched.cluster.instance import Instance
from cosched.cluster.result import Result, Schedule
from cosched.core.arrays import real
from cosched.errors import InvalidInstance, InvalidSchedule, shorten

#: The batch policies and the 18 DFRS policies of the paper's Table 2.
TABLE_2 = (
    "FCFS",
    "EASY",
    *(f"{g} */opt=min" for g in ("Greedy", "GreedyP", "GreedyPM")),
    *(f"{g}/per/opt=min" for g in ("Greedy", "GreedyP", "GreedyPM")),
    *(f"{g} */per/opt=min" for g in ("Greedy", "GreedyP", "GreedyPM")),
    *(f"{g}/per/opt=min/minvt=600" for g in ("GreedyP", "GreedyPM")),
    *(f"{g} */per/opt=min/minvt=600" for g in ("GreedyP", "GreedyPM")),
    "MCB8 */opt=min/minvt=600",
    "MCB8/per/opt=min/minvt=600",
    "MCB8 */per/opt=min/minvt=600",
    "/per/opt=min/minvt=600",
    "/stretch-per/opt=max/minvt=600",
)


def fcfs(instance: Instance, *, threshold: float = 10.0, log: bool = False) -> Result:
    """First come, first served: a task takes a whole node; the queue's head starts when it fits.

    What happens at one instant, in this order:

    1. all completions of that instant: their nodes are free;
    2. all submissions of that instant join the queue, by submission time, equal times by row;
    3. one pass: the head of the queue starts while it fits; the first job that does not fit
       stops the pass, whatever is behind it.

    A job takes the free nodes with the lowest numbers, one for each task, alone, from its start
    to its end; a job with a run time of 0 s starts and ends at one instant, and its nodes are
    free for the next instant's pass, which comes at the same time.

    Parameters
    ----------
    instance : Instance
        No job with more tasks than nodes.
    threshold : float
        Shortest time of the bounded stretch (s).
    log : bool
        Keep the decision log (``result.log``).

    Raises
    ------
    InfeasibleError
        A job has more tasks than the machine has nodes.

    Notes
    -----
    O(n log n).
    """
    outcome, _, told = _core.cluster.fcfs(instance._core, False, bool(log))
    replay = (_fcfs_rows, ())
    return _result(instance, "FCFS", outcome, told, threshold, replay, 0.0, True)


def easy(
    instance: Instance,
    *,
    estimates: str = "perfect",
    threshold: float = 10.0,
    log: bool = False,
) -> Result:
    """EASY backfilling: the queue's head has a reservation that later jobs must not delay.

    What happens at one instant, in this order: completions and submissions as in :func:`fcfs`,
    then one pass over the queue:

    1. The head starts while it fits.
    2. The head that does not fit gets a reservation: the *shadow time* is the first expected end
       of a running job at which enough nodes are free for it. *Extra* nodes are all that are
       expected to be free at the shadow time (jobs that end at that very time included) beyond
       those that the head needs.
    3. The jobs behind the head, in order of the queue, each once: a job starts if it fits now
       and either is expected to end by the shadow time (at that very time is in time) or needs
       no more than the extra nodes; only in the second case it uses extra nodes up.

    Expected ends count from the start of a job: start + estimate. An estimate that runs out
    changes nothing for its job, which runs on to its real end (no job is killed); from then
    on it is expected to end *now*, so that the shadow time may be now although the head does
    not fit. An estimate that is too long leaves a gap when the job ends early, and that
    completion's pass uses it.

    Parameters
    ----------
    instance : Instance
        No job with more tasks than nodes.
    estimates : {"perfect", "requested"}
        Expected run times: the real ones, or the column ``estimate``. A job that outlives its
        estimate runs on and is expected to end now.
    threshold, log
        As for :func:`fcfs`.
    """
    if estimates not in ("perfect", "requested"):
        raise InvalidInstance(f"estimates = {shorten(estimates)}: expected perfect or requested")
    requested = estimates == "requested"
    outcome, _, told = _core.cluster.easy(instance._core, requested, False, bool(log))
    replay = (_easy_rows, (requested,))
    return _result(instance, "EASY", outcome, told, threshold, replay, 0.0, True)


def dfrs(
    instance: Instance,
    name: str,
    *,
    period: float = 600.0,
    penalty: float = 300.0,
    threshold: float = 10.0,
    log: bool = False,
) -> Result:
    """A policy of dynamic fractional resource scheduling by its name in the paper.

    ``SUBMIT [*][/per|/stretch-per][/opt=min|avg|max][/minvt=S|/minft=S]`` with SUBMIT one of
    Greedy, GreedyP, GreedyPM, MCB8 or nothing. Spaces are optional.

    Parameters
    ----------
    instance : Instance
    name : str
    period : float
        Between two periodic events (s); the first comes one period after the first submission.
    penalty : float
        A job that is resumed after a pause, or migrated, holds its nodes this long without
        progress (s). Policies do not know of it.
    threshold, log
        As for :func:`fcfs`.

    Raises
    ------
    InvalidInstance
        Not a policy name, or one that would starve jobs.
    InfeasibleError
        A job that fits in the memory of no empty machine.
    """
    period, penalty = real(period, "period"), real(penalty, "penalty")
    outcome, _, told = _core.cluster.dfrs(instance._core, name, period, penalty, False, bool(log))
    replay = (_dfrs_rows, (name, period, penalty))
    return _result(instance, name, outcome, told, threshold, replay, penalty, False)


def resolve(name: str) -> Callable[..., Result] | None:
    """The function of a DFRS policy name; None where it is not one."""
    spelled = _core.cluster.spell(name)
    if spelled is None:
        return None

    def policy(
        instance: Instance,
        *,
        period: float = 600.0,
        penalty: float = 300.0,
        threshold: float = 10.0,
        log: bool = False,
    ) -> Result:
        return dfrs(instance, spelled, period=period, penalty=penalty, threshold=threshold, log=log)

    policy.__doc__ = f"The DFRS policy ``{spelled}``; see :func:`cosched.cluster.dfrs`."
    return policy


def paper_policies() -> list[str]:
    """The 116 policies of the paper, spelled as there.

    Examples
    --------
    >>> len(paper_policies())
    116
    """
    return _core.cluster.paper_policies()


# --- policies of one's own ----------------------------------------------------------------


@dataclass(frozen=True)
class Event:
    """Why a policy is called: ``kind`` is "completion", "submission" or "period"."""

    kind: str
    time: float
    jobs: tuple[int, ...]


@dataclass(frozen=True)
class Job:
    """What a policy may know of a job in the system: not its run time."""

    number: int
    submit: float
    tasks: int
    cpu: float
    memory: float
    status: str  # waiting, running or paused
    virtual_time: float
    nodes: tuple[int, ...]
    yield_: float


@dataclass(frozen=True)
class State:
    """The machine at an event: the time, the number of nodes, the jobs in the system."""

    time: float
    nodes: int
    jobs: dict[int, Job]


def python_policy(
    instance: Instance,
    policy: Any,
    *,
    period: float = 600.0,
    penalty: float = 300.0,
    threshold: float = 10.0,
    log: bool = False,
) -> Result:
    """Simulate a policy written in Python.

    Parameters
    ----------
    instance : Instance
    policy : object
        ``policy.on_event(event, state) -> {job: (nodes, yield)}``: all jobs that run from now
        on, with one node a task and their yield; running jobs that are left out are paused. None
        changes nothing. ``policy.periodic`` (default False) asks for period events.
    period, penalty, threshold, log
        As for :func:`dfrs`.

    Raises
    ------
    InvalidSchedule
        The policy breaks a rule (memory, CPU, number of nodes, a job that is not there).
    """
    period, penalty = real(period, "period"), real(penalty, "penalty")
    adapter = _Adapter(instance, policy)
    outcome, rows, told = _core.cluster.python_policy(
        instance._core, adapter, period, penalty, True, bool(log)
    )
    name = type(policy).__name__
    return _result(instance, name, outcome, told, threshold, None, penalty, False, rows)


class _Adapter:
    """Gives `policy` its event and state as objects."""

    def __init__(self, instance: Instance, policy: Any) -> None:
        self.on_event = policy.on_event
        self.periodic = bool(getattr(policy, "periodic", False))
        self.nodes = instance.nodes
        self.given = {
            name: instance.column(name).tolist() for name in ("submit", "tasks", "cpu", "memory")
        }

    def ask(self, kind: str, time: float, jobs: list[int], inside: dict[int, tuple]) -> Any:
        given = self.given
        state = State(
            time,
            self.nodes,
            {
                job: Job(
                    job,
                    given["submit"][job],
                    given["tasks"][job],
                    given["cpu"][job],
                    given["memory"][job],
                    status,
                    virtual_time,
                    tuple(nodes),
                    share,
                )
                for job, (status, virtual_time, nodes, share) in sorted(inside.items())
            },
        )
        answer = self.on_event(Event(kind, time, tuple(jobs)), state)
        if answer is None:
            return None
        try:
            return {
                int(job): ([int(node) for node in nodes], float(share))
                for job, (nodes, share) in answer.items()
            }
        except (AttributeError, TypeError, ValueError):
            raise InvalidSchedule(
                f"the policy returned {shorten(answer)}: expected {{job: (nodes, yield)}} or None"
            ) from None


def register_policy(name: str, policy: Any) -> None:
    """Add a policy of one's own to the family, under `name`.

    Parameters
    ----------
    name : str
        Then ``solve(instance, name)`` and ``compare`` know it.
    policy : object or callable
        As for :func:`python_policy`; a class (or a function that returns a policy) is called
        for each simulation, so that a policy may keep a state.

    Examples
    --------
    >>> import cosched as cs
    >>> class OneAtATime:
    ...     def on_event(self, event, state):
    ...         first = min(state.jobs, default=None)
    ...         return {} if first is None else {first: (range(state.jobs[first].tasks), 1.0)}
    >>> cs.cluster.register_policy("one at a time", OneAtATime)
    >>> jobs = {"submit": [0, 0], "tasks": [2, 1], "cpu": [1, 1], "memory": [1, 1],
    ...         "runtime": [20.0, 30.0]}
    >>> cs.cluster.solve(cs.cluster.Instance(jobs, nodes=2), "one at a time").jobs.end.tolist()
    [20.0, 50.0]
    """
    from cosched.cluster import FAMILY

    if not callable(policy) and not hasattr(policy, "on_event"):
        raise TypeError(f"{name}: expected a policy with on_event(event, state)")

    def run(
        instance: Instance,
        *,
        period: float = 600.0,
        penalty: float = 300.0,
        threshold: float = 10.0,
        log: bool = False,
    ) -> Result:
        made = policy if hasattr(policy, "on_event") and not isinstance(policy, type) else policy()
        return python_policy(
            instance, made, period=period, penalty=penalty, threshold=threshold, log=log
        )

    run.__doc__ = getattr(policy, "__doc__", None) or f"The registered policy {name!r}."
    FAMILY.register(name, run)


# --- results ------------------------------------------------------------------------------


def _fcfs_rows(instance: Instance) -> tuple:
    return _core.cluster.fcfs(instance._core, True, False)[1]


def _easy_rows(instance: Instance, requested: bool) -> tuple:
    return _core.cluster.easy(instance._core, requested, True, False)[1]


def _dfrs_rows(instance: Instance, name: str, period: float, penalty: float) -> tuple:
    return _core.cluster.dfrs(instance._core, name, period, penalty, True, False)[1]


def _result(
    instance: Instance,
    name: str,
    outcome: dict[str, Any],
    told: tuple | None,
    threshold: float,
    replay: tuple | None,
    penalty: float,
    exclusive: bool,
    rows: tuple | None = None,
) -> Result:
    threshold = real(threshold, "threshold")
    if not 0 < threshold < np.inf:
        raise InvalidInstance(f"threshold = {threshold}: expected seconds > 0")
    stretches = _core.cluster.stretches(instance._core, outcome["end"], threshold)
    stretches.flags.writeable = False
    schedule = Schedule(
        instance,
        outcome,
        rows=rows,
        replay=replay,
        penalty=penalty,
        exclusive=exclusive,
        checked=not exclusive,  # batch simulations tell the validator nothing
    )
    return Result(
        algorithm=name,
        instance=instance,
        schedule=schedule,
        value=float(stretches.max()),
        outcome=outcome,
        stretches=stretches,
        log=None if told is None else _log_frame(told),
    )


def _log_frame(told: tuple) -> Any:
    import pandas as pd

    time, job, action, reason = told
    return pd.DataFrame({"time": time, "job": job, "action": action, "reason": reason})


def result_of_schedule(instance: Instance, schedule: Schedule) -> Result:
    """The result that a schedule (from a file) stands for; counts come from its rows."""
    schedule.validate()
    given = instance._columns
    memory, tasks = given["memory"], given["tasks"]
    outcome: dict[str, Any] = dict(schedule._outcome)
    demand = _demand_area(instance, outcome["end"])
    pauses = float(np.sum(outcome["preemptions"] * memory * tasks))
    outcome.update(
        demand_area=demand, preempted_memory=pauses, migrated_memory=_moved(schedule), events=0
    )
    stretches = _core.cluster.stretches(instance._core, outcome["end"], 10.0)
    return Result(
        algorithm="",
        instance=instance,
        schedule=schedule,
        value=float(stretches.max()),
        outcome=outcome,
        stretches=stretches,
    )


def _demand_area(instance: Instance, end: np.ndarray) -> float:
    """Integral of min(P, D(t))."""
    size = instance.column("cpu") * instance.column("tasks")
    times = np.concatenate([instance.column("submit"), end])
    order = np.argsort(times, kind="stable")
    demand = np.cumsum(np.concatenate([size, -size])[order])
    spans = np.diff(times[order])
    return float(np.sum(np.clip(demand[:-1], 0, instance.nodes) * spans))


def _moved(schedule: Schedule) -> float:
    """Sum over migrations of memory x moved tasks."""
    memory = schedule.instance.column("memory")
    total = 0.0
    last: dict[int, tuple[int, ...]] = {}
    for row in np.lexsort([schedule.start, schedule.task]):
        job, nodes = int(schedule.task[row]), schedule.units(row)
        if schedule.cause[row] == 2:  # move
            kept = sum(min(last[job].count(node), nodes.count(node)) for node in set(last[job]))
            total += memory[job] * (len(nodes) - kept)
        last[job] = nodes
    return float(total)


__all__ = [
    "TABLE_2",
    "Event",
    "Job",
    "State",
    "dfrs",
    "easy",
    "fcfs",
    "paper_policies",
    "python_policy",
    "register_policy",
    "resolve",
    "result_of_schedule",
]
