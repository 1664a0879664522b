"""Solvers of others for the instances of the library: each gives a schedule of ours, or none."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

import cosched as cs
from cosched.core import Schedule

GRID = 100_000  # units of time in the schedule that a solver starts from


def of(family: str) -> list[tuple[str, str, Callable[[Any, float], Any]]]:
    """Name, package and function of the solvers that are installed."""
    named = {"moldable": moldable_by_cp_sat, "dags": graph_by_cp_sat}
    there = find_spec("ortools") is not None and family in named
    return [("CP-SAT", "ortools", named[family])] if there else []


def _solved(model: Any, seconds: float) -> Any:
    from ortools.sat.python import cp_model

    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds
    solver.parameters.num_workers = 1
    solver.parameters.linearization_level = 0
    status = solver.solve(model)
    return solver if status in (cp_model.OPTIMAL, cp_model.FEASIBLE) else None


def moldable_by_cp_sat(instance: cs.moldable.Instance, seconds: float) -> Any:
    """Optional intervals by count; starts and counts are decoded in the order of the starts."""
    from ortools.sat.python import cp_model

    start = cs.moldable.solve(instance, "dual-approximation")
    unit = start.value / GRID
    model = cp_model.CpModel()
    begins, ends, intervals, demands, chosen = [], [], [], [], []
    for job in range(instance.jobs):
        begin, end = model.new_int_var(0, GRID, ""), model.new_int_var(0, 2 * GRID, "")
        there = []
        for count in range(1, instance.machines + 1):
            length = int(np.ceil(instance.time(job, count) / unit))
            there.append(model.new_bool_var(""))
            intervals.append(model.new_optional_interval_var(begin, length, end, there[-1], ""))
            demands.append(count)
        model.add_exactly_one(there)
        begins.append(begin)
        ends.append(end)
        chosen.append(there)
    model.add_cumulative(intervals, demands, instance.machines)
    last = model.new_int_var(0, 2 * GRID, "")
    model.add_max_equality(last, ends)
    model.minimize(last)
    if (solver := _solved(model, seconds)) is None:
        return None
    counts = [[solver.value(flag) for flag in there].index(1) + 1 for there in chosen]
    return _moldable_schedule(instance, [solver.value(begin) for begin in begins], counts)


def _moldable_schedule(instance: cs.moldable.Instance, begins: list[int], counts: list[int]) -> Any:
    """Each job as early as its processors allow, in the order of the starts found."""
    free = np.zeros(instance.machines)
    rows = []
    for job in np.argsort(begins, kind="stable").tolist():
        units = np.argsort(free, kind="stable")[: counts[job]]
        begin = float(free[units].max())
        end = begin + instance.time(job, counts[job])
        free[units] = end
        row = {"task": job, "units": sorted(units.tolist()), "start": begin, "end": end}
        rows.append(row)
    return Schedule.from_dict(instance, {"placements": rows})


def graph_by_cp_sat(instance: cs.dags.Instance, seconds: float) -> Any:
    """Optional intervals by memory: a unit, or all units of a type that share one; what moves
    between two memories delays the task that wants it. Limited memories: none."""
    from ortools.sat.python import cp_model

    if instance.memory_capacity is not None or instance.tasks > 400:
        return None
    places = _places(instance)
    start = cs.dags.solve(instance, "heft")
    unit = start.value / GRID
    model = cp_model.CpModel()
    begins = [model.new_int_var(0, GRID, "") for _ in range(instance.tasks)]
    ends = [model.new_int_var(0, 2 * GRID, "") for _ in range(instance.tasks)]
    chosen: list[dict[int, Any]] = [{} for _ in range(instance.tasks)]
    for place, (kind, units) in enumerate(places):
        intervals = []
        for task in np.flatnonzero(np.isfinite(instance.times[:, kind])).tolist():
            there = model.new_bool_var("")
            length = int(np.ceil(instance.times[task, kind] / unit))
            chosen[task][place] = there
            intervals.append(
                model.new_optional_interval_var(begins[task], length, ends[task], there, "")
            )
        model.add_cumulative(intervals, [1] * len(intervals), len(units))
    for there in chosen:
        model.add_exactly_one(there.values())
    for edge, (before, after) in enumerate(instance.edges.tolist()):
        model.add(begins[after] >= ends[before])
        for a, first in chosen[before].items():
            for b, second in chosen[after].items():
                cost = _cost(instance, edge, places[a], places[b])
                if cost > 0:
                    delay = int(np.ceil(cost / unit))
                    both = [first, second]
                    model.add(begins[after] >= ends[before] + delay).only_enforce_if(both)
    last = model.new_int_var(0, 2 * GRID, "")
    model.add_max_equality(last, ends)
    model.minimize(last)
    if (solver := _solved(model, seconds)) is None:
        return None
    on = [next(p for p, flag in there.items() if solver.value(flag)) for there in chosen]
    return _graph_schedule(instance, [solver.value(begin) for begin in begins], on)


def _places(instance: cs.dags.Instance) -> list[tuple[int, list[int]]]:
    """Type and units of each memory: nothing moves within it."""
    places = []
    for kind, count in enumerate(instance.units):
        together = instance.data is None or (instance.memories == "host" and kind == 0)
        groups = [list(range(count))] if together else [[unit] for unit in range(count)]
        places += [(kind, group) for group in groups]
    return places


def _cost(instance: cs.dags.Instance, edge: int, one: Any, other: Any) -> float:
    if instance.data is None or one is other:
        return 0.0
    return instance.transfer(edge, (one[0], one[1][0]), (other[0], other[1][0]))


def _graph_schedule(instance: cs.dags.Instance, begins: list[int], on: list[int]) -> Any:
    """Each task as early as its unit and its data allow, in the order of the starts found."""
    places = _places(instance)
    free = [dict.fromkeys(units, 0.0) for _, units in places]
    before: list[list[tuple[int, int]]] = [[] for _ in range(instance.tasks)]
    for edge, (i, j) in enumerate(instance.edges.tolist()):
        before[j].append((i, edge))
    rank = {int(task): place for place, task in enumerate(instance.order)}
    end = [0.0] * instance.tasks
    rows = []
    for task in sorted(range(instance.tasks), key=lambda task: (begins[task], rank[task])):
        place = places[on[task]]
        ready = max(
            (end[i] + _cost(instance, edge, places[on[i]], place) for i, edge in before[task]),
            default=0.0,
        )
        unit = min(place[1], key=lambda unit: (max(free[on[task]][unit], ready), unit))
        start = max(free[on[task]][unit], ready)
        end[task] = free[on[task]][unit] = start + float(instance.times[task, place[0]])
        row = {"task": task, "kind": place[0], "units": [unit], "start": start, "end": end[task]}
        rows.append(row)
    return Schedule.from_dict(instance, {"placements": rows})
