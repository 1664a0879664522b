"""Task graphs made to order, as instances."""

from cosched.dags.workloads.random_graphs import fork_join, layered, saga
from cosched.dags.workloads.theorems import theorem1, theorem2, theorem4, theorem5
from cosched.dags.workloads.tiled import cholesky, lu, qr
