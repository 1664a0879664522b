"""What the driver asks of a launcher."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence

from cosched.core.arrays import nonnegative
from cosched.errors import InvalidInstance
from cosched.execution.code import Code
from cosched.execution.codes import Codes
from cosched.execution.planned import Plan, Step
from cosched.execution.processes import Launch


class Launcher(ABC):
    """Where a plan runs, and how its processes end: makes commands of steps."""

    name: str
    #: Ask processes to end, and wait, before they are killed when the driver has died.
    polite = False
    #: The processes of tasks are on this host, and what they use can be seen.
    here = False

    def __init__(self, oversubscribe: bool, unit: str, grace: float) -> None:
        if unit not in ("core", "node"):
            raise InvalidInstance(f"unit = {unit!r}: expected 'core' or 'node'")
        self.oversubscribe = oversubscribe
        self.unit = unit
        self.grace = nonnegative(grace, "grace")

    @abstractmethod
    def check(self, plan: Plan, codes: Codes) -> tuple[str, ...]:
        """Notes on how the plan fits here."""

    @abstractmethod
    def launch(
        self,
        step: Step,
        code: Code,
        plan: Plan,
        gpus: Sequence[int] | None = None,
        around: Sequence[str] = (),
    ) -> Launch:
        """The command of a step, where it is pinned, its environment.

        `gpus`: the numbers of those that it has been given; None: nobody counts them. `around`:
        what runs the command where that is not on this host, and sees what it uses.
        """

    def cores_of(self, units: int) -> int:
        """Cores of so many processors of a plan."""
        return units

    def forget(self) -> tuple[str, ...]:
        """End what drivers of this plan left elsewhere than on this host; what it was."""
        return ()


def environment_of(
    step: Step, code: Code, cpus: Sequence[int], plan: Plan, gpus: Sequence[int] | None = None
) -> dict[str, str]:
    """The environment of a task: the driver's, what the code gives, and what it may look at."""
    made = {**os.environ, **own_environment(step, code, cpus)}
    if gpus is not None:
        made["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, gpus))
    elif plan.has_accelerators:  # nobody uses one that is not given to him
        first = sum(plan.units_of(kind) for kind in range(1, step.kind))
        devices = [first + unit for unit in step.units] if step.kind else []
        made["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, devices))
    return made


def own_environment(step: Step, code: Code, cpus: Sequence[int], each: int = 1) -> dict[str, str]:
    """What a task gets, and its code gives; `each`: cores of a unit."""
    return {
        "OMP_NUM_THREADS": str(len(step.units) * each),
        **code.filled_environment(len(step.units), cpus),
        "COSCHED_TASK": step.name,
        "COSCHED_PROCS": str(len(step.units)),
        "COSCHED_CPUS": ",".join(map(str, cpus)),
    }
