"""Schedulers of task graphs: off-line and on-line."""

from cosched.dags.algorithms.off_line import est, heft, hlp_best, hlp_est, hlp_ols, ols
from cosched.dags.algorithms.on_line import eft, er_ls, greedy, r1_ls, r2_ls, r3_ls, random

__all__ = [
    "eft",
    "er_ls",
    "est",
    "greedy",
    "heft",
    "hlp_best",
    "hlp_est",
    "hlp_ols",
    "ols",
    "r1_ls",
    "r2_ls",
    "r3_ls",
    "random",
]
