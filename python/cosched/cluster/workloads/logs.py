"""Weeks of a log, offered load, and logs in which jobs ask for more than they use."""

from __future__ import annotations

from os import PathLike

import numpy as np

from cosched.cluster.files import WEEK, dfrs_jobs, read_swf, week_of
from cosched.core.arrays import integer, nonnegative, positive, real_array, seed_of
from cosched.core.text import require_columns
from cosched.errors import InvalidInstance
from cosched.lazy import pd


def hpc2n_weeks(path: str | PathLike[str], memory_kb: float = 2097152) -> list[pd.DataFrame]:
    r"""The week-long segments of a log as DFRS jobs; HPC2N 2002-2006 has 182.

    Week w holds the jobs with floor(submit / 604800) = w; their ``submit`` counts from the
    start of that week (not from its first job). A week without a job is an empty table, so
    that the position in the list is the number of the week.

    Parameters
    ----------
    path : str or path-like
        The log (``cosched fetch HPC2N-2002``).
    memory_kb : float
        Memory of a node (KB), as :func:`dfrs_jobs`.

    Returns
    -------
    list of DataFrame
        Columns as :func:`dfrs_jobs`.

    Raises
    ------
    InvalidInstance
        A file without a job, a memory that is not positive, or more than 10,000 weeks.

    References
    ----------
    Casanova, Stillwell, Vivien 2011, Section 5 (real-world workload).

    Examples
    --------
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.swf"
    >>> _ = path.write_text(
    ...     "1 0 5 60 4 -1 -1 4 120 -1 1 1 1 1 1 1 -1 -1\n"
    ...     "2 604900 0 30 2 -1 -1 2 -1 -1 1 1 1 1 1 1 -1 -1\n"
    ... )
    >>> [week["submit"].tolist() for week in hpc2n_weeks(path)]
    [[0.0], [100.0]]
    """
    jobs = dfrs_jobs(read_swf(path)[0], memory_kb)
    last = np.floor(jobs["submit"].max() / WEEK) if len(jobs) else -1.0
    if last >= 10_000:
        raise InvalidInstance(f"{path}: submit = {jobs['submit'].max():g}: beyond 10,000 weeks")
    return [week_of(jobs, week) for week in range(int(last) + 1)]


def rescale_load(jobs: pd.DataFrame, nodes: int, load: float) -> pd.DataFrame:
    """Stretch the inter-arrival times so that the offered load is `load`.

    Load = sum of runtime x tasks / (nodes x span of the submissions), as in Section 5 of the
    paper; the first submission stays where it is.

    Parameters
    ----------
    jobs : DataFrame
        With ``submit``, ``tasks``, ``runtime``; other columns are kept.
    nodes : int
        Size of the machine, >= 1.
    load : float
        The load wanted, > 0.

    Returns
    -------
    DataFrame
        A copy with other submissions.

    Raises
    ------
    InvalidInstance
        No work, or all jobs submitted at once: no stretching gives the load.

    Examples
    --------
    >>> jobs = pd.DataFrame({"submit": [0.0, 10.0], "tasks": [1, 2], "runtime": [10.0, 5.0]})
    >>> rescale_load(jobs, nodes=4, load=0.5)["submit"].tolist()
    [0.0, 10.0]
    >>> rescale_load(jobs, nodes=4, load=0.25)["submit"].tolist()
    [0.0, 20.0]
    """
    require_columns(jobs, ("submit", "tasks", "runtime"), "jobs")
    machine = integer(nodes, "nodes", 1)
    target = positive(load, "load")
    columns = {name: real_array(jobs[name], name, 1) for name in ("submit", "tasks", "runtime")}
    for name, column in columns.items():
        wrong = np.flatnonzero(~(np.isfinite(column) & (column >= 0)))
        if len(wrong):
            where = f"jobs[{int(wrong[0])}, {name!r}] = {column[wrong[0]]:g}"
            raise InvalidInstance(f"{where}: expected a number >= 0")
    submit = columns["submit"]
    first, span = (submit.min(), np.ptp(submit)) if len(submit) else (0.0, 0.0)
    if not span > 0:
        raise InvalidInstance("jobs: submitted at one time: expected a span of submissions > 0")
    work = float(columns["runtime"] @ columns["tasks"])
    if not work > 0:
        raise InvalidInstance("jobs: no work: expected a runtime > 0")
    target_seconds = work / (machine * target)
    if not 0 < target_seconds < np.inf:
        raise InvalidInstance(f"load = {target:g}: the span would be {target_seconds:g} s")
    scaled = first + (submit - first) * (target_seconds / span)
    blocked = {"eligible": scaled + (jobs["eligible"] - submit)} if "eligible" in jobs else {}
    return jobs.assign(submit=scaled, **blocked)


_MONTH = 30 * 86400.0
#: Hours and GB (of a node) that people ask for.
_HOURS = np.array([0.5, 1, 2, 4, 8, 12, 24, 48, 72, 120, 168])
_GIGABYTES = 2.0 ** np.arange(9)


def requests(
    n: int,
    nodes: int,
    *,
    cores: int = 16,
    memory_gb: float = 128.0,
    load: float = 0.8,
    drift: float = 0.03,
    seed: int | None = None,
) -> pd.DataFrame:
    """Jobs of groups that are alike, with what they asked for, what they used, what they needed.

    Users have a few codes each. Run times and memory of a code are log-normal, of a quarter of the
    codes with a heavy tail (one job in twenty needs up to many times as much); the medians drift.
    People ask for some three times the median, rounded to what they type; who needs more is ended:
    at the limit (``timeout``), or at any moment before (``out_of_memory``). A few fail or are
    cancelled.

    Parameters
    ----------
    n : int
        Jobs, 1..10,000,000.
    nodes : int
        Of the machine, >= 1; they arrive over as long as keeps it busy to `load`.
    cores : int
        Of a node.
    memory_gb : float
        Of a node, > 0.
    load : float
        Used part of all cores, > 0, on average, if nobody were ended.
    drift : float
        Standard deviation of the logarithm of a code's medians from month to month.

    Returns
    -------
    pandas.DataFrame
        For an :class:`~cosched.cluster.Instance` of ``nodes * cores`` cores: ``submit, tasks, cpu,
        memory, runtime, estimate, status, user, account, job_name, nodes, memory_gb,
        used_memory_gb, cpu_efficiency``; and the truth, which it ignores: ``need_seconds``,
        ``need_memory_gb``.

    Examples
    --------
    >>> jobs = requests(2000, 4, seed=1)
    >>> bool((jobs.runtime <= jobs.estimate).all()), sorted(jobs.status.unique())
    (True, ['cancelled', 'completed', 'failed', 'out_of_memory', 'timeout'])
    """
    count, width = integer(n, "n", 1, 10_000_000), integer(nodes, "nodes", 1, 1_000_000)
    cores_per_node, room = integer(cores, "cores", 1, 10_000), positive(memory_gb, "memory_gb")
    busy, moves = positive(load, "load"), nonnegative(drift, "drift")
    if moves > 10:
        raise InvalidInstance(f"drift = {moves:g}: expected at most 10")
    random = np.random.default_rng(seed_of(seed))
    codes = _codes(random, max(3, count // 400), width, cores_per_node, room)
    code = np.searchsorted(np.cumsum(codes["share"]), random.random(count), side="right")
    code = np.minimum(code, len(codes) - 1)
    codes_of_jobs = codes.iloc[code].reset_index(drop=True)
    spread, memory = (_draw_column(random, codes_of_jobs, name) for name in ("time", "memory"))
    work = float((codes_of_jobs["median_time"] * spread * codes_of_jobs["tasks"]).sum())
    submit = np.sort(random.random(count)) * work / (busy * width * cores_per_node)
    seconds = codes_of_jobs["median_time"] * spread * _drifted(random, submit, code, moves)
    peak = codes_of_jobs["median_memory"] * memory * _drifted(random, submit, code, moves)
    peak = np.minimum(peak, 2 * codes_of_jobs["asked"])
    return pd.DataFrame(
        {
            "submit": submit,
            "tasks": codes_of_jobs["tasks"],
            "cpu": 1.0,
            "memory": 1.0,
            **_ended(random, seconds.to_numpy(), peak.to_numpy(), codes_of_jobs),
            "user": codes_of_jobs["user"],
            "account": codes_of_jobs["account"],
            "job_name": codes_of_jobs["name"] + random.integers(1, 1000, count).astype(str),
            "nodes": codes_of_jobs["nodes"],
            "memory_gb": codes_of_jobs["asked"] * codes_of_jobs["nodes"],
            "cpu_efficiency": codes_of_jobs["efficiency"],
            "need_seconds": np.ceil(seconds),
            "need_memory_gb": peak * codes_of_jobs["nodes"],
        }
    )


def _codes(
    random: np.random.Generator, count: int, nodes: int, cores: int, room: float
) -> pd.DataFrame:
    """Return a row a code: whose, how large, how long, how much of what it asks for."""
    rank = random.permutation(count) + 1.0
    owner = random.integers(0, max(2, count // 2), count)
    tasks = 2 ** random.integers(0, max(int(np.log2(nodes * cores)) - 1, 1), count)
    median_time = np.exp(random.normal(np.log(7200.0), 1.0, count))
    share = np.minimum(tasks / cores, 1.0) * room  # of a node's memory, as of its cores
    median = share * np.minimum(np.exp(random.normal(np.log(0.2), 0.6, count)), 0.4)
    factors = np.exp(random.normal(np.log(3.0), 0.35, (2, count)))
    hours = np.minimum(np.searchsorted(_HOURS, median_time * factors[0] / 3600), len(_HOURS) - 1)
    sizes = np.minimum(np.searchsorted(_GIGABYTES, median * factors[1]), len(_GIGABYTES) - 1)
    return pd.DataFrame(
        {
            "share": rank**-0.8 / (rank**-0.8).sum(),
            "user": [f"user{k}" for k in owner],
            "account": [f"lab{k % 5}" for k in owner],
            "name": [f"code{chr(97 + k % 26)}{chr(97 + k // 26 % 26)}_" for k in range(count)],
            "tasks": tasks,
            "nodes": -(-tasks // cores),
            "median_time": median_time,
            "median_memory": median,
            "spread_time": random.uniform(0.1, 0.5, count),
            "spread_memory": random.uniform(0.05, 0.3, count),
            "heavy": random.random(count) < 0.25,
            "limit": _HOURS[hours] * 3600,
            "asked": np.minimum(_GIGABYTES[sizes], np.floor(room)),
            "efficiency": np.round(random.beta(2, 2, count), 3),
        }
    )


def _draw_column(random: np.random.Generator, codes_of_jobs: pd.DataFrame, name: str) -> np.ndarray:
    """Return how much of the median each job needs."""
    factor = np.exp(
        random.normal(0.0, 1.0, len(codes_of_jobs)) * codes_of_jobs[f"spread_{name}"].to_numpy()
    )
    tail = codes_of_jobs["heavy"].to_numpy() & (random.random(len(codes_of_jobs)) < 0.05)
    return np.where(
        tail, factor * np.minimum(1 + random.pareto(1.5, len(codes_of_jobs)), 20.0), factor
    )


def _drifted(
    random: np.random.Generator, submit: np.ndarray, code: np.ndarray, moves: float
) -> np.ndarray:
    """Return factors of a random walk of each code, linear between its months."""
    months = int(submit.max() // _MONTH) + 2
    steps = random.normal(0.0, moves, (int(code.max()) + 1, months))
    walk = np.cumsum(steps, axis=1) - steps
    month, part = np.divmod(submit / _MONTH, 1.0)
    begin = month.astype(np.int64)
    return np.exp(walk[code, begin] * (1 - part) + walk[code, begin + 1] * part)


def _ended(
    random: np.random.Generator, seconds: np.ndarray, peak: np.ndarray, codes_of_jobs: pd.DataFrame
) -> dict[str, np.ndarray]:
    """Return what was seen of what was needed."""
    limit, requested_memory, nodes = (
        codes_of_jobs[name].to_numpy() for name in ("limit", "asked", "nodes")
    )
    part = random.random(len(codes_of_jobs))
    draws = random.random(len(codes_of_jobs))
    exceeds_limit, exceeds_memory = seconds > limit, peak > requested_memory
    runtime = np.where(
        exceeds_memory, part * np.minimum(seconds, limit), np.minimum(seconds, limit)
    )
    stopped = ~exceeds_memory & (draws < 0.04)
    runtime = np.ceil(np.where(stopped, part * runtime, runtime))
    status = np.select(
        [exceeds_memory, stopped & (draws < 0.02), stopped, exceeds_limit],
        ["out_of_memory", "failed", "cancelled", "timeout"],
        "completed",
    )
    used_memory = (
        np.where(stopped, peak * np.sqrt(part), np.minimum(peak, requested_memory)) * nodes
    )
    return {"runtime": runtime, "estimate": limit, "status": status, "used_memory_gb": used_memory}
