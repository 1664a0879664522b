"""What Casanova, Stillwell, Vivien 2011 claim, row by row."""

from cosched.experiments.cluster.claims import (
    appendix,
    costs,
    figure1,
    periods,
    stretch,
    tables,
    theorems,
    workloads,
)

CLAIMS = (
    *theorems.CLAIMS,
    *workloads.CLAIMS,
    *stretch.CLAIMS,
    *appendix.CLAIMS,
    *figure1.CLAIMS,
    *costs.CLAIMS,
    *periods.CLAIMS,
    *tables.CLAIMS,
)

__all__ = ["CLAIMS"]
