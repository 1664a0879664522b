"""Bags: most profit a second from a bag of tasks (Li, Liu, Zhang, Cai 2016).

A bag holds many tasks of few types, a cluster many machines of few types. A type of task takes
so many seconds and so many watts on a type of machine. The bag earns a price, its energy costs
money; to maximise is the *profit rate*, (price - cost of the energy) / makespan.

>>> inst = cs.bags.Instance(
...     counts=[400, 300],                   # tasks of each type
...     machines=[10, 5],                    # machines of each type
...     etc=[[10, 5], [8, 12]],              # seconds of a task
...     apc=[[90, 200], [80, 100]],          # watts meanwhile
...     gamma=1.5,                           # price = 1.5 x the least cost of energy
... )
>>> res = cs.bags.solve(inst, "ttb-best")
>>> res.makespan, round(res.gap, 3)
(320.0, 0.0)

Reference: W. Li, X. Liu, X. Zhang, X. Cai, *A Task-Type-Based Algorithm for the Energy-Aware
Profit Maximizing Scheduling Problem in Heterogeneous computing systems*, 2016. Section and
algorithm numbers in the docstrings are that paper's. Baseline and bound: K. M. Tarplee, A. A.
Maciejewski, H. J. Siegel, *Energy-aware profit maximizing scheduling algorithm for heterogeneous
computing systems*, CCGrid 2014.
"""

from cosched.bags.algorithms import (
    DEFAULT_EPS as DEFAULT_EPS,
    local_assignment as local_assignment,
    min_energy as min_energy,
    min_makespan as min_makespan,
    tms as tms,
    ttb as ttb,
    ttb_best as ttb_best,
    ttb_exact as ttb_exact,
)
from cosched.bags.bounds import (
    Front as Front,
    Relaxation as Relaxation,
    front as front,
    least_makespan as least_makespan,
    relaxation as relaxation,
    round_relaxation as round_relaxation,
)
from cosched.bags.family import (
    ALGORITHMS as ALGORITHMS,
    BOUNDS as BOUNDS,
    DEFAULT_COMPARE as DEFAULT_COMPARE,
    FAMILY as FAMILY,
)
from cosched.bags.instance import Instance as Instance
from cosched.bags.result import Result as Result
from cosched.bags.schedule import Schedule as Schedule
from cosched.border import guard_public
from cosched.described import described

solve = FAMILY.solve
bound = FAMILY.bound
compare = FAMILY.compare


described(globals())
guard_public(globals())
