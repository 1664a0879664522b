"""Moldable jobs for constraint solvers: CP-SAT of OR-tools, and PyJobShop, which asks it too.

Times are rounded up to a grid, so that what they find is a schedule; it is measured after a left
shift with the real times. Both start from the schedule of list-shelf, as modern a start as any.
"""

import numpy as np

import cosched as cs

RESOLUTION = 3000  # units of the grid in the makespan of list-shelf


def earliest(order, procs, times, releases, machines):
    """Starts: each job in order as early as it fits between those before it."""
    begins, free = [0], [machines]  # free[k] from begins[k] to begins[k + 1]
    starts = np.zeros(len(times), dtype=np.result_type(times, releases))

    def cut(time):
        k = int(np.searchsorted(begins, time, side="right")) - 1
        if begins[k] != time:
            begins.insert(k + 1, time)
            free.insert(k + 1, free[k])
            k += 1
        return k

    for job in order:
        first = last = cut(releases[job])
        while last < len(begins) and begins[last] < begins[first] + times[job]:
            if free[last] < procs[job]:
                first = last + 1
            last += 1
        starts[job] = begins[first]
        for k in range(first, cut(begins[first] + times[job])):
            free[k] -= procs[job]
    return starts


class Model:
    """An instance on the grid of times, with list-shelf's schedule there."""

    def __init__(self, inst, objective):
        shelf_schedule = cs.moldable.list_shelf(inst)
        self.inst, self.objective, self.unit = inst, objective, shelf_schedule.makespan / RESOLUTION
        self.releases = np.ceil(np.asarray(inst.release) / self.unit).astype(int)
        self.weights = np.round(100 * np.asarray(inst.weights)).astype(int)
        self.modes = [self._useful(job) for job in range(inst.jobs)]
        lengths = np.array(
            [dict(m)[q] for m, q in zip(self.modes, shelf_schedule.procs, strict=True)]
        )
        self.procs, order = shelf_schedule.procs, np.argsort(shelf_schedule.start, kind="stable")
        self.starts = earliest(order, shelf_schedule.procs, lengths, self.releases, inst.machines)
        self.ends = self.starts + lengths
        self.horizon = 2 * int(self.ends.max())

    def _useful(self, job):
        """(processors, length) where the time is less than on any fewer."""
        best_time, modes = np.inf, []
        for q in range(1, self.inst.machines + 1):
            if self.inst.time(job, q) < best_time:
                best_time = self.inst.time(job, q)
                modes.append((q, int(np.ceil(best_time / self.unit))))
        return modes

    def value(self, starts, procs):
        """The criterion after a left shift in real times."""
        times = np.array([self.inst.time(job, q) for job, q in enumerate(procs)])
        order, releases = np.argsort(starts, kind="stable"), np.asarray(self.inst.release)
        ends = earliest(order, procs, times, releases, self.inst.machines) + times
        return ends.max() if self.objective == "makespan" else float(self.inst.weights @ ends)


def by_cp_sat(inst, objective, seconds, workers=8):
    """The criterion of CP-SAT's best schedule in `seconds`, and whether it calls it optimal."""
    from ortools.sat.python import cp_model

    data, model = Model(inst, objective), cp_model.CpModel()
    intervals, demands, starts, ends, chosen = [], [], [], [], []
    for job, modes in enumerate(data.modes):
        start = model.new_int_var(int(data.releases[job]), data.horizon, "")
        end = model.new_int_var(0, data.horizon, "")
        model.add_hint(start, int(data.starts[job]))
        model.add_hint(end, int(data.ends[job]))
        present = [model.new_bool_var("") for _ in modes]
        model.add_exactly_one(present)
        for literal, (q, length) in zip(present, modes, strict=True):
            model.add_hint(literal, int(q == data.procs[job]))
            intervals.append(model.new_optional_interval_var(start, length, end, literal, ""))
            demands.append(q)
        starts.append(start)
        ends.append(end)
        chosen.append(present)
    model.add_cumulative(intervals, demands, inst.machines)
    if objective == "makespan":
        last = model.new_int_var(0, data.horizon, "")
        model.add_max_equality(last, ends)
        model.add_hint(last, int(data.ends.max()))
        model.minimize(last)
    else:
        model.minimize(sum(int(w) * end for w, end in zip(data.weights, ends, strict=True)))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds
    solver.parameters.num_workers = workers
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return np.inf, False
    procs = [
        next(q for literal, (q, _) in zip(*pair, strict=True) if solver.value(literal))
        for pair in zip(chosen, data.modes, strict=True)
    ]
    value = data.value([solver.value(start) for start in starts], procs)
    return value, status == cp_model.OPTIMAL


def by_pyjobshop(inst, objective, seconds, workers=8):
    """As `by_cp_sat`, with the model that PyJobShop makes of it."""
    from pyjobshop import Model as JobShop, ScheduledTask, Solution

    data, model = Model(inst, objective), JobShop()
    machine = model.add_renewable(inst.machines)
    counts, hints = [], []
    for job, modes in enumerate(data.modes):
        owner = model.add_job(weight=int(data.weights[job]), due_date=0)
        task = model.add_task(owner, earliest_start=int(data.releases[job]))
        for q, length in modes:
            if q == data.procs[job]:
                start, end = int(data.starts[job]), int(data.ends[job])
                hints.append(ScheduledTask(len(counts), [0], start, end))
            model.add_mode(task, machine, length, q)
            counts.append(q)
    if objective == "minsum":
        model.set_objective(weight_makespan=0, weight_total_tardiness=1)
    start = Solution(model.data(), hints)
    result = model.solve(
        time_limit=seconds, display=False, num_workers=workers, initial_solution=start
    )
    if not result.best or not np.isfinite(result.objective):
        return np.inf, False
    tasks = result.best.tasks
    value = data.value([task.start for task in tasks], [counts[task.mode] for task in tasks])
    return value, result.status.name == "OPTIMAL"
