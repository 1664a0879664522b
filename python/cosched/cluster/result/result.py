"""Results of the cluster family: what happened to each job, and the paper's measures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from cosched import _core, core
from cosched.cluster.bounds import max_stretch_bound
from cosched.cluster.instance import Instance
from cosched.cluster.instance.usage import logged_starts, overused
from cosched.cluster.result.groups import by, nearness, slowdowns_of
from cosched.cluster.schedule import Schedule
from cosched.core import Bound
from cosched.core.result import Overview
from cosched.errors import InvalidInstance
from cosched.lazy import pd

#: Run-time estimates that a policy plans with: the time limits that users requested, the run times
#: themselves, or none.
REQUESTED, PERFECT, NO_ESTIMATES = "requested", "perfect", "none"
_QUANTILES = {"p05": 5.0, "median": 50.0, "p95": 95.0}


@dataclass(frozen=True)
class Draws:
    """K schedules of n jobs under K draws of what no user sees.

    Attributes
    ----------
    ids : numpy.ndarray, shape (n,)
    submit : numpy.ndarray, shape (n,)
        Seconds.
    starts : numpy.ndarray, shape (K, n)
        Seconds.
    values : numpy.ndarray, shape (K,)
        Maximum bounded stretch of each schedule.
    measured : numpy.ndarray of bool, shape (n,)
        Jobs that count in waits.
    controller_start, epoch : numpy.ndarray, shape (K,)
        The clocks of each draw.

    Examples
    --------
    >>> jobs = {"submit": [0, 0], "tasks": [2, 1], "cpu": [1, 1], "memory": [1, 1],
    ...         "runtime": [20, 30], "estimate": [60, 60]}
    >>> draws = cs.slurm.backfill(cs.cluster.Instance(jobs, nodes=2), draws=5).draws
    >>> draws.starts.shape, list(draws.summary)
    ((5, 2), ['value', 'mean_wait', 'median_wait', 'p95_wait'])
    """

    ids: np.ndarray
    submit: np.ndarray
    starts: np.ndarray
    values: np.ndarray
    measured: np.ndarray
    controller_start: np.ndarray
    epoch: np.ndarray

    def __len__(self) -> int:
        return len(self.values)

    @property
    def jobs(self) -> pd.DataFrame:
        """A row a job in input order: ``id, start_p05, start_median, start_p95, wait_median``."""
        spread = {
            f"start_{name}": np.percentile(self.starts, share, axis=0)
            for name, share in _QUANTILES.items()
        }
        wait = spread["start_median"] - self.submit
        return pd.DataFrame({"id": self.ids, **spread, "wait_median": wait})

    @property
    def measures(self) -> pd.DataFrame:
        """A row a draw: ``controller_start, epoch, value, mean_wait, median_wait, p95_wait``."""
        waits = (self.starts - self.submit)[:, self.measured]
        return pd.DataFrame(
            {
                "controller_start": self.controller_start,
                "epoch": self.epoch,
                "value": self.values,
                "mean_wait": waits.mean(axis=1),
                "median_wait": np.median(waits, axis=1),
                "p95_wait": np.percentile(waits, 95, axis=1),
            }
        )

    @property
    def summary(self) -> dict[str, dict[str, float]]:
        """Of the value and of waits (s): ``p05, median, p95`` over the draws."""
        table = self.measures.drop(columns=["controller_start", "epoch"])
        return {
            str(name): {q: float(np.percentile(column, share)) for q, share in _QUANTILES.items()}
            for name, column in table.items()
        }

    def metrics(self) -> dict[str, float]:
        """:attr:`summary` in one row.

        Returns
        -------
        dict of str to float
            ``draws``, and ``value_p05, value_median, value_p95``, ``mean_wait_p05``, ...

        Examples
        --------
        >>> jobs = {"submit": [0], "tasks": [1], "cpu": [1], "memory": [1], "runtime": [20]}
        >>> inst = cs.cluster.Instance(jobs, nodes=1)
        >>> cs.slurm.backfill(inst, draws=5).draws.metrics()["draws"]
        5
        """
        flat: dict[str, float] = {"draws": len(self)}
        for name, spread in self.summary.items():
            flat |= {f"{name}_{quantile}": value for quantile, value in spread.items()}
        return flat


#: What single algorithms measure.
_OUTCOME_METRICS = (
    "overcommitted_hours",
    "most_nodes_in_use",
    "unknown_waits",
    "killed",
    "backfilled",
)
#: Both ways, for 8 GB of memory a node (Section 6.2 of the paper).
_GIGABYTES = 2 * 8.0


@dataclass(frozen=True, kw_only=True, repr=False)
class Result(core.Result):
    """What happened to each job. ``value`` is the maximum bounded stretch.

    Attributes
    ----------
    instance : Instance
    outcome : mapping
        What the simulator counted: arrays ``start, end, preemptions, migrations`` by job, and
        totals.
    stretches : numpy.ndarray, shape (n,)
        Bounded stretch of each job, in input order.
    log : pandas.DataFrame or None
        With ``log=True``: why a job started, waited, was paused or moved, a row an event:
        ``time, job, id, action, reason``.
    trace : cosched.slurm.trace.Trace or None
        With ``trace=`` of ``slurm-backfill``: what backfill cycles and main passes did.
    draws : Draws or None
        Of policies with chance and ``draws=``: many schedules of the same jobs.

    Examples
    --------
    >>> jobs = {"submit": [0, 0, 0], "tasks": [1, 2, 1], "cpu": [1, 1, 1],
    ...         "memory": [0.3, 0.3, 0.3], "runtime": [60.0, 60.0, 30.0]}
    >>> result = cs.cluster.solve(cs.cluster.Instance(jobs, nodes=2), "FCFS")
    >>> result
    <Result of cluster FCFS: value 5, bound 1.75 (max-stretch), gap 186%>
    >>> result.jobs[["start", "end", "stretch"]].to_numpy().tolist()
    [[0.0, 60.0, 1.0], [60.0, 120.0, 2.0], [120.0, 150.0, 5.0]]
    """

    family: ClassVar[str] = "cluster"
    deprecated_metrics: ClassVar[Mapping[str, str]] = {
        "utilisation": "utilization",
        "underutilisation": "underutilization",
        "max_stretch": "value",
        "mean_stretch": "mean_bounded_slowdown",
    }

    instance: Instance
    outcome: Mapping[str, Any] = field(default_factory=dict)
    stretches: np.ndarray = field(default_factory=lambda: np.zeros(0))
    log: Any = None
    trace: Any = None
    draws: Draws | None = None

    @classmethod
    def _bound_of(cls, instance: Instance) -> Bound:
        return max_stretch_bound(instance)

    @property
    def own_measure(self) -> bool:
        """Another threshold of the bounded stretch, or jobs that were ended at their limit, or that
        Slurm's limits kept out."""
        has_unplaced_jobs = self.outcome.get("killed") or self.outcome.get("left_out")
        return self.own_bound is not None or bool(has_unplaced_jobs)

    def _comparable(self, bound: Bound) -> bool:
        # A log may have more nodes in use than there are: no schedule of this machine, and below
        # the bound of all that are.
        recorded = isinstance(self.schedule, Schedule) and self.schedule.recorded
        fits = not recorded or self.outcome.get("overcommitted_hours") == 0
        return fits or self.value >= bound.value

    def _overview(self, max_jobs: int) -> Overview:
        # Of jobs, not of placements: those of a long log come from a second run.

        chosen = np.lexsort((np.arange(len(self.stretches)), self.outcome["start"]))[:max_jobs]
        columns = {
            "job": self.instance.ids[chosen],
            "submit": self.instance.column("submit")[chosen],
            "start": np.asarray(self.outcome["start"])[chosen],
            "end": np.asarray(self.outcome["end"])[chosen],
            "bounded slowdown": self.stretches[chosen],
        }
        return Overview("jobs", pd.DataFrame(columns), len(self.stretches))

    @property
    def jobs(self) -> pd.DataFrame:
        """A row a job in input order: ``id, start, end, stretch, preemptions, migrations``."""
        return pd.DataFrame(
            {
                "id": self.instance.ids,
                "start": self.outcome["start"],
                "end": self.outcome["end"],
                "stretch": self.stretches,
                "preemptions": self.outcome["preemptions"],
                "migrations": self.outcome["migrations"],
            }
        )

    @property
    def max_stretch(self) -> float:
        """Largest bounded stretch: max(turnaround, 10 s) / max(run time, 10 s), or `threshold`."""
        return float(self.stretches[self.instance.measured].max())

    @property
    def mean_stretch(self) -> float:
        """Mean bounded stretch."""
        return float(self.stretches[self.instance.measured].mean())

    @property
    def underutilisation(self) -> float:
        """Older spelling of :attr:`underutilization`."""
        return self.underutilization

    @property
    def underutilization(self) -> float:
        """Integral of min(P, D(t)) - u(t), divided by the CPU work of all jobs."""
        return _core.cluster.underutilisation(self.instance._core, self.outcome["demand_area"])

    @property
    def waits(self) -> np.ndarray:
        """Seconds to the start, by job, from when it was eligible (else its submission)."""
        return self.outcome["start"] - self.instance.column("eligible")

    @property
    def utilisation(self) -> float:
        """Older spelling of :attr:`utilization`."""
        return self.utilization

    @property
    def utilization(self) -> float:
        """CPU work of all jobs over nodes x span, in 0..1.

        Of a log that uses more than the machine has nan: it is another machine's number, and the
        notes of the instance say why.
        """
        instance = self.instance
        recorded = isinstance(self.schedule, Schedule) and self.schedule.recorded
        if recorded and overused(instance, self.outcome["start"], self.outcome["end"]):
            return float("nan")
        if not self.span > 0:
            return 0.0
        share = instance.column("runtime") / self.span  # first: products of times may overflow
        busy = share * instance.column("cpu") * instance.column("tasks")
        return float(busy.sum() / instance.nodes)

    def by(self, what: str) -> pd.DataFrame:
        """Waits and slowdowns of groups of jobs.

        Parameters
        ----------
        what : str
            ``user``, ``group``, ``account``, ``qos``, ``partition``, ``status``, ``comment`` or
            ``name`` (without the parts that differ in every run): a column of the log; ``cores``
            (tasks), ``size`` (tasks, from powers of two on), ``gpu`` (with GPUs or without),
            ``efficiency`` (how much of the processor time of its cores a job used), ``resource``
            (what the machine has). Components of a heterogeneous job count as one.

        Returns
        -------
        pandas.DataFrame
            One row per group: ``what``, ``jobs, mean_wait, median_wait, p95_wait`` (s),
            ``mean_bounded_slowdown, cpu_hours``. Of resources: ``resource`` (nodes or cores,
            memory_gb, gpus, and gpus of each type), ``capacity`` (nan: not said), ``used_hours``
            (what jobs hold, from their starts to their ends), ``utilization`` (of the span;
            ``utilisation`` is its older spelling),
            ``peak`` (most in use at once, over the capacity), ``waited_hours`` and ``waited``: how
            long jobs waited for it, also as a share of all waits. The jobs that may use the same
            nodes are a queue, and its head is, of those that wait, the job that could have started
            first; all of them wait for what less of is free than the head needs, of several for
            each an equal part. What is left of 1: nothing lacked as a whole (limits, reservations,
            free in pieces that fit nobody).

        Raises
        ------
        InvalidInstance
            The log does not say it.

        Examples
        --------
        >>> jobs = {"submit": [0, 0, 0], "tasks": [1, 2, 1], "cpu": [1, 1, 1],
        ...         "memory": [0.3, 0.3, 0.3], "runtime": [60.0, 60.0, 30.0]}
        >>> result = cs.cluster.solve(cs.cluster.Instance(jobs, nodes=2), "FCFS")
        >>> result.by("size")[["size", "jobs", "mean_wait"]].to_numpy().tolist()
        [['1', 2, 60.0], ['2', 1, 60.0]]
        """
        return by(self, what)

    def calibration(self) -> dict[str, float]:
        """How far the starts are from those of the log: which policy resembles its scheduler?

        Returns
        -------
        dict of str to float
            ``median, p95`` of the absolute differences (s), ``within_minute`` (share of the jobs,
            0..1), ``rank_correlation`` (Spearman's, of the starts). Jobs without a logged wait, and
            those below ``instance.min_runtime``, are left out.

        Examples
        --------
        >>> jobs = {"submit": [0, 0, 0], "tasks": [1, 2, 1], "cpu": [1, 1, 1],
        ...         "memory": [1, 1, 1], "runtime": [60.0, 60.0, 30.0], "wait": [0.0, 62.0, 130.0]}
        >>> result = cs.cluster.solve(cs.cluster.Instance(jobs, nodes=2), "FCFS")
        >>> {key: round(value, 3) for key, value in result.calibration().items()}
        {'median': 2.0, 'p95': 9.2, 'within_minute': 1.0, 'rank_correlation': 1.0}
        """
        logged = logged_starts(self.instance)
        has_logged_start = self.instance.measured & ~np.isnan(logged)
        if not has_logged_start.any():
            raise InvalidInstance("the log has no waits: nothing says when its jobs started")
        start = np.asarray(self.outcome["start"])[has_logged_start]
        differences, rank_agreement = (
            np.abs(start - logged[has_logged_start]),
            nearness(start[None], logged[has_logged_start]).iloc[0],
        )
        return {
            "median": float(np.median(differences)),
            "p95": float(np.percentile(differences, 95)),
            "within_minute": float(rank_agreement.within_60),
            "rank_correlation": float(rank_agreement.rank_correlation),
        }

    @property
    def span(self) -> float:
        """First job eligible (else its submission) to last completion (s)."""
        return float(np.max(self.outcome["end"]) - self.instance.column("eligible").min())

    def _estimates(self) -> dict[str, str]:
        """Return what the policy knows of run times; nothing for a log or a schedule of a file."""
        is_simulated = isinstance(self.schedule, Schedule) and not self.schedule.recorded
        if not is_simulated or not self.algorithm:
            return {}
        return {"estimates": self.outcome.get("estimates", NO_ESTIMATES)}

    def metrics(self) -> dict[str, Any]:
        """The paper's measures (Tables 2 to 4), and those of operators.

        Stretches, waits and slowdowns are of the jobs that ``instance.min_runtime`` lets count.

        Returns
        -------
        dict of str to float, and to str for ``estimates``
            ``max_stretch`` and ``mean_stretch`` (of bounded slowdowns), ``underutilization``
            (``underutilisation`` is its older spelling), preemptions and migrations per job and per
            hour, and ``preemption_bandwidth``, ``migration_bandwidth`` in GB/s: 2 x 8 GB x memory
            fraction x tasks, over the span (tasks that moved, for a migration);
            ``mean_wait, median_wait, p95_wait`` (s), ``mean_bounded_slowdown`` (at least 10 s
            count), ``utilization`` (0..1; ``utilisation`` is its older spelling), ``estimates``
            (``requested``, ``perfect`` or ``none``: the run-time estimates of the policy; a log has
            none of these), and what an
            algorithm adds of its own (``overcommitted_hours``, ``killed``; with draws
            ``value_p05, value_median, value_p95``, and so the waits).

        Examples
        --------
        >>> jobs = {"submit": [0, 0, 0], "tasks": [1, 2, 1], "cpu": [1, 1, 1],
        ...         "memory": [0.3, 0.3, 0.3], "runtime": [60.0, 60.0, 30.0]}
        >>> inst = cs.cluster.Instance(jobs, nodes=2)
        >>> metrics = cs.cluster.solve(inst, "FCFS").metrics()
        >>> metrics["max_stretch"], round(metrics["mean_stretch"], 3)
        (5.0, 2.667)
        >>> round(metrics["underutilization"], 3)
        0.286
        """
        preemptions = int(np.sum(self.outcome["preemptions"]))
        migrations = int(np.sum(self.outcome["migrations"]))
        hours, jobs = self.span / 3600, len(self.stretches)

        def rate(amount: float, time: float) -> float:
            return amount / time if time > 0 else 0.0

        is_measured = self.instance.measured
        waits, slowdowns = self.waits[is_measured], slowdowns_of(self)[is_measured]
        outcome_metrics = {
            key: self.outcome[key] for key in _OUTCOME_METRICS if key in self.outcome
        }
        if self.draws is not None:
            outcome_metrics |= self.draws.metrics()
        return {
            "max_stretch": self.max_stretch,
            "mean_stretch": self.mean_stretch,
            "underutilization": self.underutilization,
            "underutilisation": self.underutilization,
            "preemptions_per_job": preemptions / jobs,
            "migrations_per_job": migrations / jobs,
            "preemptions_per_hour": rate(preemptions, hours),
            "migrations_per_hour": rate(migrations, hours),
            "preemption_bandwidth": rate(_GIGABYTES * self.outcome["preempted_memory"], self.span),
            "migration_bandwidth": rate(_GIGABYTES * self.outcome["migrated_memory"], self.span),
            "mean_wait": float(waits.mean()),
            "median_wait": float(np.median(waits)),
            "p95_wait": float(np.percentile(waits, 95)),
            "mean_bounded_slowdown": float(slowdowns.mean()),
            "utilization": self.utilization,
            "utilisation": self.utilization,
            **self._estimates(),
            **outcome_metrics,
        }
