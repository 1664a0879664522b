"""The workload model of Lublin and Feitelson (JPDC 63(11), 2003).

Sizes, run times and arrivals of rigid parallel jobs, and what paper 3 adds to them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import log2
from typing import Any

import numpy as np

from cosched.core.arrays import fraction, integer, positive, real, seed_of, share
from cosched.core.rejection import sampled_inside
from cosched.errors import InvalidInstance, shorten
from cosched.lazy import pd

BUCKETS = 48
BUCKET_SECONDS = 1800.0


#: Ten times the longest log of the archive.
_MOST_JOBS = 10_000_000


@dataclass(frozen=True)
class LublinConstants:
    """Constants of one type of jobs, by their names in the authors' program.

    Parameters
    ----------
    serial, pow2 : float
        Probability that a size is 1; that another one is a power of two.
    u_low, u_med, u_hi : float
        log2 of a size: ends of the two stages, rising.
    u_prob : float
        Probability of the lower stage.
    a1, b1, a2, b2 : float
        Shape and scale of the logarithm of the run time (s), first and second gamma variable.
    pa, pb : float
        The first one is drawn with probability pa size + pb.
    aarr, barr : float
        The logarithm of an inter-arrival time has shape aarr arar and scale barr.
    anum, bnum : float
        Shape and scale of the daily cycle.
    arar : float
        See `aarr`.
    max_runtime_exponent, max_arrival_exponent : float
        Logarithms above are drawn again.

    Raises
    ------
    InvalidInstance
        A constant that is not finite or outside its range, or limits that hardly any draw meets.

    References
    ----------
    Lublin, Feitelson, JPDC 63(11), 2003.

    Examples
    --------
    >>> from dataclasses import replace
    >>> parallel = replace(LUBLIN["untyped"], serial=0.0)
    >>> int(lublin(200, 128, constants={"untyped": parallel}, seed=1).tasks.min())
    2
    """

    serial: float
    pow2: float
    u_low: float
    u_med: float
    u_hi: float
    u_prob: float
    a1: float
    b1: float
    a2: float
    b2: float
    pa: float
    pb: float
    aarr: float
    barr: float
    anum: float
    bnum: float
    arar: float
    max_runtime_exponent: float = 12.0
    max_arrival_exponent: float = 13.0

    def __post_init__(self) -> None:
        for each in fields(self):
            value = real(getattr(self, each.name), each.name)
            if not np.isfinite(value):
                raise InvalidInstance(f"{each.name} = {value}: expected a finite number")
        for name in ("serial", "pow2", "u_prob"):
            share(getattr(self, name), name)
        for name in ("a1", "b1", "a2", "b2", "aarr", "barr", "anum", "bnum", "arar"):
            positive(getattr(self, name), name)
        if not self.u_low <= self.u_med <= self.u_hi:
            raise InvalidInstance(
                f"u_low, u_med, u_hi = {self.u_low:g}, {self.u_med:g}, {self.u_hi:g}: "
                "expected a rising sequence"
            )
        logs = (
            (self.a1, self.b1, self.max_runtime_exponent),
            (self.a2, self.b2, self.max_runtime_exponent),
            (self.aarr * self.arar, self.barr, self.max_arrival_exponent),
        )
        for shape, scale, most in logs:
            # Draws above `most` are made again: that must not take for ever. More than half of them
            # are below the mean.
            if shape * scale > most and _gamma_cdf(most, shape, scale) < 0.01:
                raise InvalidInstance(
                    f"Gamma({shape:g}, {scale:g}) hardly ever stays below {most:g}: "
                    "expected a limit that most draws meet"
                )


# fmt: off
#: The published constants, for a machine of 128 nodes.
LUBLIN = {
    "batch": LublinConstants(
        .2927, .6686, 1.2, 5, 7, .875, 6.57, .823, 639.1, .0156, -.003, .6986,
        6.0415, .8531, 6.1271, 5.2740, 1.0519),
    "interactive": LublinConstants(
        .1541, .625, 1, 3, 5.5, .705, 3.8351, .6605, 7.073, .6856, -.0118, .9156,
        6.5510, .6621, 8.9186, 3.6680, .9797),
    "untyped": LublinConstants(
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
    constants: Mapping[str, LublinConstants] | None = None,
    serial_cpu: float = 0.25,
    light_share: float = 0.55,
    light_memory: float = 0.1,
    heavy_memory: tuple[int, int] = (2, 10),
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
        `serial_cpu`; memory `light_memory` for a share `light_share` of the jobs, else
        x/10 with x uniform over the integers `heavy_memory`. "rigid": both needs are 1.
    constants : mapping, optional
        Replaces entries of :data:`LUBLIN`, e.g. ``{"untyped": replace(LUBLIN["untyped"],
        serial=0)}``; taken as they are, whatever `nodes`.
    serial_cpu, light_memory : float
        Fractions of a node, in (0, 1].
    light_share : float
        In 0..1.
    heavy_memory : (int, int)
        Least and most tenths of a node's memory, 1..10.

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
    kinds = _kinds(types)
    if convention not in ("dfrs", "rigid"):
        raise InvalidInstance(f"convention = {shorten(convention)}: expected dfrs or rigid")
    needs = _checked_needs(serial_cpu, light_share, light_memory, heavy_memory)
    table = _constants(constants, machine)
    random = np.random.default_rng(seed_of(seed))

    submit, kind = _merged_arrivals(random, count, [table[name] for name in kinds])
    tasks = np.empty(count, dtype=np.int64)
    runtime = np.empty(count)
    for index, name in enumerate(kinds):
        mine = np.flatnonzero(kind == index)
        tasks[mine] = sizes(random, len(mine), machine, table[name])
        runtime[mine] = runtimes(random, tasks[mine], table[name])

    jobs = pd.DataFrame({"job": np.arange(1, count + 1), "submit": submit, "tasks": tasks})
    if convention == "rigid":
        jobs["cpu"], jobs["memory"] = 1.0, 1.0
    else:
        jobs["cpu"], jobs["memory"] = _dfrs_needs(random, tasks, *needs)
    jobs["runtime"] = runtime
    if len(kinds) > 1:
        jobs["type"] = np.array(kinds)[kind]
    return jobs


# --- the three parts of the model -----------------------------------------------------------


def sizes(random: np.random.Generator, n: int, nodes: int, of: LublinConstants) -> np.ndarray:
    """Sizes of n jobs, in 1..nodes."""
    u = random.random(n)
    lower = random.random(n) < of.u_prob
    low = np.where(lower, of.u_low, of.u_med)
    high = np.where(lower, of.u_med, of.u_hi)
    x = low + (high - low) * random.random(n)
    x = np.where(u <= of.serial + of.pow2, np.rint(x), x)
    return np.where(u <= of.serial, 1, np.clip(np.rint(2.0**x), 1, nodes)).astype(np.int64)


def runtimes(random: np.random.Generator, tasks: np.ndarray, of: LublinConstants) -> np.ndarray:
    """Run times (s) of jobs with these sizes: exp of a hyper-gamma variable."""
    first = random.random(len(tasks)) < np.clip(of.pa * tasks + of.pb, 0, 1)
    shape, scale = np.where(first, of.a1, of.a2), np.where(first, of.b1, of.b2)
    return np.exp(_gamma_below(random, shape, scale, of.max_runtime_exponent))


def daily_cycle(of: LublinConstants) -> np.ndarray:
    """Weights of the 48 half-hours of a day, midnight first; their mean is 1."""
    i = np.arange(11, 11 + BUCKETS)
    mass = _gamma_cdf(i + 0.5, of.anum, of.bnum) - _gamma_cdf(i - 0.5, of.anum, of.bnum)
    weights = np.empty(BUCKETS)
    weights[(i - 1) % BUCKETS] = mass
    if not (weights > 0).all():
        raise InvalidInstance(
            f"anum, bnum = {of.anum:g}, {of.bnum:g}: a half-hour of the day gets no arrivals"
        )
    return weights / weights.mean()


def arrivals(random: np.random.Generator, n: int, of: LublinConstants) -> np.ndarray:
    """Arrival times (s) of n jobs, from hour 0.

    Job k costs S_k = sum of the first k draws of exp(g) / 1800 points, a half-hour pays its
    weight, evenly over its length: job k arrives when S_k is paid. So the arrivals are the
    inverse of the piecewise linear sum of weights, taken at S_1, S_2, ...
    """
    shape = np.full(n, of.aarr * of.arar)
    g = _gamma_below(random, shape, np.full(n, of.barr), of.max_arrival_exponent)
    paid = np.concatenate([[0.0], np.cumsum(daily_cycle(of))])
    days, rest = np.divmod(np.cumsum(np.exp(g) / BUCKET_SECONDS), paid[-1])
    return (days * BUCKETS + np.interp(rest, paid, np.arange(BUCKETS + 1.0))) * BUCKET_SECONDS


def _merged_arrivals(
    random: np.random.Generator, n: int, kinds: list[LublinConstants]
) -> tuple[np.ndarray, np.ndarray]:
    """The first n arrivals of the streams together, and the stream of each."""
    streams = [arrivals(random, n, of) for of in kinds]
    times = np.concatenate(streams)
    order = np.argsort(times, kind="stable")[:n]
    return times[order], order // n


def _gamma_cdf(x: Any, shape: float, scale: float) -> Any:
    from scipy.stats import gamma

    return gamma.cdf(x, shape, scale=scale)


def _gamma_below(
    random: np.random.Generator, shape: np.ndarray, scale: np.ndarray, most: float
) -> np.ndarray:
    """Gamma variables, those above `most` drawn again."""
    return sampled_inside(
        lambda at: random.gamma(shape[at], scale[at]), len(shape), lambda x: x <= most
    )


# --- needs, arguments -----------------------------------------------------------------------


def _dfrs_needs(
    random: np.random.Generator,
    tasks: np.ndarray,
    serial_cpu: float,
    light_share: float,
    light_memory: float,
    least: int,
    most: int,
) -> tuple[np.ndarray, np.ndarray]:
    light = random.random(len(tasks)) < light_share
    heavy = random.integers(least, most + 1, len(tasks)) / 10
    return np.where(tasks == 1, serial_cpu, 1.0), np.where(light, light_memory, heavy)


def _checked_needs(serial_cpu, light_share, light_memory, heavy_memory):
    for name, value in (("serial_cpu", serial_cpu), ("light_memory", light_memory)):
        fraction(value, name)
    share(light_share, "light_share")
    try:
        least, most = heavy_memory
    except (TypeError, ValueError):
        raise InvalidInstance(
            f"heavy_memory = {shorten(heavy_memory)}: expected two tenths of a node, like (2, 10)"
        ) from None
    least = integer(least, "heavy_memory[0]", 1, 10)
    most = integer(most, "heavy_memory[1]", least, 10)
    return float(serial_cpu), float(light_share), float(light_memory), least, most


def _kinds(types: str) -> list[str]:
    if types == "untyped":
        return ["untyped"]
    if types == "typed":
        return ["batch", "interactive"]
    raise InvalidInstance(f"types = {shorten(types)}: expected untyped or typed")


def _constants(own: Mapping[str, LublinConstants] | None, nodes: int) -> dict[str, LublinConstants]:
    own = dict(own or {})
    for name, value in own.items():
        if name not in LUBLIN or not isinstance(value, LublinConstants):
            raise InvalidInstance(
                f"constants[{shorten(name)}]: expected LublinConstants for {', '.join(LUBLIN)}"
            )
    return {name: own.get(name) or for_machine(LUBLIN[name], nodes) for name in LUBLIN}


def for_machine(of: LublinConstants, nodes: int) -> LublinConstants:
    """Constants for another machine size: u_hi = log2 nodes, u_med = u_hi - 2.5."""
    if nodes == 128:
        return of
    u_hi = log2(nodes)
    u_med = max(u_hi - 2.5, 0.0)
    values = {each.name: getattr(of, each.name) for each in fields(of)}
    return LublinConstants(
        **{**values, "u_low": min(of.u_low, u_med), "u_med": u_med, "u_hi": u_hi}
    )
