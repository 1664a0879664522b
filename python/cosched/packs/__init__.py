"""Packs: parallel applications run side by side (Aupy et al. 2013).

Partition n moldable tasks into packs of at most k tasks and give each task a number of
processors, at most p in all in a pack. The tasks of a pack start together; the next pack
starts when the longest of them ends. The *cost* to minimise is the sum over packs of the
longest time in it.

>>> times = [[8.0, 4.4, 3.1], [6.0, 3.2, 2.5], [2.0, 1.2, 0.9]]   # task x processors, seconds
>>> inst = cs.packs.Instance(times, max_tasks=2)
>>> res = cs.packs.solve(inst, "optimal")
>>> round(res.value, 6), res.gap
(6.3, 0.0)

Reference: G. Aupy, M. Shantharam, A. Benoit, Y. Robert, P. Raghavan, *Co-scheduling
algorithms for high-throughput workload execution*, 2013. Section and algorithm numbers in
the docstrings are that paper's.
"""

from cosched.border import guard_public
from cosched.described import described
from cosched.packs.algorithms import (
    LOCAL_SEARCH_WORK as LOCAL_SEARCH_WORK,
    co_schedule as co_schedule,
    ends as ends,
    ilp as ilp,
    local_search as local_search,
    make_pack as make_pack,
    one_pack as one_pack,
    one_pack_dynamic_programme as one_pack_dynamic_programme,
    optimal as optimal,
    pack_approx as pack_approx,
    pack_by_pack as pack_by_pack,
    pairs as pairs,
    random_pack as random_pack,
    random_proc as random_proc,
    sequential as sequential,
    slowdown as slowdown,
)
from cosched.packs.family import (
    ALGORITHMS as ALGORITHMS,
    BOUNDS as BOUNDS,
    DEFAULT_COMPARE as DEFAULT_COMPARE,
    FAMILY as FAMILY,
)
from cosched.packs.instance import Instance as Instance
from cosched.packs.result import Result as Result
from cosched.profiles import monotone as monotone

solve = FAMILY.solve
bound = FAMILY.bound
compare = FAMILY.compare

described(
    globals(),
    {
        "draws": ("int", "Co-schedules to draw, >= 1 (the paper: 1 or 9)."),
        "tasks": ("array_like of int, shape (k,)", "Different tasks that start together."),
        "procs": (
            "array_like of int, shape (k,)",
            "Processors of each, 1..p, on which it can run.",
        ),
    },
)
guard_public(globals())
