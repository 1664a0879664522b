"""Projects with resources: the bound `destructive` beside CP-SAT of OR-tools.

``python tests_py/bench/bench_projects.py [--seeds 3] [--seconds 20] [--work 1e10]`` draws projects
in the way of ProGen (Kolisch, Sprecher, Drexl 1995): jobs of 1 to 10 s, four resources, of which a
share ("factor") is used by each job, capacities between the largest need and the peak of the
earliest schedule ("strength"). Each is solved by ``local-search``, bounded by ``work-and-path`` and
``destructive``, and solved by CP-SAT on one core where OR-tools is there (``pip install ortools``;
in another Python: ORTOOLS_PYTHON). Printed are makespans, bounds and seconds of processor time, and
how many each has closed: its own schedule is its own bound.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import subprocess
import sys
import time

import numpy as np

import cosched as cs

RESOURCES = 4
#: Jobs that a job waits for lie at most so many places before it.
_REACH = 12

_CP_SAT = """
import json, sys, time
from ortools.sat.python import cp_model

project = json.load(sys.stdin)
model = cp_model.CpModel()
seconds, needs = project["seconds"], project["needs"]
jobs, horizon = range(len(seconds)), sum(seconds)
start = [model.NewIntVar(0, horizon, "") for _ in jobs]
run = [model.NewIntervalVar(start[i], seconds[i], start[i] + seconds[i], "") for i in jobs]
for before, after in project["edges"]:
    model.Add(start[after] >= start[before] + seconds[before])
for resource, capacity in enumerate(project["capacities"]):
    model.AddCumulative(run, [needs[i][resource] for i in jobs], capacity)
makespan = model.NewIntVar(0, horizon, "")
for i in jobs:
    model.Add(makespan >= start[i] + seconds[i])
model.Minimize(makespan)
solver = cp_model.CpSolver()
solver.parameters.max_time_in_seconds = float(sys.argv[1])
solver.parameters.num_workers = 1
begin = time.process_time()
solver.Solve(model)
took = time.process_time() - begin
print(json.dumps([solver.ObjectiveValue(), solver.BestObjectiveBound(), took]))
"""


@dataclasses.dataclass(frozen=True)
class Project:
    """Jobs with precedence and needs; all numbers are integers."""

    seconds: list[int]
    needs: list[list[int]]
    capacities: list[int]
    edges: list[tuple[int, int]]

    def instance(self) -> cs.moldable.Instance:
        columns = np.array(self.needs, dtype=float).T
        names = [f"resource {number}" for number in range(RESOURCES)]
        return cs.moldable.Instance(
            [[float(seconds)] for seconds in self.seconds],
            machines=len(self.seconds),
            edges=self.edges,
            resources={
                name: column.reshape(-1, 1) for name, column in zip(names, columns, strict=True)
            },
            capacity=dict(zip(names, map(float, self.capacities), strict=True)),
        )


def random_project(jobs: int, factor: float, strength: float, seed: int) -> Project:
    random = np.random.default_rng(seed)
    seconds = random.integers(1, 11, jobs)
    needs = np.zeros((jobs, RESOURCES), dtype=int)
    for job in range(jobs):
        used = random.permutation(RESOURCES)[: max(1, round(factor * RESOURCES))]
        needs[job, used] = random.integers(1, 11, len(used))
    edges = {
        (int(random.integers(max(0, job - _REACH), job)), job)
        for job in range(3, jobs)
        for _ in range(random.integers(1, 4))
    }
    start = np.zeros(jobs, dtype=int)
    for before, after in sorted(edges, key=lambda edge: edge[1]):
        start[after] = max(start[after], start[before] + seconds[before])
    used_at = np.zeros((int((start + seconds).max()), RESOURCES), dtype=int)
    for job in range(jobs):
        used_at[start[job] : start[job] + seconds[job]] += needs[job]
    largest = needs.max(axis=0)
    peak = np.maximum(used_at.max(axis=0), largest)
    capacities = np.maximum(1, np.round(largest + strength * (peak - largest)).astype(int))
    return Project(seconds.tolist(), needs.tolist(), capacities.tolist(), sorted(edges))


def cp_sat(project: Project, seconds: float) -> tuple[float, float, float] | None:
    """Makespan, bound and processor seconds; None where OR-tools is not there."""
    python = os.environ.get("ORTOOLS_PYTHON", sys.executable)
    if subprocess.run([python, "-c", "import ortools"], capture_output=True).returncode:
        return None
    text = json.dumps(dataclasses.asdict(project))
    command = [python, "-c", _CP_SAT, str(seconds)]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    value, bound, took = json.loads(done.stdout)
    return value, bound, took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=20.0, help="of CP-SAT")
    parser.add_argument("--work", type=float, default=1e10, help="of destructive")
    arguments = parser.parse_args()
    print("jobs factor strength seed | local-search  work-and-path  destructive       s |", end="")
    print("  CP-SAT   bound       s")
    closed = {"work-and-path": 0, "destructive": 0, "best schedule = destructive": 0, "CP-SAT": 0}
    projects = 0
    for jobs in (30, 60):
        for factor, strength in ((0.5, 0.2), (0.5, 0.5), (1.0, 0.2), (1.0, 0.5)):
            for seed in range(arguments.seeds):
                project = random_project(jobs, factor, strength, seed)
                instance = project.instance()
                makespan = cs.moldable.local_search(instance).value
                linear = float(cs.moldable.bound(instance, "work-and-path"))
                begin = time.process_time()
                bound = float(
                    cs.moldable.bound(
                        instance, "destructive", makespan=makespan, work=int(arguments.work)
                    )
                )
                took = time.process_time() - begin
                row = f"{jobs:4} {factor:6} {strength:8} {seed:4} | {makespan:12g}  {linear:13.2f}"
                row += f"  {bound:11g} {took:7.2f} |"
                projects += 1
                closed["work-and-path"] += linear > makespan - 1 + 1e-6
                closed["destructive"] += bound >= makespan
                other = cp_sat(project, arguments.seconds)
                best = makespan
                if other is not None:
                    value, other_bound, other_took = other
                    row += f" {value:7g} {other_bound:7g} {other_took:7.2f}"
                    assert bound <= value, "a bound above a schedule"
                    closed["CP-SAT"] += other_bound >= value
                    best = min(makespan, value)
                closed["best schedule = destructive"] += bound >= best
                print(row, flush=True)
    print(f"closed of {projects}:", ", ".join(f"{name} {count}" for name, count in closed.items()))


if __name__ == "__main__":
    main()
