"""Workloads II and III of Aupy et al. 2013, and 3-Partition instances of known optimum."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from cosched.core.arrays import checked_entries, integer, positive, seed_of, share
from cosched.errors import InvalidInstance, shorten
from cosched.packs.instance import Instance
from cosched.profiles import monotone

LawT = TypeVar("LawT")

#: Sequential time laws t(m, 1) / c.
SEQUENTIAL: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "m": lambda m: m,
    "m log m": lambda m: m * np.log2(m),
    "m^2": lambda m: m**2,
    "m^3": lambda m: m**3,
}
#: Overhead laws kappa(m, q): synchronisation and communication on q cores.
OVERHEADS: dict[str, Callable[[float, np.ndarray], np.ndarray]] = {
    "log q": lambda m, q: np.log2(q),
    "(log q)^2": lambda m, q: np.log2(q) ** 2,
    "q log q": lambda m, q: q * np.log2(q),
    "(m/q) log q": lambda m, q: m / q * np.log2(q),
    "sqrt(m/q)": lambda m, q: np.sqrt(m / q),
    "m log q": lambda m, q: m * np.log2(q),
}
SERIAL_FRACTIONS = (0.0, 0.04, 0.08, 0.16, 0.32)


#: Longest time of reference: sums and products of such times are finite.
MOST_SECONDS = 1e100


def packs_ii(
    *,
    tasks: int = 65,
    nodes: int = 16,
    cores_per_node: int = 8,
    serial_fractions: Sequence[float] = SERIAL_FRACTIONS,
    sequential: Sequence[str] = tuple(SEQUENTIAL),
    overheads: Sequence[str] = tuple(OVERHEADS),
    sizes: tuple[float, float] = (500.0, 2000.0),
    reference_time: float = 1e5,
    max_tasks: int | None = None,
    seed: int | None = None,
) -> Instance:
    """Workload-II: synthetic parallel applications on `nodes` nodes.

    t(m, q) = f t(m, 1) + (1 - f) t(m, 1) / q + kappa(m, q) on q cores; a "processor" of the
    instance is a node, so column c is the time on ``c * cores_per_node`` cores. Then made
    monotone, as in the paper.

    The paper gives the forms, not how they are combined; this generator draws the serial
    fraction f, the sequential law, the overhead kappa and the size m (log-uniform)
    independently for each task. The constant c of each sequential law makes a task of the
    mean size take `reference_time` seconds on one core, so that no law dwarfs the others.
    Wherever a table is expected it stands for its ``times``.

    Parameters
    ----------
    tasks, nodes, cores_per_node : int
        The paper: 65 tasks, 16 nodes of 8 cores (``packs_iii``: 260 tasks, 32 nodes).
    serial_fractions : sequence of float
        Values of f, each in [0, 1].
    sequential, overheads : sequence of str
        Keys of ``SEQUENTIAL`` and ``OVERHEADS`` of this module.
    sizes : (float, float)
        Least and largest problem size m >= 2.
    reference_time : float
        Seconds on one core at the geometric mean of `sizes`.
    max_tasks : int, optional
        k of the instance; None: min(n, p).

    Examples
    --------
    >>> inst = packs_ii(seed=1)
    >>> inst.tasks, inst.procs
    (65, 16)
    """
    n = integer(tasks, "tasks", 1)
    p = integer(nodes, "nodes", 1)
    checked_entries("tasks x nodes", n, p)
    cores = integer(cores_per_node, "cores_per_node", 1) * np.arange(1, p + 1, dtype=float)
    low, high = _size_range(sizes)
    reference_time = positive(reference_time, "reference_time")
    if reference_time > MOST_SECONDS:
        raise InvalidInstance(f"reference_time = {reference_time:g}: expected at most 1e100 s")
    for part in serial_fractions:
        share(part, "serial_fractions")
    choices = {
        "serial_fractions": serial_fractions,
        "sequential": sequential,
        "overheads": overheads,
    }
    for name, values in choices.items():
        if len(values) == 0:
            raise InvalidInstance(f"{name} is empty: expected one value at least")
    laws = [_law(SEQUENTIAL, name, "sequential") for name in sequential]
    kappas = [_law(OVERHEADS, name, "overheads") for name in overheads]

    random = np.random.default_rng(seed_of(seed))
    mean_size = np.sqrt(low * high)
    table = np.empty((n, p))
    names = []
    for i in range(n):
        f = serial_fractions[int(random.integers(len(serial_fractions)))]
        s = int(random.integers(len(laws)))
        o = int(random.integers(len(kappas)))
        m = np.exp(random.uniform(np.log(low), np.log(high)))
        sequential_times = reference_time * laws[s](m) / laws[s](mean_size)
        table[i] = f * sequential_times + (1 - f) * sequential_times / cores + kappas[o](m, cores)
        names.append(f"{i}: {sequential[s]}, f={f:g}, {overheads[o]}")
    return Instance(monotone(table), max_tasks, names=names)


def packs_iii(
    *, tasks: int = 260, nodes: int = 32, seed: int | None = None, **constants: Any
) -> Instance:
    """Workload-III: :func:`packs_ii` with 260 tasks on 32 nodes (256 cores).

    Reference: Aupy et al. 2013, Workload-III.

    Parameters
    ----------
    tasks, nodes : int
        n and p, >= 1.
    **constants
        The other arguments of :func:`packs_ii`.

    Examples
    --------
    >>> inst = packs_iii(seed=1, max_tasks=8)
    >>> inst.tasks, inst.procs, inst.max_tasks
    (260, 32, 8)
    """
    return packs_ii(tasks=tasks, nodes=nodes, seed=seed, **constants)


def three_partition(
    *, triples: int = 3, target: int = 40, max_tasks: int = 3, seed: int | None = None
) -> Instance:
    """An instance of the NP-completeness proof (Theorem 2) whose optimum is known: `triples`.

    Draws `triples` triples of integers a in (B/4, B/2) that sum to B = `target`, shuffled.
    For k = 3: p = B processors, t_i(q) = 1 + 1/a_i for q < a_i, 1 from a_i on. For k > 3:
    p = B + (k-3)(B+1) and triples (k-3) tasks of time max(1, (B+1)/q) besides.
    Reference: Aupy et al. 2013, Theorem 2.

    Parameters
    ----------
    triples : int
        Number of triples = packs of an optimal co-schedule = its cost.
    target : int
        B >= 8.
    max_tasks : int
        k >= 3.

    Examples
    --------
    >>> cs.packs.solve(three_partition(triples=2, target=12, seed=1), "optimal").value
    2.0
    """
    m = integer(triples, "triples", 1)
    b = integer(target, "target", 8)
    k = integer(max_tasks, "max_tasks", 3)
    checked_entries("the table of times", 3 * m + m * (k - 3), b + (k - 3) * (b + 1))
    random = np.random.default_rng(seed_of(seed))
    low, high = b // 4 + 1, (b - 1) // 2
    sizes: list[int] = []
    while len(sizes) < 3 * m:
        first, second = (int(x) for x in random.integers(low, high + 1, 2))
        third = b - first - second
        if low <= third <= high:
            sizes += [first, second, third]
    a = random.permutation(np.array(sizes))[:, None]
    q = np.arange(1, b + (k - 3) * (b + 1) + 1)
    hard = np.where(q < a, 1 + 1 / a, 1.0)
    wide = np.tile(np.maximum(1.0, (b + 1) / q), (m * (k - 3), 1))
    return Instance(np.vstack([hard, wide]), k)


def _size_range(sizes: tuple[float, float]) -> tuple[float, float]:
    low, high = sizes
    if not 2 <= low <= high < np.inf:
        raise InvalidInstance(f"sizes = {shorten(sizes)}: expected 2 <= least <= largest")
    return float(low), float(high)


def _law(laws: Mapping[str, LawT], name: str, argument: str) -> LawT:
    if name not in laws:
        raise InvalidInstance(f"{argument} has {shorten(name)}: expected {', '.join(laws)}")
    return laws[name]
