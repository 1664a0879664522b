"""The nodes, cores and GPUs of jobs that run when a simulation begins."""

from dataclasses import replace

import numpy as np

from cosched import _core
from cosched.cluster.instance.arguments import parse_held_cores
from cosched.cluster.instance.unschedulable import (
    RunningJobsError,
)
from cosched.slurm.requests.core_job_builder import Requests, running_state
from cosched.slurm.requests.job_placement import PlacementContext
from cosched.slurm.requests.request import Running


def with_running(
    requests: Requests,
    context: PlacementContext,
    elapsed: np.ndarray,
    free_gpus: list[list[int]],
    suspends: bool,
) -> Requests:
    """Return the requests with the allocations of jobs that run at second 0.

    These have run for `elapsed` seconds. Where the log does not say their nodes, these are the
    first that are free. `suspends`: of jobs on one core one may stand still.
    """
    instance = context.instance
    texts = instance.column("held").astype(str) if "held" in instance.column_names else None
    free = context.node_cores.copy()
    jobs = dict(requests.jobs)
    rows = np.flatnonzero(instance.column("running")).tolist()
    for row in sorted(rows, key=lambda row: texts is None or not texts[row]):
        shares_of_job = parse_held_cores(texts[row]) if texts is not None else []
        if shares_of_job and shares_of_job[-1][0] >= len(free):
            raise RunningJobsError(
                f"running: job {instance.ids[row]}: node {shares_of_job[-1][0]}: the machine has "
                f"{len(free)}"
            )
        shares_of_job = [(n, c or int(context.node_cores[n])) for n, c in shares_of_job]
        shares_of_job = shares_of_job or context.take_first_free(row, free)
        for node, cores in shares_of_job:
            free[node] -= cores
            if free[node] < 0 and not suspends:
                raise RunningJobsError(
                    f"running: node {node} has {context.node_cores[node]} cores: job "
                    f"{instance.ids[row]} and others hold more"
                )
        job = jobs.get(row, _core.slurm.Job())
        shares = [(node, cores, job.memory * cores) for node, cores in sorted(shares_of_job)]
        gpus_of_job = _take_gpus(free_gpus, job.gpus, [node for node, *_ in shares])
        running = Running(-float(elapsed[row]), shares, gpus_of_job)
        jobs[row] = job.replace(running_state=running_state(running), nodes=len(shares))
    return replace(requests, jobs=jobs)


def _take_gpus(free: list[list[int]], count: int, nodes: list[int]) -> list[tuple[int, int, int]]:
    """Take so many GPUs on these nodes, in equal parts, from the free ones; return (node, type,
    GPUs)."""
    taken_gpus = []
    for place, node in enumerate(nodes):
        missing = -(-count // (len(nodes) - place))
        count -= missing
        for kind, free_of_type in enumerate(free):
            amount = min(missing, free_of_type[node])
            if amount > 0:
                taken_gpus.append((node, kind, amount))
                free_of_type[node] -= amount
                missing -= amount
    return taken_gpus
