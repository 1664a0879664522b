"""Workload generators, flat: ``cosched.workloads.packs_ii(seed=1)``.

Readers of real logs are beside them: ``read_swf``, ``hpc2n_weeks``, ``fetch``.

``WORKLOADS`` maps the names that ``cosched generate`` takes to functions with a ``seed``
that return an instance or a table.
"""

from collections.abc import Callable as _Callable
from typing import Any as _Any

from cosched.bags.workloads import bags_random as bags_random
from cosched.border import guard_public
from cosched.cluster.files import (
    LOGS as LOGS,
    WEEK as WEEK,
    SwfReport as SwfReport,
    dfrs_jobs as dfrs_jobs,
    fetch as fetch,
    read_swf as read_swf,
    rigid_jobs as rigid_jobs,
    week_of as week_of,
)
from cosched.cluster.workloads import (
    hpc2n_weeks as hpc2n_weeks,
    lublin as lublin,
    requests as requests,
    rescale_load as rescale_load,
)
from cosched.dags.adversary import worst_case as worst_case
from cosched.dags.workloads import (
    cholesky as cholesky,
    fork_join as fork_join,
    layered as layered,
    lu as lu,
    qr as qr,
    saga as saga,
    theorem1 as theorem1,
    theorem2 as theorem2,
    theorem4 as theorem4,
    theorem5 as theorem5,
)
from cosched.described import described
from cosched.moldable.workloads import moldable as moldable, projects as projects
from cosched.packs.workloads import (
    packs_ii as packs_ii,
    packs_iii as packs_iii,
    three_partition as three_partition,
)

WORKLOADS: dict[str, _Callable[..., _Any]] = {
    make.__name__: make
    for make in (
        *(
            lublin,
            requests,
            packs_ii,
            packs_iii,
            moldable,
            projects,
            three_partition,
            fork_join,
            cholesky,
            lu,
        ),
        *(qr, layered, saga, theorem1, theorem2, theorem4, theorem5, worst_case, bags_random),
    )
}

described(globals())
guard_public(globals())
