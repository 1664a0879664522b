"""moldable: the minsum bound against HiGHS, and what finer grids give. n = 400, m = 200.

Fixed work, fixed seeds; processor time, best of five runs.
"""

import time

import highspy
import numpy as np

import cosched as cs
from cosched.moldable.workloads import KINDS


def seconds(work, runs=5):
    measured_times = []
    for _ in range(runs):
        begin = time.process_time()
        work()
        measured_times.append(time.process_time() - begin)
    return min(measured_times)


def least_areas(inst, ends):
    """(n, J) least area q t_i(q) with t_i(q) <= end, NaN where there is none."""
    times = inst.times
    work = times * np.arange(1, inst.machines + 1)
    fits = times[:, None, :] <= ends[:, None]
    return np.where(fits.any(-1), np.where(fits, work[:, None, :], np.inf).min(-1), np.nan)


def minsum_model(inst, ends):
    """The paper's programme (parts, nested surfaces), rows and costs scaled to about 1."""
    area = least_areas(inst, ends)
    jobs, intervals = area.shape
    begins = np.r_[0.0, ends]
    cost = inst.weights[:, None] * np.maximum(begins, inst.times.min(axis=1)[:, None])
    unit = cost.max()
    lp = highspy.HighsLp()
    columns = jobs * (intervals + 1)
    lp.num_col_, lp.num_row_ = columns, intervals + jobs
    lp.col_cost_ = (cost / unit).ravel()
    lp.col_lower_ = np.zeros(columns)
    never = np.c_[np.isnan(area), np.zeros(jobs, dtype=bool)]
    lp.col_upper_ = np.where(never, 0.0, np.inf).ravel()
    lp.row_lower_ = np.r_[np.full(intervals, -np.inf), np.ones(jobs)]
    lp.row_upper_ = np.r_[np.ones(intervals), np.full(jobs, np.inf)]
    starts, rows, values = [0], [], []
    scaled = np.nan_to_num(area)[:, :, None] / (inst.machines * ends)
    for i in range(jobs):
        for j in range(intervals + 1):
            rows += [*range(j, intervals), intervals + i]
            values += [*scaled[i, j, j:], 1.0] if j < intervals else [1.0]
            starts.append(len(rows))
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = starts, rows, values
    return lp, unit


def against_highs(kind, refine):
    inst = cs.workloads.moldable(kind, 400, 200, seed=1)
    grid = cs.moldable.default_grid(inst)
    cuts = np.arange(1, refine + 1) / refine
    ends = np.concatenate(
        [a + (b - a) * cuts for a, b in zip(np.r_[0.0, grid[:-1]], grid, strict=True)]
    )
    model, unit = minsum_model(inst, ends)
    solver = highspy.Highs()
    solver.silent()

    def solve():
        solver.clear()
        solver.silent()
        solver.passModel(model)
        solver.run()

    highs = seconds(solve, 3 if refine == 1 else 1)
    value = float(cs.moldable.minsum_bound(inst, grid=ends))
    ours = seconds(lambda: cs.moldable.minsum_bound(inst, grid=ends))
    difference = abs(solver.getObjectiveValue() * unit / value - 1)
    print(
        f"  {kind:16} {len(ends) + 1:4} intervals {1e3 * ours:8.2f} ms  "
        f"HiGHS {1e3 * highs:8.1f} ms {highs / ours:5.0f}x  difference {difference:.0e}"
    )


def finer_grids(kind):
    inst = cs.workloads.moldable(kind, 400, 200, seed=1)
    paper = float(cs.moldable.minsum_bound(inst, tight=False))
    line = f"  {kind:16} the paper's = 100%"
    for refine in (1, 2, 4, 8, 16):
        value = float(cs.moldable.minsum_bound(inst, refine=refine))
        elapsed = seconds(lambda inst=inst, k=refine: cs.moldable.minsum_bound(inst, refine=k), 2)
        line += f"  x{refine} {100 * value / paper:.1f}% in {elapsed:.3f} s"
    print(line)


if __name__ == "__main__":
    print("moldable: minsum bound (grid and areas included) against HiGHS (solving alone)")
    for name in KINDS:
        against_highs(name, 1)
    against_highs("mixed", 4)
    print("moldable: what finer grids give")
    for name in KINDS:
        finer_grids(name)
