"""Task graphs made to order, as instances; :mod:`.generators` makes the graphs alone."""

from cosched.dags.workloads.instances import (
    cholesky,
    fork_join,
    layered,
    lu,
    qr,
    saga,
)
from cosched.dags.workloads.theorems import theorem1, theorem2, theorem4, theorem5

__all__ = [
    "cholesky",
    "fork_join",
    "layered",
    "lu",
    "qr",
    "saga",
    "theorem1",
    "theorem2",
    "theorem4",
    "theorem5",
]
