"""How many real ends lie inside the interval that their plan promised, under changing load.

``python tests_py/bench/bench_interval.py [RUNS [SEED]]``: six codes that compute are measured,
planned and run RUNS times on two cores, `--measure` each time, while processes that want the cores
come and go: their number, 0 to 3, is drawn anew every few seconds, during the measurements too.
"""

from __future__ import annotations

import contextlib
import datetime
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import numpy as np

from cosched.execution import Code, Codes, plan, profile, run
from cosched.execution.execution_measurements import append_execution, append_executions

#: Computes for so many seconds of processor time, by as many processes as it has processors.
PROGRAM = """
import os, sys, time
work, procs = float(sys.argv[1]), int(sys.argv[2])
def burn(seconds):
    while time.process_time() < seconds: pass
children = []
for _ in range(procs - 1):
    child = os.fork()
    if not child: burn(work / procs * 1.1); os._exit(0)
    children.append(child)
burn(work / procs * 1.1)
for child in children: os.waitpid(child, 0)
"""


class Load:
    """Burners in a number that changes; a context."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self._over = threading.Event()
        self._burners: list[subprocess.Popen] = []
        self._thread = threading.Thread(target=self._change)

    def _change(self) -> None:
        while not self._over.is_set():
            wanted = int(self._random.integers(0, 4))
            while len(self._burners) > wanted:
                self._end()
            while len(self._burners) < wanted:
                burner = [sys.executable, "-I", "-S", "-c", "while True: pass"]
                # A session each: where the kernel weighs sessions, each counts as much as a task.
                self._burners.append(subprocess.Popen(burner, start_new_session=True))
            self._over.wait(self._random.exponential(6.0))

    def _end(self) -> None:
        burner = self._burners.pop()
        burner.kill()
        burner.wait()

    def __enter__(self) -> Load:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        while self._burners:
            self._end()


def main(runs: int = 30, seed: int = 0) -> None:
    work = np.random.default_rng(seed).uniform(0.2, 0.7, 6)
    inside, widths, ends = 0, [], []
    with tempfile.TemporaryDirectory() as name, Load(seed):
        folder = Path(name)
        (folder / "burn.py").write_text(PROGRAM)
        codes = Codes(
            procs=2,
            codes={
                f"c{k}": Code(
                    name=f"c{k}",
                    command=(
                        *(sys.executable, "-I", "-S", str(folder / "burn.py")),
                        *(f"{w:.3f}", "{procs}"),
                    ),
                    directory=folder,
                )
                for k, w in enumerate(work)
            },
        )
        file = folder / "runs.csv"
        frame = profile(codes, repeat=3, out=file, seed=seed)
        print(f"{len(frame)} runs measured, {int(frame.starved.sum())} of them starved")
        print("run  promised s  from s  to s    real s  inside")
        for k in range(runs):
            advice = plan(file, codes, seed=k)
            low, high = advice.spread
            begin = datetime.datetime.now(datetime.timezone.utc)
            done = run(advice.result, codes, journal=folder / f"{k}.jsonl")
            append_execution(done, file, begin, codes)
            append_executions(done, file, begin.isoformat(), codes)
            good = low <= done.makespan <= high
            inside += good
            widths.append((high - low) / advice.result.value)
            ends.append(done.makespan / advice.result.value)
            print(
                f"{k:3}  {advice.result.value:10.3f}  {low:6.2f}  {high:6.2f}  "
                f"{done.makespan:6.2f}  {'yes' if good else 'no'}",
                flush=True,
            )
    print(
        f"{inside} of {runs} inside; width / promised end: median {np.median(widths):.2f}, "
        f"first {widths[0]:.2f}, last ten {np.median(widths[-10:]):.2f}; the middle 90% of ends "
        f"themselves: {np.subtract(*np.percentile(ends, [95, 5])):.2f}"
    )


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main(*map(int, sys.argv[1:]))
