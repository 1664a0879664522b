"""EquiPartition: every job in the system has the same share of the platform."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cosched.cluster.algorithms.policies import dfrs
from cosched.cluster.bounds import THRESHOLD
from cosched.cluster.instance import Instance
from cosched.cluster.instance.running import refuse_running
from cosched.cluster.result import Result
from cosched.errors import InvalidInstance


def equipartition(instance: Instance, *, threshold: float = THRESHOLD) -> Result:
    """EquiPartition (Section 3.2): each of the m(t) jobs in the system has 1/m(t) of the platform.

    For jobs that can use all of it: a task on each node, each with a CPU need of 1, as the section
    assumes (one node, or perfectly parallel jobs; memory is no limit). It is ``Greedy *`` there.

    Parameters
    ----------
    instance : Instance
        As many tasks a job as nodes, CPU needs of 1, memory needs that sum up to at most 1.

    Returns
    -------
    Result
        Guarantee: its maximum stretch is at most the number of jobs, which no algorithm that does
        not know run times can better. O(n^2) for n jobs.

    Raises
    ------
    InvalidInstance
        A job that does not fill the platform, or memory that does not hold all jobs.

    References
    ----------
    Casanova, Stillwell, Vivien 2011, Theorems 3 and 4.

    Examples
    --------
    >>> inst = cs.cluster.Instance(cs.workloads.equal_shares_worst(8), nodes=1)
    >>> result = cs.cluster.equipartition(inst)
    >>> round(result.max_stretch, 6), round(float(cs.cluster.bound(inst)), 3)
    (8.0, 3.593)
    """
    Instance.require(instance)
    refuse_running(instance.known, "EQUI")
    tasks, cpu = instance.column("tasks"), instance.column("cpu")
    fills = (tasks == instance.nodes) & (cpu == 1)
    if not fills.all():
        job = int(np.argmin(fills))
        raise InvalidInstance(
            f"jobs[{job}]: {tasks[job]} tasks of {cpu[job]:g} nodes: expected {instance.nodes} "
            "tasks of 1 node each: EquiPartition is for jobs that can use the whole platform"
        )
    together = float(instance.column("memory").sum())
    if together > 1 + 1e-9:
        raise InvalidInstance(
            f"memory: {together:g} of each node for all jobs: expected at most 1: all run at once"
        )
    result = dfrs(instance, "Greedy *", penalty=0.0, threshold=threshold)
    return replace(result, algorithm="EquiPartition")
