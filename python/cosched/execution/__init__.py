"""Plans become processes: measure codes, plan, run them, compare with reality.

* :meth:`Codes.read`: the commands, from a TOML file.
* :func:`run`: the plan of packs, moldable or dags as processes, pinned, with a journal that a
  killed driver goes on from; :class:`Execution` is planned against real.
* :func:`commands`: what would be started.

A plan assumes that tasks side by side do not slow each other down.
"""

from cosched.execution.codes import Code, Codes
from cosched.execution.planned import Plan, Step
from cosched.execution.record import Execution, TaskRun
from cosched.execution.running import commands, run

__all__ = [
    "Code",
    "Codes",
    "Execution",
    "Plan",
    "Step",
    "TaskRun",
    "commands",
    "run",
]
