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

from cosched.dags.adversary import WorstCase, worst_case
from cosched.dags.algorithms import (
    as_executed,
    cpop,
    dmda,
    dmdas,
    eft,
    er_ls,
    est,
    etf,
    greedy,
    heft,
    heteroprio,
    hlp_best,
    hlp_est,
    hlp_ols,
    memheft,
    min_min,
    ols,
    optimal,
    peft,
    qa,
    r1_ls,
    r2_ls,
    r3_ls,
    random,
)
from cosched.dags.bounds import (
    Certificate,
    RefutationStage,
    Relaxation,
    Transfers,
    TransfersCertificate,
    TransfersRelaxation,
    TransferStage,
    Windows,
    WindowsCertificate,
    hlp,
    round_allocation,
    transfers,
    transfers_relaxation,
    windows,
)
from cosched.dags.family import ALGORITHMS, BOUNDS, DEFAULT_COMPARE, FAMILY
from cosched.dags.files import Graph, Run, read_graph, write_graph
from cosched.dags.instance import Instance
from cosched.dags.replays import replay
from cosched.dags.result import Result
from cosched.described import described

solve = FAMILY.solve
bound = FAMILY.bound
compare = FAMILY.compare

__all__ = [
    "ALGORITHMS",
    "BOUNDS",
    "Certificate",
    "DEFAULT_COMPARE",
    "FAMILY",
    "Graph",
    "Instance",
    "RefutationStage",
    "Relaxation",
    "Result",
    "Run",
    "TransferStage",
    "Transfers",
    "TransfersCertificate",
    "TransfersRelaxation",
    "Windows",
    "WindowsCertificate",
    "WorstCase",
    "as_executed",
    "bound",
    "compare",
    "cpop",
    "dmda",
    "dmdas",
    "eft",
    "er_ls",
    "est",
    "etf",
    "greedy",
    "heft",
    "heteroprio",
    "hlp",
    "hlp_best",
    "hlp_est",
    "hlp_ols",
    "memheft",
    "min_min",
    "ols",
    "optimal",
    "peft",
    "qa",
    "r1_ls",
    "r2_ls",
    "r3_ls",
    "random",
    "read_graph",
    "replay",
    "round_allocation",
    "solve",
    "transfers",
    "transfers_relaxation",
    "windows",
    "worst_case",
    "write_graph",
]

described(globals())
