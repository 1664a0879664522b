"""Two builds of cosched beside each other: what does a change cost, or save?

    git worktree add ../before REVISION
    python -m pip install --no-deps --target before-site ../before
    python -m pip install --no-deps --target after-site .
    python tests_py/bench/builds.py before-site after-site

Each line is a fixed piece of work through public calls that both builds have, with a fixed seed.
The builds take turns, each time in a new process; what counts is the least processor time of each.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable

from archives import DATA

ROUNDS = 5


def works() -> dict[str, Callable[[], object]]:
    """Name -> one piece of work; what it reads is read before."""
    import numpy as np

    import cosched as cs

    packs = cs.workloads.packs_ii(seed=1, max_tasks=4)
    large_packs = cs.workloads.packs_iii(seed=1, max_tasks=8)
    cholesky = cs.workloads.cholesky(20, units=(16, 4))
    layered = cs.workloads.layered(2000, units=(16, 4), seed=1)
    week = cs.cluster.Instance(cs.workloads.lublin(600, 120, seed=1), 120)
    wide = cs.moldable.Instance(
        np.random.default_rng(1).uniform(1, 10, 400)[:, None] / np.arange(1, 65)[None, :] ** 0.8,
        np.ones(400),
    )
    bags = cs.workloads.bags_random(20, seed=1)
    log = DATA / "pwa" / "HPC2N-2002-2.1-cln.swf.gz"
    # A solver's name stands for solve, a bound's for bound; instances keep what they have computed,
    # so each call gets a copy.
    named: dict[str, tuple[object, Callable[[object], object]]] = {
        "packs: column bound, Workload-II": (packs, cs.packs.bound),
        "packs: pack-by-pack-9, Workload-III": (
            large_packs,
            lambda i: cs.packs.solve(i, "pack-by-pack-9"),
        ),
        "packs: local-search, Workload-II": (packs, lambda i: cs.packs.solve(i, "local-search")),
        "dags: LP*, Cholesky of 20 tiles": (cholesky, cs.dags.hlp),
        "dags: LP*, 2,000 tasks in layers": (layered, cs.dags.hlp),
        "dags: HEFT, 2,000 tasks in layers": (layered, lambda i: cs.dags.solve(i, "heft")),
        "cluster: EASY, 600 jobs": (week, lambda i: cs.cluster.solve(i, "EASY")),
        "cluster: GreedyPM */per/opt=min/minvt=600": (
            week,
            lambda i: cs.cluster.solve(i, "GreedyPM */per/opt=min/minvt=600"),
        ),
        "cluster: bound, 600 jobs": (week, cs.cluster.bound),
        "moldable: demt, 400 jobs": (wide, lambda i: cs.moldable.solve(i, "demt")),
        "moldable: minsum of the paper, 400 jobs": (
            wide,
            lambda i: cs.moldable.bound(i, "minsum", grid=2.0 ** np.arange(1, 12)),
        ),
        "bags: ttb, 20 tasks": (bags, lambda i: cs.bags.solve(i, "ttb")),
        "bags: ttb-exact, 20 tasks": (bags, lambda i: cs.bags.solve(i, "ttb-exact")),
    }
    pieces: dict[str, Callable[[], object]] = {
        name: (lambda instance=instance, call=call: call(_copy(instance)))
        for name, (instance, call) in named.items()
    }
    if log.exists():
        pieces["cluster: read HPC2N"] = lambda: cs.workloads.read_swf(log)
    return pieces


def _copy(instance: object) -> object:
    import pickle

    return pickle.loads(pickle.dumps(instance))


def fastest_run(work: Callable[[], object], enough: float = 0.3) -> float:
    """Least processor seconds of calls that together take `enough`, but for the first."""
    work()
    best, spent = float("inf"), 0.0
    while spent < enough:
        begin = time.process_time()
        work()
        elapsed = time.process_time() - begin
        best, spent = min(best, elapsed), spent + elapsed
    return best


def child() -> None:
    """Measure everything once, as JSON."""
    print(json.dumps({name: fastest_run(work) for name, work in works().items()}))


def start(site: str, code: str) -> float:
    """Processor seconds of a new interpreter that runs `code`."""
    before = os.times()
    subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": site},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    after = os.times()
    return (after.children_user + after.children_system) - (
        before.children_user + before.children_system
    )


def measure(site: str) -> dict[str, float]:
    """Processor seconds of each piece of work of the build in this directory."""
    environment = os.environ | {"PYTHONPATH": site}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        [sys.executable, __file__, "--child"],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout) | {
        "import cosched": start(site, "import cosched"),
        "cosched --version": start(
            site,
            "import sys; sys.argv = ['cosched', '--version']; from cosched.cli import main; main()",
        ),
    }


def main() -> None:
    """The table."""
    before, after = sys.argv[1:3]
    best: list[dict[str, float]] = [{}, {}]
    for _ in range(ROUNDS):
        for best_seconds, site in zip(best, (before, after), strict=True):
            for name, elapsed in measure(site).items():
                best_seconds[name] = min(elapsed, best_seconds.get(name, float("inf")))
    print(f"{'processor seconds, least of several':44} {'before':>9} {'after':>9} after / before")
    for name, elapsed in best[0].items():
        ours = best[1][name]
        print(f"{name:44} {elapsed:9.4f} {ours:9.4f} {ours / elapsed:.2f}")


if __name__ == "__main__":
    child() if sys.argv[1:] == ["--child"] else main()
