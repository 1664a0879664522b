"""What the page is about: the log, policies on its jobs, and the machine changed."""

from __future__ import annotations

import time as clock
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from os import sched_getaffinity
from typing import Any

from cosched.cluster.family import FAMILY
from cosched.cluster.instance import Instance
from cosched.cluster.instance.usage import has_waits
from cosched.cluster.page.fit import enough, fit_of
from cosched.cluster.result import Result
from cosched.core.comparison import settled
from cosched.lazy import pd

#: The two best of the paper's Table 2.
DFRS = ("GreedyPM */per/opt=min/minvt=600", "MCB8 */per/opt=min/minvt=600")
#: The policy that an operator can have: every batch system backfills like this.
PLAIN = "EASY"
#: The scheduler itself, where the machine is a Slurm's and a storey above reproduces it.
TWIN = "slurm-backfill"
#: Draws of its clocks, where nobody says how many and there is time for them.
_DRAWS = 20
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
    fit: pd.DataFrame | None = None

    @property
    def twin(self) -> bool:
        """Whether the scheduler itself is among the policies."""
        return self.result(TWIN) is not None

    @property
    def counts(self) -> str:
        """The policy of the row that counts, which what-ifs are about."""
        trusted = self.fit is None or enough(self.fit)
        return TWIN if self.twin and trusted else PLAIN

    @property
    def not_followed(self) -> list[str]:
        """Settings of the Slurm that its twin leaves out, and what that may do."""
        twin = self.result(TWIN)
        notes = () if twin is None else twin.instance.notes
        return [note for note in notes if note.startswith("not followed")]

    def result(self, name: str) -> Result | None:
        """The first of this name: with the users' own limits where they are known."""
        return next((run.result for run in self.all if run.name == name), None)

    @property
    def logged(self) -> Result | None:
        """What happened, where the log has it."""
        return self.result("as-logged")

    @property
    def attainable(self) -> Result | None:
        """What a policy gives that can be had: the scheduler itself, or plain backfilling."""
        return self.result(self.counts)


def knows_limits(instance: Instance) -> bool:
    """Whether users gave time limits (where none is known the run time stands for it)."""
    if "estimate" not in instance.known:
        return False
    return bool((instance.column("estimate") != instance.column("runtime")).any())


def why_no_dfrs(instance: Instance) -> str:
    """Why DFRS policies have no meaning here, or an empty text."""
    if len(instance.layout[0]):
        return "they know no partitions"
    return "" if (instance.column("memory") < 1).any() else "every task has a whole node"


def run_all(
    instance: Instance,
    changed: Iterable[tuple[str, Instance, str]],
    limit: float | None,
    draws: int | None = None,
) -> Runs:
    """The policies of the page, and the one that counts on each changed machine."""
    limits = knows_limits(instance)
    usual = {"estimates": "requested"} if limits else {}
    knowing = "users' limits" if limits else PERFECT
    knows = {"as-logged": "what happened", "FCFS": "nothing", PLAIN: knowing,
             "conservative": knowing}  # fmt: skip
    names = [*knows] if has_waits(instance) else [*knows][1:]
    options: dict[str, dict[str, Any]] = {PLAIN: usual, "conservative": usual}
    rows: list[tuple[dict[str, Any], Any]] = []
    if instance.machine is not None and instance.machine.slurm is not None:
        # Settings without a rule are left out, which the page says, where solve refuses them. The
        # bound stands in the other rows, which have a limit; here it would be in no hurry.
        alone = instance.replace()._without_bound()
        options[TWIN] = {"draws": draws or _draws_in(alone, limit), "approximate": True}
        knows[TWIN] = "what Slurm knows"
        rows += FAMILY.compare_rows(alone, [TWIN], 0, None, {TWIN: options[TWIN]})
    names += () if why_no_dfrs(instance) else DFRS
    own = {name: options[name] for name in (PLAIN, "conservative")}
    rows += FAMILY.compare_rows(instance, names, 0, limit, own)
    if TWIN in knows:
        names.insert(0, TWIN)
    if limits:
        knows_all = instance.replace()._without_bound()
        rows += FAMILY.compare_rows(knows_all, [PLAIN], 0, limit)
        names.append(PLAIN)
    told = [knows.get(name, "nothing; pauses and moves jobs") for name in names]
    if limits:
        told[-1] = PERFECT
    found = zip(names, told, settled(rows), (result for _, result in rows), strict=True)
    runs = tuple(Run(name, what, row, _only(result)) for name, what, row, result in found)
    twin = next((run.result for run in runs if run.name == TWIN), None)
    base = Runs(instance, runs, (), limit, None if twin is None else fit_of(twin))
    return replace(base, changes=tuple(_changes(base, changed, options)))


def _changes(
    runs: Runs,
    changed: Iterable[tuple[str, Instance, str]],
    options: dict[str, dict[str, Any]],
) -> Iterator[Run]:
    """The policy that counts, with the same clocks, on each changed machine."""
    counts, limit = runs.counts, None if runs.counts == TWIN else runs.time_limit
    for text, other, said in changed:
        ((row, result),) = FAMILY.compare_rows(
            other._without_bound(), [counts], 0, limit, {counts: options[counts]}
        )
        yield Run(text, said, row, _only(result))


def _draws_in(instance: Instance, limit: float | None) -> int:
    """As many as there is time for, by how long one takes."""
    if limit is None:
        return _DRAWS
    begin = clock.perf_counter()
    list(FAMILY.compare_rows(instance, [TWIN], 0, None, {TWIN: {"approximate": True}}))
    each = clock.perf_counter() - begin
    together = len(sched_getaffinity(0))
    return int(min(max(together * limit / max(each, 1e-3), 2), _DRAWS))


def _only(result: Any) -> Result | None:
    return result if isinstance(result, Result) else None
