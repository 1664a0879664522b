"""Dags: task graphs on CPUs and GPUs (Amaris, Lucarelli, Mommessin, Trystram 2017).

A directed acyclic graph of n sequential tasks runs on Q >= 2 types of identical units; task j
takes ``times[j, q]`` seconds on type q, and may be unable to run there. Data may move along the
edges, which takes time between different memories. No preemption. Minimise the makespan: decide
for each task on which type it runs (the hard part), and when.

>>> times = [[4.0, 1.0], [6.0, 2.0], [3.0, 5.0], [4.0, 2.0]]   # task x (CPU, GPU), seconds
>>> inst = cs.dags.Instance(times, edges=[(0, 1), (0, 2), (1, 3), (2, 3)], units=(2, 1))
>>> res = cs.dags.solve(inst, "hlp-ols")
>>> res.value, res.kind.tolist()
(6.0, [1, 1, 0, 1])
>>> res.bound.value, res.gap
(6.0, 0.0)

Reference: M. Amaris, G. Lucarelli, C. Mommessin, D. Trystram, *Generic algorithms for
scheduling applications on heterogeneous multi-core platforms*, 2017. Section and theorem numbers
in the docstrings are that paper's.
"""

from cosched.border import guard_public
from cosched.dags.adversary import WorstCase as WorstCase, worst_case as worst_case
from cosched.dags.algorithms import (
    as_executed as as_executed,
    cpop as cpop,
    dmda as dmda,
    dmdas as dmdas,
    eft as eft,
    er_ls as er_ls,
    est as est,
    etf as etf,
    greedy as greedy,
    heft as heft,
    heteroprio as heteroprio,
    hlp_best as hlp_best,
    hlp_est as hlp_est,
    hlp_ols as hlp_ols,
    memheft as memheft,
    min_min as min_min,
    ols as ols,
    optimal as optimal,
    peft as peft,
    qa as qa,
    r1_ls as r1_ls,
    r2_ls as r2_ls,
    r3_ls as r3_ls,
    random as random,
)
from cosched.dags.bounds import (
    Certificate as Certificate,
    HlpRelaxation as HlpRelaxation,
    ProvenBound as ProvenBound,
    hlp as hlp,
    round_allocation as round_allocation,
    transfers as transfers,
    transfers_relaxation as transfers_relaxation,
    windows as windows,
)
from cosched.dags.family import (
    ALGORITHMS as ALGORITHMS,
    BOUNDS as BOUNDS,
    DEFAULT_COMPARE as DEFAULT_COMPARE,
    FAMILY as FAMILY,
)
from cosched.dags.files import Run as Run
from cosched.dags.instance import Instance as Instance
from cosched.dags.replays import replay as replay
from cosched.dags.result import Result as Result
from cosched.described import described
from cosched.lazy import deprecated_names as _deprecated_names

solve = FAMILY.solve
bound = FAMILY.bound
compare = FAMILY.compare

described(
    globals(),
    {
        "method": (
            '{"auto", "structured", "glpk", "highs"}',
            "What solves the relaxation, as in :func:`cosched.dags.hlp`.",
        ),
        "upper": (
            "float, optional",
            "The makespan of a schedule (s): what lies just below it is tried first, so that a\n"
            "schedule that is optimal may be proved at once.",
        ),
        "allocation": ("array_like of int, shape (n,)", "Resource type of each task."),
    },
)
guard_public(globals())

#: Older names of classes; they go with the next minor version.
__getattr__ = _deprecated_names(__name__, {"Relaxation": "cosched.dags:HlpRelaxation"})
