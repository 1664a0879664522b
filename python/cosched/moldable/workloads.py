"""The workloads of Dutot, Eyraud, Mounie, Trystram 2004 (Section 4.1)."""

import numpy as np

from cosched.core.arrays import checked_entries, integer, real, seed_of, share
from cosched.core.resampling import sampled_inside
from cosched.errors import InvalidInstance, shorten
from cosched.moldable.instance import Instance

#: The paper's four, in the order of Figures 3 to 6.
KINDS = ("weakly-parallel", "highly-parallel", "mixed", "cirne-berman")
#: Mean of the share X of a further processor that speeds the job up.
_WEAKLY, _HIGHLY = 0.1, 0.9


def moldable(
    kind: str = "cirne-berman",
    n: int = 400,
    m: int = 200,
    *,
    weights: tuple[float, float] = (1.0, 10.0),
    sequential: tuple[float, float] = (1.0, 10.0),
    small: tuple[float, float] = (1.0, 0.5),
    large: tuple[float, float] = (10.0, 5.0),
    small_share: float = 0.7,
    deviation: float = 0.2,
    seed: int | None = None,
) -> Instance:
    """Moldable jobs as in the paper's experiments.

    * ``"weakly-parallel"``, ``"highly-parallel"``: times on one processor uniform in
      `sequential`; t(q) = t(q-1) (q - X) / q with X drawn anew for each q from a normal
      distribution around 0.1 or 0.9 with the given `deviation`, redrawn outside [0, 1] (X = 1 is
      linear speed-up, X = 0 none).
    * ``"mixed"``: with probability `small_share` a small job (time normal, mean and deviation
      `small`, redrawn until positive, weakly parallel), else a large one (`large`, highly
      parallel).
    * ``"cirne-berman"``: time on one processor uniform in `sequential`, Downey's speed-up with
      the parameters of Cirne and Berman: sigma = max(0, N(1.209, 1.132)),
      A = max(1, 2^((U - b) / a)), a = .009548 log2 c + .07468, b = -.01877 log2 c - .009198,
      c = max(1, ceil(2^((U' - .6279) / .0692))). Profiles stay formulas.

    The paper's formula of the recurrence is lost; this reading fits its words. Weights are
    uniform in `weights`.

    Parameters
    ----------
    kind : str
        One of the above; any beginning that is unique will do ("weakly", "cirne").
    n, m : int
        Jobs and processors (the paper: 25..400 and 200).
    weights : (float, float)
        Least and greatest weight.
    sequential : (float, float)
        Least and greatest time on one processor (s).
    small, large : (float, float)
        Mean and deviation of the times on one processor (s), of "mixed".
    small_share : float
        Chance of a small job, 0..1.
    deviation : float
        Of X.

    Examples
    --------
    >>> inst = moldable("mixed", 50, 20, seed=1)
    >>> inst.jobs, inst.machines, inst.monotone
    (50, 20, True)
    """
    chosen = _kind(kind)
    jobs, machines = integer(n, "n", 1), integer(m, "m", 1)
    checked_entries("n x m", jobs, 1 if chosen == "cirne-berman" else machines)
    for name, (low, high) in (("weights", weights), ("sequential", sequential)):
        if not 0 <= low <= high < np.inf or (name == "sequential" and low == 0):
            raise InvalidInstance(f"{name} = {shorten((low, high))}: expected 0 < low <= high")
    small_part = share(small_share, "small_share")
    random = np.random.default_rng(seed_of(seed))
    weight = random.uniform(*weights, jobs)
    if chosen == "cirne-berman":
        sequential_times = random.uniform(*sequential, jobs)
        A, sigma = _cirne_berman(random, jobs)
        return Instance.from_downey(sequential_times, A, sigma, weight, machines)
    if chosen == "mixed":
        is_small = random.random(jobs) < small_part
        sequential_times = np.where(
            is_small, _normal(random, *small, jobs, 0), _normal(random, *large, jobs, 0)
        )
        mean = np.where(is_small, _WEAKLY, _HIGHLY)
    else:
        sequential_times = random.uniform(*sequential, jobs)
        mean = np.full(jobs, _WEAKLY if chosen == "weakly-parallel" else _HIGHLY)
    times = np.empty((jobs, machines))
    times[:, 0] = sequential_times
    for q in range(2, machines + 1):
        x = _normal(random, mean, deviation, jobs, 0, 1)
        times[:, q - 1] = times[:, q - 2] * (q - x) / q
    return Instance(times, weight)


def projects(
    n: int = 10,
    resources: int = 3,
    *,
    complexity: float = 1.5,
    factor: float = 0.6,
    strength: float = 0.3,
    durations: tuple[int, int] = (1, 10),
    requests: tuple[int, int] = (1, 10),
    seed: int | None = None,
) -> Instance:
    """Projects with precedence and scarce resources, with ProGen's parameters.

    A job is rigid: it takes whole units of time and of some resources. Jobs are in a topological
    order; arcs that are implied by others are not drawn. As in ProGen, the capacity of a resource
    lies between the largest request (strength 0) and the largest use of the earliest schedule
    (strength 1).

    Parameters
    ----------
    n, resources : int
        Jobs, and resources beside the processors, of which there are as many as jobs.
    complexity : float
        Arcs per job, on average.
    factor : float
        Share of the resources that a job needs, 0..1.
    strength : float
        How plentiful resources are, 0..1.
    durations, requests : (int, int)
        Least and greatest.

    References
    ----------
    Kolisch, Sprecher, Drexl: *Characterization and generation of a general class of
    resource-constrained project scheduling problems*, Management Science 41 (1995).

    Examples
    --------
    >>> inst = projects(8, seed=1)
    >>> inst.jobs, inst.machines, sorted(inst.sharing.capacity)
    (8, 8, ['R 1', 'R 2', 'R 3'])
    """
    jobs, kinds = integer(n, "n", 1, 10_000), integer(resources, "resources", 1, 100)
    arcs_per_job = real(complexity, "complexity")
    if not 0 <= arcs_per_job <= jobs:
        raise InvalidInstance(f"complexity = {arcs_per_job:g}: expected 0..{jobs}")
    need_share, plenty = share(factor, "factor"), share(strength, "strength")
    for name, (low, high) in (("durations", durations), ("requests", requests)):
        if not 1 <= low <= high <= 10**6:
            raise InvalidInstance(f"{name} = {shorten((low, high))}: expected 1 <= low <= high")
    random = np.random.default_rng(seed_of(seed))
    length = random.integers(durations[0], durations[1] + 1, jobs)
    needs = random.integers(requests[0], requests[1] + 1, (jobs, kinds))
    needs *= random.random((jobs, kinds)) < need_share
    edges = _drawn_arcs(random, jobs, round(arcs_per_job * jobs))
    peak = _peak_of_earliest_schedule(length, needs, edges)
    smallest = np.maximum(needs.max(axis=0), 1)
    capacity = smallest + np.round(plenty * np.maximum(peak - smallest, 0)).astype(int)
    names = [f"R {k + 1}" for k in range(kinds)]
    return Instance(
        length[:, None].astype(float),
        machines=jobs,
        edges=edges,
        resources={name: needs[:, k].astype(float) for k, name in enumerate(names)},
        capacity={name: float(capacity[k]) for k, name in enumerate(names)},
    )


def _drawn_arcs(random: np.random.Generator, jobs: int, count: int) -> list[tuple[int, int]]:
    """Arcs from earlier to later jobs, none of which a path of others implies."""
    reaches = np.eye(jobs, dtype=bool)
    arcs: list[tuple[int, int]] = []
    for _ in range(20 * count):
        if len(arcs) == count or jobs < 2:
            break
        first, second = sorted(random.choice(jobs, 2, replace=False).tolist())
        ahead, behind = reaches[:, first].copy(), reaches[second].copy()
        implies_another = any(ahead[a] and behind[b] for a, b in arcs)
        if reaches[first, second] or implies_another:
            continue
        arcs.append((first, second))
        reaches[np.ix_(ahead, behind)] = True
    return sorted(arcs)


def _peak_of_earliest_schedule(
    length: np.ndarray, needs: np.ndarray, arcs: list[tuple[int, int]]
) -> np.ndarray:
    """Return the largest use of each resource if every job starts as early as precedence lets
    it."""
    start = np.zeros(len(length), dtype=np.int64)
    for first, second in arcs:  # sorted, in a topological order
        start[second] = max(start[second], start[first] + length[first])
    uses = [needs[(start <= time) & (time < start + length)].sum(axis=0) for time in start]
    peak: np.ndarray = np.max(uses, axis=0)
    return peak


def _kind(kind: str) -> str:
    text = str(kind).lower().replace("_", "-").replace(" ", "-").removeprefix("uniform-")
    matching_kinds = [kind for kind in KINDS if kind.startswith(text)] if text else []
    if len(matching_kinds) != 1:
        raise InvalidInstance(f"kind = {shorten(kind)}: expected one of {', '.join(KINDS)}")
    return matching_kinds[0]


def _normal(
    random: np.random.Generator,
    mean: float | np.ndarray,
    deviation: float,
    count: int,
    low: float,
    high: float = np.inf,
) -> np.ndarray:
    """Return normal draws within [low, high] (above 0 where low is 0 and there is no high)."""
    means = np.broadcast_to(np.asarray(mean, dtype=float), count)

    def is_inside(values: np.ndarray) -> np.ndarray:
        above = values > low if high == np.inf else values >= low
        return above & (values <= high)

    return sampled_inside(lambda at: random.normal(means[at], deviation), count, is_inside)


def _cirne_berman(random: np.random.Generator, jobs: int) -> tuple[np.ndarray, np.ndarray]:
    def unilog(a: float | np.ndarray, b: float | np.ndarray) -> np.ndarray:
        return np.exp2((random.random(jobs) - b) / a)

    log_least = np.log2(np.maximum(1, np.ceil(unilog(0.0692, 0.6279))))
    sigma = np.maximum(0, random.normal(1.209, 1.132, jobs))
    A = np.maximum(1, unilog(0.009548 * log_least + 0.07468, -0.01877 * log_least - 0.009198))
    return A, sigma
