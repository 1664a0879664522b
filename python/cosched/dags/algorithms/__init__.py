"""Schedulers of task graphs: off-line and on-line."""

from cosched.dags.algorithms.exact import optimal
from cosched.dags.algorithms.heuristics import cpop, etf, heft, memheft, min_min, peft
from cosched.dags.algorithms.off_line import est, hlp_best, hlp_est, hlp_ols, ols
from cosched.dags.algorithms.on_line import eft, er_ls, greedy, r1_ls, r2_ls, r3_ls, random
from cosched.dags.algorithms.runtime import as_executed, dmda, dmdas, heteroprio, qa
