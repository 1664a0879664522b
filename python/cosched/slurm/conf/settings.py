"""What a slurm.conf says about scheduling, under Slurm's own names; parameters and their units."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from cosched import _core, io
from cosched.cluster.machine.node_types import Spans
from cosched.errors import InvalidInstance, shorten
from cosched.notes import Note, NoteKind, not_followed
from cosched.slurm.accounts.accounting_dump import AccountingDump
from cosched.slurm.conf.known_keys import OptionClass, keys_of, option_of
from cosched.slurm.conf.lines import Source, seconds_of_limit, seconds_of_minutes, words
from cosched.slurm.conf.values import WITHOUT_LIMIT, YES, integer_range

if TYPE_CHECKING:
    from cosched.cluster.machine import Machine

_FILE = Path(__file__).with_name("keys.toml")
KEY_TABLE: dict[str, Any] = io.parse_toml(_FILE.read_text("utf-8"), str(_FILE))

#: Every parameter that ``slurm-backfill`` follows, with Slurm's defaults (seconds, counts, 0 or 1).
PARAMETERS: dict[str, float] = dict(_core.slurm.PARAMETERS)

#: The version where no file says another, and the first whose SelectType is cons_tres by itself.
NEWEST = "24.11"
#: Versions whose rules are followed, and what is followed where none is said.
VERSIONS = ("22.05", "24.11")
CONS_TRES_SINCE = "23.02"


class ParameterSpec(NamedTuple):
    """How a parameter is given, beside its default in the core."""

    unit: float = 1.0  # s of Slurm's own, where it is a time
    minimum: float = 0.0  # outside least and greatest Slurm falls back to its default
    maximum: float = 1e18
    #: What its own line of a slurm.conf holds (number, minutes, time, yes); or a word of
    #: SchedulerParameters without a value (flag); or what several lines say together (settled).
    form: str = ""


def _with_range(name: str, spec: ParameterSpec) -> ParameterSpec:
    """Return the spec with the range that the table of keys says Slurm takes, or the part of it
    that is followed."""
    option = option_of("SchedulerParameters", name)
    bounds = None if option is None else integer_range(option)
    if bounds is None:
        return spec
    low, high = bounds
    greatest = spec.maximum if high is None else min(spec.maximum, high)
    return spec._replace(minimum=max(spec.minimum, low), maximum=greatest)


_PARAMETER_SPECS = {
    name: ParameterSpec(**fields) for name, fields in KEY_TABLE["parameters"].items()
}
_PARAMETER_SPECS |= {
    name: ParameterSpec(form=by) for by, of in KEY_TABLE["given_by"].items() for name in words(of)
}
_PARAMETER_SPECS |= {
    name: _with_range(name, _PARAMETER_SPECS.get(name, ParameterSpec()))
    for name in PARAMETERS
    if name.islower()
}
#: Parameters with a line of their own, by its key.
LINES = {
    name.lower(): name for name, spec in _PARAMETER_SPECS.items() if spec.form and name[0].isupper()
}


def parameter_spec(name: str) -> ParameterSpec:
    """Return how a parameter is given; as a number of any size where nothing else is known."""
    return _PARAMETER_SPECS.get(name, ParameterSpec())


#: Times that Slurm does not round up to minutes (``time_str2secs`` in read_config.c).
_KEPT_IN_SECONDS = frozenset({"PreemptExemptTime"})


def value_of_line(name: str, value: str, place: str, spelling: str) -> float:
    """Return a parameter (s) of its line in a slurm.conf."""
    form = _PARAMETER_SPECS[name].form
    if form == "time":
        is_exact = name in _KEPT_IN_SECONDS
        return seconds_of_limit(value, place) if is_exact else seconds_of_minutes(value, place)
    if form == "yes":
        return float(value.lower() in YES)
    if form == "number" and value.upper() in WITHOUT_LIMIT:
        return float(2**32 - 1)  # as Slurm holds it
    return number(value, place, spelling) * (60 if form == "minutes" else 1)


#: Whose jobs may take the place of others, as the core numbers them.
PREEMPT_TYPES = {"preempt/partition_prio": 1.0, "preempt/qos": 2.0}


def preempt_mode(text: str) -> int | None:
    """Return what becomes of a preempted job, as the core numbers it; None: there is no rule."""
    words_of = [part for part in text.upper().split(",") if part]
    if set(words_of) <= {"GANG"}:
        return 0
    return {"OFF": 0, "CANCEL": 1, "REQUEUE": 2}.get(",".join(words_of))


def in_seconds(name: str, value: float) -> float:
    """Return a parameter that is given in Slurm's unit, in seconds."""
    unit, low, high, _ = parameter_spec(name)
    if not low <= value <= high:
        raise InvalidInstance(f"{name} = {value:.15g}: expected {low:.15g}..{high:.15g}")
    return value * unit


def rules_of(version: str) -> str:
    """Return the version whose rules are followed for this one: the nearest; the first where
    none is."""
    if not version:
        return VERSIONS[0]
    months = months_of(version)
    return min(VERSIONS, key=lambda followed_version: abs(months_of(followed_version) - months))


def months_of(version: str) -> int:
    """Return a version as months since 2000: ``22.05`` is 269."""
    match = re.match(r"\s*([0-9]{2})\.([0-9]{2})(?![0-9])", str(version))
    if not match:
        raise InvalidInstance(f"slurm_version = {shorten(version)}: expected one as 22.05")
    return 12 * int(match[1]) + int(match[2])


def number(value: str, place: str, name: str) -> float:
    """Return a whole number as Slurm reads it."""
    try:
        return float(int(value))
    except (ValueError, OverflowError):
        raise InvalidInstance(
            f"{place}: {name} = {shorten(value)}: expected a whole number"
        ) from None


def default_memory(key: str, value: str, place: str) -> tuple[int, bool]:
    """MB of DefMemPerCPU or DefMemPerNode, and whether they are of a CPU."""
    amount = 0 if value.upper() in ("UNLIMITED", "INFINITE") else number(value, place, key)
    return int(amount), key == "defmempercpu"


@dataclass(frozen=True)
class SlurmSettings:
    """What a slurm.conf adds to nodes and partitions.

    Examples
    --------
    >>> SlurmSettings({"bf_resolution": 300.0}, (((0, 4),),)).exclusive_nodes
    True
    """

    #: The scheduling parameters that differ from Slurm's defaults, in seconds and counts.
    parameters: Mapping[str, float] = field(default_factory=dict)
    #: NodeName lines as ranges of node numbers, by increasing weight.
    lines: tuple[tuple[tuple[int, int], ...], ...] = ()
    names: tuple[str, ...] = ()  # of the nodes, in the order of their numbers
    factors: Mapping[str, float] = field(default_factory=dict)  # PriorityJobFactor by partition
    #: DefaultTime (s) by partition, where it is given.
    default_times: Mapping[str, float] = field(default_factory=dict)
    default_partition: str = ""  # of jobs that name none
    exclusive_nodes: bool = True  # a node runs one job at a time
    #: Partitions whose nodes run one job at a time (OverSubscribe=EXCLUSIVE).
    exclusive: frozenset[str] = frozenset()
    one_task_per_core: bool = False  # a CPU asked for becomes a core
    memory_counts: bool = False  # memory is handed out too
    #: DefMemPerCPU (True) and DefMemPerNode by partition, in MB; the empty name is for all.
    default_memories: Mapping[str, tuple[int, bool]] = field(default_factory=dict)
    #: How many there are of each licence.
    licences: Mapping[str, int] = field(default_factory=dict)
    #: PreemptMode (-1: the cluster's) and GraceTime (s) by partition, where they are given.
    preempt_modes: Mapping[str, tuple[int, float]] = field(default_factory=dict)
    #: MinNodes and MaxNodes by partition, where they are given; MaxNodes is 0 where its State lets
    #: no job start.
    bounds: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    #: Nodes that take no jobs (State=DOWN, DRAIN), as ranges of their numbers.
    down: Spans = ()
    accounts: AccountingDump | None = None  # associations and QOS of its slurmdbd
    limits_count: bool = False  # AccountingStorageEnforce has limits
    partition_qos: Mapping[str, str] = field(default_factory=dict)  # QOS by partition
    billing: Mapping[str, str] = field(default_factory=dict)  # TRESBillingWeights by partition
    priority_tres: str = ""  # PriorityWeightTRES
    #: Names by partition and by AllowAccounts, DenyAccounts, AllowQos, DenyQos.
    allowed: Mapping[str, Mapping[str, frozenset[str]]] = field(default_factory=dict)
    version: str = ""  # of the Slurm that it is of, where that is known
    approximate: bool = False  # what is refused is left out instead
    refused: tuple[str, ...] = ()  # set, not covered by slurm-backfill, which refuses the machine
    needs_accounting: tuple[str, ...] = ()  # the same unless the accounts are known
    notes: tuple[Note, ...] = ()  # what was not understood, once each
    #: The lines that say all this.
    source: Source | None = field(default=None, repr=False, compare=False)
    #: Maintenance that was not in the file: begin, end (s on the jobs' time base), nodes.
    reserved: tuple[tuple[int, int, str], ...] = ()

    @property
    def left_out(self) -> tuple[Note, ...]:
        """What is not followed, and what that may do."""
        return tuple(
            not_followed(f"{setting}: {effect_of(setting)}", subject=setting)
            for setting in self.not_covered
        )

    @property
    def not_covered(self) -> tuple[str, ...]:
        """What ``slurm-backfill`` has no rule for, or no accounts."""
        return self.refused + (() if self.accounts is not None else self.needs_accounting)

    def default_memory(self, partition: str) -> tuple[int, bool]:
        """MB of a job that asks for none (0: all of its nodes), and whether it is of a CPU; one
        without a partition is in the default one.

        >>> SlurmSettings(default_memories={"": (500, True)}).default_memory("main")
        (500, True)
        >>> own = {"": (500, True), "main": (800, True)}
        >>> SlurmSettings(default_memories=own, default_partition="main").default_memory("")
        (800, True)
        """
        usual = self.default_memories.get("", (0, False))
        return self.default_memories.get(partition or self.default_partition, usual)


#: Keys that the reader passes over without a note.
IGNORED_KEYS = words(KEY_TABLE["silent"]) | keys_of("", OptionClass.NO_EFFECT)
IGNORED_PARAMETERS = keys_of("SchedulerParameters", OptionClass.NO_EFFECT)
NODE_KEYS = keys_of("NodeName") | {"nodename"}
#: JobDefaults is what scontrol shows of DefCpuPerGPU and DefMemPerGPU.
PARTITION_KEYS = keys_of("PartitionName") | {"partitionname", "jobdefaults"}
POWER_SAVING_KEYS, READ_KEYS = (
    words(KEY_TABLE["power"]),
    words(KEY_TABLE["heard"]) | frozenset(LINES),
)
#: Of the file and of partitions: usual values, and what is so here.
REPORTED_KEYS = {
    key: (tuple(entry["usual"]), entry["said"]) for key, entry in KEY_TABLE["noted"].items()
}


def reported_note(spelling: str, value: str, place: str = "") -> Note | None:
    """Return the note about a setting; None: it is none of these keys, or has its usual value.

    `place` stands behind what is said of it, such as the partition that the setting is of.
    """
    usual, message = REPORTED_KEYS.get(spelling.lower(), (("",), ""))
    if not message or value.lower() in ("", *usual):
        return None
    text = f"{spelling}={value}: {message}{place}"
    return Note(NoteKind.ASSUMED, text, subject=f"{spelling}={value}")


def not_modelled_note(spelling: str, value: str) -> Note | None:
    """Return the note about a key that Slurm has and the simulator has no rule for; None: it is
    none, or has its default."""
    option = option_of("", spelling)
    if option is None or option.option_class is not OptionClass.NOT_MODELLED:
        return None
    if value.lower() in ("", *(text.lower() for text in option.defaults)):
        return None
    text = f"{spelling}={value} is not modelled: {option.reason.rstrip('.')}"
    return Note(NoteKind.NOT_MODELLED, text, subject=f"{spelling}={value}")


def effect_of(setting: str) -> str:
    """Return what may differ from Slurm, as a setting is not followed."""
    low = setting.lower()
    effects = (effect for name, effect in KEY_TABLE["effects"].items() if low.startswith(name))
    return next(effects, "starts may differ")


#: PreemptMode, as the core numbers it.
SUSPEND = 3.0


def oversubscribe(keys: Mapping[str, str]) -> str:
    """OverSubscribe of a partition with these keys."""
    return keys.get("oversubscribe", keys.get("shared", "NO")).upper()


def settings_of(machine: "Machine") -> SlurmSettings:
    """Return the settings of slurm.conf of a machine.

    Raises
    ------
    InvalidInstance
        The machine is not read from a slurm.conf.
    """
    if machine.slurm is None:
        raise InvalidInstance("the machine has no slurm.conf: expected one that is read from it")
    return machine.slurm


def source_of(machine: "Machine") -> Source:
    """Return the lines of slurm.conf from which a machine is read.

    Raises
    ------
    InvalidInstance
        The machine is not read from a slurm.conf.
    """
    source = settings_of(machine).source
    if source is None:
        raise InvalidInstance("the machine has no lines of a slurm.conf: expected those of a file")
    return source
