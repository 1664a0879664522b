"""Projects with resources: ``local-search`` and its bound beside CP-SAT of OR-tools.

``python tests_py/bench/bench_projects.py [FOLDER] [--seconds 10] [--numbers 1 2] [--seeds 3]``
reads the ``.sm`` files of a folder, such as j30 and j60 of PSPLIB (Kolisch, Sprecher 1996; copies
are the folders ``examples/j30.sm`` and ``examples/j60.sm`` of the repository ThomasK33/rcpsp.rs);
with ``--numbers 1 2`` only the instances 1 and 2 of each parameter set. Without a folder it draws
projects in the way of ProGen (Kolisch, Sprecher, Drexl 1995): jobs of 1 to 10 s, four resources, of
which a share ("factor") is used by each job, capacities between the largest need and the peak of
the earliest schedule ("strength").

Each project is solved by ``local-search``, and by CP-SAT with one worker where OR-tools is there
(``pip install ortools``; in another Python: ORTOOLS_PYTHON), until they have used so many seconds
of processor time. Printed are makespan, bound and processor seconds of each, and how many each has
closed: its own schedule is its own bound.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import cosched as cs
from cosched import _core

RESOURCES = 4
#: Jobs that a job waits for lie at most so many places before it.
_REACH = 12
#: Seconds of the clock that end a search in any case.
_PATIENCE = 3600.0

_CP_SAT = """
import json, sys, threading, time
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
solver.parameters.num_workers = 1
begin = time.process_time()
is_done = threading.Event()

def stop_when_time_is_used():
    while not is_done.wait(0.05):
        if time.process_time() - begin > float(sys.argv[1]):
            solver.stop_search()

watch = threading.Thread(target=stop_when_time_is_used)
watch.start()
solver.Solve(model)
is_done.set()
watch.join()
took = time.process_time() - begin
print(json.dumps([solver.ObjectiveValue(), solver.BestObjectiveBound(), took]))
"""


@dataclasses.dataclass(frozen=True)
class Project:
    """Jobs with precedence and needs; all numbers are integers."""

    name: str
    seconds: list[int]
    needs: list[list[int]]
    capacities: list[int]
    edges: list[tuple[int, int]]

    def instance(self) -> cs.moldable.Instance:
        columns = np.array(self.needs, dtype=float).T
        names = [f"resource {number}" for number in range(len(self.capacities))]
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
    name = f"{jobs} jobs, factor {factor}, strength {strength}, seed {seed}"
    return Project(name, seconds.tolist(), needs.tolist(), capacities.tolist(), sorted(edges))


def drawn_projects(seeds: int) -> Iterator[Project]:
    for jobs in (30, 60):
        for factor, strength in ((0.5, 0.2), (0.5, 0.5), (1.0, 0.2), (1.0, 0.5)):
            for seed in range(seeds):
                yield random_project(jobs, factor, strength, seed)


def read_projects(folder: Path, numbers: list[int]) -> Iterator[Project]:
    """The files of a folder; those whose names end in ``_`` and one of the numbers, if any."""

    def key_of(path: Path) -> list[int]:
        return [int(number) for number in re.findall(r"\d+", path.stem)]

    for path in sorted(folder.glob("*.sm"), key=key_of):
        if not numbers or key_of(path)[-1] in numbers:
            yield project_of(path.stem, cs.moldable.Instance.read(path))


def project_of(name: str, instance: cs.moldable.Instance) -> Project:
    """The numbers of an instance with one count a job; processors are a resource where scarce."""
    counts = np.isfinite(instance.times).argmax(axis=1)
    rows = np.arange(instance.jobs)
    shared = instance.sharing.to_dict()
    columns = [counts + 1]
    capacities = [instance.machines]
    for resource, amounts in shared.get("resources", {}).items():
        table = np.array(amounts)
        columns.append(table[rows, counts] if table.ndim == 2 else table)
        capacities.append(shared["capacity"][resource])
    return Project(
        name,
        instance.times[rows, counts].astype(int).tolist(),
        np.array(columns).T.astype(int).tolist(),
        [int(capacity) for capacity in capacities],
        [(int(before), int(after)) for before, after in instance.edges],
    )


@contextlib.contextmanager
def stopped_after(seconds: float) -> Iterator[None]:
    """Stop searches of this process when they have used so much processor time."""
    begin = time.process_time()
    is_done = threading.Event()

    def stop_when_time_is_used() -> None:
        while not is_done.wait(0.05):
            if time.process_time() - begin > seconds:
                _core.request_stop()

    watch = threading.Thread(target=stop_when_time_is_used)
    watch.start()
    try:
        yield
    finally:
        is_done.set()
        watch.join()
        _core.forget_stop()


def python_with_ortools() -> str | None:
    """The Python that runs CP-SAT; None where OR-tools is not there."""
    python = os.environ.get("ORTOOLS_PYTHON", sys.executable)
    probe = subprocess.run([python, "-c", "import ortools"], capture_output=True)
    return None if probe.returncode else python


def cp_sat(python: str, project: Project, seconds: float) -> tuple[float, float, float]:
    """Makespan, bound and processor seconds."""
    text = json.dumps(dataclasses.asdict(project))
    command = [python, "-c", _CP_SAT, str(seconds)]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    value, bound, took = json.loads(done.stdout)
    return value, bound, took


class Tally:
    """What one solver has reached on all projects."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.values: list[float] = []
        self.closed = 0
        self.seconds = 0.0

    def add(self, value: float, bound: float, seconds: float) -> str:
        self.values.append(value)
        self.closed += bound >= value
        self.seconds += seconds
        return f"{value:9g} {bound:7g} {seconds:7.2f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", help="with .sm files; none: drawn projects")
    parser.add_argument("--numbers", type=int, nargs="*", default=[])
    parser.add_argument("--seeds", type=int, default=3, help="of drawn projects")
    parser.add_argument("--seconds", type=float, default=10.0, help="for each solver")
    arguments = parser.parse_args()
    if arguments.folder is None:
        projects = drawn_projects(arguments.seeds)
    else:
        projects = read_projects(arguments.folder, arguments.numbers)
    ours, theirs = Tally("local-search"), Tally("CP-SAT")
    python = python_with_ortools()
    print(f"{'project':44} | {'local-search, bound, s':25} | CP-SAT, bound, s")
    for project in projects:
        instance = project.instance()
        begin = time.process_time()
        with stopped_after(arguments.seconds):
            result = cs.moldable.local_search(instance, time_limit=_PATIENCE)
        seconds = time.process_time() - begin
        result.schedule.validate()
        bound = float(result.bound)
        row = f"{project.name:44} |" + ours.add(result.makespan, bound, seconds)
        if python is not None:
            other = cp_sat(python, project, arguments.seconds)
            row += theirs.add(*other)
            assert max(bound, other[1]) <= min(result.makespan, other[0]), (
                "a bound above a schedule"
            )
        print(row, flush=True)
    for tally in (ours, theirs):
        print(f"{tally.name}: {tally.closed} of {len(tally.values)} closed, {tally.seconds:.0f} s")
    if theirs.values:
        differences = np.array(ours.values) / np.array(theirs.values) - 1
        print(
            f"makespan of local-search above CP-SAT's: mean {differences.mean():.2%}, worst "
            f"{differences.max():.2%}, best {differences.min():.2%}; shorter "
            f"{(differences < 0).sum()}, longer {(differences > 0).sum()}"
        )


if __name__ == "__main__":
    main()
