"""What running tasks hold of memory, GPUs and licences: the capacity is kept whatever is late."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from cosched.errors import InvalidInstance
from cosched.execution.codes import Codes
from cosched.execution.codes_file import lacking_message
from cosched.execution.plans import Plan, PlanStep

#: Sums of needs may pass a capacity by that much: rounding.
_ROUNDING = 1e-9


def needs_of(
    step: PlanStep, codes: Codes, plan: Plan, procs: int | None = None
) -> dict[str, float]:
    """What a step needs on its units, or on another count: as declared, else as planned."""
    count = len(step.units) if procs is None else procs
    return {**plan.needs_of(step, count), **codes[step.name].needs(count)}


def fits(step: PlanStep, codes: Codes, plan: Plan, procs: int) -> bool:
    """Whether a step on a count needs no more than there is."""
    capacity = {**plan.capacity, **codes.capacity}
    needs = needs_of(step, codes, plan, procs)
    return all(need <= capacity.get(k, need) * (1 + _ROUNDING) for k, need in needs.items())


@dataclass
class Tokens:
    """What there is, and who holds it."""

    #: How much there is of each limited resource.
    capacity: Mapping[str, float]
    needs: Mapping[int, Mapping[str, float]]  # task -> what it needs of what is limited
    _amounts_of_task: dict[int, Mapping[str, float]] = field(default_factory=dict)
    _gpus: dict[int, tuple[int, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, plan: Plan, codes: Codes) -> Tokens:
        """Refuses a plan with a task that never fits."""
        capacity = {**plan.capacity, **codes.capacity}
        needs = {}
        for step in plan.steps:
            wanted = needs_of(step, codes, plan)
            needs[step.task] = {k: need for k, need in wanted.items() if need and k in capacity}
            for what, need in needs[step.task].items():
                if need > capacity[what] * (1 + _ROUNDING):
                    raise InvalidInstance(lacking_message(step.name, what, need, capacity[what]))
        return cls(capacity, needs)

    def chosen(self, ready: Iterable[PlanStep]) -> list[PlanStep]:
        """Those of the steps, in their order, that fit beside what runs and each other.

        One that does not fit keeps what it needs from those behind it: it is not passed for ever.
        """
        free = {
            what: most - sum(of.get(what, 0.0) for of in self._amounts_of_task.values())
            for what, most in self.capacity.items()
        }
        chosen = []
        for step in ready:
            needs = self.needs[step.task]
            if all(need <= free[k] + _ROUNDING * self.capacity[k] for k, need in needs.items()):
                chosen.append(step)
            for what, need in needs.items():
                free[what] -= need
        return chosen

    def acquire(self, step: PlanStep) -> tuple[int, ...] | None:
        """Hold what a step needs until :meth:`release`.

        Returns
        -------
        tuple of int or None
            Numbers of the GPUs that it gets; None: GPUs are not counted.
        """
        self._amounts_of_task[step.task] = self.needs[step.task]
        if "gpus" not in self.capacity:
            return None
        taken_numbers = {number for of in self._gpus.values() for number in of}
        every = _visible(int(self.capacity["gpus"]))
        wanted = int(self.needs[step.task].get("gpus", 0))
        free_numbers = (number for number in every if number not in taken_numbers)
        granted_numbers = tuple(islice(free_numbers, wanted))
        self._gpus[step.task] = granted_numbers
        return granted_numbers

    def release(self, step: PlanStep) -> None:
        """Give back what :meth:`acquire` holds for a step."""
        self._amounts_of_task.pop(step.task, None)
        self._gpus.pop(step.task, None)


def _visible(count: int) -> Sequence[int]:
    """Return numbers of the GPUs: those that this process may use, else the first."""
    visible_devices = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    numbers = [int(part) for part in visible_devices.split(",") if part.strip().isdecimal()]
    return numbers[:count] if len(numbers) >= count else range(count)
