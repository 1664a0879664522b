"""compare() of all five families on extreme inputs: no row may be an error.

`python tests_py/bench/bench_extremes.py [CASES] [SEED]`: times over 1e-12 to 1e12, or all as large
or as small; one task, one machine, no data, prices of 0, releases far apart. Prints each row that
is an error, and how many rows there were.
"""

import sys
import warnings

import numpy as np

import cosched as cs

#: Fixed work where there is a choice: the cases are many.
WORK = {
    "packs": {"local-search": {"work": 200}, "optimal": {"time_limit": 0.05}},
    "dags": {"hlp-best": {"work": 40}, "optimal": {"work": 300}},
    "moldable": {
        "demt-best": {"work": 200},
        "local-search": {"work": 100},
        "optimal": {"work": 2000},
    },
    "bags": {"ttb-best": {"work": 400_000, "time_limit": 0.1}},
    "cluster": {},
}
POLICIES = ["FCFS", "EASY", "conservative", "Greedy */per/opt=min/minvt=600", "MCB8 */opt=min"]


def magnitude(random, shape):
    """Numbers over 24 orders, or around one of them."""
    kind = random.integers(4)
    if kind == 0:
        return 10.0 ** random.uniform(-12, 12, shape)
    return random.uniform(1, 10, shape) * (1e12, 1e-12, 1.0)[kind - 1]


def table(random, largest=7):
    n, p = int(random.integers(1, largest)), int(random.integers(1, largest))
    times = magnitude(random, (n, p))
    return np.minimum.accumulate(times, axis=1) if random.random() < 0.5 else times


def packs(random):
    return cs.packs.Instance(table(random), max_tasks=int(random.integers(1, 5)))


def dags(random):
    tasks, types = int(random.integers(1, 9)), int(random.integers(1, 4))
    edges = [(i, j) for j in range(tasks) for i in range(j) if random.random() < 0.3]
    units = [int(count) for count in random.integers(1, 4, types)]
    data = {}
    if edges and random.random() < 0.5:
        amount = magnitude(random, len(edges)) * (random.random(len(edges)) < 0.7)
        data = {"data": amount, "bandwidth": float(magnitude(random, ()))}
    return cs.dags.Instance(magnitude(random, (tasks, types)), edges, units, **data)


def moldable(random):
    times = table(random)
    n = len(times)
    weights = magnitude(random, n) if random.random() < 0.5 else np.ones(n)
    release = magnitude(random, n) * (random.random(n) < 0.5) if random.random() < 0.4 else None
    return cs.moldable.Instance(times, weights, release)


def bags(random):
    shape = tuple(int(size) for size in random.integers(1, 5, 2))
    money = {"gamma": float(random.choice([0.5, 1.0, 1.2, 3.0]))}
    if random.random() < 0.3:
        money = {"price": float(random.choice([0.0, 1e-12, 1e12]))}
    return cs.bags.Instance(
        random.integers(1, 9, shape[0]),
        random.integers(1, 4, shape[1]),
        magnitude(random, shape),
        magnitude(random, shape),
        **money,
    )


def cluster(random):
    n, nodes = int(random.integers(1, 9)), int(random.integers(1, 5))
    jobs = {
        "submit": np.sort(magnitude(random, n)) * (random.random() < 0.7),
        "tasks": random.integers(1, nodes + 1, n),
        "cpu": random.choice([1.0, 0.5, 1e-3], n),
        "memory": random.choice([1e-9, 1e-6, 0.5, 1.0], n),
        "runtime": magnitude(random, n) * (random.random(n) < 0.9),
    }
    if random.random() < 0.5:
        jobs["estimate"] = jobs["runtime"] * random.uniform(0, 3, n)
    return cs.cluster.Instance(jobs, nodes)


MAKERS = (packs, dags, moldable, bags, cluster)


def rows_of(make, seed):
    """The rows of compare() on one extreme instance of a family; None: it is refused."""
    random = np.random.default_rng(seed)
    family = getattr(cs, make.__name__)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a price at which every plan is a loss
            instance = make(random)
    except cs.InvalidInstance:
        return None
    options = WORK.get(instance.family, {})
    names = POLICIES if instance.family == "cluster" else None
    chosen = family.FAMILY.names_of(instance, names)
    own_options = {name: value for name, value in options.items() if name in chosen}
    return family.compare(instance, names, options=own_options)


def main():
    cases, first = (int(text) for text in [*sys.argv[1:], "200", "0"][:2])
    for make in MAKERS:
        rows = errors = refused = 0
        for seed in range(first, first + cases):
            frame = rows_of(make, seed)
            if frame is None:
                refused += 1
                continue
            rows += len(frame)
            for row in frame[frame.status == "error"].itertuples():
                errors += 1
                print(f"  {make.__name__} seed {seed}: {row.algorithm}: {row.message}", flush=True)
        print(
            f"{make.__name__:9} {rows} rows, {errors} errors, {refused} inputs refused", flush=True
        )


if __name__ == "__main__":
    main()
