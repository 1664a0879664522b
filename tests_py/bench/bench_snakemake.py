"""Snakemake's schedulers side by side on the workflows of the tests: `python bench_snakemake.py`.

Prints a Markdown table of seconds from the start of `snakemake` to its end (its own start-up too),
in drawn order, the least of some rounds (three); and the bound that cosched's report states.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WORKFLOWS = Path(__file__).parent.parent / "fixtures" / "snakemake"
SCHEDULERS = ("greedy", "ilp", "firstfit", "cosched")
CASES = {
    "chain": ("short=1", "long=3"),
    "fork_join": ("short=1", "long=4"),
    "memory": ("short=1", "long=3"),
    "checkpoint": ("short=1", "long=2"),
    "group": ("short=1", "long=3"),
    "failing": ("short=1", "long=1"),
}
MORE = {
    "memory": ["--resources", "mem_mb=1000"],
    "failing": ["--keep-going", "--retries", "1"],
}
ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 3


def run(case: str, scheduler: str, folder: Path) -> tuple[float, float]:
    """Seconds, and the bound (of cosched)."""
    command = [
        *(sys.executable, "-m", "snakemake", "--snakefile", str(WORKFLOWS / f"{case}.smk")),
        *("--cores", "4" if case == "memory" else "2", "--config", *CASES[case]),
        *("--scheduler", scheduler, *MORE.get(case, [])),
    ]
    if scheduler == "cosched":
        command += ["--scheduler-cosched-report", "run.json"]
    begin = time.monotonic()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    took = time.monotonic() - begin
    if done.returncode != (case == "failing"):
        raise SystemExit(done.stderr)
    bound = float("nan")
    if scheduler == "cosched":
        said = [line for line in done.stderr.splitlines() if "ends before" in line][-1]
        bound = float(said.rsplit("ends before", 1)[1].split()[0])
        json.loads((folder / "run.json").read_text())
    return took, bound


def main() -> None:
    draws = random.Random(0)
    least = {(case, name): float("inf") for case in CASES for name in SCHEDULERS}
    bounds = dict.fromkeys(CASES, float("nan"))
    for _ in range(ROUNDS):
        cells = list(least)
        draws.shuffle(cells)
        for case, name in cells:
            with tempfile.TemporaryDirectory() as folder:
                took, bound = run(case, name, Path(folder))
            least[case, name] = min(least[case, name], took)
            if name == "cosched":
                bounds[case] = bound
    print("| workflow | " + " | ".join(SCHEDULERS) + " | bound |")
    print("|---|" + "---|" * (len(SCHEDULERS) + 1))
    for case in CASES:
        cells = [f"{least[case, name]:.1f}" for name in SCHEDULERS]
        print(f"| {case} | " + " | ".join(cells) + f" | {bounds[case]:.1f} |")


if __name__ == "__main__":
    main()
