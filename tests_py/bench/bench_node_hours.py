"""Node-hours of `cosched batch` beside the rules of HyperQueue and torc, on drawn lists of tasks.

``python tests_py/bench/bench_node_hours.py [--lists 20]`` draws lists of 100 to 400 tasks of three
to six classes (cores, memory, times) for nodes of 32 cores and 128 GB and allocations of one node
and four hours. Node-hours are from the begin of an allocation to its end; each row has them as
multiples of the bound of `cosched batch`, that no plan on such nodes goes below.

The others are models of what their documents and sources say, with known times:

- HyperQueue 0.27 (docs/deployment/allocation.md): while tasks wait, it keeps one allocation in the
  queue (``--backlog 1``). A worker takes tasks in their order if they fit and end before its limit
  (``--time-request``), and ends when it had none for five minutes (``--idle-timeout``). The queue
  needs ``wait`` seconds for each allocation; ``--max-worker-count`` is the number of allocations of
  cosched.
- torc 0.10 (calculate_allocations of src/client/scheduler_plan.rs): for each class, tasks divided
  by the tasks of an allocation, rounded up; these are the least of cores and memory of a node over
  those of a task times the limit over the longest time, each an integer division. With
  ``--group-by partition`` all tasks are one class with the largest needs. All allocations begin at
  once and have the limit of the partition (``--walltime-strategy max-partition-time``), and each
  ends when no task is left for it.
"""

from __future__ import annotations

import argparse
import heapq
import itertools
import math
import statistics
from collections.abc import Callable, Iterator

import numpy as np

import cosched as cs
from cosched.execution import BatchTask

CORES, MEMORY, LIMIT = 32, 128.0, 4 * 3600.0
#: Seconds without a task after which a worker of HyperQueue ends.
IDLE_TIMEOUT = 300.0
#: Seconds between two looks of HyperQueue at what waits.
SUBMISSION_TICK = 5.0


class Task:
    """A task of a class; `seconds` is known to all."""

    def __init__(self, kind: int, cores: int, memory: float, seconds: float) -> None:
        self.kind, self.cores, self.memory, self.seconds = kind, cores, memory, seconds


def draw_list(seed: int) -> list[Task]:
    draw = np.random.default_rng(seed)
    tasks = []
    kinds = int(draw.integers(3, 7))
    counts = draw.multinomial(int(draw.integers(100, 401)), draw.dirichlet(np.full(kinds, 2.0)))
    for kind, count in enumerate(counts):
        cores = int(draw.choice([1, 2, 4, 8, 16]))
        memory = round(min(cores * math.exp(draw.uniform(math.log(0.5), math.log(8.0))), MEMORY), 1)
        typical = math.exp(draw.uniform(math.log(180.0), math.log(5400.0)))
        seconds = np.minimum(typical * np.exp(draw.normal(0.0, 0.2, count)), LIMIT / 2)
        tasks += [Task(kind, cores, memory, round(value, 1)) for value in seconds.tolist()]
    draw.shuffle(tasks)  # type: ignore[arg-type]  # as a user may submit them
    return tasks


class Worker:
    """An allocation of one node that takes tasks."""

    def __init__(self, begin: float) -> None:
        self.begin, self.end_of_work = begin, begin
        self.cores, self.memory = CORES, MEMORY
        self.running: list[tuple[float, int, Task]] = []

    def take(self, now: float, waiting: list[Task]) -> None:
        """Begin the waiting tasks that fit, in their order."""
        for task in list(waiting):
            if self.cores == 0:
                return
            fits = task.cores <= self.cores and task.memory <= self.memory + 1e-9
            if fits and now + task.seconds <= self.begin + LIMIT:
                waiting.remove(task)
                self.cores -= task.cores
                self.memory -= task.memory
                end = now + task.seconds
                heapq.heappush(self.running, (end, id(task), task))
                self.end_of_work = max(self.end_of_work, end)

    def end(self, idle: float) -> float:
        """When it ends if it takes no further task."""
        return min(self.end_of_work + idle, self.begin + LIMIT)

    def next_end(self) -> float:
        """When the next task ends."""
        return self.running[0][0] if self.running else math.inf

    def end_tasks(self, now: float) -> None:
        while self.running and self.running[0][0] <= now:
            task = heapq.heappop(self.running)[2]
            self.cores += task.cores
            self.memory += task.memory


def node_seconds(tasks: list[Task], begins: Iterator[float], idle: float, workers: float) -> float:
    """Of allocations that begin at these times, at most so many at once, while tasks wait."""
    waiting, active, ended = list(tasks), [], []
    next_begin, now = next(begins), 0.0
    while waiting or active:
        for worker in active:
            worker.end_tasks(now)
            worker.take(now, waiting)
        ended += [worker for worker in active if worker.end(idle) <= now]
        active = [worker for worker in active if worker.end(idle) > now]
        while waiting and next_begin <= now and len(active) < workers:
            worker = Worker(now)
            worker.take(now, waiting)
            active.append(worker)
            next_begin = next(begins)
        moments = [moment for worker in active for moment in (worker.end(idle), worker.next_end())]
        moments += [next_begin] if waiting and len(active) < workers else []
        now = min(moment for moment in [*moments, math.inf] if moment > now)
    return sum(worker.end(idle) - worker.begin for worker in ended)


def begins_of_hyperqueue(wait: float) -> Iterator[float]:
    begin = wait
    while True:
        yield begin
        begin += max(wait, SUBMISSION_TICK)


def begins_of_torc(tasks: list[Task]) -> Iterator[float]:
    """All at once; another round at the limit of the first one, where tasks are left."""
    for round_number in itertools.count():
        for _ in range(allocations_of_torc(tasks)):
            yield round_number * LIMIT


def allocations_of_torc(tasks: list[Task]) -> int:
    total = 0
    for kind in sorted({task.kind for task in tasks}):
        members = [task for task in tasks if task.kind == kind]
        cores, memory = (max(task.cores for task in members), max(task.memory for task in members))
        at_once = max(1, min(CORES // cores, int(MEMORY // memory)))
        slots = max(1, int(LIMIT // max(task.seconds for task in members)))
        total += math.ceil(len(members) / (at_once * slots))
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lists", type=int, default=20)
    arguments = parser.parse_args()
    ratios: dict[str, list[float]] = {}
    counts: dict[str, list[int]] = {}
    for seed in range(arguments.lists):
        tasks = draw_list(seed)
        plan = cs.execution.batch(
            [
                BatchTask(
                    name=f"t{number}",
                    seconds={task.cores: task.seconds},
                    commands={task.cores: ("true",)},
                    memory={task.cores: task.memory},
                )
                for number, task in enumerate(tasks)
            ],
            limit=LIMIT,
            cores=CORES,
            memory=MEMORY,
            spread=0.0,
        )
        allocations = len(plan.allocations)
        one_class = [Task(0, task.cores, task.memory, task.seconds) for task in tasks]
        rules: dict[str, Callable[[], float]] = {
            "cosched": lambda plan=plan: plan.node_seconds,
            "HyperQueue, wait 0 min": lambda tasks=tasks: node_seconds(
                tasks, begins_of_hyperqueue(0.0), IDLE_TIMEOUT, math.inf
            ),
            "HyperQueue, wait 30 min": lambda tasks=tasks: node_seconds(
                tasks, begins_of_hyperqueue(1800.0), IDLE_TIMEOUT, math.inf
            ),
            "HyperQueue, workers as cosched": lambda tasks=tasks, count=allocations: node_seconds(
                tasks, begins_of_hyperqueue(0.0), IDLE_TIMEOUT, count
            ),
            "the same, idle timeout 10 s": lambda tasks=tasks, count=allocations: node_seconds(
                tasks, begins_of_hyperqueue(0.0), 10.0, count
            ),
            "torc, by requirements": lambda tasks=tasks: node_seconds(
                tasks, begins_of_torc(tasks), 0.0, math.inf
            ),
            "torc, by partition": lambda tasks=tasks, one=one_class: node_seconds(
                tasks, begins_of_torc(one), 0.0, math.inf
            ),
        }
        for name, rule in rules.items():
            ratios.setdefault(name, []).append(rule() / plan.bound)
        counts.setdefault("tasks", []).append(len(tasks))
        counts.setdefault("allocations", []).append(allocations)
    print(
        f"{arguments.lists} lists of {min(counts['tasks'])} to {max(counts['tasks'])} tasks, "
        f"{min(counts['allocations'])} to {max(counts['allocations'])} allocations of cosched"
    )
    print("node-hours over the bound         mean  median   worst")
    for name, values in ratios.items():
        mean, median = statistics.mean(values), statistics.median(values)
        print(f"{name:32}  {mean:5.3f}   {median:5.3f}   {max(values):5.3f}")


if __name__ == "__main__":
    main()
