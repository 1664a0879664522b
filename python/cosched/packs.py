"""Packs: parallel applications run side by side (Aupy et al. 2013).

Partition n moldable tasks into packs of at most k tasks and give each task a number of
processors, at most p in all in a pack. The tasks of a pack start together; the next pack
starts when the longest of them ends. The *cost* to minimise is the sum over packs of the
longest time in it.

>>> import cosched as cs
>>> times = [[8.0, 4.4, 3.1], [6.0, 3.2, 2.5], [2.0, 1.2, 0.9]]   # task x processors, seconds
>>> inst = cs.packs.Instance(times, max_tasks=2)
>>> res = cs.packs.solve(inst, "optimal")
>>> round(res.value, 6), res.gap
(6.3, 0.0)

Reference: G. Aupy, M. Shantharam, A. Benoit, Y. Robert, P. Raghavan, *Co-scheduling
algorithms for high-throughput workload execution*, 2013. Section and algorithm numbers in
the docstrings are that paper's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from cosched import _core, core
from cosched.core import Argument, Bound, Family, Schedule
from cosched.core.arrays import integer, integer_array, real_array, seed_of, time_limit_of
from cosched.errors import InvalidInstance, SolverError

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "ALGORITHMS",
    "BOUNDS",
    "DEFAULT_COMPARE",
    "FAMILY",
    "Instance",
    "Result",
    "bound",
    "compare",
    "ilp",
    "local_search",
    "make_pack",
    "monotone",
    "one_pack",
    "one_pack_dynamic_programme",
    "optimal",
    "pack_approx",
    "pack_by_pack",
    "pairs",
    "random_pack",
    "random_proc",
    "sequential",
    "solve",
]

_NINE = tuple(round(0.1 * step, 1) for step in range(1, 10))
#: Effort of ``local-search`` by default: deterministic, no clock.
LOCAL_SEARCH_WORK: int = _core.packs.LOCAL_SEARCH_WORK


class Instance(core.Instance):
    """Tasks with their times on 1..p processors, and the largest number of tasks a pack.

    Parameters
    ----------
    times : array_like, shape (n, p)
        ``times[i, q-1]`` = seconds of task i on q processors: positive and finite. A table
        that is not monotone is accepted; a solver that needs monotony refuses it then
        (:func:`monotone` repairs it).
    max_tasks : int, optional
        k >= 1: most tasks in a pack; clamped to min(n, p). None: min(n, p).
    names : sequence of str, optional
        Labels of the tasks, for tables and pictures.
    origin : array_like of int, shape (n, p), optional
        Where each time comes from: 0 measured (or given), 1 interpolated, 2 extrapolated.
    notes : sequence of str, optional
        What a reader did to the data, a line each.

    Raises
    ------
    InvalidInstance
        Empty, ragged or non-numeric table; an entry that is NaN, infinite or <= 0 (named by
        row and column); max_tasks < 1.

    Examples
    --------
    >>> inst = Instance([[4.0, 2.5], [3.0, 1.5], [1.0, 1.0]], max_tasks=2)
    >>> inst.tasks, inst.procs, inst.max_tasks
    (3, 2, 2)
    >>> float(inst.times[0, 1])
    2.5
    """

    family = "packs"

    tasks: int
    procs: int
    max_tasks: int
    names: tuple[str, ...]
    origin: np.ndarray

    def __init__(
        self,
        times: Any,
        max_tasks: int | None = None,
        *,
        names: Sequence[str] | None = None,
        origin: Any = None,
        notes: Iterable[str] = (),
    ) -> None:
        table = real_array(times, "times", 2)
        most = min(table.shape)
        largest = most if max_tasks is None else integer(max_tasks, "max_tasks", 1, 2**63 - 1)
        inner = _core.packs.Instance(table, max(min(largest, most), 1))
        labels = _labels(names, len(table))
        source = (
            np.zeros(table.shape, dtype=np.int8)
            if origin is None
            else integer_array(origin, "origin", 2, 0, 2).astype(np.int8)
        )
        if source.shape != table.shape:
            raise InvalidInstance(f"origin has shape {source.shape}, times has {table.shape}")
        source.flags.writeable = False
        self._set(
            _core=inner,
            tasks=inner.tasks,
            procs=inner.procs,
            max_tasks=inner.max_tasks,
            names=labels,
            origin=source,
            notes=tuple(notes),
        )

    @property
    def times(self) -> np.ndarray:
        """Read-only (n, p) table of seconds; ``times[i, q-1]`` = task i on q processors."""
        return self._core.times

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        # An instance stands for its table wherever a table is expected.
        return np.array(self.times, dtype=dtype)

    def __reduce__(self) -> tuple:
        return _rebuild, (self.times, self.max_tasks, self.names, self.origin, self.notes)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Instance)
            and self.max_tasks == other.max_tasks
            and self.names == other.names
            and np.array_equal(self.times, other.times)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<packs.Instance: {self.tasks} tasks, p = {self.procs}, k = {self.max_tasks}>"

    def with_max_tasks(self, max_tasks: int | None) -> Instance:
        """The same tasks with another pack size."""
        return Instance(
            self.times, max_tasks, names=self.names, origin=self.origin, notes=self.notes
        )

    @classmethod
    def read(
        cls,
        path: str | PathLike[str],
        max_tasks: int | None = None,
        *,
        procs: int | None = None,
        fit: str = "interpolation",
        extrapolate: bool = False,
        repair: bool | None = None,
    ) -> Self:
        """Read profiles from a file; the format is told by the header (see `cosched.io`).

        * CSV table: header ``task,1,2,3,...``, a row a task, seconds. Counts that are
          missing from the header (``task,1,2,4,8``) are filled as below.
        * CSV measurements: header ``task,processors,seconds``, a row a run; the best run of
          each count is kept.
        * CSV of benchmark runs: columns ``app, benchmark, system, nodes, time_s`` (and
          ``metric``): a task per (app, benchmark) on the system with the most counts.
        * JSON: ``{"times": [[...]], "names": [...], "max_tasks": k}``.

        Parameters
        ----------
        path : path
        max_tasks : int, optional
            k; None: what a JSON file says, else min(n, p).
        procs : int, optional
            p: read the times on 1..procs only. None: the largest count in the file.
        fit : {"interpolation", "amdahl", "power-law"}
            How counts between measured ones are filled; see :mod:`cosched.profiles`.
        extrapolate : bool
            Allow the fitted model outside the measured counts. Without it, a task that
            lacks a count that is needed is refused.
        repair : bool, optional
            Make the table monotone. None: only where times were measured.

        Raises
        ------
        InvalidInstance
            One line with file, line, column, value and what was expected.
        OSError
            The file cannot be read.
        """
        from cosched import profiles

        table = profiles.read(path, procs=procs, fit=fit, extrapolate=extrapolate, repair=repair)
        chosen = table.max_tasks if max_tasks is None else max_tasks
        return cls(table.times, chosen, names=table.names, origin=table.origin, notes=table.notes)

    def write(self, path: str | PathLike[str]) -> None:
        """Write the table as .csv or .json, as :meth:`read` takes it."""
        from cosched import profiles

        profiles.write(path, self.times, self.names, self.max_tasks)

    def _validate(self, schedule: Schedule) -> None:
        _core.packs.validate(
            self._core,
            schedule.task,
            schedule.kind,
            schedule.unit_begin,
            schedule.unit,
            schedule.start,
            schedule.end,
        )


def _rebuild(times, max_tasks, names, origin, notes) -> Instance:
    return Instance(times, max_tasks, names=names, origin=origin, notes=notes)


def _labels(names: Sequence[str] | None, tasks: int) -> tuple[str, ...]:
    if names is None:
        return tuple(f"task {i}" for i in range(tasks))
    labels = tuple(map(str, names))
    if len(labels) != tasks:
        raise InvalidInstance(f"names has {len(labels)} entries for {tasks} tasks")
    return labels


@dataclass(frozen=True, kw_only=True, repr=False)
class Result(core.Result):
    """A co-schedule. ``value`` is its cost (s).

    Attributes
    ----------
    pack_of, procs : numpy.ndarray of int, shape (n,)
        Pack and number of processors of each task. Packs run in increasing cost, equal
        costs in increasing number, as the mean response time has them.
    """

    family: ClassVar[str] = "packs"

    pack_of: np.ndarray
    procs: np.ndarray

    @property
    def cost(self) -> float:
        """Sum over packs of the longest time in it (s)."""
        return self.value

    @property
    def packing_ratio(self) -> float:
        """Work / (p x cost), 0..1: 1 means no idle processor."""
        return _core.packs.packing_ratio(self.instance._core, self.pack_of, self.procs)

    @property
    def relative_cost(self) -> float:
        """Cost / cost of running each task alone on all processors."""
        return _core.packs.relative_cost(self.instance._core, self.pack_of, self.procs)

    @property
    def relative_response_time(self) -> float:
        """Mean response time / that of each task alone on all processors, shortest first."""
        return _core.packs.relative_response_time(self.instance._core, self.pack_of, self.procs)

    def metrics(self) -> dict[str, float]:
        """Packing ratio, relative cost, relative response time, number of packs."""
        return {
            "packing_ratio": self.packing_ratio,
            "relative_cost": self.relative_cost,
            "relative_response_time": self.relative_response_time,
            "packs": int(self.pack_of.max()) + 1,
        }


def _result(
    instance: Instance,
    algorithm: str,
    pack_of: np.ndarray,
    procs: np.ndarray,
    *,
    own_bound: Bound | None = None,
    status: str = "ok",
    seed: int = 0,
) -> Result:
    columns = _core.packs.schedule(instance._core, pack_of, procs)
    value = _core.packs.cost(instance._core, pack_of, procs)
    for array in (pack_of, procs):
        array.flags.writeable = False
    return Result(
        algorithm=algorithm,
        instance=instance,
        schedule=Schedule(instance, *columns),
        value=value,
        own_bound=own_bound,
        status=status,
        seed=seed,
        pack_of=pack_of,
        procs=procs,
    )


def _result_of_schedule(instance: Instance, schedule: Schedule) -> Result:
    """Packs are read off the starts: tasks that start together are a pack."""
    schedule.validate()
    order = np.argsort(schedule.task)
    _, pack_of = np.unique(schedule.start[order], return_inverse=True)
    procs = np.diff(schedule.unit_begin)[order]
    found = _result(instance, "", pack_of.astype(np.int64), procs)
    return replace(found, schedule=schedule)


def monotone(times: Any) -> np.ndarray:
    """Repair a table so that time never rises and work q t(q) never falls with processors.

    First t(q+1) <= t(q), by never using more processors than the best so far; then
    t(q+1) is raised to q t(q) / (q+1) where the speed-up is super-linear. O(n p).

    Parameters
    ----------
    times : array_like, shape (n, p)
        Positive seconds.

    Returns
    -------
    numpy.ndarray, shape (n, p)

    Raises
    ------
    InvalidInstance
        As for :class:`Instance`.

    Examples
    --------
    >>> monotone([[8.0, 3.0, 5.0]]).tolist()
    [[8.0, 4.0, 3.0]]
    """
    return _core.packs.monotone(real_array(times, "times", 2))


def one_pack(times: Any, procs: int) -> np.ndarray:
    """Optimal processor counts when all tasks run in one pack (Algorithm 4.2).

    Every task starts on one processor; the longest one gets one more, p - n times.

    Parameters
    ----------
    times : array_like, shape (n, >= procs)
        Non-increasing rows.
    procs : int
        p >= 1 processors for the pack.

    Returns
    -------
    numpy.ndarray of int, shape (n,)
        Counts that minimise the longest time; ties go to the lower task.

    Raises
    ------
    InvalidInstance
        Times increase along a row, or the table has fewer than `procs` columns.
    InfeasibleError
        More tasks than processors.

    Notes
    -----
    Exact. O(p log n). :func:`one_pack_dynamic_programme` is the check, O(n p^2).

    Examples
    --------
    >>> one_pack([[8.0, 4.0, 3.0], [2.0, 1.5, 1.0]], procs=3).tolist()
    [2, 1]
    """
    table, procs = _pack_table(times, procs)
    return _core.packs.one_pack(table, procs)


def one_pack_dynamic_programme(times: Any, procs: int) -> np.ndarray:
    """Like :func:`one_pack`, by dynamic programming; the table need not be monotone.

    Examples
    --------
    >>> one_pack_dynamic_programme([[8.0, 4.0, 3.0], [2.0, 1.5, 1.0]], procs=3).tolist()
    [2, 1]
    """
    table, procs = _pack_table(times, procs)
    return _core.packs.one_pack_dynamic_programme(table, procs)


def _pack_table(times: Any, procs: int) -> tuple[np.ndarray, int]:
    table = real_array(times, "times", 2)
    procs = integer(procs, "procs", 1)
    if procs > table.shape[1]:
        raise InvalidInstance(
            f"procs = {procs}: times has only {table.shape[1]} columns (processor counts)"
        )
    return np.ascontiguousarray(table[:, :procs]), procs


def make_pack(instance: Instance, procs: Any, *, reoptimise: bool = True) -> Result:
    """Packs for given processor counts (Make-pack, Algorithm 4.4).

    First fit by decreasing time: a task goes to the first pack with enough free processors
    and fewer than k tasks.

    Parameters
    ----------
    instance : Instance
    procs : array_like of int, shape (n,)
        Counts in 1..p.
    reoptimise : bool
        Give each pack the optimal counts of :func:`one_pack` afterwards (never worse; needs
        times that do not increase with processors).

    Returns
    -------
    Result

    Raises
    ------
    InvalidInstance
        Wrong length, or a count outside 1..p.
    """
    counts = integer_array(procs, "procs", 1, 1)
    found = _core.packs.make_pack(instance._core, counts, bool(reoptimise))
    return _result(instance, "make-pack", *found)


def sequential(instance: Instance) -> Result:
    """Each task alone on all p processors, in order: cost sum_i t_i(p). Optimal for k = 1."""
    return _result(instance, "sequential", *_core.packs.sequential(instance._core))


def pairs(instance: Instance) -> Result:
    """Optimal co-schedule for k <= 2, by minimum-weight perfect matching (Theorem 1).

    Needs no monotony. O(n^2 p) for the weights and O(n^3) for the matching.

    Raises
    ------
    InvalidInstance
        max_tasks > 2.
    """
    pack_of, procs = _core.packs.pairs(instance._core)
    found = _result(instance, "pairs", pack_of, procs)
    return replace(found, own_bound=Bound(found.value, "pairs"))


def optimal(instance: Instance, *, time_limit: float | None = None) -> Result:
    """Exact co-schedule for any k.

    A dynamic programme over subsets for few tasks, branch and price with the ``columns``
    bound for more. Optimal, with ``bound`` = cost, unless the time limit ends the search:
    then ``status`` is ``"time_limit"``, and ``bound`` is what was proved until then.

    Parameters
    ----------
    instance : Instance
        Times must not increase with processors.
    time_limit : float, optional
        Seconds; None: until it is proved.
    """
    return _exact(
        instance, _core.packs.optimal(instance._core, time_limit_of(time_limit)), "optimal"
    )


def ilp(instance: Instance, *, time_limit: float | None = None) -> Result:
    """The paper's integer programme (Section 4.3), solved by GLPK. For up to five tasks or so.

    Needs no monotony. See :func:`optimal` for bound, status and time limit.

    Raises
    ------
    SolverError
        GLPK failed, or found no schedule within the time limit.
    """
    return _exact(instance, _core.packs.ilp(instance._core, time_limit_of(time_limit)), "ilp")


def pack_approx(instance: Instance, *, reoptimise: bool = True) -> Result:
    """pack-Approx (Section 4.4): a 3-approximation for k = p.

    From one processor each, the longest task gets one more at a time; the best co-schedule
    of Make-pack on the way is kept. The paper has no 1-pack step here; by default each
    candidate's packs are given their optimal counts (never worse), ``reoptimise=False`` gives
    the paper's cost. The guarantee is proved for k = p only. Needs both monotony properties.
    """
    found = _core.packs.pack_approx(instance._core, bool(reoptimise))
    return _result(instance, "pack-approx", *found)


def random_pack(instance: Instance, *, draws: int = 1, seed: int | None = None) -> Result:
    """Random-Pack (Section 5): packs of random size and content, 1-pack on each; best draw.

    Parameters
    ----------
    instance : Instance
        Times must not increase with processors.
    draws : int
        Co-schedules to draw (the paper: 1 or 9).
    seed : int, optional
    """
    count, used = integer(draws, "draws", 1), seed_of(seed)
    found = _core.packs.random_pack(instance._core, count, used)
    return _result(instance, f"random-pack-{count}", *found, seed=used)


def random_proc(instance: Instance, *, draws: int = 1, seed: int | None = None) -> Result:
    """Random-Proc (Section 5): random processor counts, Make-pack, 1-pack on each; best draw.

    Parameters are those of :func:`random_pack`.
    """
    count, used = integer(draws, "draws", 1), seed_of(seed)
    found = _core.packs.random_proc(instance._core, count, used)
    return _result(instance, f"random-proc-{count}", *found, seed=used)


def pack_by_pack(instance: Instance, *, epsilons: Sequence[float] = _NINE) -> Result:
    """pack-by-pack (Section 5), the paper's best heuristic; best over `epsilons`.

    Packs of tasks of similar length: tasks whose time is within (1 - eps) of the longest are
    packed as soon as together they ask for all processors; until then the longest task gets
    one more. Then 1-pack on each pack.

    Parameters
    ----------
    instance : Instance
        Times must not increase with processors.
    epsilons : sequence of float
        Each in [0, 1). ``pack-by-pack-1`` is (0.5,), ``pack-by-pack-9`` is 0.1, ..., 0.9.
    """
    values = real_array(
        [epsilons] if isinstance(epsilons, (int, float)) else list(epsilons), "epsilons", 1
    )
    return _result(instance, "pack-by-pack", *_core.packs.pack_by_pack(instance._core, values))


def local_search(
    instance: Instance,
    *,
    seed: int | None = None,
    work: int = LOCAL_SEARCH_WORK,
    time_limit: float | None = None,
) -> Result:
    """Local search from the best pack-by-pack: the package's own heuristic, never worse.

    Parameters
    ----------
    instance : Instance
        Times must not increase with processors.
    seed : int, optional
    work : int
        Effort; the result depends on instance, seed and work only.
    time_limit : float, optional
        Seconds after which it stops with its best so far (the result then depends on the
        machine's speed).
    """
    effort = integer(work, "work", 0, 2**62)
    used, limit = seed_of(seed), time_limit_of(time_limit)
    found = _core.packs.local_search(instance._core, used, effort, limit)
    return _result(instance, "local-search", *found, seed=used)


def _exact(instance: Instance, found: tuple, method: str) -> Result:
    pack_of, procs, lower, proved = found
    if len(pack_of) == 0:
        raise SolverError(f"{method}: the time limit came before any co-schedule")
    status = "ok" if proved else "time_limit"
    result = _result(instance, method, pack_of, procs, status=status)
    least = result.value if proved else min(lower, result.value)
    return replace(result, own_bound=Bound(least, method))


# --- bounds -------------------------------------------------------------------------------


def columns_bound(instance: Instance, *, time_limit: float | None = None) -> Bound:
    """Lower bound of the set-partitioning relaxation over packs, by column generation.

    Never below ``area`` and ``longest``. A time limit gives a weaker, still valid bound.
    Times must not increase with processors.
    """
    return Bound(_core.packs.column_bound(instance._core, time_limit_of(time_limit)), "columns")


def area_bound(instance: Instance) -> Bound:
    """sum_i min_q q t_i(q) / p: no processor can do more work than there is. No monotony."""
    return Bound(_core.packs.area_bound(instance._core), "area")


def longest_bound(instance: Instance) -> Bound:
    """From the longest tasks: at most k of them share a pack."""
    return Bound(_core.packs.longest_bound(instance._core), "longest")


BOUNDS: dict[str, Callable[..., Bound]] = {
    "columns": columns_bound,
    "area": area_bound,
    "longest": longest_bound,
}

ALGORITHMS: dict[str, core.Algorithm] = {
    "sequential": sequential,
    "pairs": pairs,
    "optimal": optimal,
    "ilp": ilp,
    "pack-approx": pack_approx,
    "random-pack-1": partial(random_pack, draws=1),
    "random-pack-9": partial(random_pack, draws=9),
    "random-proc-1": partial(random_proc, draws=1),
    "random-proc-9": partial(random_proc, draws=9),
    "pack-by-pack-1": partial(pack_by_pack, epsilons=(0.5,)),
    "pack-by-pack-9": partial(pack_by_pack, epsilons=_NINE),
    "local-search": local_search,
}

#: What ``compare`` runs; ``ilp`` only up to five tasks.
DEFAULT_COMPARE = tuple(ALGORITHMS)


def _default_names(instance: Instance) -> list[str]:
    return [name for name in DEFAULT_COMPARE if name != "ilp" or instance.tasks <= 5]


def _bound_beside(instance: Instance) -> Bound:
    """``columns`` up to n p = 10,000 (a few seconds), else the better of the simple ones."""
    if instance.tasks * instance.procs <= 10_000:
        try:
            return columns_bound(instance)
        except InvalidInstance:  # not monotone
            pass
    return max(area_bound(instance), longest_bound(instance), key=float)


FAMILY = Family(
    name="packs",
    instance_type=Instance,
    schedule_type=Schedule,
    objective="cost",
    default_bound="columns",
    result_of=_result_of_schedule,
    arguments=(
        Argument(
            "--max-tasks", "max_tasks", "Most tasks in a pack (2,3,4 compares several).", vary=True
        ),
        Argument("--procs", "procs", "Processors p: read the times on 1..p only."),
        Argument(
            "--fit",
            "fit",
            "Between measured counts: interpolation, amdahl or power-law.",
            parse=str,
        ),
        Argument(
            "--extrapolate",
            "extrapolate",
            "Use the fitted model outside measured counts.",
            parse=bool,
        ),
    ),
    default_names=_default_names,
    beside=_bound_beside,
    algorithms=ALGORITHMS,
    bounds=BOUNDS,
)
solve = FAMILY.solve
bound = FAMILY.bound
compare = FAMILY.compare
