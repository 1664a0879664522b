"""Plans: the placements of any family's schedule, and what has to end before each may start."""

from __future__ import annotations

import functools
import graphlib
import hashlib
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np

from cosched import io
from cosched.core import Result, Schedule
from cosched.core.arrays import integer, integer_array, nonnegative, real, real_array
from cosched.core.precedence import before_of
from cosched.core.result import FORMAT, VERSION
from cosched.core.text import first_repeated
from cosched.errors import InvalidInstance, InvalidSchedule, shorten
from cosched.execution.codes import Codes
from cosched.execution.slurm_words import MAX_AMOUNT, amount_of, licence_name

#: Families whose placements say all: (task, kind, units, start, end).
FAMILIES = ("packs", "moldable", "dags")


@dataclass(frozen=True, kw_only=True)
class PlanStep:
    """One task of a plan.

    Attributes
    ----------
    task : int
        Its number in the instance.
    name : str
    kind : int
        Resource type: 0 = cores (or nodes), 1 and more = accelerators.
    units : tuple of int
        From 0, within the kind.
    start, end : float
        Planned, seconds.

    Examples
    --------
    >>> PlanStep(task=0, name="fem", kind=0, units=(0, 1), start=0.0, end=4.0).units
    (0, 1)
    """

    task: int
    name: str
    kind: int
    units: tuple[int, ...]
    start: float
    end: float


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is to run, where, in which order.

    Attributes
    ----------
    family : {"packs", "moldable", "dags"}
    steps : tuple of PlanStep
        By planned start.
    edges : tuple of (int, int)
        Task i ends before task j starts.
    procs : int or None
        Processors that it was made for; None: as many as it uses.
    times : numpy.ndarray or None
        Seconds of each task on 1..p processors, where known: what replanning needs.
    resources : mapping
        Name -> what each task needs of it, (n,) or (n, p): ``memory`` (GB), ``gpus``, ...
    capacity : mapping
        Name -> what the machine has of it.
    late_end : float or None
        The end that is passed in 5% of the cases (s), where the plan knows it.
    slowed : bool
        Tasks slow each other: where the plan lets one wait beside idle units, the run does.

    Examples
    --------
    >>> inst = cs.packs.Instance([[4.0, 3.0], [3.0, 2.9], [5.0, 3.0]], max_tasks=2)
    >>> plan = Plan.of(cs.packs.solve(inst, "optimal"))
    >>> [(step.name, step.units) for step in plan.steps]
    [('task 2', (0, 1)), ('task 1', (1,)), ('task 0', (0,))]
    """

    family: str
    steps: tuple[PlanStep, ...]
    edges: tuple[tuple[int, int], ...] = ()
    procs: int | None = None
    times: np.ndarray | None = None
    resources: Mapping[str, np.ndarray] = field(default_factory=dict)
    capacity: Mapping[str, float] = field(default_factory=dict)
    late_end: float | None = None
    slowed: bool = False

    @property
    def makespan(self) -> float:
        """Planned end (s)."""
        return max((step.end for step in self.steps), default=0.0)

    @property
    def digest(self) -> str:
        """A text that tells plans apart."""
        rows = [(s.task, s.name, s.kind, s.units, s.start, s.end) for s in self.steps]
        return hashlib.sha256(json.dumps([self.family, rows, self.edges]).encode()).hexdigest()[:16]

    def needs_of(self, step: PlanStep, procs: int | None = None) -> dict[str, float]:
        """What a step needs beside its units, as far as the plan knows.

        Parameters
        ----------
        procs : int, optional
            On another count than its own.
        """
        needs = {}
        for what, table in self.resources.items():
            need = table[step.task]
            column = min(procs or len(step.units), table.shape[-1]) - 1
            needs[what] = float(need if table.ndim == 1 else need[column])
        return needs

    @functools.cached_property
    def has_accelerators(self) -> bool:
        """Whether some step is on units of another kind than 0."""
        return any(self._units)

    def units_of(self, kind: int) -> int:
        """Units of a kind that the plan needs."""
        return self._units.get(kind, 0)

    @functools.cached_property
    def _units(self) -> dict[int, int]:
        unit_counts: dict[int, int] = {}
        for step in self.steps:
            unit_counts[step.kind] = max(unit_counts.get(step.kind, 0), 1 + max(step.units))
        return unit_counts

    def packs(self) -> list[tuple[int, ...]]:
        """Positions of the steps of each pack, in order; empty where the family has no packs."""
        if self.family != "packs":
            return []
        groups: dict[float, list[int]] = {}
        for place, step in enumerate(self.steps):
            groups.setdefault(step.start, []).append(place)
        return [tuple(group) for group in groups.values()]

    def waits_for(self, barrier: bool) -> list[frozenset[int]]:
        """Positions of the steps that have to end before each step may start.

        Those are the last steps before it on its units; with `barrier` in packs all steps of
        the pack before; in task graphs the predecessors too. Where tasks slow each other, one that
        the plan lets wait for the end of another waits for that, whatever units are idle.
        """
        waits: list[set[int]] = [set() for _ in self.steps]
        last: dict[tuple[int, int], int] = {}
        for place, step in enumerate(self.steps):
            for unit in step.units:
                if (step.kind, unit) in last:
                    waits[place].add(last[step.kind, unit])
                last[step.kind, unit] = place
        packs = self.packs() if barrier else []
        for before, after in itertools.pairwise(packs):
            for place in after:
                waits[place] |= set(before)
        for place, needed in self.needs().items():
            waits[place] |= needed
        if self.slowed and self.family != "packs":
            for place, blockers in enumerate(waits):
                blockers.update(self._awaited(place, blockers))
        return [frozenset(of_one) for of_one in waits]

    def _awaited(self, place: int, blockers: set[int]) -> set[int]:
        """The steps with whose end this one starts, where none of the known ones is among them."""
        start = self.steps[place].start
        tolerance = 1e-9 * start
        if any(self.steps[before].end >= start - tolerance for before in blockers):
            return set()
        return {
            before for before in range(place) if abs(self.steps[before].end - start) <= tolerance
        }

    def needs(self) -> dict[int, set[int]]:
        """Positions of the predecessors in the task graph of each step that has some."""
        place_of = {step.task: place for place, step in enumerate(self.steps)}
        predecessors = before_of(
            (place_of[before], place_of[after]) for before, after in self.edges
        )
        return {place: set(earlier_places) for place, earlier_places in predecessors.items()}

    def check(self, codes: Codes) -> None:
        """Refuse codes that cannot run this plan.

        Raises
        ------
        InvalidInstance
            A task without a code, a count that the code may not run on, a folder that is not
            there; codes with an order that the plan does not keep.
        """
        self.require_order_of(codes)
        for step in self.steps:
            code = codes[step.name]
            code.require_count(len(step.units))
            if not code.makes_directory and not code.directory.is_dir():
                raise InvalidInstance(
                    f"task {shorten(step.name)}: directory {code.directory}: no such folder"
                )

    def require_order_of(self, codes: Codes) -> None:
        """Refuse codes that come after others where the plan has no edge for that.

        Raises
        ------
        InvalidInstance
        """
        wanted = codes.edges([step.name for step in self.steps])
        have = set(self.edges)
        for before, after in wanted:
            first, second = self.steps[before], self.steps[after]
            if (first.task, second.task) not in have:
                raise InvalidInstance(
                    f"task {shorten(second.name)} comes after {shorten(first.name)}, and the plan "
                    "does not know: expected `cosched plan` with these codes"
                )

    @classmethod
    def of(cls, source: Schedule | Result | Plan) -> Plan:
        """The plan of a schedule or a result.

        Raises
        ------
        InvalidInstance
            A schedule of a family whose placements say more.
        InvalidSchedule
            It breaks a rule of its instance.
        """
        if isinstance(source, Plan):
            return source
        schedule = source.schedule if isinstance(source, Result) else source
        if not isinstance(schedule, Schedule):
            raise InvalidInstance(
                f"expected a result, a schedule or a plan, got {type(source).__name__}"
            )
        instance: Any = schedule.instance
        if instance.family not in FAMILIES:
            raise InvalidInstance(
                f"a schedule of {instance.family} cannot be run: expected {', '.join(FAMILIES)}"
            )
        schedule.validate()
        rows = schedule.to_dict()["placements"]
        return _plan_of_rows(instance.family, rows, instance.facts(), instance.names, "schedule")

    @classmethod
    def read(cls, path: str | PathLike[str], names: Sequence[str] | None = None) -> Plan:
        """Read what ``cosched solve -o`` or ``cosched plan -o`` wrote.

        Parameters
        ----------
        path : str or path-like
            .json
        names : sequence of str, optional
            Of the tasks, for a file without names; None: ``task 0``, ``task 1``, ...

        Raises
        ------
        InvalidSchedule
            Another family, another version, a bad placement.

        Examples
        --------
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "plan.json"
        >>> result = cs.packs.sequential(cs.packs.Instance([[4.0], [3.0]]))
        >>> cs.io.write_json(result.to_dict(), path)
        >>> Plan.read(path) == Plan.of(result)
        True
        """
        data = io.read_json(path)
        if not isinstance(data, dict) or not isinstance(data.get("placements"), list):
            raise InvalidSchedule(f"{path}: expected an object with a list 'placements'")
        if data.get("format", FORMAT) != FORMAT or data.get("version", VERSION) != VERSION:
            raise InvalidSchedule(
                f"{path}: {shorten(data.get('format'))} version {shorten(data.get('version'))}: "
                f"expected {FORMAT!r} version {VERSION}"
            )
        if data.get("family") not in FAMILIES:
            raise InvalidSchedule(
                f"{path}: family = {shorten(data.get('family'))}: expected one of "
                f"{', '.join(FAMILIES)}"
            )
        return _plan_of_rows(data["family"], data["placements"], data, names, str(path))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plan) and self.digest == other.digest

    __hash__ = None  # type: ignore[assignment]


def _plan_of_rows(
    family: str, rows: list, facts: Mapping[str, object], names: Sequence[str] | None, where: str
) -> Plan:
    try:
        steps = [
            _step(row, names, f"{where}: placements[{number}]") for number, row in enumerate(rows)
        ]
        for what, values in (
            ("task {} is placed twice", (str(step.task) for step in steps)),
            ("two tasks are called {}: expected one name each", (step.name for step in steps)),
        ):
            if (twice := first_repeated(values)) is not None:
                raise InvalidInstance(f"{where}: {what.format(shorten(twice))}")
        edges, procs, times = _facts(facts, where)
        resources, capacity = _shared(facts, steps, where)
        late_end = _late_end(facts.get("interval"), where)
    except InvalidInstance as error:
        raise InvalidSchedule(str(error)) from None
    order = _order(steps, edges, where)
    plan = Plan(
        family=family,
        steps=tuple(sorted(steps, key=lambda s: (s.start, s.end, order.get(s.task, s.task)))),
        edges=edges,
        procs=procs,
        times=times,
        resources=resources,
        capacity=capacity,
        late_end=late_end,
        slowed=any(facts.get(law) is not None for law in ("slowdowns", "bandwidth")),
    )
    _require_disjoint(plan, where)
    return plan


def _late_end(interval: object, where: str) -> float | None:
    """The end that the plan passes in 5% of the cases, where the file says it."""
    if interval is not None and not isinstance(interval, Mapping):
        raise InvalidInstance(
            f"{where}: interval = {shorten(interval)}: expected a table with p5 and p95"
        )
    late_end = (interval or {}).get("p95")
    return None if late_end is None else nonnegative(late_end, f"{where}: interval.p95")


def _facts(
    facts: Mapping[str, object], where: str
) -> tuple[tuple[tuple[int, int], ...], int | None, np.ndarray | None]:
    """Edges, processors and times."""
    edges, procs, times = facts.get("edges"), facts.get("procs"), facts.get("times")
    pairs = [] if edges is None else integer_array(edges, f"{where}: edges", 2).tolist()
    if any(len(pair) != 2 for pair in pairs):
        raise InvalidInstance(f"{where}: edges[0] = {shorten(pairs[0])}: expected two tasks")
    table = None
    if times is not None:
        if not isinstance(times, list) or not all(isinstance(row, list) for row in times):
            raise InvalidInstance(f"{where}: times: expected a list of rows")
        rows = [[np.inf if t is None else t for t in row] for row in times]
        table = real_array(rows, f"{where}: times", 2)
        if not (table >= 0).all():
            raise InvalidInstance(f"{where}: times: expected numbers >= 0")
    return (
        tuple((before, after) for before, after in pairs),
        None if procs is None else integer(procs, f"{where}: procs", 1),
        table,
    )


def _shared(
    facts: Mapping[str, object], steps: Sequence[PlanStep], where: str
) -> tuple[dict[str, np.ndarray], dict[str, float]]:
    """Needs and capacities, as schedule files have them."""
    resources, capacity = (
        {} if facts.get(k) is None else facts[k] for k in ("resources", "capacity")
    )
    if not isinstance(resources, Mapping) or not isinstance(capacity, Mapping):
        raise InvalidInstance(f"{where}: resources, capacity: expected tables")
    most = 1 + max((step.task for step in steps), default=-1)
    widest = max((len(step.units) for step in steps), default=0)
    tables = {}
    for name, values in resources.items():
        of = np.asarray(values, dtype=object)
        table = real_array(values, f"{where}: resources.{name}", 2 if of.ndim == 2 else 1)
        if len(table) < most or (table.ndim == 2 and table.shape[1] < widest):
            raise InvalidInstance(f"{where}: resources.{name}: expected a need of each task")
        for index in np.argwhere(~((table >= 0) & (table <= MAX_AMOUNT))):
            place = ", ".join(map(str, index.tolist()))
            amount_of(float(table[tuple(index)]), f"{where}: resources.{name}[{place}]")
        tables[str(name)] = table
    capacities = {
        str(name): amount_of(amount, f"{where}: capacity.{name}")
        for name, amount in capacity.items()
    }
    for name in (*tables, *capacities):
        with io.naming(where):
            licence_name(name)
    return tables, capacities


def _step(row: Any, names: Sequence[str] | None, place: str) -> PlanStep:
    try:
        task = integer(row["task"], f"{place}.task")
        named = f"task {task}" if names is None else None if task >= len(names) else names[task]
        name, kind = row.get("name", named), integer(row.get("kind", 0), f"{place}.kind")
        units = tuple(integer(unit, f"{place}.units") for unit in row["units"])
        start, end = (real(row[key], f"{place}.{key}") for key in ("start", "end"))
    except (KeyError, TypeError, AttributeError) as error:
        raise InvalidInstance(
            f"{place}: expected task, kind, units, start and end ({error})"
        ) from None
    if name is None:
        raise InvalidInstance(f"{place}.task = {task}: there are {len(names or ())} names")
    if not units or len(set(units)) < len(units):
        raise InvalidInstance(
            f"{place}.units = {list(units)}: expected different units, at least one"
        )
    if not 0 <= start <= end < np.inf:
        raise InvalidInstance(f"{place}: start {start:g}, end {end:g}: expected 0 <= start <= end")
    return PlanStep(task=task, name=str(name), kind=kind, units=units, start=start, end=end)


def _order(
    steps: Sequence[PlanStep], edges: Sequence[tuple[int, int]], where: str
) -> dict[int, int]:
    """A topological order of the tasks, which decides among equal starts (tasks of no length).

    Refused are edges with a cycle, and steps that do not keep them.
    """
    step_of = {step.task: step for step in steps}
    for pair in edges:
        if not step_of.keys() >= set(pair):
            raise InvalidSchedule(f"{where}: edge {pair}: a task that is not placed")
    graph = {**dict.fromkeys(step_of, ()), **before_of(edges)}
    try:
        order = list(graphlib.TopologicalSorter(graph).static_order())
    except graphlib.CycleError:
        raise InvalidSchedule(f"{where}: the edges have a cycle") from None
    for before, after in edges:
        first, second = step_of[before], step_of[after]
        if second.start < first.end - 1e-9 * max(1.0, first.end):
            raise InvalidSchedule(
                f"{where}: {shorten(second.name)} starts at {second.start:g} s, before "
                f"{shorten(first.name)} ends at {first.end:g} s: expected the order of the edges"
            )
    return {task: k for k, task in enumerate(order)}


def _require_disjoint(plan: Plan, where: str) -> None:
    busy: dict[tuple[int, int], PlanStep] = {}
    for step in plan.steps:
        for unit in step.units:
            other = busy.get((step.kind, unit))
            if other is not None and step.start < other.end - 1e-9 * max(1.0, other.end):
                raise InvalidSchedule(
                    f"{where}: {shorten(step.name)} and {shorten(other.name)} share unit {unit} "
                    f"from {step.start:g} s on: expected one task per unit at a time"
                )
            busy[step.kind, unit] = step
