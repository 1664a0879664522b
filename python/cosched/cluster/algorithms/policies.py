"""DFRS policies by name: the paper's grammar."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from cosched import _core
from cosched.cluster.algorithms.simulation import algorithm_of, result_of_simulation
from cosched.cluster.bounds import THRESHOLD
from cosched.cluster.instance import Instance
from cosched.cluster.instance.arguments import refuse_running
from cosched.cluster.result import Result
from cosched.core.arrays import real
from cosched.errors import InvalidInstance, shorten

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
    refuse_running(instance.known, name)
    if len(instance.layout[0]):
        raise InvalidInstance(f"{name}: DFRS policies know no partitions: expected no machine")
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
