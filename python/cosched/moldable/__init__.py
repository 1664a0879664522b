"""Moldable jobs: finish early, and finish the important jobs early (Dutot et al. 2004).

n independent jobs with weights share m identical processors. A *moldable* job gets some number
of them when it starts, and keeps it; its time depends on that number. Two criteria count
together: the makespan, max C_i, which the operator wants small, and the *minsum*
sum w_i C_i, which the users want small (C_i = end of job i).

>>> times = [[8.0, 4.4, 3.1], [6.0, 3.2, 2.5], [2.0, 1.2, 0.9]]   # job x processors, seconds
>>> inst = cs.moldable.Instance(times, weights=[1, 3, 5])
>>> res = cs.moldable.solve(inst, "demt-best")
>>> round(res.makespan, 6), round(res.weighted_completion, 6)
(6.5, 21.2)
>>> res.gap < 0.2
True

Release dates: ``local-search`` knows them in advance. All other algorithms are off-line: an
instance with release dates is scheduled on-line, by batches (:func:`online`): when a batch ends,
what was released meanwhile forms the next.

Precedence: ``Instance(times, edges=[(0, 2), ...])`` are moldable jobs that wait for others, as in
workflows: ``list-lp``, ``list-local``, ``local-search`` and ``optimal`` know them, for the
makespan; the bound is ``work-and-path``.

Reference: P.-F. Dutot, L. Eyraud, G. Mounie, D. Trystram, *Bi-criteria algorithm for scheduling
jobs on cluster platforms*, SPAA 2004. Section numbers in the docstrings are that paper's.
"""

from cosched.border import guard_public
from cosched.described import described
from cosched.moldable.algorithms import (
    BEST_WORK as BEST_WORK,
    SEARCH_WORK as SEARCH_WORK,
    Step as Step,
    demt as demt,
    demt_best as demt_best,
    dual_approximation as dual_approximation,
    gang as gang,
    list_local as list_local,
    list_lp as list_lp,
    list_lptf as list_lptf,
    list_saf as list_saf,
    list_shelf as list_shelf,
    local_search as local_search,
    optimal as optimal,
    replay as replay,
    sequential as sequential,
    step as step,
)
from cosched.moldable.bounds import (
    WorkPath as WorkPath,
    default_grid as default_grid,
    minsum_bound as minsum_bound,
    time_indexed_bound as time_indexed_bound,
    work_and_path as work_and_path,
)
from cosched.moldable.family import (
    ALGORITHMS as ALGORITHMS,
    BOUNDS as BOUNDS,
    DEFAULT_COMPARE as DEFAULT_COMPARE,
    FAMILY as FAMILY,
    online as online,
)
from cosched.moldable.instance import Instance as Instance
from cosched.moldable.result import Result as Result

solve = FAMILY.solve
bound = FAMILY.bound
compare = FAMILY.compare

described(globals(), {"tolerance": ("float", "Relative, of the bisection, > 0.")})
guard_public(globals())
