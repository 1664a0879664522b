"""What a slurm.conf says about scheduling, under Slurm's own names; what cannot be followed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cosched import _core
from cosched.cluster.slurm_accounts_shown import Shown
from cosched.cluster.slurm_conf import Line, Spans, seconds_of_limit, words
from cosched.cluster.slurm_keys import NOTED, POWER, SILENT, SILENT_PARAMETERS, effect_of, noted
from cosched.cluster.slurm_suspension import SUSPEND, obstacle, suspends
from cosched.errors import InvalidInstance, shorten

#: Every parameter that ``slurm-backfill`` follows, with Slurm's defaults (seconds, counts, 0 or 1).
PARAMETERS: dict[str, float] = dict(_core.cluster.SLURM_PARAMETERS)

#: Those that matter with licences, and with limits of accounts.
_LATE = frozenset({"bf_licenses", "assoc_limit_stop"})
_FLAGS = words("defer bf_one_resv_per_job preempt_youngest_first preempt_strict_order")
#: The version where no file says another, and the first whose SelectType is cons_tres by itself.
NEWEST = "24.11"
#: Versions whose rules are followed, and what is followed where none is said.
VERSIONS = ("22.05", "24.11")
_CONS_TRES_SINCE = "23.02"
_SELECT = {"select/linear": 0, "select/cons_tres": 1, "select/cons_res": 1}
#: Seconds of Slurm's unit, where that is another.
_UNIT = {
    "bf_window": 60.0,
    "OverTimeLimit": 60.0,
    "PriorityMaxAge": 60.0,
    "PreemptExemptTime": 60.0,
    "PriorityCalcPeriod": 60.0,
    "sched_min_interval": 1e-6,
}
#: Least and greatest value that Slurm takes; outside it falls back to its default.
_RANGE = {
    "bf_interval": (1, 10800),
    "bf_resolution": (1, 3600),
    "bf_window": (1, 43200),
    "bf_max_time": (1, 3600),
    "bf_max_job_test": (1, 1_000_000),
    "bf_node_space_size": (2, 2_000_000),
    "batch_sched_delay": (0, 1e9),
    "sched_interval": (1, 1e9),
    "default_queue_depth": (0, 1e9),
}


@dataclass(frozen=True)
class SlurmSettings:
    """What a slurm.conf adds to nodes and partitions.

    Attributes
    ----------
    parameters : mapping of str to float
        The scheduling parameters that differ from Slurm's defaults, in seconds and counts.
    lines : tuple of tuple of (int, int)
        NodeName lines as ranges of node numbers, by increasing weight.
    names : tuple of str
        Of the nodes, in the order of their numbers.
    factors : mapping of str to float
        PriorityJobFactor by partition.
    default_times : mapping of str to float
        DefaultTime (s) by partition, where it is given.
    default_partition : str
        Of jobs that name none.
    whole : bool
        A node runs one job at a time.
    exclusive : frozenset of str
        Partitions whose nodes run one job at a time (OverSubscribe=EXCLUSIVE).
    one_task_per_core, memory_counts : bool
        A CPU asked for becomes a core; memory is handed out too.
    default_memories : mapping of str to (int, bool)
        DefMemPerCPU (True) and DefMemPerNode by partition, in MB; the empty name is for all.
    licences : mapping of str to int
    preempt_modes : mapping of str to (int, float)
        PreemptMode (-1: the cluster's) and GraceTime (s) by partition, where they are given.
    bounds : mapping of str to (int, int)
        MinNodes and MaxNodes by partition, where they are given; MaxNodes is 0 where its State
        lets no job start.
    down : tuple of (int, int)
        Nodes that take no jobs (State=DOWN, DRAIN), as ranges of their numbers.
    accounts : Shown, optional
        Associations and QOS of its slurmdbd.
    limits_count : bool
        AccountingStorageEnforce has limits.
    partition_qos, billing : mapping of str to str
        QOS and TRESBillingWeights by partition.
    priority_tres : str
        PriorityWeightTRES.
    allowed : mapping
        Names by partition and by AllowAccounts, DenyAccounts, AllowQos, DenyQos.
    version : str
        Of the Slurm that it is of, where that is known.
    approximate : bool
        What is refused is left out instead.
    refused : tuple of str
        What is set and not covered by ``slurm-backfill``, which then refuses the machine.
    of_accounts : tuple of str
        The same unless the accounts are known.
    notes : tuple of str
        What was not understood, once each.

    Examples
    --------
    >>> SlurmSettings({"bf_resolution": 300.0}, (((0, 4),),)).whole
    True
    """

    parameters: Mapping[str, float] = field(default_factory=dict)
    lines: tuple[tuple[tuple[int, int], ...], ...] = ()
    names: tuple[str, ...] = ()
    factors: Mapping[str, float] = field(default_factory=dict)
    default_times: Mapping[str, float] = field(default_factory=dict)
    default_partition: str = ""
    whole: bool = True
    exclusive: frozenset[str] = frozenset()
    one_task_per_core: bool = False
    memory_counts: bool = False
    default_memories: Mapping[str, tuple[int, bool]] = field(default_factory=dict)
    licences: Mapping[str, int] = field(default_factory=dict)
    preempt_modes: Mapping[str, tuple[int, float]] = field(default_factory=dict)
    bounds: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    down: Spans = ()
    accounts: Shown | None = None
    limits_count: bool = False
    partition_qos: Mapping[str, str] = field(default_factory=dict)
    billing: Mapping[str, str] = field(default_factory=dict)
    priority_tres: str = ""
    allowed: Mapping[str, Mapping[str, frozenset[str]]] = field(default_factory=dict)
    version: str = ""
    approximate: bool = False
    refused: tuple[str, ...] = ()
    of_accounts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def left_out(self) -> tuple[str, ...]:
        """What is not followed, and what that may do."""
        return tuple(f"not followed: {one}: {effect_of(one)}" for one in self.not_covered)

    @property
    def not_covered(self) -> tuple[str, ...]:
        """What ``slurm-backfill`` has no rule for, or no accounts."""
        return self.refused + (() if self.accounts is not None else self.of_accounts)

    def default_memory(self, partition: str) -> tuple[int, bool]:
        """MB of a job that asks for none.

        Parameters
        ----------
        partition : str

        Returns
        -------
        (int, bool)
            The amount (0: all of its nodes), and whether it is of a CPU.

        Examples
        --------
        >>> SlurmSettings(default_memories={"": (500, True)}).default_memory("main")
        (500, True)
        """
        usual = self.default_memories.get("", (0, False))
        return self.default_memories.get(partition, usual)


class Reader:
    """Collects what single lines say."""

    def __init__(self, version: str | None = None) -> None:
        self.version = version
        self.parameters: dict[str, float] = {}
        self.refused: list[str] = []
        self.unknown: list[str] = []
        self.assumed: list[str] = []
        self.linear = True
        self.select: list[str] = []  # SelectTypeParameters
        self.default_memories: dict[str, tuple[int, bool]] = {}
        self.licences: dict[str, int] = {}
        self.database = False
        self.sleeps: list[str] = []  # what is set of saving power
        self.of_accounts: list[str] = []  # refused where there are no accounts
        self.limits_count = False
        self.priority_tres = ""
        self._late: list[str] = []  # refused where limits count
        self._reset = ""  # PriorityUsageResetPeriod
        self._preempt: dict[str, str] = {}  # PreemptType and PreemptMode
        self._bound = False  # a TaskPlugin gives jobs cores of their own

    def read(self, lines: Iterable[Line]) -> None:
        """All lines with one key."""
        given = {key: (value, line) for line in lines for key, value in line.keys.items()}
        if "selecttype" not in given:
            self._usual_select(given)
        self._bound = given.get("taskplugin", ("task/none",))[0].lower() != "task/none"
        self.database = "slurmdbd" in given.get("accountingstoragetype", ("",))[0].lower()
        for key, (value, line) in given.items():
            self._one(key, value, line)
        if self.parameters.get("multifactor") and self.database:
            self.parameters["age_counts"] = 1.0
        if self._reset and self.of_accounts:
            self.refused.append(self._reset)
        if self.sleeps:
            self.assumed.append(
                f"{', '.join(self.sleeps)}: no node sleeps here, jobs start there at once"
            )
        for one in self._late:
            if self.licences if one == "bf_licenses" else self.limits_count:
                self.refused.append(f"SchedulerParameters={one}")

    def preemption(
        self, partitions: Sequence[tuple[Line, Mapping[str, str]]], nodes: Sequence[Spans]
    ) -> None:
        """What is set of it, where a job could preempt another; `nodes`: of each partition."""
        kind = self._preempt.get("preempttype", "preempt/none").lower()
        usual = self._preempt.get("preemptmode", "OFF").upper()
        modes = {keys.get("preemptmode", usual).upper() for _, keys in partitions}
        tiers = {keys.get("prioritytier", keys.get("priority", "1")) for _, keys in partitions}
        spelled = {"preempttype": "PreemptType", "preemptmode": "PreemptMode"}
        by_qos = kind == "preempt/qos"
        if kind == "preempt/none":
            if "GANG" in usual.split(",") and gang(partitions):
                self.refused.append(f"PreemptMode={usual}")
            elif usual not in ("", "OFF"):
                self.assumed.append(f"PreemptMode={usual} has no effect: PreemptType is not set")
            return
        if suspends(kind, usual):
            why = obstacle(
                usual, [keys for _, keys in partitions], nodes, linear=self.linear,
                select=self.select, bound=self._bound,
            )  # fmt: skip
            if why:
                self.refused.append(f"PreemptMode={usual} ({why})")
                return
        if by_qos and not self.database:
            said = "there is no QOS without a slurmdbd"
        elif preempt_mode(usual) == 0:
            said = "PreemptMode=OFF"
        elif kind == "preempt/partition_prio" and (modes <= {"OFF"} or len(tiers) < 2):
            said = "no partition can preempt another"
        elif suspends(kind, usual):
            self.parameters["PreemptType"] = PREEMPT_TYPES[kind]
            self.parameters["PreemptMode"] = SUSPEND
            return
        elif kind not in PREEMPT_TYPES or any(preempt_mode(one) is None for one in modes):
            self.refused += [f"{spelled[key]}={value}" for key, value in self._preempt.items()]
            return
        else:
            self.parameters["PreemptType"] = PREEMPT_TYPES[kind]
            self.parameters["PreemptMode"] = float(preempt_mode(usual) or 0)
            if by_qos:
                self.of_accounts.append(f"PreemptType={kind}")
            return
        self.assumed.append(f"PreemptType={kind} has no effect: {said}")

    def _one(self, key: str, value: str, line: Line) -> None:
        place, name, low = line.place, line.spelled[key], value.lower()
        plain = {"killwait": "KillWait", "completewait": "CompleteWait"}
        weights = {"priorityweightjobsize", "priorityweightpartition", "priorityweightage"}
        if key == "schedulerparameters":
            self._scheduler_parameters(value, place)
        elif key == "selecttype":
            self._choice(name, low, _SELECT, "cons_tres")
            self.linear = not _SELECT.get(low, 0)
        elif key == "prioritytype":
            self._choice(name, low, {"priority/basic": 0, "priority/multifactor": 1}, "multifactor")
        elif key in ("defmempercpu", "defmempernode"):
            self.default_memories[""] = default_memory(key, value, place)
        elif key == "licenses":
            for one in filter(None, value.split(",")):
                licence, _, count = one.partition(":")
                self.licences[licence] = int(number(count or "1", place, name))
        elif key in ("returntoservice", "resvoverrun"):
            spelled = {"returntoservice": "ReturnToService", "resvoverrun": "ResvOverRun"}[key]
            unit = 60 if spelled == "ResvOverRun" else 1
            self.parameters[spelled] = number(value, place, name) * unit
        elif key == "schedulertype":
            self._choice(name, low, {"sched/backfill": 0, "sched/builtin": 1}, "")
            if low == "sched/builtin":
                self.parameters["builtin"] = 1.0
        elif key in plain:
            self.parameters[plain[key]] = number(value, place, name)
        elif key == "overtimelimit":
            self.parameters["OverTimeLimit"] = seconds_of_limit(value, place)
        elif key in weights:
            proper = {"jobsize": "JobSize", "partition": "Partition", "age": "Age"}
            self.parameters["PriorityWeight" + proper[key[14:]]] = number(value, place, name)
        elif key in ("prioritymaxage", "prioritycalcperiod"):
            proper_name = "PriorityMaxAge" if key == "prioritymaxage" else "PriorityCalcPeriod"
            self.parameters[proper_name] = seconds_of_limit(value, place)
        elif key == "priorityfavorsmall":
            self.parameters["PriorityFavorSmall"] = float(low in ("yes", "true", "1", "up"))
        elif key == "priorityflags":
            self._flags(name, low)
        elif key in _OF_ACCOUNTS:
            if self.database and number(value or "0", place, name):
                self.parameters[_OF_ACCOUNTS[key]] = number(value, place, name)
                self.of_accounts.append(f"{name}={value}")
        elif key == "priorityusageresetperiod":
            self._reset = "" if low in ("", "none") else f"{name}={value}"
        elif key == "prioritydecayhalflife":
            self.parameters["PriorityDecayHalfLife"] = seconds_of_limit(value, place)
        elif key == "priorityweighttres":
            self.priority_tres = value
        elif key.startswith("priorityweight"):
            if value not in ("", "0") and (self.database or key != "priorityweightassoc"):
                self.refused.append(f"{name}={value}")
        elif key in ("preempttype", "preemptmode"):
            self._preempt[key] = value
        elif key == "preemptexempttime":
            self.parameters["PreemptExemptTime"] = max(seconds_of_limit(value, place), 0.0)
        elif key == "topologyplugin":
            if low not in ("topology/none", "topology/default", "topology/flat"):
                self.refused.append(f"{name}={value}")
        elif key in ("epilog", "prolog", "epilogslurmctld", "prologslurmctld"):
            self.unknown.append(f"{name} (its time is the option epilog=)")
            if key == "epilog":
                self.parameters["Epilog"] = 1.0
        elif key == "accountingstorageenforce":
            self._enforced(name, low)
        elif key == "selecttypeparameters":
            self.select = [part for part in low.split(",") if part not in ("", "none")]
            if any(part not in _PLAIN_SELECT for part in self.select):
                self.refused.append(f"{name}={value}")
        elif key in POWER:
            if value not in ("", "0", "-1", "NONE", "INFINITE"):
                self.sleeps.append(name)
        elif key == "preemptparameters":
            self._preempt_parameters(name, low, place)
        elif key == "jobsubmitplugins":
            self.unknown.append(f"{name}={value} (it may change jobs when they are submitted)")
        elif said := noted(name, value):
            self.assumed.append(said)
        elif key not in SILENT and key not in NOTED:
            self.unknown.append(name)

    def _preempt_parameters(self, name: str, value: str, place: str) -> None:
        """The same as preempt_ in SchedulerParameters."""
        for one in filter(None, value.split(",")):
            key, _, count = one.partition("=")
            known = f"preempt_{key}"
            if known in _FLAGS:
                self.parameters[known] = 1.0
            elif known == "preempt_reorder_count":
                self.parameters[known] = number(count, place, name)
            elif key == "suspend_grace_time":
                self.assumed.append(f"{name}={one}: jobs are suspended at once")
            elif key != "send_user_signal":
                self.refused.append(f"{name}={one}")

    def _enforced(self, name: str, value: str) -> None:
        """qos and associations only say which jobs may be submitted."""
        if self.database and _LIMITS & set(value.split(",")):
            self.limits_count = True
            self.of_accounts.append(f"{name}={value}")
            if "safe" in value.split(","):
                self.parameters["safe_limits"] = 1.0

    def _usual_select(self, given: Mapping[str, Any]) -> None:
        """What Slurm takes where SelectType is not set."""
        version = self.version or ("20.02" if "fastschedule" in given else NEWEST)
        self.linear = _months(version) < _months(_CONS_TRES_SINCE)
        self.parameters["cons_tres"] = float(not self.linear)
        usual = "linear" if self.linear else "cons_tres"
        self.assumed.append(f"SelectType is not set: select/{usual}, the default of {version}")

    def _choice(self, name: str, value: str, known: Mapping[str, int], parameter: str) -> None:
        if value not in known:
            self.refused.append(f"{name}={value}")
        elif parameter:
            self.parameters[parameter] = float(known[value])

    def _flags(self, name: str, value: str) -> None:
        for one in value.split(","):
            if one in ("small_relative_to_time", "max_tres"):
                self.parameters[one.upper()] = 1.0
            elif one == "accrue_always":
                self.assumed.append(
                    f"{name}=ACCRUE_ALWAYS: ages count from when a job is eligible here"
                )
            elif one and one not in ("calculate_running", "fair_tree"):
                self.refused.append(f"{name}={one.upper()}")

    def _scheduler_parameters(self, text: str, place: str) -> None:
        for one in filter(None, text.split(",")):
            key, _, value = one.partition("=")
            name = key.strip().lower()
            if name in _FLAGS:
                self.parameters[name] = 1.0
            elif name in PARAMETERS and name[0].islower() and name not in _OUR_OWN:
                self._scheduler_parameter(name, number(value, place, name), one)
            elif name in _LATE:
                self._late.append(one)
            elif name not in SILENT_PARAMETERS:
                self.refused.append(f"SchedulerParameters={one}")

    def _scheduler_parameter(self, name: str, value: float, given: str) -> None:
        low, high = _range(name)
        if low <= value <= high:
            self.parameters[name] = value * _UNIT.get(name, 1.0)
        elif value == -1 and name == "bf_interval":  # switches it off
            self.parameters["builtin"] = 1.0
        elif value == -1 and name == "sched_interval":
            self.refused.append(f"SchedulerParameters={given}")
        else:
            usual = PARAMETERS[name] / _UNIT.get(name, 1.0)
            self.unknown.append(
                f"{given} (outside {low:.15g}..{high:.15g}: Slurm takes its default, {usual:g})"
            )


#: Values of AccountingStorageEnforce that bring limits of users, accounts and QOS.
_LIMITS = frozenset({"1", "all", "limits", "safe"})
#: Weights of factors that are 0 without a slurmdbd, and unknown without its accounts.
_OF_ACCOUNTS = {
    "priorityweightfairshare": "PriorityWeightFairshare", "priorityweightqos": "PriorityWeightQOS",
}  # fmt: skip
#: Parameters of the twin that are no SchedulerParameters.
_OUR_OWN = frozenset(
    {"cons_tres", "multifactor", "age_counts", "since_24", "builtin", "safe_limits"}
)
_PLAIN_SELECT = frozenset({"", "cr_core", "cr_cpu", "cr_socket", "cr_core_default_dist_block",
                           "cr_one_task_per_core", "cr_core_memory", "cr_cpu_memory",
                           "cr_memory"})  # fmt: skip


#: Whose jobs may take the place of others, as the core numbers them.
PREEMPT_TYPES = {"preempt/partition_prio": 1.0, "preempt/qos": 2.0}


def preempt_mode(text: str) -> int | None:
    """What becomes of a preempted job, as the core numbers it; None: there is no rule."""
    words_of = [one for one in text.upper().split(",") if one]
    if set(words_of) <= {"GANG"}:
        return 0
    return {"OFF": 0, "CANCEL": 1, "REQUEUE": 2}.get(",".join(words_of))


def gang(partitions: Sequence[tuple[Line, Mapping[str, str]]]) -> bool:
    """Whether jobs may take turns on a core somewhere."""
    shared = (keys.get("oversubscribe", keys.get("shared", "NO")) for _, keys in partitions)
    return any(one.upper().startswith(("FORCE", "YES")) for one in shared)


def in_seconds(name: str, value: float) -> float:
    """A parameter that is given in Slurm's unit, in seconds."""
    low, high = _range(name)
    if not low <= value <= high:
        raise InvalidInstance(f"{name} = {value:.15g}: expected {low:.15g}..{high:.15g}")
    return value * _UNIT.get(name, 1.0)


def _range(name: str) -> tuple[float, float]:
    return _RANGE.get(name, (0, 1e18))


def rules_of(version: str) -> str:
    """The version whose rules are followed for this one: the nearest; the first where none is."""
    if not version:
        return VERSIONS[0]
    months = _months(version)
    return min(VERSIONS, key=lambda known: abs(_months(known) - months))


def _months(version: str) -> int:
    found = re.match(r"\s*([0-9]{2})\.([0-9]{2})(?![0-9])", version)
    if not found:
        raise InvalidInstance(f"slurm_version = {shorten(version)}: expected one as 22.05")
    return 12 * int(found[1]) + int(found[2])


def number(value: str, place: str, name: str) -> float:
    """A whole number as Slurm reads it."""
    try:
        return float(int(value))
    except ValueError:
        raise InvalidInstance(
            f"{place}: {name} = {shorten(value)}: expected a whole number"
        ) from None


def default_memory(key: str, value: str, place: str) -> tuple[int, bool]:
    """MB of DefMemPerCPU or DefMemPerNode, and whether they are of a CPU."""
    amount = 0 if value.upper() in ("UNLIMITED", "INFINITE") else number(value, place, key)
    return int(amount), key == "defmempercpu"
