"""Many small tasks in few allocations: packing, a bound on node-seconds, scripts, their state.

* :func:`batch`: tasks packed into allocations of a shape.
* :class:`BatchTask`, :class:`TaskList`: what is packed, and where it is read.
* ``runner``: what runs inside an allocation, where there is no cosched.
"""

from cosched.execution.batches.allocation_limits import limit_of, time_of
from cosched.execution.batches.folder import write
from cosched.execution.batches.plan_batches import batch
from cosched.execution.batches.planned_batches import Allocation, Batches
from cosched.execution.batches.states import BatchState, Rounds, rest, rounds, status
from cosched.execution.batches.task_list import BatchTask, TaskList

__all__ = [
    "Allocation",
    "BatchTask",
    "Batches",
    "Rounds",
    "BatchState",
    "TaskList",
    "batch",
    "limit_of",
    "rest",
    "rounds",
    "status",
    "time_of",
    "write",
]
