"""What single lines of a slurm.conf say about scheduling, under Slurm's own names."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from cosched.cluster.machine.node_types import Spans
from cosched.slurm.conf import settings as conf
from cosched.slurm.conf.lines import Line
from cosched.slurm.conf.options import option_of
from cosched.slurm.conf.values import value_by_word

#: Those that matter with licences, and with limits of accounts.
_LATE = frozenset({"bf_licenses", "assoc_limit_stop"})
_SELECT = {"select/linear": 0, "select/cons_tres": 1, "select/cons_res": 1}
#: Values of AccountingStorageEnforce that bring limits of users, accounts and QOS.
LIMITS = frozenset({"2", "all", "limits", "safe"})
#: Weights of factors that are 0 without a slurmdbd, and unknown without its accounts.
_OF_ACCOUNTS = {
    "priorityweightfairshare": "PriorityWeightFairshare", "priorityweightqos": "PriorityWeightQOS",
}  # fmt: skip
_PLAIN_SELECT = frozenset({"", "cr_core", "cr_cpu", "cr_socket", "cr_core_default_dist_block",
                           "cr_one_task_per_core", "cr_core_memory", "cr_cpu_memory",
                           "cr_memory"})  # fmt: skip
#: Of a partition; a job that shares no core asks for no more.
_ALIKE = {"NO": "NO", "NONE": "NO", "FORCE:1": "FORCE:1"}


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
            gang = any(conf.sharing(keys).startswith(("FORCE", "YES")) for _, keys in partitions)
            if "GANG" in usual.split(",") and gang:  # jobs may take turns on a core
                self.refused.append(f"PreemptMode={usual}")
            elif usual not in ("", "OFF"):
                self.assumed.append(f"PreemptMode={usual} has no effect: PreemptType is not set")
            return
        # Jobs are suspended by others of higher tiers.
        suspends = kind == "preempt/partition_prio" and "SUSPEND" in usual.split(",")
        if suspends:
            why = next(self._obstacles(usual, [keys for _, keys in partitions], nodes), "")
            if why:
                self.refused.append(f"PreemptMode={usual} ({why})")
                return
        if by_qos and not self.database:
            said = "there is no QOS without a slurmdbd"
        elif conf.preempt_mode(usual) == 0:
            said = "PreemptMode=OFF"
        elif kind == "preempt/partition_prio" and (modes <= {"OFF"} or len(tiers) < 2):
            said = "no partition can preempt another"
        elif suspends:
            self.parameters["PreemptType"] = conf.PREEMPT_TYPES[kind]
            self.parameters["PreemptMode"] = conf.SUSPEND
            return
        elif kind not in conf.PREEMPT_TYPES or any(conf.preempt_mode(one) is None for one in modes):
            self.refused += [f"{spelled[key]}={value}" for key, value in self._preempt.items()]
            return
        else:
            self.parameters["PreemptType"] = conf.PREEMPT_TYPES[kind]
            self.parameters["PreemptMode"] = float(conf.preempt_mode(usual) or 0)
            if by_qos:
                self.of_accounts.append(f"PreemptType={kind}")
            return
        self.assumed.append(f"PreemptType={kind} has no effect: {said}")

    def _obstacles(
        self, mode: str, partitions: Sequence[Mapping[str, str]], nodes: Sequence[Spans]
    ) -> Iterator[str]:
        """Why a configuration that suspends jobs is not followed; `partitions`: their keys,
        `nodes`: what they have."""
        by_cpu = any(one.startswith("cr_cpu") for one in self.select)
        if self.linear:
            yield "select/linear ends what was suspended"
        elif self.select and not by_cpu and not any(s.startswith("cr_core") for s in self.select):
            yield "cores alone are followed: CR_Core, CR_CPU"
        elif by_cpu and not self._bound:
            yield "CR_CPU without a TaskPlugin counts CPUs, not which"
        if "GANG" not in mode.split(","):
            yield "Slurm does not start without GANG beside it"
        shared = {conf.sharing(keys) for keys in partitions}
        if not shared <= set(_ALIKE) or len({_ALIKE[one] for one in shared}) > 1:
            yield "partitions of one OverSubscribe, NO or FORCE:1"
        off = []
        for keys in partitions:
            own = set(keys.get("preemptmode", mode).upper().split(",")) - {"GANG"}
            if own not in ({"SUSPEND"}, {"OFF"}):
                yield "partitions whose PreemptMode is another"
            off.append(own == {"OFF"})
        tiers = [keys.get("prioritytier", keys.get("priority", "1")) for keys in partitions]
        for k, own_nodes in enumerate(nodes):
            for other in range(k):
                meet = any(a < d and c < b for a, b in own_nodes for c, d in nodes[other])
                if meet and tiers[other] == tiers[k] and not (off[other] and off[k]):
                    yield "partitions of one tier that share nodes: their jobs share cores"

    def _one(self, key: str, value: str, line: Line) -> None:
        place, name, low = line.place, line.spelled[key], value.lower()
        if key in conf.LINES:
            self.parameters[conf.LINES[key]] = conf.value_of_line(
                conf.LINES[key], value, place, name
            )
        elif key == "schedulerparameters":
            self._scheduler_parameters(value)
        elif key == "selecttype":
            self._choice(name, low, _SELECT, "cons_tres")
            self.linear = not _SELECT.get(low, 0)
        elif key == "prioritytype":
            self._choice(name, low, {"priority/basic": 0, "priority/multifactor": 1}, "multifactor")
        elif key in ("defmempercpu", "defmempernode"):
            self.default_memories[""] = conf.default_memory(key, value, place)
        elif key == "licenses":
            for one in filter(None, value.split(",")):
                licence, _, count = one.partition(":")
                self.licences[licence] = int(conf.number(count or "1", place, name))
        elif key == "schedulertype":
            self._choice(name, low, {"sched/backfill": 0, "sched/builtin": 1}, "")
            if low == "sched/builtin":
                self.parameters["builtin"] = 1.0
        elif key == "priorityflags":
            self._flags(name, low)
        elif key in _OF_ACCOUNTS:
            if self.database and conf.number(value or "0", place, name):
                self.parameters[_OF_ACCOUNTS[key]] = conf.number(value, place, name)
                self.of_accounts.append(f"{name}={value}")
        elif key == "priorityusageresetperiod":
            self._reset = "" if low in ("", "none") else f"{name}={value}"
        elif key == "priorityweighttres":
            self.priority_tres = value
        elif key.startswith("priorityweight"):
            if value not in ("", "0") and (self.database or key != "priorityweightassoc"):
                self.refused.append(f"{name}={value}")
        elif key in ("preempttype", "preemptmode"):
            self._preempt[key] = value
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
        elif key in conf.POWER:
            if value not in ("", "0", "-1", "NONE", "INFINITE"):
                self.sleeps.append(name)
        elif key == "preemptparameters":
            self._preempt_parameters(name, low, place)
        elif key == "jobsubmitplugins":
            self.unknown.append(f"{name}={value} (it may change jobs when they are submitted)")
        elif said := conf.noted(name, value):
            self.assumed.append(said)
        elif key in conf.SILENT or key in conf.NOTED:
            pass
        elif said := conf.not_modelled(name, value):
            self.assumed.append(said)
        elif option_of("", key) is None:
            self.unknown.append(name)

    def _preempt_parameters(self, name: str, value: str, place: str) -> None:
        """The same as preempt_ in SchedulerParameters."""
        for one in filter(None, value.split(",")):
            key, _, count = one.partition("=")
            known = f"preempt_{key}"
            if conf.given_as(known).by == "flag":
                self.parameters[known] = 1.0
            elif known == "preempt_reorder_count":
                self.parameters[known] = conf.number(count, place, name)
            elif key == "suspend_grace_time":
                self.assumed.append(f"{name}={one}: jobs are suspended at once")
            elif key != "send_user_signal":
                self.refused.append(f"{name}={one}")

    def _enforced(self, name: str, value: str) -> None:
        """qos and associations only say which jobs may be submitted."""
        if self.database and LIMITS & set(value.split(",")):
            self.limits_count = True
            self.of_accounts.append(f"{name}={value}")
            if "safe" in value.split(","):
                self.parameters["safe_limits"] = 1.0

    def _usual_select(self, given: Mapping[str, Any]) -> None:
        """What Slurm takes where SelectType is not set."""
        version = self.version or ("20.02" if "fastschedule" in given else conf.NEWEST)
        self.linear = conf.months_of(version) < conf.months_of(conf.CONS_TRES_SINCE)
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

    def _scheduler_parameters(self, text: str) -> None:
        for word, value in value_by_word(text).items():
            spelled = word if value == "yes" else f"{word}={value}"
            if conf.given_as(word).by == "flag":
                self.parameters[word] = 1.0
            elif word in conf.PARAMETERS and word[0].islower() and not conf.given_as(word).by:
                self._scheduler_parameter(word, value, spelled)
            elif word in _LATE:
                self._late.append(spelled)
            elif word not in conf.SILENT_PARAMETERS:
                self.refused.append(f"SchedulerParameters={spelled}")

    def _scheduler_parameter(self, word: str, value: str, spelled: str) -> None:
        """A word with a number, of which Slurm reads the digits at its begin (``atoi``)."""
        unit, low, high, _ = conf.given_as(word)
        digits = re.match(r"\s*[+-]?[0-9]+", value)
        number = float(digits[0]) if digits else math.nan
        if digits and digits[0] != value:
            self.unknown.append(f"{spelled} (no whole number: Slurm reads {number:.15g})")
        if low <= number <= high:
            self.parameters[word] = number * unit
        elif number == -1 and word == "bf_interval":  # switches it off
            self.parameters["builtin"] = 1.0
        elif number in (-1, 0) and word == "sched_interval":  # never, and at each tick
            self.refused.append(f"SchedulerParameters={spelled}")
        else:
            reason = f"outside {low:.15g}..{high:.15g}" if digits else "no number"
            default = conf.PARAMETERS[word] / unit
            self.unknown.append(f"{spelled} ({reason}: Slurm takes its default, {default:g})")
