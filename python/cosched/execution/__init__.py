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

from cosched.border import guard_public
from cosched.lazy import of_stub, on_first_use

# What the stub beside this file imports is loaded on first use: a run needs no planner, and a plan
# no processes.
_PLACES = of_stub(__file__)
__getattr__ = on_first_use(
    __name__, _PLACES, guard_public, renamed={"Job": "ScriptJob", "Step": "PlanStep"}
)
__all__ = sorted(_PLACES)


def __dir__():
    return sorted({*globals(), *__all__})
