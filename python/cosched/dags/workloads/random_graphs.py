"""Random task graphs: fork-join, layers, and trees and chains as the SAGA framework draws them.

Fork-joins and layers number the tasks topologically (every edge goes from a lower number to a
higher one). All depend on nothing but their arguments, `seed` among them.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosched.core.arrays import any_array, integer, nonnegative, positive, real, seed_of, share
from cosched.core.options import one_of
from cosched.core.resampling import sampled_inside
from cosched.dags.instance import Instance
from cosched.errors import InvalidInstance, shorten

Units = Sequence[int] | None


def on_machine(
    times: NDArray[np.float64],
    edges: NDArray[np.int64],
    units: Units,
    *,
    names: Sequence[str] | None = None,
    kernels: Sequence[str] | None = None,
    data: NDArray[np.float64] | None = None,
    **links: Any,
) -> Instance:
    """By default 16 CPUs and 4 units of each further type; `links` where data moves."""
    counts = (16,) + (4,) * (times.shape[1] - 1) if units is None else units
    moving = {} if data is None else {"data": data, **links}
    return Instance(times, edges, counts, names, kernels=kernels, **moving)


#: Bytes that a task of DAGGEN makes: uniform between these.
DAGGEN = (2048.0, 11264.0)


def data_of_tasks(
    random: np.random.Generator,
    times: NDArray[np.float64],
    edges: NDArray[np.int64],
    ccr: float | None,
    bandwidth: float,
) -> NDArray[np.float64] | None:
    """(e,) bytes: each task makes one datum of random size, and sends it to all its successors.

    Scaled so that data / bandwidth is on average (over edges) `ccr` times the mean time of a task
    (over the types that can run it, then over tasks). None where `ccr` is None.
    """
    if ccr is None:
        return None
    factors = random.uniform(*DAGGEN, len(times))
    return scaled(factors[edges[:, 0]], times, ccr, bandwidth)


def scaled(
    weights: NDArray[np.float64], times: NDArray[np.float64], ccr: float, bandwidth: float
) -> NDArray[np.float64]:
    """Weights of edges as bytes of the given ratio of communication to computation."""
    ratio, rate = nonnegative(ccr, "ccr"), positive(bandwidth, "bandwidth")
    if not len(weights):
        return weights
    finite = np.isfinite(times)
    means = np.where(finite, times, 0).sum(axis=1) / finite.sum(axis=1)
    scaled_weights: np.ndarray = weights * (ratio * means.mean() * rate / weights.mean())
    return scaled_weights


Range = tuple[float, float]
MOST_TASKS = 10_000_000


def fork_join(
    width: int = 100,
    phases: int = 2,
    *,
    units: Units = None,
    mean: float | None = None,
    deviation: float | None = None,
    slow_share: float = 0.05,
    slow: Range = (0.1, 0.5),
    fast: Range = (0.5, 50.0),
    types: int = 2,
    seed: int | None = None,
) -> Instance:
    """The fork-join application of Amaris et al. 2017: `phases` x (`width` + 1) + 1 tasks.

    A fork task, `width` parallel tasks, a join task that is the next phase's fork, and so
    on. CPU times are normal, redrawn until positive. In each phase ``round(slow_share *
    width)`` parallel tasks, chosen at random, have an acceleration uniform in `slow`; the
    others, and the fork and join tasks, one uniform in `fast`; time on the GPU = CPU time /
    acceleration. Each further type draws its own slow tasks and accelerations, likewise.

    Task 0 is the first fork; phase i has tasks ``i (width + 1) + 1 ..`` and its join
    ``(i + 1) (width + 1)``.
    Reference: Amaris et al. 2017, Section 6.1.

    Parameters
    ----------
    width, phases : int
        Parallel tasks of a phase, and phases p. The paper: 100..500, and {2, 5, 10}.
    units : sequence of int, optional
        Units of each type; None: 16 CPUs and 4 of each further type.
    mean, deviation : float, optional
        Of the CPU times; None: the paper's p and p / 4.
    slow_share : float
        In 0..1.
    slow, fast : (float, float)
    types : int
        Q >= 1, the CPU included.

    Examples
    --------
    >>> fork_join(100, 2, units=(32, 2), seed=1)
    <dags.Instance: 203 tasks, 400 edges, 32 + 2 units>
    """
    w, p = integer(width, "width", 1), integer(phases, "phases", 1)
    n = checked_size(p * (w + 1) + 1)
    q = integer(types, "types", 1, 64)
    slow_part = share(slow_share, "slow_share")
    slow, fast = _range(slow, "slow"), _range(fast, "fast")
    random = np.random.default_rng(seed_of(seed))
    centre = float(p) if mean is None else positive(mean, "mean")
    spread = p / 4 if deviation is None else nonnegative(deviation, "deviation")
    times = np.empty((n, q))
    times[:, 0] = sampled_inside(
        lambda at: random.normal(centre, spread, len(at)), n, lambda x: x > 0
    )
    parallel = np.arange(1, n).reshape(p, w + 1)[:, :w]
    for kind in range(1, q):
        factors = random.uniform(*fast, n)
        chosen = np.argsort(random.random((p, w)), axis=1)[:, : round(slow_part * w)]
        tasks = np.take_along_axis(parallel, chosen, axis=1)
        factors[tasks] = random.uniform(*slow, tasks.shape)
        times[:, kind] = times[:, 0] / factors
    forks = np.repeat(np.arange(p) * (w + 1), w)
    inner = parallel.ravel()
    edges = np.vstack([np.column_stack([forks, inner]), np.column_stack([inner, forks + w + 1])])
    kernels = ["parallel"] * n
    for k in range(0, n, w + 1):
        kernels[k] = "join" if k else "fork"
    return on_machine(times, edges, units, kernels=kernels)


def layered(
    n: int = 100,
    density: float = 0.5,
    *,
    units: Units = None,
    fat: float = 0.5,
    regularity: float = 0.8,
    jump: int = 1,
    mean: float = 10.0,
    task_cv: float = 0.5,
    acceleration: Range | Sequence[Range] = (0.5, 50.0),
    cpu_only: float = 0.0,
    ccr: float | None = None,
    bandwidth: float = 1e9,
    latency: object = 0.0,
    memories: Any = "host",
    seed: int | None = None,
) -> Instance:
    """Random layered graph with the parameters of DAGGEN (Suter).

    Parameters
    ----------
    n : int
        Tasks.
    density : float
        0..1: a task of a layer has one predecessor in the layer before, and up to ``density *
        size of that layer`` more (drawn with replacement, repeats merged).
    units : sequence of int, optional
        Units of each type; None: 16 CPUs and 4 of each further type.
    fat : float
        0..1: layers have n^fat tasks on average: 0 a chain, 1 independent tasks.
    regularity : float
        0..1: layer sizes are uniform within a factor 1 -+ (1 - regularity) of the mean.
    jump : int
        The further predecessors come from the `jump` layers before.
    mean, task_cv : float
        CPU times are gamma with this mean and coefficient of variation (the task
        heterogeneity of Ali et al. 2000).
    acceleration : (float, float), or a sequence of such
        Ranges of the uniform CPU time / time, one a further resource type.
    cpu_only : float
        0..1: chance that a task runs on no other type.
    ccr : float, optional
        Communication to computation: mean data / bandwidth over edges, divided by the mean time of
        a task. As in DAGGEN a task sends the same amount, of 2 to 11 parts, to each successor.
        None: nothing moves.
    bandwidth : float
        Bytes/s.
    latency, memories : optional
        As of :class:`cosched.dags.Instance`, where `ccr` is given.

    Examples
    --------
    >>> layered(50, 0.3, units=(8, 2), seed=1).tasks
    50
    """
    n = checked_size(integer(n, "n", 1))
    density, fat, regularity, cpu_only = (
        share(value, name)
        for value, name in (
            (density, "density"),
            (fat, "fat"),
            (regularity, "regularity"),
            (cpu_only, "cpu_only"),
        )
    )
    jump = integer(jump, "jump", 1)
    mean, cv = positive(mean, "mean"), positive(task_cv, "task_cv")
    random = np.random.default_rng(seed_of(seed))
    starts = _layers(random, n, fat, regularity)
    edges = _between_layers(random, starts, density, jump)
    is_per_type = any_array(acceleration, "acceleration", 1).ndim == 1
    ranges = [acceleration] if is_per_type else list(acceleration)
    times = np.empty((n, 1 + len(ranges)))
    # A gamma variate of small shape may underflow to 0; times stay positive.
    times[:, 0] = np.maximum(random.gamma(1 / cv**2, mean * cv**2, n), mean * 1e-9)
    for kind, limits in enumerate(ranges, start=1):
        factors = random.uniform(*_range(limits, "acceleration"), n)  # type: ignore[arg-type]
        times[:, kind] = times[:, 0] / factors
    times[random.random(n) < cpu_only, 1:] = np.inf
    data = data_of_tasks(random, times, edges, ccr, bandwidth)
    links = {"bandwidth": bandwidth, "latency": latency, "memories": memories}
    return on_machine(times, edges, units, data=data, **links)


def _layers(random: np.random.Generator, n: int, fat: float, regularity: float) -> np.ndarray:
    """Return the first task of each layer, and n."""
    width, starts = n**fat, [0]
    while starts[-1] < n:
        size = round(width * (1 + (1 - regularity) * random.uniform(-1, 1)))
        starts.append(min(n, starts[-1] + max(1, size)))
    return np.array(starts)


def _between_layers(
    random: np.random.Generator, starts: np.ndarray, density: float, jump: int
) -> np.ndarray:
    n, parts = int(starts[-1]), []
    for layer in range(1, len(starts) - 1):
        before, first, last = (int(s) for s in starts[layer - 1 : layer + 2])
        oldest = int(starts[max(0, layer - jump)])
        tasks = np.arange(first, last)
        parts.append(random.integers(before, first, len(tasks)) * n + tasks)
        counts = random.integers(0, int(density * (first - before)) + 1, len(tasks))
        other_tasks = random.integers(oldest, first, int(counts.sum()))
        parts.append(other_tasks * n + np.repeat(tasks, counts))
    if not parts:
        return np.zeros((0, 2), dtype=np.int64)
    codes = np.unique(np.concatenate(parts))
    return np.column_stack([codes // n, codes % n])


def checked_size(n: int) -> int:
    if n > MOST_TASKS:
        raise InvalidInstance(f"{n} tasks or arcs: expected at most {MOST_TASKS}")
    return n


def _range(limits: Range, name: str) -> Range:
    if any_array(limits, name, 1).shape != (2,):
        raise InvalidInstance(f"{name} = {shorten(limits)}: expected (least, largest)")
    low, high = (real(value, name) for value in limits)
    if not 0 < low <= high < np.inf:
        raise InvalidInstance(f"{name} = {shorten(limits)}: expected 0 < least <= largest")
    return low, high


KINDS = ("in-tree", "out-tree", "chains")


def saga(
    kind: str = "in-tree", *, nodes: int = 4, ccr: float = 1.0, seed: int | None = None
) -> Instance:
    """A random tree or parallel chains on a small network, as the SAGA framework draws them.

    Costs of tasks and edges, speeds of nodes and rates of links are normal with mean 1 and
    deviation 1/3, cut to [0.1, 2]; a tree has 2 to 4 levels with 2 or 3 branches each, chains are
    2 to 5 of 2 to 5 tasks. Each node is a resource type of one unit: times = cost / speed.
    Each unit has its own memory.
    Reference: J. Coleman, B. Krishnamachari: *PISA: An adversarial approach to comparing task graph
    scheduling algorithms*, 2024 (parameters as described there; numbers are not theirs).

    Parameters
    ----------
    kind : {"in-tree", "out-tree", "chains"}
    nodes : int
        Of the network, 1..64.
    ccr : float
        Mean data over edges, at rate 1, divided by the mean time of a task.

    Examples
    --------
    >>> saga("chains", nodes=3, ccr=0.5, seed=1).units
    (1, 1, 1)
    """
    one_of(kind, "kind", KINDS)
    q = integer(nodes, "nodes", 1, 64)
    random = np.random.default_rng(seed_of(seed))
    edges = _chains(random) if kind == "chains" else _out_tree(random)
    n = int(edges.max()) + 1
    if kind == "in-tree":
        edges = np.sort(n - 1 - edges, axis=1)
    edges = edges[np.lexsort(edges.T[::-1])]
    times = _weights(random, n)[:, None] / _weights(random, q)
    rate = np.triu(_weights(random, q * q).reshape(q, q), 1)
    rate = rate + rate.T + np.eye(q)
    data = scaled(_weights(random, len(edges)), times, ccr, 1.0)
    return Instance(times, edges, [1] * q, data=data, bandwidth=rate, memories="unit")


def _weights(random: np.random.Generator, n: int) -> np.ndarray:
    return np.clip(random.normal(1, 1 / 3, n), 0.1, 2)


def _out_tree(random: np.random.Generator) -> np.ndarray:
    levels, branches = int(random.integers(2, 5)), int(random.integers(2, 4))
    inner = sum(branches**level for level in range(levels - 1))
    children = np.arange(1, branches * inner + 1)
    return np.column_stack([(children - 1) // branches, children])


def _chains(random: np.random.Generator) -> np.ndarray:
    count, length = int(random.integers(2, 6)), int(random.integers(2, 6))
    tasks = np.arange(count * length).reshape(count, length)
    return np.column_stack([tasks[:, :-1].ravel(), tasks[:, 1:].ravel()])
