"""Policies of one's own: Python objects that are called at events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cosched import _core
from cosched.cluster.algorithms.simulation import result_of_simulation
from cosched.cluster.bounds import THRESHOLD
from cosched.cluster.instance import Instance
from cosched.cluster.result import Result
from cosched.core.arrays import real
from cosched.errors import InvalidSchedule, shorten


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
    threshold: float = THRESHOLD,
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
    return result_of_simulation(
        instance, name, outcome, told, threshold, None, penalty, False, rows
    )


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
