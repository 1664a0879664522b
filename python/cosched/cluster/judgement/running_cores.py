"""How the cores of running jobs are split among their nodes, which sacct does not print."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

#: Cores of one job by the number of the node.
CoresByNode = dict[int, int]


def split_running_jobs(
    core_counts: Sequence[int], nodes_of_jobs: Sequence[Sequence[int]], node_cores: np.ndarray
) -> list[CoresByNode]:
    """Split the cores of jobs that run at the same time among their nodes.

    A job has at least one core on each of its nodes. Jobs on one node come first. Of the others the
    job comes next whose nodes have the fewest free cores beyond what it asks for. Its cores are
    split in equal parts, as far as its nodes have them.

    Parameters
    ----------
    core_counts : sequence of int
        Cores of each job.
    nodes_of_jobs : sequence of sequences of int
        Numbers of each job's nodes; empty where they are not known.
    node_cores : numpy.ndarray
        Cores of each node.

    Returns
    -------
    list of dict
        One for each job; empty for a job without known nodes, or whose nodes have too few cores.
    """
    splitter = _Splitter(core_counts, nodes_of_jobs, node_cores)
    jobs_on_several_nodes = set()
    for job, nodes in enumerate(nodes_of_jobs):
        if len(nodes) > 1:
            jobs_on_several_nodes.add(job)
        elif nodes:
            splitter.place(job)
    while jobs_on_several_nodes:
        job = min(jobs_on_several_nodes, key=lambda job: (splitter.spare_cores(job), job))
        jobs_on_several_nodes.remove(job)
        splitter.place(job)
    return splitter.cores_of_jobs


class _Splitter:
    def __init__(
        self,
        core_counts: Sequence[int],
        nodes_of_jobs: Sequence[Sequence[int]],
        node_cores: np.ndarray,
    ) -> None:
        self.cores_of_jobs: list[CoresByNode] = [{} for _ in core_counts]
        self._core_counts = core_counts
        self._nodes_of_jobs = nodes_of_jobs
        self._free_cores = np.array(node_cores)
        #: Jobs on each node that are not placed yet: each will have a core there.
        self._unplaced_jobs = np.zeros(len(node_cores), dtype=np.int64)
        for nodes in nodes_of_jobs:
            self._unplaced_jobs[list(nodes)] += 1

    def spare_cores(self, job: int) -> int:
        """Cores that the nodes of an unplaced job have for it beyond what it asks for."""
        return int(self._available_cores(job).sum()) - self._core_counts[job]

    def place(self, job: int) -> None:
        """Split the cores of a job, the nodes with the fewest free cores first."""
        available = dict(
            zip(self._nodes_of_jobs[job], self._available_cores(job).tolist(), strict=True)
        )
        self._unplaced_jobs[list(available)] -= 1
        remaining = self._core_counts[job]
        cores_by_node = {}
        for rank, node in enumerate(sorted(available, key=lambda node: available[node])):
            equal_part = -(-remaining // (len(available) - rank))
            cores = min(equal_part, available[node])
            remaining -= cores
            if cores:
                cores_by_node[node] = cores
        if remaining:
            return
        for node, cores in cores_by_node.items():
            self._free_cores[node] -= cores
        self.cores_of_jobs[job] = cores_by_node

    def _available_cores(self, job: int) -> np.ndarray:
        """Return free cores of its nodes, without one for each other job that has no place yet."""
        nodes = list(self._nodes_of_jobs[job])
        return np.maximum(self._free_cores[nodes] - (self._unplaced_jobs[nodes] - 1), 0)
