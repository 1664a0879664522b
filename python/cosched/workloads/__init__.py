"""Workload generators, flat: ``cosched.workloads.packs_ii(seed=1)``.

Readers of real logs are beside them: ``read_swf``, ``hpc2n_weeks``, ``fetch``.

``WORKLOADS`` maps the names that ``cosched generate`` takes to functions with a ``seed``
that return an instance or a table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cosched.bags.workloads import bags_random
from cosched.cluster.files import (
    LOGS,
    WEEK,
    SwfReport,
    dfrs_jobs,
    fetch,
    read_swf,
    rigid_jobs,
    week_of,
)
from cosched.cluster.workloads import (
    LUBLIN,
    LublinConstants,
    equal_shares_worst,
    hpc2n_weeks,
    lublin,
    requests,
    rescale_load,
    unknown_times_worst,
)
from cosched.dags.adversary import worst_case
from cosched.dags.workloads import (
    cholesky,
    fork_join,
    layered,
    lu,
    qr,
    saga,
    theorem1,
    theorem2,
    theorem4,
    theorem5,
)
from cosched.described import described
from cosched.moldable.workloads import moldable
from cosched.packs.workloads import packs_ii, packs_iii, three_partition

WORKLOADS: dict[str, Callable[..., Any]] = {
    "lublin": lublin,
    "requests": requests,
    "packs_ii": packs_ii,
    "packs_iii": packs_iii,
    "moldable": moldable,
    "three_partition": three_partition,
    "fork_join": fork_join,
    "cholesky": cholesky,
    "lu": lu,
    "qr": qr,
    "layered": layered,
    "saga": saga,
    "theorem1": theorem1,
    "theorem2": theorem2,
    "theorem4": theorem4,
    "theorem5": theorem5,
    "worst_case": worst_case,
    "unknown_times_worst": unknown_times_worst,
    "equal_shares_worst": equal_shares_worst,
    "bags_random": bags_random,
}

__all__ = [
    "LOGS",
    "LUBLIN",
    "LublinConstants",
    "SwfReport",
    "WEEK",
    "WORKLOADS",
    "dfrs_jobs",
    "fetch",
    "hpc2n_weeks",
    "read_swf",
    "rescale_load",
    "rigid_jobs",
    "week_of",
    *WORKLOADS,
]

described(globals())
