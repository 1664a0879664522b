"""The judgement of a log: its verdict, the numbers that it rests on, and likely reasons."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from cosched.cluster.result.compare_waits import NEAR_SECONDS, LogAmongSimulations
from cosched.lazy import pd
from cosched.notes import Note

#: So large a share of the jobs that waited starts within five minutes of the log where the
#: simulator explains it: most recordings of a real Slurm have more (docs/explanation/slurm.md).
EXPLAINED_SHARE = 0.8
#: This part of the share of near starts that two simulations have with each other on average
#: suffices. The rest is what a host does that no log tells: launches, delays.
PART_OF_VARIABILITY = 0.8
#: Each simulation has a mean share of starts near those of the others; this part of the smallest of
#: these shares suffices, too: on a small cluster a few simulations differ from all others.
PART_OF_LEAST_NEAR = 0.9
#: Mean waits agree within this share of the larger one, or within :data:`MEAN_SECONDS`: a what-if
#: is of use where the wait that it starts from is known to a tenth.
MEAN_SHARE = 0.10
#: One interval of the main scheduler (s), as for jobs that start at once.
MEAN_SECONDS = 60.0
#: 95th percentiles agree within this share of the larger one, or within five minutes: they rest on
#: a twentieth of the jobs.
P95_SHARE = 0.25
P95_SECONDS = NEAR_SECONDS
#: A configuration that refuses a larger share of the log's jobs does not explain the log, however
#: few of the others waited.
MAX_REFUSED_SHARE = 0.5
#: Of fewer waiting jobs nothing is concluded.
MIN_WAITING_JOBS = 5


class FitVerdict(Enum):
    """How well the simulator explains a log.

    Attributes
    ----------
    EXPLAINED
        Waits agree, and most jobs that waited start near the log.
    AS_CLOSE_AS_VARIABILITY
        Waits agree; starts differ about as much as those of two simulations.
    NOT_EXPLAINED
        Anything else.

    Examples
    --------
    >>> FitVerdict("not explained").sentence
    'The simulator does not explain this log'
    """

    EXPLAINED = "explained"
    AS_CLOSE_AS_VARIABILITY = "as close as run-to-run variability allows"
    NOT_EXPLAINED = "not explained"

    @property
    def sentence(self) -> str:
        """The verdict as a sentence."""
        return _SENTENCES[self]


_SENTENCES = {
    FitVerdict.EXPLAINED: "The simulator explains this log",
    FitVerdict.AS_CLOSE_AS_VARIABILITY: (
        "The simulator is as close to this log as run-to-run variability allows"
    ),
    FitVerdict.NOT_EXPLAINED: "The simulator does not explain this log",
}


class ReasonKind(Enum):
    """What may be why the simulator does not explain a log."""

    IDLE_MACHINE = "jobs wait while the machine is idle"
    ACCOUNTS = "accounts were not given"
    PRIORITIES = "priorities differ"
    UNKNOWN_NODES = "nodes are missing in the machine"
    UNUSED_NODES = "nodes took no jobs"
    OVERUSED_MACHINE = "the log holds more than the machine has"
    REFUSED_JOBS = "the configuration refuses jobs of the log"
    SETTINGS = "settings are not simulated"
    TIME_LIMITS = "time limits are unknown"


@dataclass(frozen=True)
class Reason:
    """A likely reason why the simulator does not explain a log."""

    #: What keeps the simulator from explaining the log.
    kind: ReasonKind
    #: Jobs, nodes or settings that are the evidence.
    count: int
    #: The evidence as a sentence.
    text: str


@dataclass(frozen=True)
class LogJudgement:
    """How well the simulator explains a log: one answer for audit, tune and ``slurm check``.

    Times are in seconds, shares between 0 and 1.

    Attributes
    ----------
    verdict : FitVerdict
    jobs : int
        Jobs with a logged start that did not run when the simulation began.
    comparison : LogAmongSimulations
        The log and the simulations, compared over the jobs that waited.
    replications : int
        How many simulations there were.
    begin : float or None
        The second of the log at which the simulation begins; None: with the log.
    fit : pandas.DataFrame
        What :func:`fit` says of these simulations.
    reasons : tuple of Reason
        Likely reasons, the strongest first; only where the simulator does not explain the log.
    notes : tuple of Note
        What was taken from the log, and what it does not tell.
    jobs_not_compared : mapping of str to int
        Why further jobs of the log are not compared, and how many they are.

    Examples
    --------
    >>> conf = pathlib.Path(tempfile.mkdtemp()) / "slurm.conf"
    >>> _ = conf.write_text("NodeName=n[1-4] CPUs=1\\nPartitionName=p Nodes=ALL Default=YES\\n")
    >>> jobs = cs.workloads.lublin(100, 4, seed=1)
    >>> inst = cs.cluster.Instance(jobs, nodes=4, machine=cs.cluster.Machine.read(conf))
    >>> log = inst.replace(wait=cs.slurm.backfill(inst, seed=5).waits)
    >>> judgement = cs.cluster.judge_log(log)
    >>> judgement.verdict.value
    'explained'
    """

    verdict: FitVerdict
    jobs: int
    comparison: LogAmongSimulations
    replications: int
    begin: float | None
    fit: pd.DataFrame
    reasons: tuple[Reason, ...]
    notes: tuple[Note, ...]
    jobs_not_compared: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_explained(self) -> bool:
        """Whether the simulator can be the reference of what-ifs: it explains the log, or as well
        as one run explains another."""
        return self.verdict is not FitVerdict.NOT_EXPLAINED

    @property
    def waiting_jobs(self) -> int:
        """Jobs that waited in the log or in a simulation: the mean over the simulations."""
        return round(self.comparison.log.jobs)

    @property
    def jobs_at_once(self) -> int:
        """The others: jobs that started at once in both, which says nothing."""
        return self.jobs - self.waiting_jobs

    def plain(self) -> dict[str, Any]:
        """The old name of :meth:`to_dict`."""
        warnings.warn(
            "LogJudgement.plain is now LogJudgement.to_dict", DeprecationWarning, stacklevel=2
        )
        return self.to_dict()

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it: seconds and shares, None for what is not known."""
        log, pair = self.comparison.log, self.comparison.two_simulations
        numbers: dict[str, Any] = {
            "jobs": self.jobs,
            "waiting_jobs": self.waiting_jobs,
            "jobs_at_once": self.jobs_at_once,
            "jobs_not_compared": sum(self.jobs_not_compared.values()),
            "replications": self.replications,
            "begin": self.begin,
            "log_mean_wait": log.mean,
            "simulated_mean_wait": log.other_mean,
            "mean_wait_variability": self.comparison.mean_spread,
            "log_p95_wait": log.p95,
            "simulated_p95_wait": log.other_p95,
            "p95_wait_variability": self.comparison.p95_spread,
            "within_minute": log.near_60,
            "within_five": log.near_300,
            "two_simulations_within_minute": pair.near_60,
            "two_simulations_within_five": pair.near_300,
        }
        finite = {key: None if _is_nan(value) else value for key, value in numbers.items()}
        reasons = [
            {"kind": reason.kind.value, "count": reason.count, "text": reason.text}
            for reason in self.reasons
        ]
        return {"verdict": self.verdict.value, **finite, "reasons": reasons}


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


def verdict_of(comparison: LogAmongSimulations, refused_share: float = 0.0) -> FitVerdict:
    """Judge a log by its comparison with simulations.

    The log is *explained* where mean and 95th percentile of its waits agree with those of the
    simulations, and :data:`EXPLAINED_SHARE` of the jobs that waited start near. Else, where the
    means agree, it is *as close as run-to-run variability allows* if a simulation is hardly nearer
    to another one than to the log. Waits agree within a tolerance, or within what a further
    simulation may differ by.

    A log of which the configuration refuses more than :data:`MAX_REFUSED_SHARE` of the jobs
    (`refused_share`) is not explained.
    """
    log, pair = comparison.log, comparison.two_simulations
    if refused_share > MAX_REFUSED_SHARE:
        return FitVerdict.NOT_EXPLAINED
    if log.jobs < MIN_WAITING_JOBS:
        return FitVerdict.EXPLAINED
    if not do_waits_agree(comparison):
        return FitVerdict.NOT_EXPLAINED
    if log.near_300 >= EXPLAINED_SHARE:
        return FitVerdict.EXPLAINED
    threshold = min(
        PART_OF_VARIABILITY * pair.near_300, PART_OF_LEAST_NEAR * comparison.least_near_300
    )
    if log.near_300 >= threshold:
        return FitVerdict.AS_CLOSE_AS_VARIABILITY
    return FitVerdict.NOT_EXPLAINED


def do_waits_agree(comparison: LogAmongSimulations) -> bool:
    """Whether mean and 95th percentile of the waits are those of the simulations."""
    log = comparison.log
    mean_tolerance = max(
        MEAN_SECONDS, MEAN_SHARE * max(log.mean, log.other_mean), comparison.mean_spread
    )
    p95_tolerance = max(P95_SECONDS, P95_SHARE * max(log.p95, log.other_p95), comparison.p95_spread)
    return abs(log.mean_difference) <= mean_tolerance and abs(log.p95_difference) <= p95_tolerance
