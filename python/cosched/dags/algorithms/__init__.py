"""Schedulers of task graphs: off-line and on-line."""

from cosched.dags.algorithms.heuristics import (
    cpop as cpop,
    etf as etf,
    heft as heft,
    memheft as memheft,
    min_min as min_min,
    peft as peft,
)
from cosched.dags.algorithms.off_line import (
    est as est,
    hlp_best as hlp_best,
    hlp_est as hlp_est,
    hlp_ols as hlp_ols,
    ols as ols,
    optimal as optimal,
)
from cosched.dags.algorithms.on_line import (
    as_executed as as_executed,
    dmda as dmda,
    dmdas as dmdas,
    eft as eft,
    er_ls as er_ls,
    greedy as greedy,
    heteroprio as heteroprio,
    qa as qa,
    r1_ls as r1_ls,
    r2_ls as r2_ls,
    r3_ls as r3_ls,
    random as random,
)
