"""Moldable jobs: finish early, and finish the important jobs early (Dutot et al. 2004).

n independent jobs with weights share m identical processors. A *moldable* job gets some number
of them when it starts, and keeps it; its time depends on that number. Two criteria count
together: the makespan, max C_i, which the operator wants small, and the *minsum*
sum w_i C_i, which the users want small (C_i = end of job i).

>>> import cosched as cs
>>> times = [[8.0, 4.4, 3.1], [6.0, 3.2, 2.5], [2.0, 1.2, 0.9]]   # job x processors, seconds
>>> inst = cs.moldable.Instance(times, weights=[1, 3, 5])
>>> res = cs.moldable.solve(inst, "demt-best")
>>> round(res.makespan, 6), round(res.weighted_completion, 6)
(6.5, 21.2)
>>> res.gap < 0.2
True

Release dates: every algorithm is off-line. An instance with release dates is scheduled on-line,
by batches (:func:`online`): when a batch ends, what was released meanwhile forms the next.

Reference: P.-F. Dutot, L. Eyraud, G. Mounie, D. Trystram, *Bi-criteria algorithm for scheduling
jobs on cluster platforms*, SPAA 2004. Section numbers in the docstrings are that paper's.
"""

from __future__ import annotations

from collections.abc import Callable

from cosched import core, profiles
from cosched.core import Argument, Bound, Family, Schedule
from cosched.moldable.algorithms import (
    BEST_WORK,
    demt,
    demt_best,
    dual_approximation,
    gang,
    list_lptf,
    list_saf,
    list_shelf,
    sequential,
)
from cosched.moldable.bounds import (
    area_bound,
    bound_beside,
    default_grid,
    dual_approximation_bound,
    longest_bound,
    minsum_bound,
)
from cosched.moldable.instance import Instance
from cosched.moldable.online import online
from cosched.moldable.result import Result, result_of_schedule

__all__ = [
    "ALGORITHMS",
    "BEST_WORK",
    "BOUNDS",
    "DEFAULT_COMPARE",
    "FAMILY",
    "Instance",
    "Result",
    "bound",
    "compare",
    "default_grid",
    "demt",
    "demt_best",
    "dual_approximation",
    "gang",
    "list_lptf",
    "list_saf",
    "list_shelf",
    "minsum_bound",
    "online",
    "sequential",
    "solve",
]

BOUNDS: dict[str, Callable[..., Bound]] = {
    "dual-approximation": dual_approximation_bound,
    "area": area_bound,
    "longest": longest_bound,
    "minsum": minsum_bound,
}

ALGORITHMS: dict[str, core.Algorithm] = {
    "demt": demt,
    "demt-best": demt_best,
    "dual-approximation": dual_approximation,
    "gang": gang,
    "sequential": sequential,
    "list-shelf": list_shelf,
    "list-lptf": list_lptf,
    "list-saf": list_saf,
}

#: What ``compare`` runs; ``gang`` only where its processors can be listed.
DEFAULT_COMPARE = tuple(ALGORITHMS)


def _default_names(instance: Instance) -> list[str]:
    listable = instance.jobs * instance.machines <= 2**25
    return [name for name in DEFAULT_COMPARE if name != "gang" or listable]


FAMILY = Family(
    name="moldable",
    instance_type=Instance,
    schedule_type=Schedule,
    objective="makespan",
    default_bound="dual-approximation",
    result_of=result_of_schedule,
    arguments=(
        Argument("--machines", "machines", "Processors m (100,200 compares several).", vary=True),
        *profiles.ARGUMENTS,
    ),
    example=("jobs.csv", "--machines 200", "demt-best"),
    default_names=_default_names,
    beside=bound_beside,
    algorithms=ALGORITHMS,
    bounds=BOUNDS,
)
solve = FAMILY.solve
bound = FAMILY.bound
compare = FAMILY.compare
