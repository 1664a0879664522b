"""The paper's means of Table 2 over ours, were the bound that of a larger machine.

`python docs/results/bound_variants.py LOG` with the HPC2N log; a minute. See cluster-table2.md.
"""

import sys

import numpy as np
import pandas as pd

import cosched as cs
from cosched.experiments.cluster import paper

NODES = (120, 140, 150, 160, 180)
POLICIES = (
    "FCFS",
    "Greedy */opt=min",
    "GreedyP */opt=min",
    "Greedy/per/opt=min",
    "Greedy */per/opt=min",
    "GreedyPM */per/opt=min/minvt=600",
    "/per/opt=min/minvt=600",
)


def main(log):
    weeks = cs.workloads.hpc2n_weeks(log)
    stretch = {
        name: np.array(
            [cs.cluster.solve(cs.cluster.Instance(week, 120), name).value for week in weeks]
        )
        for name in POLICIES
    }
    rows = {}
    for nodes in NODES:
        bound = np.array(
            [float(cs.cluster.bound(cs.cluster.Instance(week, nodes))) for week in weeks]
        )
        for name, found in stretch.items():
            ours = found / bound
            mean, deviation, most = paper.table(2)[name][:3]
            ratios = ours.mean() / mean, ours.std(ddof=1) / deviation, ours.max() / most
            rows.setdefault(name, {})[nodes] = " ".join(f"{ratio:.2f}" for ratio in ratios)
    print(pd.DataFrame(rows).T.to_markdown())


if __name__ == "__main__":
    main(sys.argv[1])
