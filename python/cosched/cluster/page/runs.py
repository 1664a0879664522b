"""What the page is about: the log, policies on its jobs, the machine changed, and differences."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, replace
from os import sched_getaffinity
from typing import Any

import numpy as np

from cosched import _core
from cosched.cluster.family import FAMILY
from cosched.cluster.instance import Instance
from cosched.cluster.instance.usage import has_waits
from cosched.cluster.result import Result
from cosched.cluster.result.groups import keys_of, range_of, starts_of
from cosched.cluster.result.log_fit import enough, fit_of
from cosched.core import Bound
from cosched.core.comparison import settled
from cosched.lazy import pd

_GROUPS = ("partition", "account", "user", "size", "gpu")
#: Groups of fewer jobs say little.
_FEWEST = 5
#: Draws that say how far they lie from each other.
_LEAST = 4
#: Groups that are shown: those that change most.
MOST = 10


@dataclass(frozen=True)
class Spread:
    """A number over the draws: its mean, and what 90% of the draws lie between."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, values: np.ndarray, whole: int = 1) -> Spread:
        """Of fewer draws than the `whole` they only foretell what 90% of all lie between: an
        interval of prediction, with Student's quantile."""
        mean = float(values.mean())
        if 1 < len(values) < whole:
            half = float(_beyond(values, 0.95))
            return cls(mean, mean - half, mean + half)
        return cls(mean, *np.percentile(values, [5, 95]).tolist())

    @property
    def noise(self) -> bool:
        """Whether it may as well be nothing: zero lies inside."""
        return self.low <= 0 <= self.high


def _beyond(values: np.ndarray, share: float) -> float:
    """How far above their mean a further draw is with this chance at most."""
    from scipy.stats import t

    count = len(values)
    return float(t.ppf(share, count - 1) * values.std(ddof=1) * np.sqrt(1 + 1 / count))


def clear(differences: np.ndarray, whole: int) -> bool:
    """Whether it is clear, before all draws are there, on which side of zero 90% of them lie.

    On both, as soon as so many are on each that the others cannot change it; on one where hardly
    any further draw is on the other: one in two hundred, by Student's quantile.
    """
    beyond = int(np.ceil(0.05 * (whole - 1))) + 1
    if min((differences <= 0).sum(), (differences >= 0).sum()) >= beyond:
        return True
    mean = abs(float(differences.mean()))
    return len(differences) >= _LEAST and mean > _beyond(differences, 0.995)


@dataclass(frozen=True)
class GroupChange:
    """How much longer a group of jobs waits (s)."""

    what: str
    name: str
    jobs: int
    difference: Spread


def waits(result: Result) -> np.ndarray:
    """Seconds that each measured job waits in each draw, a row a draw; one row without draws."""
    instance = result.instance
    waited = starts_of(result) - instance.column("eligible")
    return waited[:, instance.measured]


def mean_waits(result: Result) -> np.ndarray:
    """Of each draw (s)."""
    return waits(result).mean(axis=1)


def row_of(what: str, policy: str, base: Result, other: Result) -> dict[str, Any]:
    """A row of the audit's JSON; seconds."""
    own, now = waits(other), mean_waits(base)
    # The draws that it did not need would have been as those of what is.
    as_usual = now.mean() - now[: len(own)].mean()
    mean = Spread.of(own.mean(axis=1) + as_usual, len(now))
    p95 = Spread.of(np.percentile(own, 95, axis=1), len(now))
    difference = Spread.of(_paired(own.mean(axis=1), now), len(now))
    return {
        "what_if": what,
        "policy": policy,
        "mean_wait": mean.mean,
        "p95_wait": p95.mean,
        "mean_wait_p05": mean.low,
        "mean_wait_p95": mean.high,
        "difference": difference.mean,
        "difference_p05": difference.low,
        "difference_p95": difference.high,
        "noise": difference.noise,
        "draws": len(own),
    }


def _paired(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Draw by draw, as far as both have them: they have the same clocks."""
    count = min(len(one), len(other))
    return one[:count] - other[:count]


def groups_between(
    base: tuple[Instance, np.ndarray], other: tuple[Instance, np.ndarray]
) -> list[GroupChange]:
    """The groups whose jobs gain or lose most, the largest difference first; of jobs, and how long
    those that are measured wait (a row a draw, s)."""
    every = (change for what in _GROUPS for change in _of(what, base, other))
    found = [one for one in every if one.difference != Spread(0.0, 0.0, 0.0)]
    found.sort(key=lambda change: (-abs(change.difference.mean), change.what, change.name))
    return found[:MOST]


def _of(
    what: str, base: tuple[Instance, np.ndarray], other: tuple[Instance, np.ndarray]
) -> Iterator[GroupChange]:
    (was, old), (is_, new) = base, other
    before, after = _keys(was, what), _keys(is_, what)
    if before is None or after is None or len(set(before.tolist())) < 2:
        return
    for key in dict.fromkeys(after.tolist()):
        ours, theirs = after == key, before == key
        if ours.sum() >= _FEWEST and theirs.any():
            means = new[:, ours].mean(axis=1), old[:, theirs].mean(axis=1)
            name = range_of(key) if what == "size" else str(key)
            yield GroupChange(what, name, int(ours.sum()), Spread.of(_paired(*means), len(old)))


def _keys(instance: Instance, what: str) -> np.ndarray | None:
    keys = keys_of(instance, what)
    return None if keys is None else np.asarray(keys)[instance.measured]


#: The two best of the paper's Table 2.
DFRS = ("GreedyPM */per/opt=min/minvt=600", "MCB8 */per/opt=min/minvt=600")
#: The policy that an operator can have: every batch system backfills like this.
PLAIN = "EASY"
#: The scheduler itself, where the machine is a Slurm's and a storey above reproduces it.
TWIN = "slurm-backfill"
#: Draws of its clocks, where nobody says how many and there is time for them.
_DRAWS = 20
#: What runs beside each other: little, as draws of the scheduler use several processors themselves.
_AT_ONCE = 1 + min(2, len(sched_getaffinity(0)))
#: A change may take so many times as long as what is.
_PATIENCE = 4
#: What no scheduler has.
PERFECT = "all run times (perfect knowledge)"


@dataclass(frozen=True)
class Run:
    """A row: a policy, what it knows of run times, its numbers, and its result if it has one."""

    name: str
    knows: str
    row: dict[str, Any]
    result: Result | None

    @property
    def fewer(self) -> bool:
        """Whether it lacks jobs that Slurm's limits kept out: the bound is not of its jobs."""
        return self.result is not None and "left_out" in self.result.outcome


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
        """Settings and jobs that the twin of the Slurm leaves out, and what that may do."""
        return _notes(self.result(TWIN), (_NOT_FOLLOWED, _LEFT_OUT))

    @property
    def rows(self) -> list[Run]:
        """The policy that counts on the machine as it is, and changed; with remarks as `knows`."""
        base = next(run for run in self.all if run.name == self.counts)
        return [_with_remarks("as it is", "", base.row, base.result), *self.changes]

    @property
    def bound(self) -> Bound | None:
        """On the maximum stretch; None: not reached."""
        return next((proof for run in self.all if (proof := run.row.get("proof"))), None)

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
    """The policies of the page, and the one that counts on each changed machine; the bound beside
    them, and what does not use all processors beside each other."""
    alone = instance.replace()._without_bound()
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        bound = pool.submit(FAMILY.bound_within, instance, limit)
        try:
            scheduler, options = _scheduler(alone, limit, draws)
            policies = pool.submit(_policies, alone, limit)
            fit = next((fit_of(run.result) for run in scheduler if run.result is not None), None)
            runs = Runs(instance, scheduler, (), limit, fit)
            if runs.counts == PLAIN:
                runs = replace(runs, all=scheduler + policies.result())
            rows = _changes(pool, runs, changed, options, limit if draws is None else None)
            runs = replace(runs, all=scheduler + policies.result(), changes=tuple(rows))
            proof = bound.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            _core.request_stop()  # nobody waits for what runs
            pool.shutdown()
            _core.forget_stop()
            raise
    first = {} if proof is None else {"bound": proof.value, "proof": proof}
    known = [run.row | ({} if run.fewer else first) for run in runs.all]
    settled_rows = settled([(row, run.result) for row, run in zip(known, runs.all, strict=True)])
    every = [replace(run, row=row) for run, row in zip(runs.all, settled_rows, strict=True)]
    return replace(runs, all=tuple(every))


def _scheduler(
    alone: Instance, limit: float | None, draws: int | None
) -> tuple[tuple[Run, ...], dict[str, Any]]:
    """Slurm's own, where the machine is one of it, and its options."""
    if alone.machine is None or alone.machine.slurm is None:
        return (), {}
    # Settings without a rule are left out, which the page says, where solve refuses them.
    options = {"draws": draws or _DRAWS, "approximate": True}
    own = options if draws or limit is None else options | {"enough": _late(limit)}
    return _runs_of(alone, {TWIN: "what Slurm knows"}, None, {TWIN: own}), options


def _policies(alone: Instance, limit: float | None) -> tuple[Run, ...]:
    """The jobs as they are under each policy."""
    limits, usual = knows_limits(alone), _usual(alone)
    knowing = "users' limits" if limits else PERFECT
    knows = {"as-logged": "what happened"} if has_waits(alone) else {}
    knows |= {"FCFS": "nothing", PLAIN: knowing, "conservative": knowing}
    if not why_no_dfrs(alone):
        knows |= dict.fromkeys(DFRS, "nothing; pauses and moves jobs")
    runs = _runs_of(alone, knows, limit, {PLAIN: usual, "conservative": usual})
    return runs + (_runs_of(alone, {PLAIN: PERFECT}, limit, {}) if limits else ())


def _usual(instance: Instance) -> dict[str, Any]:
    return {"estimates": "requested"} if knows_limits(instance) else {}


def _runs_of(
    alone: Instance, knows: dict[str, str], limit: float | None, options: dict[str, dict[str, Any]]
) -> tuple[Run, ...]:
    found = FAMILY.compare_rows(alone, list(knows), 0, limit, options)
    return tuple(
        Run(name, what, row, _only(result))
        for (name, what), (row, result) in zip(knows.items(), found, strict=True)
    )


def _changes(
    pool: Executor,
    runs: Runs,
    changed: Iterable[tuple[str, Instance, str]],
    options: dict[str, Any],
    time: float | None,
) -> list[Run]:
    """The policy that counts, with the same clocks, on each changed machine.

    Of the scheduler itself with no more draws than it is clear with, and as many as there is `time`
    for; a change under which it takes much longer than as it is has the limit of any policy.
    """
    counts, limit = runs.counts, runs.time_limit
    base = next(run for run in runs.all if run.name == counts)
    known = _notes(base.result, _NOT_FOLLOWED)
    if counts == TWIN and limit is not None:
        limit = max(limit, _AT_ONCE * _PATIENCE * base.row["seconds"])

    def changed_run(text: str, other: Instance, said: str) -> Run:
        own = options if counts == TWIN else _usual(runs.instance)
        if counts == TWIN and base.result is not None:
            own = own | {"enough": _clear(mean_waits(base.result), time)}
        ((row, result),) = FAMILY.compare_rows(
            other._without_bound(), [counts], 0, limit, {counts: own}
        )
        new = [note for note in _notes(_only(result), _NOT_FOLLOWED) if note not in known]
        return _with_remarks(text, "; ".join(filter(None, [said, *new])), row, _only(result))

    waited_for = [pool.submit(changed_run, *one) for one in changed]
    return [one.result() for one in waited_for]


def _with_remarks(name: str, said: str, row: dict[str, Any], result: Result | None) -> Run:
    """Why it did not run, what is `said` of it, and jobs that a limit bars."""
    remarks = [row["message"], said, *_notes(result, _LEFT_OUT)]
    return Run(name, "; ".join(filter(None, remarks)), row, result)


#: How notes of the twin begin that name jobs which Slurm refuses, or never lets start.
_LEFT_OUT = "left out, since"
#: And those of settings without a rule.
_NOT_FOLLOWED = "not followed"


def _notes(result: Result | None, begin: str | tuple[str, ...]) -> list[str]:
    notes = () if result is None else result.instance.notes
    return [note for note in notes if note.startswith(begin)]


def _late(limit: float | None) -> Callable[[np.ndarray], bool]:
    """Whether two draws are there, and the time is over."""
    end = np.inf if limit is None else clock.monotonic() + limit
    return lambda waits: len(waits) > 1 and clock.monotonic() > end


def _clear(base: np.ndarray, limit: float | None) -> Callable[[np.ndarray], bool]:
    """Whether it is clear how the mean waits of as many draws differ, or the time is over."""
    late = _late(limit)

    def known(waits: np.ndarray) -> bool:
        apart = waits.mean(axis=1)[: len(base)] - base[: len(waits)]
        return len(waits) >= len(base) or clear(apart, len(base)) or late(waits)

    return known


def _only(result: Any) -> Result | None:
    return result if isinstance(result, Result) else None
