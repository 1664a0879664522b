"""Solvers of others for the instances of the library: each gives a schedule of ours, or none."""

from __future__ import annotations

import ctypes
import logging
import time
from collections.abc import Callable
from importlib.metadata import version
from importlib.util import find_spec
from threading import Event, Thread
from typing import Any

import numpy as np
from bench_peers import saga_of

import cosched as cs
from cosched import _core
from cosched.core import Schedule

GRID = 100_000  # units of time in the schedule that a solver starts from
MOST_TASKS = 400  # of a graph


Solver = Callable[[Any, float], Schedule | None]


def of(family: str) -> list[tuple[str, str, Solver]]:
    """Name, package with its version, and function of the solvers that are installed."""
    by_package: dict[str, dict[str, dict[str, Solver]]] = {
        "ortools": {
            "moldable": {"CP-SAT": moldable_by_cp_sat},
            "dags": {"CP-SAT": graph_by_cp_sat},
        },
        "pyjobshop": {
            "moldable": {"PyJobShop": moldable_by_pyjobshop},
            "dags": {"PyJobShop": graph_by_pyjobshop},
        },
        "anrg-saga": {"dags": {"SAGA HEFT": saga_heft, "SAGA CPOP": saga_cpop}},
    }
    solvers = [
        (name, f"{package} {version(package)}", solver)
        for package, families in by_package.items()
        if find_spec(package.removeprefix("anrg-")) is not None
        for name, solver in families.get(family, {}).items()
    ]
    if family == "packs":
        solvers.append(("ILP", f"GLPK {_glpk_version()}", packs_by_glpk))
    return solvers


def _glpk_version() -> str:
    library = ctypes.CDLL(_core.__file__)  # with which it is linked
    library.glp_version.restype = ctypes.c_char_p
    return library.glp_version().decode()


def packs_by_glpk(instance: cs.packs.Instance, seconds: float) -> Schedule:
    """The integer programme of the paper, whatever it has after so many seconds."""
    return cs.packs.solve(instance, "ilp", time_limit=seconds).schedule


def _solved(model: Any, seconds: float) -> Any:
    """The solver after so many seconds of the processor (CP-SAT's own limit is of the clock)."""
    from ortools.sat.python import cp_model

    solver, done, end = cp_model.CpSolver(), Event(), time.process_time() + seconds
    solver.parameters.num_workers = 1
    solver.parameters.linearization_level = 0

    def watch() -> None:
        while not done.wait(0.1):
            if time.process_time() >= end:
                solver.stop_search()

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    status = solver.solve(model)
    done.set()
    watcher.join()
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
        count_flags = []
        for count in range(1, instance.machines + 1):
            length = int(np.ceil(instance.time(job, count) / unit))
            count_flags.append(model.new_bool_var(""))
            intervals.append(
                model.new_optional_interval_var(begin, length, end, count_flags[-1], "")
            )
            demands.append(count)
        model.add_exactly_one(count_flags)
        begins.append(begin)
        ends.append(end)
        chosen.append(count_flags)
    model.add_cumulative(intervals, demands, instance.machines)
    last = model.new_int_var(0, 2 * GRID, "")
    model.add_max_equality(last, ends)
    model.minimize(last)
    if (solver := _solved(model, seconds)) is None:
        return None
    counts = [[solver.value(flag) for flag in count_flags].index(1) + 1 for count_flags in chosen]
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


def moldable_by_pyjobshop(instance: cs.moldable.Instance, seconds: float) -> Any:
    """A mode a count of processors; starts and counts are decoded as those of CP-SAT."""
    from pyjobshop import Model

    unit = cs.moldable.solve(instance, "dual-approximation").value / GRID
    model = Model()
    machine = model.add_renewable(instance.machines)
    counts = []
    for job in range(instance.jobs):
        task = model.add_task()
        for count in range(1, instance.machines + 1):
            length = int(np.ceil(instance.time(job, count) / unit))
            model.add_mode(task, machine, length, count)
            counts.append(count)
    if (tasks := _by_pyjobshop(model, seconds)) is None:
        return None
    begins = [task.start for task in tasks]
    return _moldable_schedule(instance, begins, [counts[task.mode] for task in tasks])


def _by_pyjobshop(model: Any, seconds: float) -> Any:
    """The tasks of its best solution; its limit is of the clock."""
    result = model.solve(time_limit=seconds, display=False, num_workers=1)
    return result.best.tasks if result.best and np.isfinite(result.objective) else None


def graph_by_pyjobshop(instance: cs.dags.Instance, seconds: float) -> Any:
    """A mode a type. It knows no data that moves or not by what is chosen: none where there is."""
    from pyjobshop import Model

    if instance.data is not None or instance.tasks > MOST_TASKS:
        return None
    unit = cs.dags.solve(instance, "heft").value / GRID
    model = Model()
    types = [model.add_renewable(count) for count in instance.units]
    tasks = [model.add_task() for _ in range(instance.tasks)]
    kinds = []
    for task, times in zip(tasks, instance.times, strict=True):
        for kind in np.flatnonzero(np.isfinite(times)).tolist():
            model.add_mode(task, types[kind], int(np.ceil(times[kind] / unit)))
            kinds.append(kind)
    for before, after in instance.edges.tolist():
        model.add_end_before_start(tasks[before], tasks[after])
    if (solved_tasks := _by_pyjobshop(model, seconds)) is None:
        return None
    begins = [task.start for task in solved_tasks]
    return _graph_schedule(instance, begins, [kinds[task.mode] for task in solved_tasks])


def saga_heft(instance: cs.dags.Instance, seconds: float) -> Any:
    from saga.schedulers import HeftScheduler

    return _by_saga(instance, HeftScheduler())


def saga_cpop(instance: cs.dags.Instance, seconds: float) -> Any:
    from saga.schedulers import CpopScheduler

    return _by_saga(instance, CpopScheduler())


def _by_saga(instance: cs.dags.Instance, scheduler: Any) -> Any:
    """Its units differ by a speed only, and each has its own memory: none where ours do not."""
    ratios = instance.times / instance.times[:, :1]
    if instance.data is None or instance.memories != "unit" or not np.allclose(ratios, ratios[0]):
        return None
    logging.disable(logging.WARNING)
    network, graph = saga_of(instance)
    places = {
        (kind, unit): k for k, (kind, units) in enumerate(_places(instance)) for unit in units
    }
    begins, on = np.zeros(instance.tasks), np.zeros(instance.tasks, dtype=int)
    for name, tasks in scheduler.schedule(network, graph).items():
        kind, unit = map(int, name.split("."))
        for task in tasks:
            if not task.name.startswith("__"):  # an entry and an exit of its own, of no length
                begins[int(task.name)], on[int(task.name)] = task.start, places[kind, unit]
    return _graph_schedule(instance, begins.tolist(), on.tolist())


def graph_by_cp_sat(instance: cs.dags.Instance, seconds: float) -> Any:
    """The schedule of `graph_and_bound_by_cp_sat`."""
    answer = graph_and_bound_by_cp_sat(instance, seconds)
    return None if answer is None else answer[0]


def graph_and_bound_by_cp_sat(
    instance: cs.dags.Instance, seconds: float
) -> tuple[Schedule, float] | None:
    """Schedule, and the bound for times that are rounded up to the grid.

    Optional intervals by memory: a unit, or all units of a type that share one; what moves
    between two memories delays the task that wants it. Limited memories: none."""
    from ortools.sat.python import cp_model

    if instance.memory_capacity is not None or instance.tasks > MOST_TASKS:
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
            presence = model.new_bool_var("")
            length = int(np.ceil(instance.times[task, kind] / unit))
            chosen[task][place] = presence
            intervals.append(
                model.new_optional_interval_var(begins[task], length, ends[task], presence, "")
            )
        model.add_cumulative(intervals, [1] * len(intervals), len(units))
    for presence in chosen:
        model.add_exactly_one(presence.values())
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
    on = [
        next(p for p, flag in place_flags.items() if solver.value(flag)) for place_flags in chosen
    ]
    schedule = _graph_schedule(instance, [solver.value(begin) for begin in begins], on)
    return schedule, solver.best_objective_bound * unit


def _places(instance: cs.dags.Instance) -> list[tuple[int, list[int]]]:
    """Type and units of each memory: nothing moves within it."""
    places = []
    for kind, count in enumerate(instance.units):
        together = instance.data is None or (instance.memories == "host" and kind == 0)
        groups = [list(range(count))] if together else [[unit] for unit in range(count)]
        places += [(kind, group) for group in groups]
    return places


def _cost(instance: cs.dags.Instance, edge: int, first_place: Any, other: Any) -> float:
    if instance.data is None or first_place is other:
        return 0.0
    return instance.transfer(edge, (first_place[0], first_place[1][0]), (other[0], other[1][0]))


def _graph_schedule(instance: cs.dags.Instance, begins: list[float], on: list[int]) -> Any:
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
