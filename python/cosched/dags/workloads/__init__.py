"""Task graphs made to order, as instances."""

from cosched.dags.workloads.random_graphs import (
    fork_join as fork_join,
    layered as layered,
    saga as saga,
)
from cosched.dags.workloads.theorems import (
    theorem1 as theorem1,
    theorem2 as theorem2,
    theorem4 as theorem4,
    theorem5 as theorem5,
)
from cosched.dags.workloads.tiled import cholesky as cholesky, lu as lu, qr as qr
