"""How far from the best possible the default comparison says that its answers are, in two builds.

    git worktree add ../before REVISION
    python -m pip install --no-deps --target before-site ../before
    python -m pip install --no-deps --target after-site .
    python tests_py/bench/gaps.py before-site after-site

Each family's ``compare`` with its default names and a limit of 2 s an algorithm, on generated
instances with fixed seeds and, where COSCHED_DATA is, on task graphs from there. A gap is value /
bound - 1 with the bound that the build itself knows (bags: bound / value - 1); the mean of the best
row's, and the mean of all rows' with a positive value.
"""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
import warnings
from collections.abc import Iterator

from archives import DATA

LIMIT = 2.0  # seconds an algorithm


def instances() -> Iterator[tuple[str, object]]:
    """Family and instance; both builds draw and read the same ones."""
    import numpy as np

    import cosched as cs

    for seed in (0, 1, 2):
        yield "packs", cs.workloads.packs_ii(seed=seed, max_tasks=4)
        yield "packs", cs.workloads.packs_iii(seed=seed, max_tasks=8)
    for tiles in (5, 10):
        for draw in (cs.workloads.cholesky, cs.workloads.lu, cs.workloads.qr):
            yield "dags", draw(tiles, units=(16, 4))
    for n in (50, 100, 300):
        yield "dags", cs.workloads.layered(n, units=(4, 2), seed=1)
    for path in sorted((DATA / "wfcommons").glob("*.json.gz")):
        yield "dags", cs.dags.Instance.read(path, units=(8,))
    for seed in (0, 1, 2):
        jobs = cs.workloads.lublin(600, 120, seed=seed)
        yield "cluster", cs.cluster.Instance(cs.workloads.rescale_load(jobs, 120, 0.7), 120)
    for kind in ("highly-parallel", "mixed", "cirne-berman"):
        for n, m in ((10, 16), (40, 32), (200, 64)):
            yield "moldable", cs.workloads.moldable(kind, n, m, seed=1)
    random = np.random.default_rng(1)
    for types, machines in ((3, 2), (5, 3), (8, 4)):
        etc = random.uniform(10, 100, (types, machines))
        apc = random.uniform(50, 200, (types, machines))
        for size in (5, 50):
            counts = random.integers(1, 2 * size, types)
            yield "bags", cs.bags.Instance(counts, np.full(machines, 3), etc, apc, gamma=1.3)


def gaps(family: str, instance: object) -> list[float]:
    """The gaps of the comparison's rows, the best first; profits of zero and less say nothing."""
    import cosched as cs

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frame = getattr(cs, family).compare(instance, time_limit=LIMIT)
    gap_list = [gap for gap in frame["gap"] if gap is not None and math.isfinite(gap)]
    return sorted(gap_list)


def child() -> None:
    family_gaps = [(family, gaps(family, instance)) for family, instance in instances()]
    print(json.dumps(family_gaps))


def measure(site: str) -> list[tuple[str, list[float]]]:
    done = subprocess.run(
        [sys.executable, __file__, "--child"],
        env=os.environ | {"PYTHONPATH": site},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def main() -> None:
    before, after = (measure(site) for site in sys.argv[1:3])
    print(
        "mean gap in per cent   instances    best row: before   after    all rows: before   after"
    )
    for family in dict.fromkeys(family for family, _ in before):
        rows = [
            [gaps for name, gaps in build if name == family and gaps] for build in (before, after)
        ]
        best = [100 * statistics.mean(gaps[0] for gaps in build) for build in rows]
        every = [100 * statistics.mean(statistics.mean(gaps) for gaps in build) for build in rows]
        print(
            f"{family:20} {len(rows[1]):12} {best[0]:20.2f} {best[1]:7.2f}"
            f" {every[0]:20.2f} {every[1]:7.2f}"
        )


if __name__ == "__main__":
    child() if sys.argv[1:] == ["--child"] else main()
