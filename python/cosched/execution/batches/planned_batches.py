"""Tasks in allocations of one shape, as planned: ``execution.Batches``."""

from __future__ import annotations

from dataclasses import dataclass

from cosched.core.text import count_of, percent
from cosched.deprecation import DeprecatedAttribute
from cosched.execution.batches.allocation_limits import time_of
from cosched.execution.batches.duration_model import DurationModel
from cosched.execution.batches.problem import BatchProblem, Placed
from cosched.execution.batches.task_list import BatchTask
from cosched.lazy import pd
from cosched.notes import Note


@dataclass(frozen=True)
class Allocation:
    """One allocation: a job of the cluster that runs several tasks.

    Attributes
    ----------
    tasks : tuple of Placed
        In the order of planned starts: place of the task, start, end (s), node.
    after : tuple of int
        Allocations that have to complete before.
    end : float
        Planned end (s).
    end_quantile : float
        End that is not exceeded with the requested probability (s).
    """

    tasks: tuple[Placed, ...]
    after: tuple[int, ...]
    end: float
    end_quantile: float

    late = DeprecatedAttribute("end_quantile")


@dataclass(frozen=True, kw_only=True)
class Batches:
    """Tasks in allocations of one shape.

    Attributes
    ----------
    tasks : tuple of BatchTask
        What was planned.
    problem : BatchProblem
        Core counts, durations and needs of the tasks as planned, and the shape of allocations.
    licences : tuple of str
        Names of the licences that an allocation shares.
    limit : float
        Seconds that tasks may take in an allocation.
    durations : DurationModel
        How durations vary, and the probability with which an allocation ends in time.
    allocations : tuple of Allocation
        In them each task once.
    bound : float
        Node-seconds that no plan on these nodes goes below.
    notes : tuple of Note
        What was left out or assumed.

    Examples
    --------
    >>> task = cs.execution.BatchTask(name="a", seconds={1: 60.0}, commands={1: ("./fem", "a")})
    >>> batches = cs.execution.batch([task], limit=120.0, cores=2, spread=0.0)
    >>> batches.to_frame()[["name", "start", "cores"]].to_numpy().tolist()
    [['a', 0.0, 1]]
    >>> batches.cores_of(batches.allocations[0].tasks[0])
    1
    >>> batches.lines()[0]
    '1 task in 1 allocation of 1 node for 0.05 h: 0.01667 node-hours, 0.00% above a bound on \
all plans'
    """

    tasks: tuple[BatchTask, ...]
    problem: BatchProblem
    licences: tuple[str, ...]
    limit: float
    durations: DurationModel
    allocations: tuple[Allocation, ...]
    bound: float
    notes: tuple[Note, ...] = ()

    chance = DeprecatedAttribute("durations")

    @property
    def time(self) -> float:
        """Seconds that Slurm is asked for: `limit`, 30 s to begin and to end, whole minutes."""
        return time_of(self.limit)

    @property
    def node_seconds(self) -> float:
        """Nodes x planned seconds of all allocations."""
        return self.problem.nodes * sum(allocation.end for allocation in self.allocations)

    @property
    def gap(self) -> float:
        """Optimality gap: how far `node_seconds` can be above the least possible, as a share of the
        bound."""
        return self.node_seconds / self.bound - 1

    def to_frame(self) -> pd.DataFrame:
        """Return one row per task: ``allocation, name, start`` and ``end`` (s), ``node, cores``."""
        rows = [
            (
                k,
                self.tasks[placed.task].name,
                placed.start,
                placed.end,
                placed.node,
                self.cores_of(placed),
            )
            for k, allocation in enumerate(self.allocations)
            for placed in allocation.tasks
        ]
        return pd.DataFrame(rows, columns=["allocation", "name", "start", "end", "node", "cores"])

    def cores_of(self, placed: Placed) -> int:
        """Return the cores that a task of one of the allocations gets."""
        return int(self.problem.needs[placed.task][0])

    def lines(self) -> list[str]:
        """Return what was planned, in words."""
        count, nodes = len(self.allocations), self.problem.nodes
        latest_end = max(allocation.end_quantile for allocation in self.allocations)
        return [
            *(f"note: {note}" for note in self.notes),
            f"{count_of(len(self.tasks), 'task')} in {count_of(count, 'allocation')} of "
            f"{count_of(nodes, 'node')} for {self.time / 3600:.4g} h: "
            f"{self.node_seconds / 3600:.4g} node-hours, {percent(self.gap)} above a bound on "
            "all plans",
            f"each ends within {latest_end / 60:.1f} min with a chance of "
            f"{percent_text(self.durations.probability)}",
        ]


def percent_text(probability: float) -> str:
    """Return a probability as it was asked for: 99.9% is not 100%."""
    return f"{100 * probability:.12g}%"
