"""A schedule under other times: replayed once, or over draws of noise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from cosched import _core
from cosched.core import Schedule
from cosched.core.arrays import any_array, integer, nonnegative, real, real_array, seed_of
from cosched.core.options import one_of
from cosched.dags.bounds import hlp
from cosched.dags.instance import Instance, without_limits
from cosched.dags.result import Result, columns_of, result_of_plan
from cosched.errors import InvalidInstance, shorten
from cosched.lazy import pd

#: Draws behind the quantiles of ``compare``.
_DRAWS = 1000
#: Factors that are in memory at a time.
_BLOCK = 2**20
_MOST_CV = 1000
#: Factors of some draws, a row a draw.
Draw = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]


def replay(
    schedule: Schedule | Result,
    times: object = None,
    *,
    order: str = "kept",
    transfers: float = 1.0,
    noise: object = None,
    cv: object = 0.2,
    draws: int = 1,
    seed: int | None = None,
    bound: bool = False,
) -> Result | pd.DataFrame:
    """What becomes of a schedule when tasks take other times than it was made for.

    Every task starts as early as its data and its unit allow, once its predecessors have ended.

    Parameters
    ----------
    schedule : Schedule or Result
        A valid one; its instance says the times that it was made for.
    times : array_like, shape (n, Q) or (n,), optional
        Other times (s): of each task on each type, or of each task on the type that it has.
    order : {"kept", "list"}
        ``"kept"``: each task on its unit, and the order on each unit. ``"list"``: each task on its
        type, and the order of starts as a list: an idle unit takes the first task of its type
        whose data is there, as a runtime system would.
    transfers : float
        Every transfer takes so many times as long.
    noise : "lognormal" or sequence of n sequences of float, optional
        Each draw multiplies the times of task j, on every type, by a factor: lognormal of mean 1
        and coefficient of variation `cv`; or one of its measured repeats / their mean.
    cv : float or array_like, shape (n,)
        Of all tasks, or of each, >= 0.
    draws : int
        More than one with `noise` only.
    bound : bool
        Prove a bound for each draw, too: what was possible with its times.

    Returns
    -------
    Result or pandas.DataFrame
        One draw: the schedule with its new times; its ``bound`` and ``gap`` are of these times.
        More: a row a draw, ``draw, value``, and with `bound` ``bound``.

    Raises
    ------
    InvalidSchedule
        It breaks a rule of its instance.
    InvalidInstance
        A task has no time on the type that it has; noise, cv or draws that are none.

    Notes
    -----
    With the times unchanged the schedule comes back to the bit, where nothing in it could have
    started earlier; that is so for all algorithms of this package, but for what ``heteroprio``
    aborts on a unit that it has just taken a task from. The same seed draws the same
    factors for every schedule of an instance, however many draws there are. The bound of a draw
    starts from the LP's prices for the schedule's own times, and is within a relative 1e-3 of what
    ``bound`` would prove. O(n + e) a draw, ``"list"``
    O((n + e) log n), and with `bound` what ``windows`` takes, or ``transfers`` where data costs
    time.

    Examples
    --------
    >>> inst = cs.workloads.cholesky(5, units=(4, 1))
    >>> result = cs.dags.heft(inst)
    >>> cs.dags.replay(result).value == result.value
    True
    >>> table = cs.dags.replay(result, noise="lognormal", cv=0.3, draws=100, bound=True)
    >>> table.columns.tolist(), bool((table.bound <= table.value).all())
    (['draw', 'value', 'bound'], True)
    >>> bool(table.value.quantile(0.95) > result.value)
    True
    """
    placed = _schedule_of(schedule)
    one_of(order, "order", ("kept", "list"))
    count = integer(draws, "draws", 1)
    if noise is None and count > 1:
        raise InvalidInstance(f"draws = {count}: expected 1 without noise")
    columns = columns_of(placed)
    plan = _keep_runs(columns, "list" if order == "list" else "units")
    instance: Any = placed.instance  # of a task graph, it was checked
    changed = _changed(instance, columns["kind"], times, transfers)
    seed_value = seed_of(seed)
    name = getattr(schedule, "algorithm", "")
    if noise is not None and count == 1:
        factors = next(_factors(changed, noise, cv, 1, seed_value))[0]
        changed = _with(changed, times=changed.times * factors[:, None])
    if count == 1:
        return result_of_plan(
            changed, name, *_core.dags.replay(changed._core, **plan), seed=seed_value
        )
    return _table(changed, plan, _factors(changed, noise, cv, count, seed_value), bound)


def quantiles(result: Result, noise: float, seed: int) -> dict[str, float]:
    """``value_p50, value_p95`` of a result's makespan under lognormal noise: for ``compare``."""
    plan = _keep_runs(columns_of(result.schedule), "units")
    table = _table(
        result.instance, plan, _factors(result.instance, "lognormal", noise, _DRAWS, seed), False
    )
    return {f"value_p{p}": float(np.percentile(table["value"], p)) for p in (50, 95)}


def _keep_runs(columns: dict[str, Any], rule: str) -> dict[str, Any]:
    """Return what C++ takes as a plan, and what of it a replay keeps."""
    return {"plan": tuple(columns.values()), "kept": _core.dags.Kept[rule]}


def _table(
    instance: Instance, plan: dict[str, Any], blocks: Iterator[Any], bound: bool
) -> pd.DataFrame:
    certificate = hlp(instance).certificate.of_core() if bound else None
    runs = [
        _core.dags.replay_draws(instance._core, **plan, factors=factors, certificate=certificate)
        for factors in blocks
    ]
    table = pd.DataFrame({"value": np.concatenate([values for values, _ in runs])})
    table.insert(0, "draw", np.arange(len(table)))
    if bound:
        table["bound"] = np.concatenate([bounds for _, bounds in runs])
    return table


def _changed(instance: Instance, kind: np.ndarray, times: object, transfers: object) -> Instance:
    """Return the instance with other times and slower transfers; itself where nothing changes."""
    changes: dict[str, Any] = {}
    slower = nonnegative(transfers, "transfers", "a factor >= 0")
    if slower != 1 and instance.bandwidth is not None:
        with np.errstate(divide="ignore"):
            changes["bandwidth"] = instance.bandwidth / slower
        changes["latency"] = instance.latency * slower
    if times is not None:
        changes["times"] = _table_of(times, instance, kind)
    return _with(instance, **changes) if changes else instance


def _table_of(times: Any, instance: Instance, kind: np.ndarray) -> np.ndarray:
    shapes = (instance.tasks, instance.types), (instance.tasks,)
    if any_array(times, "times", 2).shape not in shapes:
        raise InvalidInstance(
            f"times has shape {np.shape(times)}: expected {shapes[0]}, one time per task and "
            f"type, or {shapes[1]}, of the type that it has"
        )
    rows = np.arange(instance.tasks)
    if np.ndim(times) == 1:
        table = np.array(instance.times)
        table[rows, kind] = real_array(times, "times", 1)
    else:
        table = real_array(times, "times", 2)
    wrong = np.flatnonzero(~np.isfinite(table[rows, kind]))
    if len(wrong):
        task = int(wrong[0])
        raise InvalidInstance(
            f"times[{task}, {kind[task]}] = {table[task, kind[task]]:g}: expected finite seconds, "
            "the schedule has the task there"
        )
    return table


def _with(instance: Instance, *, times: object = None, **links: object) -> Instance:
    table = instance.times if times is None else times
    arguments = instance._keyword_arguments()  # noqa: SLF001
    return Instance(
        table, instance.edges, instance.units, **(arguments | {"executed": None} | links)
    )


def _factors(instance: Instance, noise: Any, cv: object, draws: int, seed: int) -> Iterator[Any]:
    """Yield blocks of rows of factors, a row a draw: the same whatever the size of the blocks."""
    rng = np.random.default_rng(seed)
    tasks = instance.tasks
    lognormal = isinstance(noise, str)
    draw = _lognormal(noise, cv, tasks) if lognormal else _repeats(noise, tasks)
    block = max(1, _BLOCK // tasks)
    for begin in range(0, draws, block):
        yield draw(rng, (min(block, draws - begin), tasks))


def _lognormal(noise: str, cv: Any, tasks: int) -> Draw:
    if noise != "lognormal":
        raise InvalidInstance(
            f"noise = {shorten(noise)}: expected 'lognormal' or the measured repeats of each task"
        )
    spread = real_array(cv, "cv", 1) if np.ndim(cv) else np.full(tasks, real(cv, "cv"))
    if len(spread) != tasks:
        raise InvalidInstance(f"cv has {len(spread)} entries: expected one for each of {tasks}")
    wrong = np.flatnonzero(~((spread >= 0) & (spread <= _MOST_CV)))
    if len(wrong):
        which = f"cv[{wrong[0]}]" if np.ndim(cv) else "cv"
        raise InvalidInstance(f"{which} = {spread[wrong[0]]:g}: expected 0..{_MOST_CV}")
    variance = np.log1p(spread**2)
    sigma = np.sqrt(variance)
    return lambda rng, shape: np.exp(sigma * rng.standard_normal(shape) - variance / 2)


def _repeats(noise: object, tasks: int) -> Draw:
    if not np.iterable(noise) or len(rows := list(noise)) != tasks:
        raise InvalidInstance(
            f"noise: expected 'lognormal' or {tasks} sequences, the measured repeats of each task"
        )
    measured = [real_array(row, f"noise[{task}]", 1) for task, row in enumerate(rows)]
    for task, row in enumerate(measured):
        if not len(row) or not ((row > 0) & np.isfinite(row)).all():
            raise InvalidInstance(f"noise[{task}]: expected one or more repeats, in seconds > 0")
    counts = np.array([len(row) for row in measured])
    first = np.cumsum(counts) - counts
    factors = np.concatenate([row / row.mean() for row in measured])
    return lambda rng, shape: factors[first + (rng.random(shape) * counts).astype(np.int64)]


def _schedule_of(schedule: object) -> Schedule:
    """Return the valid schedule of a task graph that was given, or that a result has."""
    placed = getattr(schedule, "schedule", schedule)
    if not isinstance(placed, Schedule):
        raise InvalidInstance(f"schedule: expected a schedule, got {type(schedule).__name__}")
    without_limits(placed.instance, "replay")
    placed.validate()
    return placed
