"""The simulations of an audit as data: policies on the machine as it is, what-if scenarios."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cosched.cluster.analysis.scenario import ScenarioClass, Verdict
from cosched.cluster.analysis.window import Window, window_of
from cosched.cluster.instance import Instance
from cosched.cluster.judgement.judge import SIMULATOR
from cosched.cluster.judgement.verdict import LogJudgement
from cosched.cluster.result import Result
from cosched.core import Bound
from cosched.notes import Note, NoteKind, notes_of_kind

#: The two best of the paper's Table 2.
DFRS = ("GreedyPM */per/opt=min/minvt=600", "MCB8 */per/opt=min/minvt=600")
#: The reference policy where the simulator of Slurm is not: every batch system has such backfill.
EASY = "EASY"
#: The same with the run times of all jobs, which no scheduler knows.
EASY_WITH_PERFECT_ESTIMATES = "EASY (perfect estimates)"


@dataclass(frozen=True)
class AuditRun:
    """One row of a table of the page.

    Attributes
    ----------
    name : str
        Of the policy or the scenario.
    columns : dict
        What ``compare`` says of it, by column.
    result : Result or None
        None: the simulation has no result; ``columns["message"]`` says why.
    """

    name: str
    columns: dict[str, Any]
    result: Result | None

    @property
    def lacks_jobs(self) -> bool:
        """Whether Slurm's limits keep jobs of the log out; the bound does not hold then."""
        return self.result is not None and "left_out" in self.result.outcome


@dataclass(frozen=True)
class PolicyRun(AuditRun):
    """One policy on the machine as it is."""

    #: The run-time estimates of the policy: ``requested``, ``perfect``, ``none``; ``-`` of the log.
    estimates: str


@dataclass(frozen=True)
class ScenarioRun(AuditRun):
    """One what-if scenario under the reference policy."""

    #: Remarks of the row, the reason of its class first, with semicolons between them.
    remarks: str
    #: None: the machine as it is.
    scenario_class: ScenarioClass | None = None
    #: Why the row has its class; empty for a simulated row.
    reason: str = ""


@dataclass(frozen=True)
class AuditRuns:
    """All simulations of an audit."""

    #: The log.
    instance: Instance
    #: Each policy on the machine as it is.
    policy_runs: tuple[PolicyRun, ...]
    #: Each what-if scenario under the reference policy.
    scenario_runs: tuple[ScenarioRun, ...]
    #: Seconds for each policy; None: no limit.
    time_limit: float | None
    #: How well the simulator of Slurm explains the log; None where the log has no waits or the
    #: machine is not a slurm.conf.
    judgement: LogJudgement | None = None
    #: The policy that the user chose for what-ifs; empty: the judgement decides.
    chosen_reference: str = ""

    @property
    def has_simulator(self) -> bool:
        """Whether the scheduler itself is among the policies."""
        return self.result(SIMULATOR) is not None

    @property
    def reference_policy(self) -> str:
        """The policy that is simulated under each what-if.

        As chosen; else the simulator of Slurm where it explains the log, else EASY.
        """
        if self.chosen_reference:
            return self.chosen_reference
        is_trusted = self.judgement is None or self.judgement.is_explained
        return SIMULATOR if self.has_simulator and is_trusted else EASY

    @property
    def not_followed(self) -> list[Note]:
        """Settings and jobs that the simulator of Slurm leaves out, and what that may do."""
        return notes_of_result(self.result(SIMULATOR), NoteKind.NOT_FOLLOWED, NoteKind.REFUSED_JOBS)

    @property
    def is_random(self) -> bool:
        """Whether the reference policy has replications: hidden clocks decide with its rules."""
        return self.reference_policy == SIMULATOR

    @property
    def base(self) -> ScenarioRun:
        """The reference policy on the machine as it is."""
        base = next(run for run in self.policy_runs if run.name == self.reference_policy)
        return scenario_run("as it is", (), base.columns, base.result)

    @property
    def rows(self) -> list[ScenarioRun]:
        """The reference policy on the machine as it is, and under each scenario."""
        return [self.base, *self.scenario_runs]

    @property
    def window(self) -> Window:
        """The time over which the utilization of all rows is taken."""
        return window_of(self.instance, self.reference_result or self.logged)

    @property
    def bound(self) -> Bound | None:
        """On the maximum stretch; None: not reached."""
        return next(
            (proof for run in self.policy_runs if (proof := run.columns.get("proof"))), None
        )

    def result(self, name: str) -> Result | None:
        """Return the result of the policy of this name; None: it has none."""
        return next((run.result for run in self.policy_runs if run.name == name), None)

    @property
    def logged(self) -> Result | None:
        """What happened, where the log tells when jobs started."""
        return self.result("as-logged")

    @property
    def reference_result(self) -> Result | None:
        """The result of the reference policy."""
        return self.result(self.reference_policy)


def scenario_run(
    name: str,
    remarks: tuple[str, ...],
    columns: dict[str, Any],
    result: Result | None,
    verdict: Verdict | None = None,
) -> ScenarioRun:
    """Return the run of a scenario with its class, its reason and its remarks.

    Remarks say why the scenario has no result, and which jobs a limit keeps out. The reason of a
    scenario without a result is the message of its simulation.
    """
    reason = "" if verdict is None else verdict.reason
    refused_jobs = notes_of_result(result, NoteKind.REFUSED_JOBS)
    texts = dict.fromkeys([columns["message"], reason, *remarks, *refused_jobs])
    scenario_class = None if verdict is None else verdict.scenario_class
    if scenario_class is ScenarioClass.SIMULATED and result is None:
        scenario_class = ScenarioClass.NO_RESULT
    return ScenarioRun(
        name=name,
        remarks="; ".join(filter(None, texts)),
        columns=columns,
        result=result,
        scenario_class=scenario_class,
        reason=reason or columns["message"],
    )


def notes_of_result(result: Result | None, *kinds: NoteKind) -> list[Note]:
    """Return the notes of these kinds of a result's instance; none without a result."""
    return [] if result is None else notes_of_kind(result.instance.notes, *kinds)


def why_no_dfrs(instance: Instance) -> str:
    """Return why DFRS policies have no meaning for these jobs; empty: they have one."""
    if len(instance.partition_layout[0]):
        return "they know no partitions"
    return "" if (instance.column("memory") < 1).any() else "every task has a whole node"
