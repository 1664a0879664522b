"""Single lines of a slurm.conf, under Slurm's own names: a rule for each key."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from cosched.cluster.machine.node_types import Spans
from cosched.notes import Note, NoteKind
from cosched.slurm.conf import settings as conf
from cosched.slurm.conf.known_keys import option_of
from cosched.slurm.conf.lines import Line
from cosched.slurm.conf.values import value_by_word

#: Those that matter with licences, and with limits of accounts.
_LIMIT_PARAMETERS = frozenset({"bf_licenses", "assoc_limit_stop"})
_SELECT = {"select/linear": 0, "select/cons_tres": 1, "select/cons_res": 1}
#: Values of AccountingStorageEnforce that bring limits of users, accounts and QOS.
LIMITS = frozenset({"2", "all", "limits", "safe"})
#: Weights of factors that are 0 without a slurmdbd, and unknown without its accounts.
_ACCOUNTING_WEIGHTS = {
    "priorityweightfairshare": "PriorityWeightFairshare", "priorityweightqos": "PriorityWeightQOS",
}  # fmt: skip
_PLAIN_SELECT = frozenset({"", "cr_core", "cr_cpu", "cr_socket", "cr_core_default_dist_block",
                           "cr_one_task_per_core", "cr_core_memory", "cr_cpu_memory",
                           "cr_memory"})  # fmt: skip
#: Of a partition; a job that shares no core asks for no more.
_SHARING_KINDS = {"NO": "NO", "NONE": "NO", "FORCE:1": "FORCE:1"}


class _Setting(NamedTuple):
    """A line of slurm.conf with one key."""

    #: The key in lower case.
    key: str
    #: The key as the file spells it.
    name: str
    #: The value as it stands there.
    value: str
    #: ``slurm.conf:12``.
    place: str


class Reader:
    """Collects what single lines say."""

    def __init__(self, version: str | None = None) -> None:
        self.version = version
        self.parameters: dict[str, float] = {}
        self.refused: list[str] = []
        self.unknown: list[str] = []
        self.notes: list[Note] = []
        self.linear = True
        self.select: list[str] = []  # SelectTypeParameters
        self.default_memories: dict[str, tuple[int, bool]] = {}
        self.licences: dict[str, int] = {}
        self.database = False
        self.power_saving: list[str] = []  # what is set of saving power
        self.needs_accounting: list[str] = []  # refused where there are no accounts
        self.limits_count = False
        self.priority_tres = ""
        self._refused_with_limits: list[str] = []  # refused where limits count
        self._usage_reset = ""  # PriorityUsageResetPeriod
        self._preempt: dict[str, str] = {}  # PreemptType and PreemptMode
        self._has_task_binding = False  # a TaskPlugin gives jobs cores of their own

    def read(self, lines: Iterable[Line]) -> None:
        """Read all lines with one key."""
        value_and_line = {key: (value, line) for line in lines for key, value in line.keys.items()}
        if "selecttype" not in value_and_line:
            self._assume_select_type(value_and_line)
        self._has_task_binding = (
            value_and_line.get("taskplugin", ("task/none",))[0].lower() != "task/none"
        )
        self.database = "slurmdbd" in value_and_line.get("accountingstoragetype", ("",))[0].lower()
        for key, (value, line) in value_and_line.items():
            self._read_key(key, value, line)
        if self.parameters.get("multifactor") and self.database:
            self.parameters["age_counts"] = 1.0
        if self._usage_reset and self.needs_accounting:
            self.refused.append(self._usage_reset)
        if self.power_saving:
            subject = ", ".join(self.power_saving)
            self._assume(f"{subject}: no node sleeps here, jobs start there at once", subject)
        for parameter in self._refused_with_limits:
            if self.licences if parameter == "bf_licenses" else self.limits_count:
                self.refused.append(f"SchedulerParameters={parameter}")

    def read_preemption(
        self, partitions: Sequence[tuple[Line, Mapping[str, str]]], nodes: Sequence[Spans]
    ) -> None:
        """Read PreemptType and PreemptMode, where a job could preempt another; `nodes`: of each
        partition."""
        kind = self._preempt.get("preempttype", "preempt/none").lower()
        usual = self._preempt.get("preemptmode", "OFF").upper()
        modes = {keys.get("preemptmode", usual).upper() for _, keys in partitions}
        tiers = {keys.get("prioritytier", keys.get("priority", "1")) for _, keys in partitions}
        spellings = {"preempttype": "PreemptType", "preemptmode": "PreemptMode"}
        by_qos = kind == "preempt/qos"
        if kind == "preempt/none":
            gang = any(
                conf.oversubscribe(keys).startswith(("FORCE", "YES")) for _, keys in partitions
            )
            if "GANG" in usual.split(",") and gang:  # jobs may take turns on a core
                self.refused.append(f"PreemptMode={usual}")
            elif usual not in ("", "OFF"):
                self._note_no_effect(f"PreemptMode={usual}", "PreemptType is not set")
            return
        # Jobs are suspended by others of higher tiers.
        suspends = kind == "preempt/partition_prio" and "SUSPEND" in usual.split(",")
        if suspends:
            why = next(
                self._suspension_obstacles(usual, [keys for _, keys in partitions], nodes), ""
            )
            if why:
                self.refused.append(f"PreemptMode={usual} ({why})")
                return
        if by_qos and not self.database:
            reason = "there is no QOS without a slurmdbd"
        elif conf.preempt_mode(usual) == 0:
            reason = "PreemptMode=OFF"
        elif kind == "preempt/partition_prio" and (modes <= {"OFF"} or len(tiers) < 2):
            reason = "no partition can preempt another"
        elif suspends:
            self.parameters["PreemptType"] = conf.PREEMPT_TYPES[kind]
            self.parameters["PreemptMode"] = conf.SUSPEND
            return
        elif kind not in conf.PREEMPT_TYPES or any(
            conf.preempt_mode(mode) is None for mode in modes
        ):
            self.refused += [f"{spellings[key]}={value}" for key, value in self._preempt.items()]
            return
        else:
            self.parameters["PreemptType"] = conf.PREEMPT_TYPES[kind]
            self.parameters["PreemptMode"] = float(conf.preempt_mode(usual) or 0)
            if by_qos:
                self.needs_accounting.append(f"PreemptType={kind}")
            return
        self._note_no_effect(f"PreemptType={kind}", reason)

    def _suspension_obstacles(
        self, mode: str, partitions: Sequence[Mapping[str, str]], nodes: Sequence[Spans]
    ) -> Iterator[str]:
        """Yield why a configuration that suspends jobs is not followed; `partitions`: their
        keys, `nodes`: what they have."""
        by_cpu = any(kind.startswith("cr_cpu") for kind in self.select)
        if self.linear:
            yield "select/linear ends what was suspended"
        elif self.select and not by_cpu and not any(s.startswith("cr_core") for s in self.select):
            yield "cores alone are followed: CR_Core, CR_CPU"
        elif by_cpu and not self._has_task_binding:
            yield "CR_CPU without a TaskPlugin counts CPUs, not which"
        if "GANG" not in mode.split(","):
            yield "Slurm does not start without GANG beside it"
        shared = {conf.oversubscribe(keys) for keys in partitions}
        if not shared <= set(_SHARING_KINDS) or len({_SHARING_KINDS[kind] for kind in shared}) > 1:
            yield "partitions of one OverSubscribe, NO or FORCE:1"
        off = []
        for keys in partitions:
            modes = set(keys.get("preemptmode", mode).upper().split(",")) - {"GANG"}
            if modes not in ({"SUSPEND"}, {"OFF"}):
                yield "partitions whose PreemptMode is another"
            off.append(modes == {"OFF"})
        tiers = [keys.get("prioritytier", keys.get("priority", "1")) for keys in partitions]
        for k, own_nodes in enumerate(nodes):
            for other in range(k):
                meet = any(a < d and c < b for a, b in own_nodes for c, d in nodes[other])
                if meet and tiers[other] == tiers[k] and not (off[other] and off[k]):
                    yield "partitions of one tier that share nodes: their jobs share cores"

    def _read_key(self, key: str, value: str, line: Line) -> None:
        """Read a line with one key: by its own rule, else by the tables of keys."""
        setting = _Setting(key, line.spellings[key], value, line.place)
        if key in conf.LINES:
            parameter = conf.LINES[key]
            self.parameters[parameter] = conf.value_of_line(
                parameter, value, setting.place, setting.name
            )
        elif key in _READERS_BY_KEY:
            _READERS_BY_KEY[key](self, setting)
        elif key in _ACCOUNTING_WEIGHTS:
            self._read_accounting_weight(setting)
        elif key.startswith("priorityweight"):
            self._read_priority_weight(setting)
        elif key in conf.POWER_SAVING_KEYS:
            if value not in ("", "0", "-1", "NONE", "INFINITE"):
                self.power_saving.append(setting.name)
        else:
            self._note_key(setting)

    def _note_key(self, setting: _Setting) -> None:
        """Note a key that changes no start time here, or that is not known."""
        name, value = setting.name, setting.value
        reported = conf.reported_note(name, value)
        if reported is not None:
            self.notes.append(reported)
            return
        if setting.key in conf.IGNORED_KEYS or setting.key in conf.REPORTED_KEYS:
            return
        not_modelled = conf.not_modelled_note(name, value)
        if not_modelled is not None:
            self.notes.append(not_modelled)
        elif option_of("", setting.key) is None:
            self.unknown.append(name)

    def _assume(self, text: str, subject: str) -> None:
        """Add a note of what is assumed about a setting."""
        self.notes.append(Note(NoteKind.ASSUMED, text, subject=subject))

    def _note_no_effect(self, subject: str, reason: str) -> None:
        """Add a note of a setting without an effect, as of Slurm itself."""
        self._assume(f"{subject} has no effect: {reason}", subject)

    def _read_select_type(self, setting: _Setting) -> None:
        """Read SelectType: whole nodes, or cores and what else jobs share."""
        value = setting.value.lower()
        self._read_choice(setting.name, value, _SELECT, "cons_tres")
        self.linear = not _SELECT.get(value, 0)

    def _read_priority_type(self, setting: _Setting) -> None:
        """Read PriorityType."""
        self._read_choice(setting.name, setting.value.lower(), _PRIORITY_TYPES, "multifactor")

    def _read_scheduler_type(self, setting: _Setting) -> None:
        """Read SchedulerType: the builtin scheduler has no backfill."""
        value = setting.value.lower()
        self._read_choice(setting.name, value, {"sched/backfill": 0, "sched/builtin": 1}, "")
        if value == "sched/builtin":
            self.parameters["builtin"] = 1.0

    def _read_default_memory(self, setting: _Setting) -> None:
        """Read DefMemPerCPU or DefMemPerNode of the cluster."""
        self.default_memories[""] = conf.default_memory(setting.key, setting.value, setting.place)

    def _read_licences(self, setting: _Setting) -> None:
        """Read Licenses: ``a:2,b``."""
        for text in filter(None, setting.value.split(",")):
            licence, _, count = text.partition(":")
            number = conf.number(count or "1", setting.place, setting.name)
            self.licences[licence] = int(number)

    def _read_accounting_weight(self, setting: _Setting) -> None:
        """Read a weight that has an effect with a slurmdbd alone."""
        if self.database and conf.number(setting.value or "0", setting.place, setting.name):
            weight = conf.number(setting.value, setting.place, setting.name)
            self.parameters[_ACCOUNTING_WEIGHTS[setting.key]] = weight
            self.needs_accounting.append(f"{setting.name}={setting.value}")

    def _read_usage_reset(self, setting: _Setting) -> None:
        """Read PriorityUsageResetPeriod, which is refused where usage counts."""
        is_off = setting.value.lower() in ("", "none")
        self._usage_reset = "" if is_off else f"{setting.name}={setting.value}"

    def _read_priority_tres(self, setting: _Setting) -> None:
        """Read PriorityWeightTRES."""
        self.priority_tres = setting.value

    def _read_priority_weight(self, setting: _Setting) -> None:
        """Refuse a weight that has no rule, where it is set."""
        has_effect = self.database or setting.key != "priorityweightassoc"
        if setting.value not in ("", "0") and has_effect:
            self.refused.append(f"{setting.name}={setting.value}")

    def _read_preempt_key(self, setting: _Setting) -> None:
        """Keep PreemptType or PreemptMode until all partitions are known."""
        self._preempt[setting.key] = setting.value

    def _read_topology(self, setting: _Setting) -> None:
        """Refuse a topology other than a flat one."""
        if setting.value.lower() not in ("topology/none", "topology/default", "topology/flat"):
            self.refused.append(f"{setting.name}={setting.value}")

    def _read_prolog_or_epilog(self, setting: _Setting) -> None:
        """Note a prolog or an epilog, whose time is not in the file."""
        self.unknown.append(f"{setting.name} (its time is the option epilog=)")
        if setting.key == "epilog":
            self.parameters["Epilog"] = 1.0

    def _read_select_parameters(self, setting: _Setting) -> None:
        """Read SelectTypeParameters: what jobs that share nodes get of them."""
        words = setting.value.lower().split(",")
        self.select = [word for word in words if word not in ("", "none")]
        if any(word not in _PLAIN_SELECT for word in self.select):
            self.refused.append(f"{setting.name}={setting.value}")

    def _read_submit_plugins(self, setting: _Setting) -> None:
        """Note JobSubmitPlugins."""
        self.unknown.append(
            f"{setting.name}={setting.value} (it may change jobs when they are submitted)"
        )

    def _read_preempt_parameters(self, setting: _Setting) -> None:
        """Read PreemptParameters, whose words are preempt_... of SchedulerParameters, too."""
        name, place = setting.name, setting.place
        for part in filter(None, setting.value.lower().split(",")):
            key, _, count = part.partition("=")
            parameter = f"preempt_{key}"
            if conf.parameter_spec(parameter).form == "flag":
                self.parameters[parameter] = 1.0
            elif parameter == "preempt_reorder_count":
                self.parameters[parameter] = conf.number(count, place, name)
            elif key == "suspend_grace_time":
                self._assume(f"{name}={part}: jobs are suspended at once", f"{name}={part}")
            elif key != "send_user_signal":
                self.refused.append(f"{name}={part}")

    def _read_enforcement(self, setting: _Setting) -> None:
        """Read AccountingStorageEnforce; its words qos and associations only say which jobs may be
        submitted."""
        name, value = setting.name, setting.value.lower()
        if self.database and LIMITS & set(value.split(",")):
            self.limits_count = True
            self.needs_accounting.append(f"{name}={value}")
            if "safe" in value.split(","):
                self.parameters["safe_limits"] = 1.0

    def _assume_select_type(self, value_and_line: Mapping[str, object]) -> None:
        """Take the SelectType that Slurm takes where none is set."""
        version = self.version or ("20.02" if "fastschedule" in value_and_line else conf.NEWEST)
        self.linear = conf.months_of(version) < conf.months_of(conf.CONS_TRES_SINCE)
        self.parameters["cons_tres"] = float(not self.linear)
        usual = "linear" if self.linear else "cons_tres"
        text = f"SelectType is not set: select/{usual}, the default of {version}"
        self._assume(text, "SelectType")

    def _read_choice(
        self, name: str, value: str, number_by_value: Mapping[str, int], parameter: str
    ) -> None:
        """Read a key with few values: the number of its value goes to a parameter, if any."""
        if value not in number_by_value:
            self.refused.append(f"{name}={value}")
        elif parameter:
            self.parameters[parameter] = float(number_by_value[value])

    def _read_priority_flags(self, setting: _Setting) -> None:
        """Read PriorityFlags."""
        name = setting.name
        for flag in setting.value.lower().split(","):
            if flag in ("small_relative_to_time", "max_tres"):
                self.parameters[flag.upper()] = 1.0
            elif flag == "accrue_always":
                subject = f"{name}=ACCRUE_ALWAYS"
                self._assume(f"{subject}: ages count from when a job is eligible here", subject)
            elif flag and flag not in ("calculate_running", "fair_tree"):
                self.refused.append(f"{name}={flag.upper()}")

    def _read_scheduler_parameters(self, setting: _Setting) -> None:
        """Read SchedulerParameters: words with and without a number."""
        for word, value in value_by_word(setting.value).items():
            text_of_word = word if value == "yes" else f"{word}={value}"
            if conf.parameter_spec(word).form == "flag":
                self.parameters[word] = 1.0
            elif (
                word in conf.PARAMETERS and word[0].islower() and not conf.parameter_spec(word).form
            ):
                self._read_number_parameter(word, value, text_of_word)
            elif word in _LIMIT_PARAMETERS:
                self._refused_with_limits.append(text_of_word)
            elif word not in conf.IGNORED_PARAMETERS:
                self.refused.append(f"SchedulerParameters={text_of_word}")

    def _read_number_parameter(self, word: str, value: str, text_of_word: str) -> None:
        """Read a word with a number, of which Slurm reads the digits at its begin (``atoi``)."""
        unit, low, high, _ = conf.parameter_spec(word)
        digits = re.match(r"\s*[+-]?[0-9]+", value)
        number = float(digits[0]) if digits else math.nan
        if digits and digits[0] != value:
            self.unknown.append(f"{text_of_word} (no whole number: Slurm reads {number:.15g})")
        if low <= number <= high:
            self.parameters[word] = number * unit
        elif number == -1 and word == "bf_interval":  # switches it off
            self.parameters["builtin"] = 1.0
        elif number in (-1, 0) and word == "sched_interval":  # never, and at each tick
            self.refused.append(f"SchedulerParameters={text_of_word}")
        else:
            reason = f"outside {low:.15g}..{high:.15g}" if digits else "no number"
            default = conf.PARAMETERS[word] / unit
            self.unknown.append(f"{text_of_word} ({reason}: Slurm takes its default, {default:g})")


_PRIORITY_TYPES = {"priority/basic": 0, "priority/multifactor": 1}
#: Keys with a rule of their own, in lower case, and what reads them.
_READERS_BY_KEY: dict[str, Callable[[Reader, _Setting], None]] = {
    "schedulerparameters": Reader._read_scheduler_parameters,
    "selecttype": Reader._read_select_type,
    "selecttypeparameters": Reader._read_select_parameters,
    "prioritytype": Reader._read_priority_type,
    "priorityflags": Reader._read_priority_flags,
    "priorityusageresetperiod": Reader._read_usage_reset,
    "priorityweighttres": Reader._read_priority_tres,
    "defmempercpu": Reader._read_default_memory,
    "defmempernode": Reader._read_default_memory,
    "licenses": Reader._read_licences,
    "schedulertype": Reader._read_scheduler_type,
    "preempttype": Reader._read_preempt_key,
    "preemptmode": Reader._read_preempt_key,
    "preemptparameters": Reader._read_preempt_parameters,
    "topologyplugin": Reader._read_topology,
    "epilog": Reader._read_prolog_or_epilog,
    "prolog": Reader._read_prolog_or_epilog,
    "epilogslurmctld": Reader._read_prolog_or_epilog,
    "prologslurmctld": Reader._read_prolog_or_epilog,
    "accountingstorageenforce": Reader._read_enforcement,
    "jobsubmitplugins": Reader._read_submit_plugins,
}
