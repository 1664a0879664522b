"""Plans become processes: measure codes, plan, run them, compare with reality.

* :meth:`Codes.read`: the commands, from a TOML file.
* :func:`profile`: each code at each count, alone, as rows of ``runs.csv``; or as few as a proof
  needs (:func:`measure_adaptively`, :func:`guarantee`).
* :func:`plan`: the best plan found over packs and moldable jobs, in words, with a gap to any
  schedule.
* :func:`run`: the plan of packs, moldable or dags as processes, pinned, with a journal that a
  killed driver goes on from; :class:`Execution` is planned against real.
* :func:`commands`: what would be started; :func:`script`: a plan as an sbatch script.
* :func:`together`: whether codes slow each other down side by side.
* ``launcher="local"``, ``"slurm"``, or :class:`Local`, :class:`Slurm` with their options: where
  codes run, what a processor is, how long a task may take to end.

A plan assumes that tasks side by side do not slow each other down, unless it is told what
:func:`together` measured. What codes need of memory, GPUs and licences is kept while they run.
"""

from typing import TYPE_CHECKING

from cosched.lazy import on_first_use

if TYPE_CHECKING:
    from cosched.execution.adaptive import (
        Guarantee as Guarantee,
        bounds_of_times as bounds_of_times,
        guarantee as guarantee,
        measure_adaptively as measure_adaptively,
    )
    from cosched.execution.advice import Advice as Advice
    from cosched.execution.batch_script import Job as Job, script as script
    from cosched.execution.batches import (
        Batches as Batches,
        BatchTask as BatchTask,
        TaskList as TaskList,
        batch as batch,
    )
    from cosched.execution.code import Code as Code
    from cosched.execution.codes import Codes as Codes
    from cosched.execution.interference import together as together
    from cosched.execution.launchers import Local as Local, Slurm as Slurm
    from cosched.execution.measure import Adaptive as Adaptive, profile as profile
    from cosched.execution.planned import Plan as Plan, Step as Step
    from cosched.execution.planning import plan as plan
    from cosched.execution.record import Execution as Execution, TaskRun as TaskRun
    from cosched.execution.running import commands as commands, run as run

# Loaded on first use: a run needs no planner, and a plan no processes.
_NAMES = {
    "adaptive": "Guarantee bounds_of_times guarantee measure_adaptively",
    "advice": "Advice",
    "batch_script": "Job script",
    "batches": "BatchTask Batches TaskList batch",
    "code": "Code",
    "codes": "Codes",
    "interference": "together",
    "launchers": "Local Slurm",
    "measure": "Adaptive profile",
    "planned": "Plan Step",
    "planning": "plan",
    "record": "Execution TaskRun",
    "running": "commands run",
}

__getattr__ = on_first_use(__name__, _NAMES)
__all__ = sorted(" ".join(_NAMES.values()).split())


def __dir__():
    return sorted({*globals(), *__all__})
