"""Dags: task graphs on CPUs and GPUs (Amaris, Lucarelli, Mommessin, Trystram 2017).

A directed acyclic graph of n sequential tasks runs on Q >= 2 types of identical units; task j
takes ``times[j, q]`` seconds on type q, and may be unable to run there. No communication costs,
no preemption. Minimise the makespan: decide for each task on which type it runs (the hard
part), and when.

>>> import cosched as cs
>>> times = [[4.0, 1.0], [6.0, 2.0], [3.0, 5.0], [4.0, 2.0]]   # task x (CPU, GPU), seconds
>>> inst = cs.dags.Instance(times, edges=[(0, 1), (0, 2), (1, 3), (2, 3)], units=(2, 1))
>>> res = cs.dags.solve(inst, "hlp-ols")
>>> res.value, res.kind.tolist()
(6.0, [1, 1, 0, 1])
>>> res.bound.value, res.gap
(6.0, 0.0)

Reference: M. Amaris, G. Lucarelli, C. Mommessin, D. Trystram, *Generic algorithms for
scheduling applications on heterogeneous multi-core machines*, 2017. Section and theorem numbers
in the docstrings are that paper's.
"""

from __future__ import annotations

from collections.abc import Callable

from cosched import core
from cosched.core import Argument, Bound, Family, Schedule
from cosched.dags.graphs import Graph, read_graph, write_graph
from cosched.dags.instance import Instance, parse_acceleration, parse_units
from cosched.dags.relaxation import (
    Certificate,
    Relaxation,
    area_bound,
    critical_path_bound,
    hlp,
    hlp_bound,
    round_allocation,
)
from cosched.dags.result import Result, result_of_schedule
from cosched.dags.schedulers import (
    eft,
    er_ls,
    est,
    greedy,
    heft,
    hlp_best,
    hlp_est,
    hlp_ols,
    ols,
    r1_ls,
    r2_ls,
    r3_ls,
    random,
)

__all__ = [
    "ALGORITHMS",
    "BOUNDS",
    "Certificate",
    "DEFAULT_COMPARE",
    "FAMILY",
    "Graph",
    "Instance",
    "Relaxation",
    "Result",
    "bound",
    "compare",
    "eft",
    "er_ls",
    "est",
    "greedy",
    "heft",
    "hlp",
    "hlp_best",
    "hlp_est",
    "hlp_ols",
    "ols",
    "r1_ls",
    "r2_ls",
    "r3_ls",
    "random",
    "read_graph",
    "round_allocation",
    "solve",
    "write_graph",
]

BOUNDS: dict[str, Callable[..., Bound]] = {
    "hlp": hlp_bound,
    "area": area_bound,
    "critical-path": critical_path_bound,
}

ALGORITHMS: dict[str, core.Algorithm] = {
    "hlp-est": hlp_est,
    "hlp-ols": hlp_ols,
    "heft": heft,
    "er-ls": er_ls,
    "eft": eft,
    "greedy": greedy,
    "random": random,
    "r1-ls": r1_ls,
    "r2-ls": r2_ls,
    "r3-ls": r3_ls,
    "hlp-best": hlp_best,
}

#: What ``compare`` runs.
DEFAULT_COMPARE = tuple(ALGORITHMS)

FAMILY = Family(
    name="dags",
    instance_type=Instance,
    schedule_type=Schedule,
    objective="makespan",
    default_bound="hlp",
    result_of=result_of_schedule,
    example=("spotri-512-20.txt", "--units 16,2", "hlp-best"),
    arguments=(
        Argument("--units", "units", "Units of each type: CPUs,GPUs as 16,4.", parse=parse_units),
        Argument(
            "--acceleration",
            "acceleration",
            "For files with one time a task: CPU time / time on each further type, or a CSV file.",
            parse=parse_acceleration,
        ),
        Argument("--times", "times", "CSV file with the times of every task.", parse=str),
    ),
    algorithms=ALGORITHMS,
    bounds=BOUNDS,
)
solve = FAMILY.solve
bound = FAMILY.bound
compare = FAMILY.compare
