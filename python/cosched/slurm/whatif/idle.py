"""Lines that change nothing, because another setting leaves them without effect."""

from __future__ import annotations

import re
from collections.abc import Callable

from cosched.cluster.machine import Machine
from cosched.slurm.conf.reader import LIMITS

#: All lower-case keys of a slurm.conf with the last value of each.
_Given = dict[str, str]


def _is(key: str, word: str) -> Callable[[_Given], bool]:
    return lambda given: word in given.get(key, "").lower()


def _weighs(key: str) -> Callable[[_Given], bool]:
    return lambda given: given.get(key, "0") not in ("", "0")


def _limited(given: _Given) -> bool:
    return bool(LIMITS & set(given.get("accountingstorageenforce", "").lower().split(",")))


#: Which keys (in lower case), what they need, and what is said without it.
_NEEDS: tuple[tuple[str, Callable[[_Given], bool], str], ...] = (
    (r"priority(?!type|sitefactor).+|partition\..+\.priorityjobfactor|qos\..+\.priority"
     r"|account\..+\.fairshare",
     _is("prioritytype", "multifactor"), "PriorityType is not priority/multifactor"),
    (r"priority(weightage|maxage|weightfairshare|weightqos|decayhalflife)|(qos|account)\..+",
     _is("accountingstoragetype", "slurmdbd"),
     "AccountingStorageType is not accounting_storage/slurmdbd"),
    (r"prioritymaxage", _weighs("priorityweightage"), "PriorityWeightAge is 0"),
    (r"priorityfavorsmall", _weighs("priorityweightjobsize"), "PriorityWeightJobSize is 0"),
    (r"prioritydecayhalflife|account\..+\.fairshare",
     _weighs("priorityweightfairshare"), "PriorityWeightFairshare is 0"),
    (r"partition\..+\.priorityjobfactor",
     _weighs("priorityweightpartition"), "PriorityWeightPartition is 0"),
    (r"qos\..+\.priority", _weighs("priorityweightqos"), "PriorityWeightQOS is 0"),
    (r"(qos|account)\..+\.(max|grp).+", _limited, "AccountingStorageEnforce has no limits"),
    (r"bf_.+", lambda given: not _is("schedulertype", "builtin")(given),
     "SchedulerType is sched/builtin"),
)  # fmt: skip


def idle(machine: Machine, key: str) -> str:
    """Why a line changes nothing on a machine that has it; empty: it may change something."""
    lines = machine.slurm.source.lines if machine.slurm is not None else ()
    given = {name: value for line in lines for name, value in line.keys.items()}
    for keys, has, said in _NEEDS:
        if re.fullmatch(keys, key.lower()) and not has(given):
            return f"{key} has no effect: {said}"
    return ""
