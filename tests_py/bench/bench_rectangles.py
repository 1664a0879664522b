"""moldable: rigid jobs cut from a full machine, whose optimum is known: the gap of local-search.

    python tests_py/bench/bench_rectangles.py                  # default work, three seeds
    python tests_py/bench/bench_rectangles.py --seeds 1 --work 15000000

Two sets. The strips of Hopper and Turton (2001), 21 in seven classes of 16 to 197 rectangles, are
taken from the package hyperpack where it is there (`pip install --no-deps hyperpack`). The others
are drawn here, by random guillotine cuts, in the same sizes. A rectangle of width w and length l is
a job of l seconds on exactly w processors, and the strip's length is the optimum: it is the area
bound. Processors need not be neighbours, which the strip packing problem asks for. The jobs are
shuffled: the package lists rectangles as they lie in the strip, and any list in that order is
optimal.

For each class: the mean and the worst gap to the optimum, how many are optimal, processor seconds.
"""

from __future__ import annotations

import argparse
import importlib
import time
from collections.abc import Iterator

import numpy as np

import cosched as cs

#: Of each class of Hopper and Turton: width of the strip, its length, rectangles.
CLASSES = (
    (20, 20, 16),
    (40, 15, 25),
    (60, 30, 28),
    (60, 60, 49),
    (60, 90, 73),
    (80, 120, 97),
    (160, 240, 196),
)
STRIPS_PER_CLASS = 3
_PACKAGE = "hyperpack.benchmarks.datasets.hopper_and_turton_2000"

#: Width and length.
Rectangle = tuple[int, int]
#: Name of the set, number of the class, width, length, rectangles.
Strip = tuple[str, int, int, int, list[Rectangle]]


def published_strips() -> Iterator[Strip]:
    """None where the package that has them is not installed."""
    for number in range(1, len(CLASSES) + 1):
        try:
            data = importlib.import_module(f"{_PACKAGE}.C{number}")
        except ModuleNotFoundError:
            return
        size = data.containers["container_0"]
        for letter in "abc":
            sides = getattr(data, f"items_{letter}").values()
            rectangles = [(side["w"], side["l"]) for side in sides]
            yield "Hopper and Turton", number, size["W"], size["L"], rectangles


def cut_strips() -> Iterator[Strip]:
    for number, (width, length, count) in enumerate(CLASSES, start=1):
        for seed in range(STRIPS_PER_CLASS):
            random = np.random.default_rng([number, seed])
            yield "cut here", number, width, length, cut(width, length, count, random)


def cut(width: int, length: int, count: int, random: np.random.Generator) -> list[Rectangle]:
    """Cuts a strip into rectangles: each time one of the larger half, across its longer side."""
    rectangles = [(width, length)]
    while len(rectangles) < count:
        rectangles.sort(key=lambda sides: sides[0] * sides[1])
        larger_half = len(rectangles) // 2
        chosen = int(random.integers(larger_half, len(rectangles)))
        wide, long = rectangles.pop(chosen)
        if wide >= long:
            cut_at = int(random.integers(1, wide))
            rectangles += [(cut_at, long), (wide - cut_at, long)]
        else:
            cut_at = int(random.integers(1, long))
            rectangles += [(wide, cut_at), (wide, long - cut_at)]
    return rectangles


def rigid_jobs(machines: int, rectangles: list[Rectangle]) -> cs.moldable.Instance:
    times = np.full((len(rectangles), machines), np.inf)
    for job, (width, length) in enumerate(rectangles):
        times[job, width - 1] = length
    return cs.moldable.Instance(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--work", type=int, help="of local-search (default: its own)")
    options = parser.parse_args()
    work = {} if options.work is None else {"work": options.work}
    rows: dict[tuple[str, int], list[tuple[float, float]]] = {}
    for name, number, machines, optimum, rectangles in [*published_strips(), *cut_strips()]:
        np.random.default_rng(number).shuffle(rectangles)
        instance = rigid_jobs(machines, rectangles)
        for seed in range(options.seeds):
            begin = time.process_time()
            result = cs.moldable.local_search(instance, seed=seed, **work)
            seconds = time.process_time() - begin
            result.schedule.validate()
            gap = 100 * (result.makespan / optimum - 1)
            rows.setdefault((name, number), []).append((gap, seconds))
    if not any(name != "cut here" for name, _ in rows):
        print("without the strips of Hopper and Turton: pip install --no-deps hyperpack")
    print(f"{'set':20}{'class':>6}{'jobs':>6}{'mean gap':>10}{'worst':>8}{'optimal':>10}{'s':>8}")
    for name in dict.fromkeys(name for name, _ in rows):
        rows_of_set = []
        for number, (_, _, jobs) in enumerate(CLASSES, start=1):
            print_row(name, str(number), str(jobs), rows[name, number])
            rows_of_set += rows[name, number]
        print_row(name, "all", "", rows_of_set)


def print_row(name: str, number: str, jobs: str, runs: list[tuple[float, float]]) -> None:
    gaps, seconds = np.array(runs).T
    optimal = f"{int((gaps < 1e-6).sum())}/{len(gaps)}"
    print(
        f"{name:20}{number:>6}{jobs:>6}{gaps.mean():9.2f}%{gaps.max():7.2f}%"
        f"{optimal:>10}{seconds.sum():8.2f}"
    )


if __name__ == "__main__":
    main()
