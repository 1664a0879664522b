"""Many small tasks in few allocations: packing, a bound on node-seconds, scripts, their state.

* :func:`batch`: tasks packed into allocations of a shape.
* :class:`BatchTask`, :class:`TaskList`: what is packed, and where it is read.
* ``runner``: what runs inside an allocation, where there is no cosched.
"""

from cosched.execution.batches.folder import State, rest, status, write
from cosched.execution.batches.packing import Allocation, Batches, batch
from cosched.execution.batches.task_list import BatchTask, TaskList

__all__ = [
    "Allocation",
    "BatchTask",
    "Batches",
    "State",
    "TaskList",
    "batch",
    "rest",
    "status",
    "write",
]
