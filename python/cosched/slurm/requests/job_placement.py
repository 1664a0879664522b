"""Where the jobs of an instance may run: their partitions, and how many nodes they need."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cosched.cluster.instance import Instance
from cosched.cluster.instance.unschedulable import (
    RunningJobsError,
    also_of,
    partition_place,
    place_of_job,
)
from cosched.cluster.instance.usage import numbers_of
from cosched.core.text import count_of
from cosched.errors import InfeasibleError, InvalidInstance, shorten
from cosched.notes import Note, not_followed


def partitions_of_jobs(
    instance: Instance, names: Sequence[str], default_name: str
) -> tuple[np.ndarray, dict[int, list[int]]]:
    """Return the partitions of jobs by their numbers.

    Parameters
    ----------
    names : sequence of str
        The partitions of the machine in the order of their numbers.
    default_name : str
        The partition of jobs that name none.

    Returns
    -------
    first_partition : numpy.ndarray, shape (jobs,)
        Number of the first partition of each job.
    multi_partition_jobs : dict
        All partitions of a job in more than one, by its row.

    Raises
    ------
    InvalidInstance
        A partition that the machine does not have.
    """
    if "partition" not in instance.column_names or len(names) == 1:
        return np.full(len(instance), names.index(default_name)), {}
    number_by_name = {name: number for number, name in enumerate(names)}
    first_partition = np.empty(len(instance), dtype=np.int64)
    multi_partition_jobs: dict[int, list[int]] = {}
    for row, text in enumerate(map(str, instance.column("partition").tolist())):
        names_of_job = [name for name in text.split(",") if name]
        for name in names_of_job:
            if name not in number_by_name:
                raise InvalidInstance(
                    f"job {instance.ids[row]}: partition {shorten(name)}: the machine has "
                    f"{', '.join(names)}"
                )
        numbers = [number_by_name[name] for name in names_of_job or [default_name]]
        first_partition[row] = numbers[0]
        if len(numbers) > 1:
            multi_partition_jobs[row] = numbers
    return first_partition, multi_partition_jobs


@dataclass(frozen=True, eq=False)
class PlacementContext:
    """Where the jobs of an instance may run."""

    #: The jobs.
    instance: Instance
    #: Units by node.
    node_cores: np.ndarray
    #: Ranges of nodes by partition.
    partition_ranges: Mapping[str, tuple[tuple[int, int], ...]]
    #: The partition of each job.
    partition_of_job: np.ndarray
    #: Jobs have cores of their own, several on a node; else whole nodes.
    shares_nodes: bool

    def logged_node_counts(self) -> np.ndarray:
        """Return the number of nodes of each job, as the log says; 0: it does not."""
        return numbers_of(self.instance, "nodes").astype(np.int64)

    def required_node_counts(self) -> np.ndarray:
        """Return how many whole nodes hold each job's tasks, at least as many as the log says."""
        tasks = self.instance.column("tasks")
        node_counts = np.ones(len(tasks), dtype=np.int64)
        for k, (name, ranges) in enumerate(self.partition_ranges.items()):
            is_in_part = self.partition_of_job == k
            if not is_in_part.any():
                continue
            cores = np.concatenate([self.node_cores[a:b] for a, b in ranges or [(0, 0)]])
            if self.shares_nodes or not len(cores):
                self._require_room(
                    is_in_part & (tasks > cores.sum()), tasks, name, "core", cores.sum()
                )
                continue
            if len(set(cores.tolist())) > 1:
                raise InvalidInstance(
                    f"slurm-backfill: partition {name} has nodes of {min(cores)} to {max(cores)} "
                    "cores: expected nodes of one kind"
                )
            node_counts[is_in_part] = np.maximum(
                -(-tasks[is_in_part] // int(cores[0])), self.logged_node_counts()[is_in_part]
            )
            self._require_room(
                is_in_part & (node_counts > len(cores)), node_counts, name, "node", len(cores)
            )
        return node_counts

    def _require_room(
        self, is_too_large: np.ndarray, amounts: np.ndarray, name: str, unit: str, available: int
    ) -> None:
        """Raise InfeasibleError about jobs that want more of a partition than it has."""
        rows = np.flatnonzero(is_too_large).tolist()
        if not rows:
            return
        names = [str(self.instance.ids[row]) for row in rows]
        available_words = available if available else "no nodes"
        error = InfeasibleError(
            f"{place_of_job(self.instance, rows[0])} wants "
            f"{count_of(int(amounts[rows[0]]), unit)}: {partition_place(name)} has "
            f"{available_words}{also_of(names[1:])}"
        )
        error.rows = tuple(rows)
        raise error

    def drop_heterogeneous_partitions(
        self, several: Mapping[int, list[int]]
    ) -> tuple[dict[int, list[int]], list[Note]]:
        """Return the partitions of a job in which it needs as many whole nodes as in its first, and
        a note of jobs that have others, too."""
        core_counts = [
            {int(self.node_cores[k]) for a, b in ranges for k in range(a, b)}
            for ranges in self.partition_ranges.values()
        ]
        like_first = {
            row: [k for k in parts if core_counts[k] == core_counts[parts[0]]]
            for row, parts in several.items()
        }
        changed_count = sum(len(like_first[row]) < len(parts) for row, parts in several.items())
        if not changed_count:
            return like_first, []
        subject = "partitions with other nodes than the first"
        note = not_followed(
            f"{subject} of {changed_count} jobs", subject=subject, count=changed_count
        )
        return like_first, [note]

    def take_first_free(self, row: int, free: np.ndarray) -> list[tuple[int, int]]:
        """Return (node, cores) of a job on the first nodes that are free."""
        name = list(self.partition_ranges)[self.partition_of_job[row]]
        missing_cores = int(self.instance.column("tasks")[row])
        shares = []
        for node in (k for a, b in self.partition_ranges[name] for k in range(a, b)):
            free_cores = int(free[node])
            if not self.shares_nodes and free_cores < self.node_cores[node]:
                continue
            if missing_cores > 0 and free_cores > 0:
                shares.append(
                    (node, min(free_cores, missing_cores) if self.shares_nodes else free_cores)
                )
                missing_cores -= free_cores
        if missing_cores > 0:
            raise RunningJobsError(
                f"running: job {self.instance.ids[row]}: no room beside the others that run"
            )
        return shares
