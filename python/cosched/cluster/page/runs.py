"""What the page is about: the log, policies on its jobs, and the machine changed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from cosched.cluster.family import FAMILY
from cosched.cluster.instance import Instance
from cosched.cluster.instance.usage import has_waits
from cosched.cluster.result import Result
from cosched.core.comparison import settled

#: The two best of the paper's Table 2.
DFRS = ("GreedyPM */per/opt=min/minvt=600", "MCB8 */per/opt=min/minvt=600")
#: The policy that an operator can have: every batch system backfills like this.
COUNTS = "EASY"
#: What no scheduler has.
PERFECT = "all run times (perfect knowledge)"


@dataclass(frozen=True)
class Run:
    """A row: a policy, what it knows of run times, its numbers, and its result if it has one."""

    name: str
    knows: str
    row: dict[str, Any]
    result: Result | None


@dataclass(frozen=True)
class Runs:
    """All that ran."""

    instance: Instance
    all: tuple[Run, ...]
    changes: tuple[Run, ...]
    time_limit: float | None

    def result(self, name: str) -> Result | None:
        """The first of this name: with the users' own limits where they are known."""
        return next((run.result for run in self.all if run.name == name), None)

    @property
    def logged(self) -> Result | None:
        """What happened, where the log has it."""
        return self.result("as-logged")

    @property
    def attainable(self) -> Result | None:
        """What a policy gives that every batch system has."""
        return self.result(COUNTS)


def knows_limits(instance: Instance) -> bool:
    """Whether users gave time limits (where none is known the run time stands for it)."""
    if "estimate" not in instance.known:
        return False
    return bool((instance.column("estimate") != instance.column("runtime")).any())


def why_no_dfrs(instance: Instance) -> str:
    """Why DFRS policies have no meaning here, or an empty text."""
    if len(instance.layout()[0]):
        return "they know no partitions"
    return "" if (instance.column("memory") < 1).any() else "every task has a whole node"


def run_all(
    instance: Instance, changed: Iterable[tuple[str, Instance, str]], limit: float | None
) -> Runs:
    """The policies of the page, and EASY on each changed machine."""
    limits = knows_limits(instance)
    usual = {"estimates": "requested"} if limits else {}
    knowing = "users' limits" if limits else PERFECT
    knows = {"as-logged": "what happened", "FCFS": "nothing", "EASY": knowing,
             "conservative": knowing}  # fmt: skip
    names = [*knows] if has_waits(instance) else [*knows][1:]
    options = {"EASY": usual, "conservative": usual}
    names += () if why_no_dfrs(instance) else DFRS
    rows = list(FAMILY.compare_rows(instance, names, 0, limit, options))
    if limits:
        knows_all = instance.replace()._without_bound()
        rows += FAMILY.compare_rows(knows_all, ["EASY"], 0, limit)
        names.append("EASY")
    told = [knows.get(name, "nothing; pauses and moves jobs") for name in names]
    if limits:
        told[-1] = PERFECT
    runs = zip(names, told, settled(rows), (result for _, result in rows), strict=True)
    changes = []
    for text, other, said in changed:
        ((row, result),) = FAMILY.compare_rows(
            other._without_bound(), [COUNTS], 0, limit, {COUNTS: usual}
        )
        changes.append(Run(text, said, row, _only(result)))
    return Runs(
        instance,
        tuple(Run(name, what, row, _only(result)) for name, what, row, result in runs),
        tuple(changes),
        limit,
    )


def _only(result: Any) -> Result | None:
    return result if isinstance(result, Result) else None
