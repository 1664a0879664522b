"""dags where data costs time: hlp-best beside CP-SAT on 36 instances, and our bound.

    bench_data.py                       # both, the table (`pip install ortools`; some 45 minutes)
    bench_data.py --known cp.json       # values of CP-SAT are kept there, and not computed again
    bench_data.py --only 0,7 --seconds 1

30, 60 and 120 tasks; data that costs 0.1, 1 and 5 times a task on average; two types (4 + 2 units)
and three (4 + 2 + 2); units of the first type with one memory, and every unit with its own; layered
graphs, Cholesky (35, 56, 120 tasks) and pipelines between a fork and a join, by turns. The number
of an instance is its seed. One core, one worker; seconds are of the processor, but the limit of
hlp-best is of the clock. CP-SAT's bound is that of its times, which are rounded up to a grid.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import library_solvers
import numpy as np

import cosched as cs
from cosched.dags.workloads.random_graphs import data_of_tasks

TILES = {30: 5, 60: 6, 120: 8}
Labelled = tuple[str, cs.dags.Instance]


def pipelines(random: np.random.Generator, tasks: int, steps: int = 4) -> Any:
    """A fork, pipelines of so many steps, a join and a last task, as of genomes."""
    inner = np.arange(1, tasks - 2).tolist()
    edges = [(task - 1 if k % steps else 0, task) for k, task in enumerate(inner)]
    ends = [task for k, task in enumerate(inner) if k % steps == steps - 1 or task == inner[-1]]
    edges += [(task, tasks - 2) for task in ends] + [(tasks - 2, tasks - 1)]
    times = random.gamma(4, 2.5, tasks)
    return np.column_stack([times, times / random.uniform(0.5, 20, tasks)]), np.array(edges)


def drawn(number: int, tasks: int, ccr: float, types: int, memories: str) -> Labelled:
    random = np.random.default_rng(number)
    shape = ("layered", "Cholesky", "pipelines")[number % 3]
    if shape == "pipelines":
        times, edges = pipelines(random, tasks)
    else:
        graph = (
            cs.workloads.layered(tasks, 0.3, acceleration=(0.5, 20), seed=number)
            if shape == "layered"
            else cs.workloads.cholesky(TILES[tasks])
        )
        times, edges = graph.times, graph.edges
    if types == 3:
        times = np.column_stack([times, times[:, 1] * random.uniform(0.5, 2, len(times))])
    data = data_of_tasks(random, times, edges, ccr, 1.0)
    units = (4, 2, 2)[:types]
    instance = cs.dags.Instance(times, edges, units, data=data, bandwidth=1.0, memories=memories)
    return f"{shape} {instance.tasks}, {types} types, {memories}, CCR {ccr}", instance


def instances() -> Iterator[Labelled]:
    kinds = product((30, 60, 120), (0.1, 1, 5), (2, 3), ("host", "unit"))
    for number, kind in enumerate(kinds):
        yield drawn(number, *kind)


def timed(work: Any) -> tuple[Any, float]:
    begin = time.process_time()
    outcome = work()
    return outcome, time.process_time() - begin


def theirs(number: int, instance: Any, seconds: float, answers_file: Path | None) -> list[float]:
    """Value (infinity: none found), bound and seconds of CP-SAT."""
    stored_answers = (
        json.loads(answers_file.read_text())
        if answers_file is not None and answers_file.exists()
        else {}
    )
    if str(number) not in stored_answers:
        answer, took = timed(lambda: library_solvers.graph_and_bound_by_cp_sat(instance, seconds))
        schedule, bound = answer or (None, 0.0)
        value = schedule.makespan if schedule is not None else float("inf")
        stored_answers[str(number)] = [value, bound, took]
        if answers_file is not None:
            answers_file.write_text(json.dumps(stored_answers))
    return stored_answers[str(number)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10.0, help="of hlp-best")
    parser.add_argument("--cp-seconds", type=float, default=60.0, help="of CP-SAT")
    parser.add_argument("--known", type=Path, help="file of CP-SAT's values")
    parser.add_argument("--only", help="numbers of instances, as 0,7")
    options = parser.parse_args()
    only = range(36) if options.only is None else [int(word) for word in options.only.split(",")]
    head = f"{'':>2} {'instance':40} {'CP-SAT':>9} {'bound':>9} {'s':>5}"
    print(f"{head} {'hlp-best':>9} {'bound':>9} {'s':>5} {'ratio':>7} {'gap %':>6}")
    rows = []
    for number, (label, instance) in enumerate(instances()):
        if number not in only:
            continue
        value, lower_bound, took = theirs(number, instance, options.cp_seconds, options.known)
        result, elapsed = timed(
            lambda instance=instance: cs.dags.solve(
                instance, "hlp-best", time_limit=options.seconds, seed=1
            )
        )
        result.schedule.validate()
        row = result.value / value, 100 * result.gap
        rows.append(row)
        print(
            f"{number:>2} {label:40} {value:>9.2f} {lower_bound:>9.2f} {took:>5.1f} "
            f"{result.value:>9.2f} {result.bound.value:>9.2f} {elapsed:>5.1f} "
            f"{row[0]:>7.4f} {row[1]:>6.2f}",
            flush=True,
        )
    ratios, gaps = np.array(rows).T
    ratios = ratios[ratios > 0]  # where CP-SAT has found something
    print(
        f"ratio of {len(ratios)}: mean {ratios.mean():.4f}, greatest {ratios.max():.4f}; ", end=""
    )
    print(f"above 1.002: {(ratios > 1.002).sum()}; mean gap {gaps.mean():.2f}%")


if __name__ == "__main__":
    main()
