"""Cores of this host."""

from __future__ import annotations

import os
from collections.abc import Sequence

from cosched.errors import InvalidInstance, shorten
from cosched.execution.code import Code
from cosched.execution.codes import Codes
from cosched.execution.launchers.base import Launcher, environment_of
from cosched.execution.planned import Plan, Step
from cosched.execution.processes import Launch


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
