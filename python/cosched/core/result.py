"""What a solver returns: a schedule, its value, a proven bound beside it; and its first rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cosched import _core
from cosched.core.arrays import integer, ranges
from cosched.core.instance import Instance
from cosched.core.schedule import Schedule
from cosched.core.text import listed, percent
from cosched.errors import CoschedError, InvalidBound, InvalidInstance, SolverError
from cosched.lazy import pd
from cosched.templates import render

if TYPE_CHECKING:
    from cosched.core.schedule import Schedule

#: Spans and names that one cell shows; the rest is counted.
IN_A_CELL = 12


@dataclass(frozen=True)
class Overview:
    """The first rows of a plan.

    Attributes
    ----------
    what : str
        What a row is, in the plural: packs, placements, ...
    frame : pandas.DataFrame
        The rows that are shown, in order of time.
    total : int
        How many rows there are in all.

    Examples
    --------
    >>> inst = cs.packs.Instance([[4.0, 2.0], [3.0, 2.0]], names=["fft", "lu"])
    >>> found = cs.packs.solve(inst, "sequential").overview()
    >>> found.total, found.what
    (2, 'packs')
    >>> print(found.frame.to_string(index=False))
     pack  start  end tasks on processors
        0    0.0  2.0            fft on 2
        1    2.0  4.0             lu on 2
    """

    what: str
    frame: pd.DataFrame
    total: int


def spans(numbers: NDArray[np.int64]) -> str:
    """Numbers of units as spans."""
    parts = [f"{a}" if a == b else f"{a}-{b}" for a, b in ranges(np.unique(numbers))]
    return listed(parts, IN_A_CELL)


def placements(schedule: Schedule, most: int) -> Overview:
    """The placements that start first; equal starts by task."""
    chosen = np.lexsort((schedule.task, schedule.start))[:most]
    names = schedule.instance.names
    columns: dict[str, list[Any]] = {
        "task": [names[task] for task in schedule.task[chosen].tolist()]
    }
    kinds = getattr(schedule.instance, "kind_names", ())
    if len(kinds) > 1:
        columns["on"] = [kinds[kind] for kind in schedule.kind[chosen].tolist()]
    columns["units"] = [spans(np.array(schedule.units(row))) for row in chosen.tolist()]
    columns |= {"start": schedule.start[chosen].tolist(), "end": schedule.end[chosen].tolist()}
    return Overview("placements", pd.DataFrame(columns), len(schedule))


_GLANCE = 1.0  # s that showing a result may take
#: What a schedule file says of itself; a version that reads otherwise has another number.
FORMAT, VERSION = "cosched-schedule", 1


@dataclass(frozen=True)
class Bound:
    """A proven bound on the optimum: lower when minimising, upper when maximising.

    Attributes
    ----------
    value : float
        In the unit of the family's objective.
    method : str
        The name of the bound, a key of the family's ``BOUNDS``, or the algorithm that proved it.
    status : str
        ``"ok"``, or ``"time_limit"`` where a limit ended it early: more time may tighten it.
    note : str
        Why it is not the strongest that the family has: what failed.

    Examples
    --------
    >>> bound = Bound(4.5, "area")
    >>> float(bound), bound.method
    (4.5, 'area')
    """

    value: float
    method: str
    status: str = "ok"
    note: str = ""

    def __float__(self) -> float:
        return float(self.value)

    def __repr__(self) -> str:
        return f"Bound({self.value:.9g}, {self.method!r})"


@dataclass(frozen=True, kw_only=True, repr=False)
class Result:
    """One algorithm's answer to one instance. Families subclass it with their own fields.

    Attributes
    ----------
    algorithm : str
        Its public name.
    instance : Instance
    schedule : Schedule
    value : float
        The objective of the family (see its ``Instance``).
    seed : int
        The seed that was used: the call can be repeated.
    status : str
        ``"ok"``, or ``"time_limit"`` where a limit ended the search early.
    stopped_by : str or None
        What ended a search: ``"proved"`` (nothing is better), ``"work"`` or ``"time"``; None
        where there was none.
    own_bound : Bound or None
        A bound that the algorithm proved on its way.

    Examples
    --------
    >>> inst = cs.packs.Instance([[8, 4.4, 3.1], [6, 3.2, 2.5], [2, 1.2, 0.9]], max_tasks=2)
    >>> result = cs.packs.solve(inst, "optimal")
    >>> result.value, result.bound, result.gap
    (6.300000000000001, Bound(6.3, 'optimal'), 0.0)
    """

    family: ClassVar[str]
    #: Bounds that are used where the family's own fails, the stronger first.
    weaker_bounds: ClassVar[tuple[Callable[[Any], Bound], ...]] = ()
    maximise: ClassVar[bool] = False

    algorithm: str
    instance: Instance
    schedule: Schedule
    value: float
    seed: int = 0
    status: str = "ok"
    stopped_by: str | None = None
    own_bound: Bound | None = field(default=None)

    @classmethod
    def require(cls, value: object) -> None:
        """Refuse what is no result of this family."""
        if not isinstance(value, cls):
            raise InvalidInstance(
                f"expected a {cls.__module__.rpartition('.')[0]}.Result, got {type(value).__name__}"
            )

    @property
    def bound(self) -> Bound | None:
        """The bound that the algorithm proved, else the family's bound of this instance.

        See :meth:`bound_beside`.
        """
        if self.own_bound is not None:
            return self.own_bound
        return self.bound_beside(self.instance)

    @property
    def own_measure(self) -> bool:
        """Whether :attr:`bound` holds for this result alone, measured otherwise than others of the
        instance; else ``compare`` shows the best that is known beside all rows."""
        return False

    @classmethod
    def bound_beside(cls, instance: Instance) -> Bound | None:
        """The family's bound of an instance; computed when first asked for, and kept with it.

        None where the family has nothing to say of every schedule.
        """
        Instance.require(instance)
        return instance.once("bound", lambda: cls._bound_that_holds(instance))

    @classmethod
    def _bound_that_holds(cls, instance: Instance) -> Bound | None:
        """Return the strongest bound whose computation does not fail; none where all do."""
        failed = []
        for bound_of in (cls._bound_of, *cls.weaker_bounds):
            try:
                bound = bound_of(instance)
            except SolverError as error:
                failed.append(f"a stronger bound failed ({error})")
                continue
            if bound is None or not failed:
                return bound
            return replace(bound, note="; ".join(filter(None, [*failed, bound.note])))
        return None

    @classmethod
    def prepare(cls, instance: Any) -> None:
        """Compute what the metrics of all results of an instance share; limits around it hold."""

    @classmethod
    def _bound_of(cls, instance: Any) -> Bound | None:
        """Return what the family has to say of every schedule of `instance`; nothing, here."""
        return None

    @property
    def gap(self) -> float:
        """Relative distance from the bound, >= 0: how far from the best possible at most.

        value / bound - 1 when minimising, bound / value - 1 when maximising; infinity
        for a value <= 0 that is maximised, nan without a bound.

        Raises
        ------
        InvalidBound
            The value is better than the bound allows.
        """
        return self.gap_to(self.bound)

    def gap_to(self, bound: Bound | None) -> float:
        """The gap to another bound of this instance.

        As :attr:`gap`; nan where the bound does not hold for what this is a result of.

        Raises
        ------
        TypeError
            `bound` is something else.
        InvalidBound
            The value is better than the bound allows.
        """
        if isinstance(bound, Bound) and not self._comparable(bound):
            return math.nan
        return relative_gap(self.value, bound, self.maximise, self.algorithm)

    def _comparable(self, bound: Bound) -> bool:
        """Return whether the bound holds for what this is a result of."""
        del bound
        return True

    #: Other names of metrics, each with the name that tables for people show in its place.
    deprecated_metrics: ClassVar[Mapping[str, str]] = {}

    def metrics(self) -> dict[str, Any]:
        """The family's measures of quality by name; of a search also what ended it.

        Name -> number, and ``stopped_by`` (see there). Empty, where a family has none.
        """
        return self._end_of_search()

    def _end_of_search(self) -> dict[str, Any]:
        """Return a metric of searches only."""
        return {} if self.stopped_by is None else {"stopped_by": self.stopped_by}

    def overview(self, most: int = 20) -> Overview:
        """The plan's first rows as a person reads them: names, spans of units, in order of time.

        ``what`` a row is, the rows as ``frame``, and how many there are in ``total``.

        Parameters
        ----------
        most : int
            Rows to show, >= 0.
        """
        return self._overview(integer(most, "most", 0, 2**63 - 1))

    def _overview(self, most: int) -> Overview:
        return placements(self.schedule, most)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.family} {self.algorithm}: {self._in_short()}>"

    def _in_short(self) -> str:
        """Return value, bound and gap, as far as they are known within a second."""
        parts = [f"value {self.value:.6g}"]
        try:
            with _core.time_limit(_GLANCE):
                bound = self.bound
            if bound is not None:
                parts.append(f"bound {bound.value:.6g} ({bound.method})")
                gap = self.gap_to(bound)
                parts += [f"gap {percent(gap)}"] if math.isfinite(gap) else []
        except CoschedError:  # no bound here, or none that soon
            pass
        return ", ".join(parts)

    def _repr_html_(self) -> str:
        table = self.to_frame().to_html(max_rows=20)
        return render("result.html.j2", label=repr(self), table=table)

    def to_frame(self) -> pd.DataFrame:
        """The schedule's table: ``task, kind, units, start, end``, ...

        As the schedule's own ``to_frame`` gives it.
        """
        return self.schedule.to_frame()

    def to_dict(self) -> dict[str, Any]:
        """Plain data: what ``cosched solve -o x.json`` writes.

        ``format, version, family, algorithm, seed, status, value, bound, metrics``, and what the
        ``facts`` of the instance and the schedule's ``to_dict`` give.
        """
        bound = self.bound
        return {
            "format": FORMAT,
            "version": VERSION,
            "family": self.family,
            "algorithm": self.algorithm,
            "seed": self.seed,
            "status": self.status,
            "value": self.value,
            "bound": None if bound is None else {"value": bound.value, "method": bound.method},
            "metrics": self.metrics(),
            **self.instance.facts(),
            **self.schedule.to_dict(),
        }


#: How far a value may pass a bound relative to the larger of both: some bounds come from a
#: linear programme.
_ROUNDING = 1e-6


def relative_gap(value: float, bound: Bound | None, maximise: bool, algorithm: str = "") -> float:
    """See :attr:`Result.gap`. Rounding below zero is reported as zero."""
    if bound is not None and not isinstance(bound, Bound):
        raise TypeError(f"bound: expected a Bound or None, got {type(bound).__name__}")
    if bound is None or math.isnan(value) or math.isnan(bound.value):
        return math.nan
    best = bound.value
    beyond = value - best if maximise else best - value
    if beyond > _ROUNDING * max(abs(value), abs(best)):
        side = "above the upper" if maximise else "below the lower"
        who = f"{algorithm}: " if algorithm else ""
        raise InvalidBound(
            f"{who}value {value:.9g} is {side} bound {best:.9g} ({bound.method}): one of them is "
            "wrong"
        )
    low, high = (value, best) if maximise else (best, value)
    if low <= 0:
        return 0.0 if high <= low else math.inf
    return max(high / low - 1, 0.0)
