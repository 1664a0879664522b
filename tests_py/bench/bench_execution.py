"""Real against planned: 40 sleeping tasks on 16 processors, with and without the barrier.

``python tests_py/bench/bench_execution.py [RUNS]``: the processors share the cores of this host;
tasks sleep, so they do not disturb each other.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

import cosched as cs
from cosched.execution import Code, Codes, run


def main(runs: int = 3) -> None:
    """Print a row a run and mode."""
    print("run  mode        packs  planned s  real s  over s  allowed s")
    for seed in range(runs):
        random = np.random.default_rng(seed)
        t1 = random.uniform(0.5, 3.0, 40)
        names = [f"t{k}" for k in range(40)]
        inst = cs.packs.Instance(t1[:, None] / np.arange(1, 17) ** 0.8, 8, names=names)
        result = cs.packs.solve(inst, "local-search")
        sleep = "sleep $(awk -v q={{procs}} 'BEGIN {{ print {:.6f} / q^0.8 }}')"
        codes = Codes(
            procs=16,
            codes={
                n: Code(name=n, command=sleep.format(t)) for n, t in zip(names, t1, strict=True)
            },
        )
        packs = int(result.pack_of.max()) + 1
        allowed = 0.05 * result.value + 0.05 * packs
        for barrier in (True, False):
            with tempfile.TemporaryDirectory() as folder:
                done = run(
                    result,
                    codes,
                    barrier=barrier,
                    journal=Path(folder) / "journal.jsonl",
                    oversubscribe=True,
                )
            mode = "barrier" if barrier else "no barrier"
            excess = done.makespan - result.value
            print(
                f"{seed:3}  {mode:10}  {packs:5}  {result.value:9.3f}  {done.makespan:6.3f}  "
                f"{excess:6.3f}  {allowed:9.3f}"
            )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
