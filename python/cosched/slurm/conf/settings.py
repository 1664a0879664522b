"""What a slurm.conf says about scheduling, under Slurm's own names; what cannot be followed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cosched import io
from cosched.cluster.machine.host_lists import Spans
from cosched.slurm.accounts.shown import Shown
from cosched.slurm.conf.lines import Source, words
from cosched.slurm.conf.parameters import LINES


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
    source : Source, optional
        The lines that say all this.
    reserved : tuple of (int, int, str)
        Maintenance that was not in the file: begin, end (s on the jobs' time base), nodes.

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
    source: Source | None = field(default=None, repr=False, compare=False)
    reserved: tuple[tuple[int, int, str], ...] = ()

    @property
    def left_out(self) -> tuple[str, ...]:
        """What is not followed, and what that may do."""
        return tuple(f"not followed: {one}: {effect_of(one)}" for one in self.not_covered)

    @property
    def not_covered(self) -> tuple[str, ...]:
        """What ``slurm-backfill`` has no rule for, or no accounts."""
        return self.refused + (() if self.accounts is not None else self.of_accounts)

    def default_memory(self, partition: str) -> tuple[int, bool]:
        """MB of a job that asks for none; one without a partition is in the default one.

        Returns
        -------
        (int, bool)
            The amount (0: all of its nodes), and whether it is of a CPU.

        Examples
        --------
        >>> SlurmSettings(default_memories={"": (500, True)}).default_memory("main")
        (500, True)
        >>> own = {"": (500, True), "main": (800, True)}
        >>> SlurmSettings(default_memories=own, default_partition="main").default_memory("")
        (800, True)
        """
        usual = self.default_memories.get("", (0, False))
        return self.default_memories.get(partition or self.default_partition, usual)


_FILE = Path(__file__).with_name("keys.toml")
_KNOWN: dict[str, Any] = io.parse_toml(io.read_text(_FILE), str(_FILE))

SILENT, SILENT_PARAMETERS = words(_KNOWN["silent"]), words(_KNOWN["silent_parameters"])
NODE_KEYS, PARTITION_KEYS = words(_KNOWN["node"]), words(_KNOWN["partition"])
POWER, HEARD = words(_KNOWN["power"]), words(_KNOWN["heard"]) | frozenset(LINES)
#: Of the file and of partitions: usual values, and what is so here.
NOTED = {key: (tuple(one["usual"]), one["said"]) for key, one in _KNOWN["noted"].items()}


def noted(spelled: str, value: str) -> str:
    """What is said of a setting; empty: it is none of these, or has its usual value."""
    usual, said = NOTED.get(spelled.lower(), (("",), ""))
    return f"{spelled}={value}: {said}" if said and value.lower() not in ("", *usual) else ""


def effect_of(setting: str) -> str:
    """What it may do that a setting is not followed."""
    low = setting.lower()
    known = (said for name, said in _KNOWN["effects"].items() if low.startswith(name))
    return next(known, "starts may differ")


#: PreemptMode, as the core numbers it.
SUSPEND = 3.0
#: Of a partition; a job that shares no core asks for no more.
_ALIKE = {"NO": "NO", "NONE": "NO", "FORCE:1": "FORCE:1"}


def suspends(kind: str, mode: str) -> bool:
    """Whether jobs are suspended by others of higher tiers."""
    return kind == "preempt/partition_prio" and "SUSPEND" in mode.split(",")


def obstacle(
    mode: str,
    partitions: Sequence[Mapping[str, str]],
    nodes: Sequence[Spans],
    *,
    linear: bool,
    select: Sequence[str],
    bound: bool,
) -> str:
    """Why a configuration that suspends jobs is not followed, empty where it is; `partitions`:
    their keys, `nodes`: what they have; `bound`: a TaskPlugin gives jobs cores of their own."""
    where = _where(select, linear=linear, bound=bound)
    return next(iter((*where, *_partitions(mode, partitions, nodes))), "")


def _where(select: Sequence[str], *, linear: bool, bound: bool) -> Iterator[str]:
    by_cpu = any(one.startswith("cr_cpu") for one in select)
    if linear:
        yield "select/linear ends what was suspended"
    elif select and not by_cpu and not any(one.startswith("cr_core") for one in select):
        yield "cores alone are followed: CR_Core, CR_CPU"
    elif by_cpu and not bound:
        yield "CR_CPU without a TaskPlugin counts CPUs, not which"


def _partitions(
    mode: str, partitions: Sequence[Mapping[str, str]], nodes: Sequence[Spans]
) -> Iterator[str]:
    if "GANG" not in mode.split(","):
        yield "Slurm does not start without GANG beside it"
    sharing = {keys.get("oversubscribe", keys.get("shared", "NO")).upper() for keys in partitions}
    if not sharing <= set(_ALIKE) or len({_ALIKE[one] for one in sharing}) > 1:
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
