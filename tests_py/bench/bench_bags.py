"""bags: the whole front against linear programmes that HiGHS solves one by one.

Fixed work, fixed seeds; processor time, best of five runs.
"""

import time

import highspy
import numpy as np
from archives import DATA

import cosched as cs


def seconds(work):
    runs = []
    for _ in range(5):
        begin = time.process_time()
        work()
        runs.append(time.process_time() - begin)
    return min(runs)


def relaxation_model(inst, makespan):
    """The relaxation in shares x_ij / T_i, loads over M_j makespan: the best scaling for it."""
    types, machine_types = inst.etc.shape
    lp = highspy.HighsLp()
    open_ = inst.etc <= makespan
    lp.num_col_, lp.num_row_ = types * machine_types, types + machine_types
    lp.col_cost_ = (inst.counts[:, None] * inst.joules / inst.least_energy).ravel()
    lp.col_lower_ = np.zeros(lp.num_col_)
    lp.col_upper_ = np.where(open_, np.inf, 0.0).ravel()
    lp.row_lower_ = np.r_[np.ones(types), np.full(machine_types, -np.inf)]
    lp.row_upper_ = np.ones(types + machine_types)
    loads = inst.counts[:, None] * inst.etc / (inst.machines * makespan)
    rows = np.indices((types, machine_types))
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = 2 * np.arange(lp.num_col_ + 1)
    lp.a_matrix_.index_ = np.stack([rows[0], types + rows[1]], axis=-1).ravel()
    lp.a_matrix_.value_ = np.stack([np.ones_like(loads), loads], axis=-1).ravel()
    return lp


def compare(types, machine_types):
    inst = cs.workloads.bags_random(
        20, seed=1, task_types=types, machine_types=machine_types, machines_per_type=40
    )
    front = cs.bags.front(inst)
    walk = seconds(lambda: cs.bags.front(inst))
    probes = np.linspace(front.makespan[0], front.makespan[-1], 12)[1:-1]
    models = [relaxation_model(inst, makespan) for makespan in probes]
    solver = highspy.Highs()
    solver.silent()
    energies = []

    def solve_all():
        energies.clear()
        for model in models:
            solver.passModel(model)
            solver.run()
            energies.append(solver.getObjectiveValue() * inst.least_energy)

    ten = seconds(solve_all)
    difference = np.abs(front.energy_at(probes) / energies - 1).max()
    print(
        f"  {types:4} x {machine_types:2}  front of {len(front.makespan):4} vertices "
        f"{1e3 * walk:8.3f} ms  ten programmes by HiGHS {1e3 * ten:8.2f} ms  "
        f"{ten / walk:5.0f}x  difference {difference:.0e}"
    )


def tarplee():
    """ttb-best at each price on the data of Tarplee et al., where it is there."""
    folder = DATA / "etc_apc" / "tarplee_9machBig"
    if not folder.exists():
        return
    print(
        "bags: 30 x 9 data of Tarplee et al. (11,000 tasks, 360 machines): gap to the bound, time"
    )
    inst = cs.bags.Instance.read(folder, gamma=1.0)
    for gamma in (1.01, 1.05, 1.1, 1.11, 1.2, 1.3, 1.4, 1.5):
        bag = inst.with_price(gamma=gamma)
        line = f"  gamma {gamma:4.2f}"
        for name in ("tms", "ttb", "ttb-exact", "ttb-best"):
            begin = time.process_time()
            result = cs.bags.solve(bag, name)
            elapsed = time.process_time() - begin
            line += f"  {name} {100 * result.gap:.3f}% in {elapsed:.3f} s"
        print(line)


if __name__ == "__main__":
    print("bags: the whole energy-makespan front against ten linear programmes by HiGHS")
    for size in ((30, 9), (100, 20), (300, 30)):
        compare(*size)
    tarplee()
