"""What the driver asks of a launcher; cores of this host."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence

from cosched.core.arrays import nonnegative
from cosched.errors import InvalidInstance, shorten
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
    elif (
        plan.has_accelerators
    ):  # the plan knows of accelerators: nobody uses one that is not given to him
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


class Local(Launcher):
    """Cores of this host: unit k is the k-th that this process may use; tasks are pinned.

    Parameters
    ----------
    oversubscribe : bool
        Let processors of the plan share cores where there are too few.
    unit : str
        ``"core"``, nothing else.
    grace : float
        Seconds between the signal that asks a task to end and SIGKILL.

    Examples
    --------
    >>> Local(grace=1.0).name
    'local'
    """

    name = "local"
    here = True

    def __init__(
        self, *, oversubscribe: bool = False, unit: str = "core", grace: float = 5.0
    ) -> None:
        super().__init__(oversubscribe, unit, grace)
        if self.unit != "core":
            raise InvalidInstance("unit = 'node' needs the launcher slurm: expected 'core'")
        self.cores = tuple(sorted(os.sched_getaffinity(0)))

    def check(self, plan: Plan, codes: Codes) -> tuple[str, ...]:
        for step in plan.steps:
            if codes[step.name].launch[:1] == ("srun",):
                raise InvalidInstance(
                    f"task {shorten(step.name)}: launch = 'srun' needs the launcher slurm: "
                    "expected mpirun, or none"
                )
        needed = plan.units_of(0)
        if needed <= len(self.cores):
            return ()
        if not self.oversubscribe:
            raise InvalidInstance(
                f"the plan uses {needed} processors, this process may use {len(self.cores)} cores: "
                "expected a plan for fewer, or --oversubscribe to share cores (times then mean "
                "little)"
            )
        return (
            f"{needed} processors of the plan on {len(self.cores)} cores: processor k is core "
            f"number k modulo {len(self.cores)}, so tasks share cores; COSCHED_CPUS has k",
        )

    def launch(
        self,
        step: Step,
        code: Code,
        plan: Plan,
        gpus: Sequence[int] | None = None,
        around: Sequence[str] = (),
    ) -> Launch:
        cores: frozenset[int] | None = None
        cpus: tuple[int, ...] = ()
        if not step.kind:  # on an accelerator, its host part goes where there is room
            mine = tuple(self.cores[unit % len(self.cores)] for unit in step.units)
            cores = frozenset(mine)
            cpus = step.units if plan.units_of(0) > len(self.cores) else mine
        return Launch(
            command=tuple(code.filled(len(step.units), cpus)),
            environment=environment_of(step, code, cpus, plan, gpus),
            directory=code.filled_directory(len(step.units), cpus),
            makes_directory=code.makes_directory,
            cores=cores,
        )
