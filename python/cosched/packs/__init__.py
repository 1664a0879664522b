"""Packs: parallel applications run side by side (Aupy et al. 2013).

Partition n moldable tasks into packs of at most k tasks and give each task a number of
processors, at most p in all in a pack. The tasks of a pack start together; the next pack
starts when the longest of them ends. The *cost* to minimise is the sum over packs of the
longest time in it.

>>> import cosched as cs
>>> times = [[8.0, 4.4, 3.1], [6.0, 3.2, 2.5], [2.0, 1.2, 0.9]]   # task x processors, seconds
>>> inst = cs.packs.Instance(times, max_tasks=2)
>>> res = cs.packs.solve(inst, "optimal")
>>> round(res.value, 6), res.gap
(6.3, 0.0)

Reference: G. Aupy, M. Shantharam, A. Benoit, Y. Robert, P. Raghavan, *Co-scheduling
algorithms for high-throughput workload execution*, 2013. Section and algorithm numbers in
the docstrings are that paper's.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from cosched import core, profiles
from cosched.core import Argument, Bound, Family, Schedule
from cosched.packs.exact import (
    area_bound,
    bound_beside,
    columns_bound,
    ilp,
    longest_bound,
    optimal,
    pairs,
)
from cosched.packs.heuristics import (
    LOCAL_SEARCH_WORK,
    NINE,
    co_schedule,
    local_search,
    make_pack,
    one_pack,
    one_pack_dynamic_programme,
    pack_approx,
    pack_by_pack,
    random_pack,
    random_proc,
    sequential,
)
from cosched.packs.instance import Instance, monotone
from cosched.packs.result import Result, result_of_schedule

__all__ = [
    "ALGORITHMS",
    "BOUNDS",
    "DEFAULT_COMPARE",
    "FAMILY",
    "Instance",
    "LOCAL_SEARCH_WORK",
    "Result",
    "bound",
    "co_schedule",
    "compare",
    "ilp",
    "local_search",
    "make_pack",
    "monotone",
    "one_pack",
    "one_pack_dynamic_programme",
    "optimal",
    "pack_approx",
    "pack_by_pack",
    "pairs",
    "random_pack",
    "random_proc",
    "sequential",
    "solve",
]

BOUNDS: dict[str, Callable[..., Bound]] = {
    "columns": columns_bound,
    "area": area_bound,
    "longest": longest_bound,
}

ALGORITHMS: dict[str, core.Algorithm] = {
    "sequential": sequential,
    "pairs": pairs,
    "optimal": optimal,
    "ilp": ilp,
    "pack-approx": pack_approx,
    "random-pack-1": partial(random_pack, draws=1),
    "random-pack-9": partial(random_pack, draws=9),
    "random-proc-1": partial(random_proc, draws=1),
    "random-proc-9": partial(random_proc, draws=9),
    "pack-by-pack-1": partial(pack_by_pack, epsilons=(0.5,)),
    "pack-by-pack-9": partial(pack_by_pack, epsilons=NINE),
    "local-search": local_search,
}

#: What ``compare`` runs; ``ilp`` only up to five tasks.
DEFAULT_COMPARE = tuple(ALGORITHMS)


def _default_names(instance: Instance) -> list[str]:
    return [name for name in DEFAULT_COMPARE if name != "ilp" or instance.tasks <= 5]


FAMILY = Family(
    name="packs",
    instance_type=Instance,
    schedule_type=Schedule,
    objective="cost",
    default_bound="columns",
    result_of=result_of_schedule,
    arguments=(
        Argument(
            "--max-tasks", "max_tasks", "Most tasks in a pack (2,3,4 compares several).", vary=True
        ),
        Argument("--procs", "procs", "Processors p: read the times on 1..p only."),
        *profiles.ARGUMENTS,
    ),
    example=("times.csv", "--max-tasks 4", "local-search"),
    default_names=_default_names,
    beside=bound_beside,
    algorithms=ALGORITHMS,
    bounds=BOUNDS,
)
solve = FAMILY.solve
bound = FAMILY.bound
compare = FAMILY.compare
