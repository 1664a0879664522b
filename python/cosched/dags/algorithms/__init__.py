"""Schedulers of task graphs: off-line and on-line."""

from cosched.dags.algorithms.heuristics import cpop, etf, heft, memheft, min_min, peft
from cosched.dags.algorithms.off_line import est, hlp_best, hlp_est, hlp_ols, ols, optimal
from cosched.dags.algorithms.on_line import (
    as_executed,
    dmda,
    dmdas,
    eft,
    er_ls,
    greedy,
    heteroprio,
    qa,
    r1_ls,
    r2_ls,
    r3_ls,
    random,
)
