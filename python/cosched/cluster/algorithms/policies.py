"""Policies by the names of the paper's grammar, and Python objects that are called at events."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from cosched import _core
from cosched.cluster.algorithms.simulation import algorithm_of, result_of_simulation
from cosched.cluster.bounds import THRESHOLD
from cosched.cluster.instance import Instance
from cosched.cluster.instance.arguments import refuse_running
from cosched.cluster.instance.usage import texts_of
from cosched.cluster.result import Result
from cosched.core.arrays import INT_MAX, integer, real
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


def dfrs(
    instance: Instance,
    name: str,
    *,
    period: float = 600.0,
    penalty: float = 300.0,
    threshold: float = THRESHOLD,
    log: bool = False,
) -> Result:
    """A policy of dynamic fractional resource scheduling by its name in the paper.

    ``SUBMIT [*][/per|/stretch-per][/opt=min|avg|max][/minvt=S|/minft=S]`` with SUBMIT one of
    Greedy, GreedyP, GreedyPM, MCB8 or nothing. Spaces are optional.

    Events at one instant are handled in this order: all completions together, then submissions
    one by one, then the period. After each that the policy acts on, yields are allocated anew:
    without ``*`` a completion changes nothing, and what it frees is used from the next event on.

    Parameters
    ----------
    name : str
        The policy.
    penalty : float
        A job that is resumed after a pause, or migrated, holds its nodes this long without
        progress (s). Policies do not know of it.

    Raises
    ------
    InvalidInstance
        Not a policy name, one that would starve jobs, or an option outside its range.
    InfeasibleError
        A job that fits in the memory of no empty machine.

    References
    ----------
    Casanova, Stillwell, Vivien 2011, Section 4 and Table 1.

    Examples
    --------
    >>> jobs = {"submit": [0, 0, 0], "tasks": [1, 2, 1], "cpu": [1, 1, 1],
    ...         "memory": [0.3, 0.3, 0.3], "runtime": [60.0, 60.0, 30.0]}
    >>> inst = cs.cluster.Instance(jobs, nodes=2)
    >>> result = cs.cluster.dfrs(inst, "GreedyPM */per/opt=min", penalty=60.0)
    >>> result.jobs.end.tolist(), result.max_stretch
    ([120.0, 120.0, 60.0], 2.0)
    """
    Instance.require(instance)
    if not isinstance(name, str) or len(name) > 100:  # none is as long, and no error repeats it
        raise InvalidInstance(f"name = {shorten(name)}: expected the name of a policy")
    refuse_running(instance.column_names, name)
    if len(instance.partition_layout[0]):
        raise InvalidInstance(f"{name}: DFRS policies know no partitions: expected no machine")
    if instance.machine is not None and (texts_of(instance, "constraint") != "").any():
        raise InvalidInstance(f"{name}: DFRS policies know no features: expected no constraints")
    period, penalty = real(period, "period"), real(penalty, "penalty")
    outcome, _, decisions = _core.cluster.dfrs(
        instance._core, name, period, penalty, False, bool(log)
    )
    replay = partial(_dfrs_rows, name=name, period=period, penalty=penalty)
    return result_of_simulation(
        instance, name, outcome, decisions, threshold, replay, penalty, False
    )


#: What is said of each DFRS policy by name.
_POLICY = """The DFRS policy ``{0}``; see :func:`cosched.cluster.dfrs`.

Raises
------
InvalidInstance
    An option outside its range.
InfeasibleError
    A job that fits in the memory of no empty machine.

Examples
--------
>>> inst = cs.cluster.Instance(cs.workloads.lublin(20, 8, seed=1), nodes=8)
>>> cs.cluster.solve(inst, "{0}").max_stretch >= 1
True
"""


def resolve(name: str) -> Callable[..., Result] | None:
    """The function of a DFRS policy name; None where it is not one."""
    spelled = _core.cluster.spell(name)
    if spelled is None:
        return None
    return algorithm_of(dfrs, lambda: spelled, _POLICY.format(spelled))


def paper_policies() -> list[str]:
    """The 116 policies of the paper, spelled as there.

    Returns
    -------
    list of str
        Names that :func:`dfrs` takes.

    Examples
    --------
    >>> names = paper_policies()
    >>> len(names), names[0]
    (116, 'Greedy */opt=avg')
    """
    return _core.cluster.paper_policies()


def _dfrs_rows(instance: Instance, name: str, period: float, penalty: float) -> Any:
    return _core.cluster.dfrs(instance._core, name, period, penalty, True, False)[1]


#: Whether a job or a node is there is the simulator's question.
_LOW = -(2**31)


@dataclass(frozen=True)
class Event:
    """Why a policy is called.

    Attributes
    ----------
    kind : {"completion", "submission", "period"}
    time : float
        Seconds.
    jobs : tuple of int
        The jobs that ended or came: rows of the instance, from 0.

    Examples
    --------
    >>> event = Event("submission", 30.0, (2,))
    >>> event.kind, event.jobs
    ('submission', (2,))
    """

    kind: str
    time: float
    jobs: tuple[int, ...]


@dataclass(frozen=True)
class Job:
    """What a policy may know of a job in the system: not its run time.

    Attributes
    ----------
    number : int
        Row in the instance, from 0.
    submit : float
        Seconds: when it was eligible.
    tasks : int
    cpu, memory : float
        Needs of one task, fractions of a node.
    status : {"waiting", "running", "paused"}
    virtual_time : float
        Work done so far: seconds at yield 1.
    nodes : tuple of int
        Node of each task while it runs.
    yield_ : float
        Share of its CPU need that it gets, 0..1.

    Examples
    --------
    >>> job = Job(0, 5.0, 2, 1.0, 0.3, "running", 60.0, (0, 1), 0.5)
    >>> job.status, job.nodes
    ('running', (0, 1))
    """

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
    """The machine at an event.

    Attributes
    ----------
    time : float
        Seconds.
    nodes : int
        Number of nodes.
    jobs : dict of int to Job
        The jobs in the system by number, increasing.

    Examples
    --------
    >>> waiting = Job(3, 5.0, 2, 1.0, 0.3, "waiting", 0.0, (), 0.0)
    >>> state = State(5.0, 4, {3: waiting})
    >>> [job.tasks for job in state.jobs.values() if job.status == "waiting"]
    [2]
    """

    time: float
    nodes: int
    jobs: dict[int, Job]


def python_policy(
    instance: Instance,
    policy: object,
    *,
    period: float = 600.0,
    penalty: float = 300.0,
    threshold: float = THRESHOLD,
    log: bool = False,
) -> Result:
    """Simulate a policy written in Python.

    Parameters
    ----------
    policy : object
        ``policy.on_event(event, state) -> {job: (nodes, yield)}``: all jobs that run from now
        on, with one node a task and their yield; running jobs that are left out are paused. None
        changes nothing. ``policy.periodic`` (default False) asks for period events.

    Raises
    ------
    InvalidSchedule
        The policy breaks a rule: memory, CPU, number of nodes, a job or node that is not there or
        no integer, a yield that is no number; or it never runs some job.

    Examples
    --------
    >>> class Shared:
    ...     '''All jobs on node 0, at the same yield.'''
    ...     def on_event(self, event, state):
    ...         return {job: ([0], 1 / len(state.jobs)) for job in state.jobs}
    >>> jobs = {"submit": [0, 0], "tasks": [1, 1], "cpu": [1, 1], "memory": [0.3, 0.3],
    ...         "runtime": [20.0, 30.0]}
    >>> cs.cluster.python_policy(cs.cluster.Instance(jobs, nodes=1), Shared()).jobs.end.tolist()
    [40.0, 50.0]
    """
    Instance.require(instance)
    refuse_running(instance.column_names, "a policy in Python")
    period, penalty = real(period, "period"), real(penalty, "penalty")
    adapter = _Adapter(instance, policy)
    outcome, rows, decisions = _core.cluster.python_policy(
        instance._core, adapter, period, penalty, True, bool(log)
    )
    name = type(policy).__name__
    return result_of_simulation(
        instance, name, outcome, decisions, threshold, None, penalty, False, rows
    )


class _Adapter:
    """Gives `policy` its event and state as objects."""

    def __init__(self, instance: Instance, policy: Any) -> None:
        self.on_event = policy.on_event
        self.periodic = bool(getattr(policy, "periodic", False))
        self.nodes = instance.nodes
        self.ids = instance.ids
        names = ("eligible", "tasks", "cpu", "memory")
        columns = (instance.column(name).tolist() for name in names)
        self.columns_of_job: list[tuple[float, int, float, float]] = list(
            zip(*columns, strict=True)
        )

    def ask(self, kind: str, time: float, jobs: list[int], jobs_in_system: dict[int, tuple]) -> Any:
        states = {
            job: Job(job, *self.columns_of_job[job], status, progress, tuple(nodes), share)
            for job, (status, progress, nodes, share) in sorted(jobs_in_system.items())
        }
        answer = self.on_event(Event(kind, time, tuple(jobs)), State(time, self.nodes, states))
        return _checked(answer, self._policy_name)

    def _policy_name(self, number: int) -> str:
        """Return a job as its log calls it, and as the policy does."""
        if not 0 <= number < len(self.ids) or str(self.ids[number]) == str(number):
            return f"job {number}"
        return f"job {self.ids[number]} (number {number})"


def _checked(
    answer: object, name_of_policy: Callable[[int], str]
) -> dict[int, tuple[list[int], float]] | None:
    """Return a policy's answer as it was given: what is no integer or no number is refused."""
    if answer is None:
        return None
    expected = "expected {job: (nodes, yield)} or None"
    if not isinstance(answer, Mapping):
        raise InvalidSchedule(f"the policy returned {shorten(answer)}: {expected}")
    shares = {}
    try:
        for job, (nodes, share) in answer.items():
            number = integer(job, "a job", _LOW)
            what = f"the nodes of {name_of_policy(number)}"
            if isinstance(nodes, (str, bytes)):
                raise TypeError
            places = [
                node if type(node) is int and 0 <= node <= INT_MAX else integer(node, what, _LOW)
                for node in nodes
            ]
            shares[number] = places, real(share, f"the yield of {name_of_policy(number)}")
    except InvalidInstance as error:
        raise InvalidSchedule(f"the policy's answer: {error}") from None
    except (TypeError, ValueError):
        raise InvalidSchedule(f"the policy returned {shorten(answer)}: {expected}") from None
    return shares
