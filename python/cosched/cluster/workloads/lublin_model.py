"""The workload model of Lublin and Feitelson (JPDC 63(11), 2003).

Sizes, run times and arrivals of rigid parallel jobs, and what paper 3 adds to them.
"""

from __future__ import annotations

from math import log2
from typing import NamedTuple

import numpy as np

from cosched.core.arrays import fraction, integer, seed_of
from cosched.core.resampling import sampled_inside
from cosched.errors import InvalidInstance, shorten
from cosched.lazy import pd

BUCKETS = 48
BUCKET_SECONDS = 1800.0

#: Ten times the longest log of the archive.
_MOST_JOBS = 10_000_000
#: The part of the jobs that need a tenth of a node's memory.
_LIGHT = 0.55


class Constants(NamedTuple):
    """Constants of one type of jobs, by their names in the authors' program."""

    serial: float  # probability that a size is 1
    pow2: float  # that another one is a power of two
    u_low: float  # log2 of a size: ends of the two stages, rising
    u_med: float
    u_hi: float
    u_prob: float  # probability of the lower stage
    a1: float  # shape and scale of the logarithm of the run time (s), first gamma variable
    b1: float
    a2: float  # and second
    b2: float
    pa: float  # the first one is drawn with probability pa size + pb
    pb: float
    aarr: float  # the logarithm of an inter-arrival time has shape aarr arar and scale barr
    barr: float
    anum: float  # shape and scale of the daily cycle
    bnum: float
    arar: float
    max_runtime_exponent: float = 12.0  # logarithms above are drawn again
    max_arrival_exponent: float = 13.0


# fmt: off
#: The published constants, for a machine of 128 nodes.
LUBLIN = {
    "batch": Constants(
        .2927, .6686, 1.2, 5, 7, .875, 6.57, .823, 639.1, .0156, -.003, .6986,
        6.0415, .8531, 6.1271, 5.2740, 1.0519),
    "interactive": Constants(
        .1541, .625, 1, 3, 5.5, .705, 3.8351, .6605, 7.073, .6856, -.0118, .9156,
        6.5510, .6621, 8.9186, 3.6680, .9797),
    "untyped": Constants(
        .244, .576, .8, 4.5, 7, .86, 4.2, .94, 312, .03, -.0054, .78,
        10.2303, .4871, 8.1737, 3.9631, 1.0225),
}
# fmt: on


def lublin(
    n: int = 1000,
    nodes: int = 128,
    *,
    types: str = "untyped",
    convention: str = "dfrs",
    serial_cpu: float = 0.25,
    seed: int | None = None,
) -> pd.DataFrame:
    """Jobs of the Lublin-Feitelson model; by default a trace of paper 3.

    Size: 1 with probability `serial`; else 2^x, x from a two-stage uniform distribution,
    rounded to an integer with probability `pow2`. Run time: exp of one of two gamma
    variables, the choice depending on the size. Arrivals: exp of a gamma variable, paid
    out by a daily cycle of 48 half-hours that starts at midnight.

    Parameters
    ----------
    n : int
        Jobs, >= 1.
    nodes : int
        Machine size, >= 1. The published constants are for 128 nodes; for another machine
        u_hi = log2 nodes and u_med = u_hi - 2.5, and no size exceeds `nodes`.
    types : {"untyped", "typed"}
        One stream, or a batch and an interactive stream merged in order of arrival (then
        there is a column ``type``).
    convention : {"dfrs", "rigid"}
        "dfrs": a task needs 100% of the CPU of a (quad-core) node, the task of a one-task job
        `serial_cpu`; memory 10% of a node for 55% of the jobs, else x/10 with x uniform over the
        integers 2..10. "rigid": both needs are 1.
    serial_cpu : float
        Fraction of a node, in (0, 1].

    Returns
    -------
    DataFrame
        Columns ``job, submit, tasks, cpu, memory, runtime``, sorted by submit. Times are
        seconds, not rounded (the authors' program prints whole seconds); the model knows no
        estimates.

    References
    ----------
    Lublin, Feitelson 2003; Casanova, Stillwell, Vivien 2011, Section 5 (synthetic workloads).

    Examples
    --------
    >>> jobs = lublin(1000, 128, seed=1)
    >>> list(jobs.columns)
    ['job', 'submit', 'tasks', 'cpu', 'memory', 'runtime']
    >>> int(jobs.tasks.max()) <= 128, bool(jobs.submit.is_monotonic_increasing)
    (True, True)
    """
    count, machine = integer(n, "n", 1, _MOST_JOBS), integer(nodes, "nodes", 1)
    if types not in ("untyped", "typed"):
        raise InvalidInstance(f"types = {shorten(types)}: expected untyped or typed")
    kinds = ["untyped"] if types == "untyped" else ["batch", "interactive"]
    if convention not in ("dfrs", "rigid"):
        raise InvalidInstance(f"convention = {shorten(convention)}: expected dfrs or rigid")
    share = fraction(serial_cpu, "serial_cpu")
    table = {name: for_machine(constants, machine) for name, constants in LUBLIN.items()}
    random = np.random.default_rng(seed_of(seed))

    times = np.concatenate([arrivals(random, count, table[name]) for name in kinds])
    order = np.argsort(times, kind="stable")[:count]
    submit, kind = times[order], order // count
    tasks = np.empty(count, dtype=np.int64)
    runtime = np.empty(count)
    for index, name in enumerate(kinds):
        rows_of_kind = np.flatnonzero(kind == index)
        tasks[rows_of_kind] = sizes(random, len(rows_of_kind), machine, table[name])
        runtime[rows_of_kind] = runtimes(random, tasks[rows_of_kind], table[name])

    jobs = pd.DataFrame({"job": np.arange(1, count + 1), "submit": submit, "tasks": tasks})
    if convention == "rigid":
        jobs["cpu"], jobs["memory"] = 1.0, 1.0
    else:
        light = random.random(count) < _LIGHT
        heavy = random.integers(2, 11, count) / 10
        jobs["cpu"], jobs["memory"] = np.where(tasks == 1, share, 1.0), np.where(light, 0.1, heavy)
    jobs["runtime"] = runtime
    if len(kinds) > 1:
        jobs["type"] = np.array(kinds)[kind]
    return jobs


def sizes(random: np.random.Generator, n: int, nodes: int, constants: Constants) -> np.ndarray:
    """Sizes of n jobs, in 1..nodes."""
    u = random.random(n)
    lower = random.random(n) < constants.u_prob
    low = np.where(lower, constants.u_low, constants.u_med)
    high = np.where(lower, constants.u_med, constants.u_hi)
    x = low + (high - low) * random.random(n)
    x = np.where(u <= constants.serial + constants.pow2, np.rint(x), x)
    return np.where(u <= constants.serial, 1, np.clip(np.rint(2.0**x), 1, nodes)).astype(np.int64)


def runtimes(random: np.random.Generator, tasks: np.ndarray, constants: Constants) -> np.ndarray:
    """Run times (s) of jobs with these sizes: exp of a hyper-gamma variable."""
    first = random.random(len(tasks)) < np.clip(constants.pa * tasks + constants.pb, 0, 1)
    shape, scale = (
        np.where(first, constants.a1, constants.a2),
        np.where(first, constants.b1, constants.b2),
    )
    return np.exp(_gamma_below(random, shape, scale, constants.max_runtime_exponent))


def daily_cycle(constants: Constants) -> np.ndarray:
    """Weights of the 48 half-hours of a day, midnight first; their mean is 1."""
    from scipy.stats import gamma

    i = np.arange(11, 11 + BUCKETS)
    mass = np.diff(
        [gamma.cdf(i + half, constants.anum, scale=constants.bnum) for half in (-0.5, 0.5)], axis=0
    )[0]
    weights = np.empty(BUCKETS)
    weights[(i - 1) % BUCKETS] = mass
    return weights / weights.mean()


def arrivals(random: np.random.Generator, n: int, constants: Constants) -> np.ndarray:
    """Arrival times (s) of n jobs, from hour 0.

    Job k costs S_k = sum of the first k draws of exp(g) / 1800 points, a half-hour pays its
    weight, evenly over its length: job k arrives when S_k is paid. So the arrivals are the
    inverse of the piecewise linear sum of weights, taken at S_1, S_2, ...
    """
    shape = np.full(n, constants.aarr * constants.arar)
    g = _gamma_below(random, shape, np.full(n, constants.barr), constants.max_arrival_exponent)
    paid = np.concatenate([[0.0], np.cumsum(daily_cycle(constants))])
    days, bucket_time = np.divmod(np.cumsum(np.exp(g) / BUCKET_SECONDS), paid[-1])
    return (
        days * BUCKETS + np.interp(bucket_time, paid, np.arange(BUCKETS + 1.0))
    ) * BUCKET_SECONDS


def _gamma_below(
    random: np.random.Generator, shape: np.ndarray, scale: np.ndarray, upper_limit: float
) -> np.ndarray:
    """Return gamma variables, those above `most` drawn again."""
    return sampled_inside(
        lambda rows: random.gamma(shape[rows], scale[rows]), len(shape), lambda x: x <= upper_limit
    )


def for_machine(constants: Constants, nodes: int) -> Constants:
    """Constants for another machine size: u_hi = log2 nodes, u_med = u_hi - 2.5."""
    if nodes == 128:
        return constants
    u_hi = log2(nodes)
    u_med = max(u_hi - 2.5, 0.0)
    return constants._replace(u_low=min(constants.u_low, u_med), u_med=u_med, u_hi=u_hi)
