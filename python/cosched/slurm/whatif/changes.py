"""One change of a Slurm in one line of text, and the same jobs under it."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain
from typing import Any

import numpy as np

from cosched.cluster.instance import Instance
from cosched.cluster.machine import Machine
from cosched.cluster.page.what_if import Changes, on_machine
from cosched.core.text import unknown_name
from cosched.errors import InvalidInstance, shorten
from cosched.slurm.accounts.shown import Shown, spelled
from cosched.slurm.conf import settings as conf
from cosched.slurm.conf.lines import Line, seconds_of_limit
from cosched.slurm.machines import read_machine, with_lines


def idle(machine: Machine, key: str) -> str:
    """Why a line changes nothing on a machine that has it: another setting leaves it without
    effect; empty: it may change something."""
    lines = machine.slurm.source.lines if machine.slurm is not None else ()
    given = {name: value for line in lines for name, value in line.keys.items()}
    for one in conf.KNOWN["idle"]:
        there = re.search(one["has"], given.get(one["needs"], "").lower())
        if re.fullmatch(one["keys"], key.lower()) and not there:
            return f"{key} has no effect: {one['said']}"
    return ""


_PLACE = "what-if"
_PARAMETERS = "schedulerparameters"
#: Keys of a partition that the batch policies have words of their own for.
_OWN = ("max_time", "priority", "nodes")
_UNITS = {"m": 60, "h": 3600, "d": 86400}
_FORMS = (
    "with a slurm.conf also slurm.conf=new.conf, PriorityWeightAge=5000, bf_interval=60, "
    "qos.high.MaxTRESPU=cpu=512, account.physics.Fairshare=200, partition.gpu.MaxTime=60, "
    "reservation=2026-12-01T08:00/12h/ALL, users.ada=-50%"
)


def _applies(instance: Instance, key: str) -> bool:
    """Whether it is one of those here: all that are not nodes, where the machine is a Slurm's."""
    if key.startswith("users."):
        return True
    settings = instance.machine.slurm if instance.machine is not None else None
    if settings is None or settings.source is None or re.fullmatch(r"nodes(\..+)?", key):
        return False
    return not (key.startswith("partition.") and key.endswith(tuple(f".{own}" for own in _OWN)))


def _change(instance: Instance, key: str, value: str) -> tuple[Instance, str]:
    kind, _, rest = key.partition(".")
    if kind == "users" and rest:
        return _fewer(instance, rest, value)
    machine = instance.machine
    assert machine is not None
    name, _, of = rest.rpartition(".")
    if key == "slurm.conf":
        changed, said = _file(machine, value)
    elif key == "reservation":
        changed, said = _reserved(machine, value, instance.begins), ""
    elif kind == "partition" and name:
        changed, said = with_lines(machine, _partition(machine, name, of, value)), ""
    elif kind in ("qos", "account") and name:
        changed, said = _with_accounts(machine, kind, name, of, value), ""
    elif "." in key:
        raise InvalidInstance(f"expected {_FORMS}")
    else:
        changed, said = with_lines(machine, _parameter(machine, key, value)), ""
    found, cut = on_machine(instance, changed)
    return found, "; ".join(filter(None, [said, cut]))


def _idle(instance: Instance, key: str) -> str:
    return "" if instance.machine is None else idle(instance.machine, key)


def _parameter(machine: Machine, key: str, value: str) -> Sequence[Line]:
    lines = machine.slurm.source.lines
    low = key.lower()
    if low in conf.HEARD | conf.SILENT | conf.POWER | set(conf.NOTED):
        return _set(lines, lambda line: not line.record and low in line.keys, key, value)
    words = {name for name in conf.PARAMETERS if name.islower()} | conf.SILENT_PARAMETERS
    if low not in words:
        known = [
            *conf.LINES.values(),
            *words,
            *(s for line in lines for s in line.spelled.values()),
        ]
        raise InvalidInstance(unknown_name("parameter of slurm.conf", key, dict.fromkeys(known)))
    return _scheduler_parameter(lines, low, value)


def _scheduler_parameter(lines: Sequence[Line], name: str, value: str) -> Sequence[Line]:
    """Its part of SchedulerParameters; a word without a value is set by yes and removed by no."""
    given = [line.keys[_PARAMETERS] for line in lines if _PARAMETERS in line.keys]
    parts = given[-1].split(",") if given else []
    kept = [part for part in parts if part and part.partition("=")[0].strip().lower() != name]
    if conf.given_as(name).by == "flag":
        if value.lower() not in ("yes", "no", "1", "0"):
            raise InvalidInstance(f"{name}={shorten(value)}: expected yes or no")
        kept += [name] * (value.lower() in ("yes", "1"))
    else:
        kept.append(f"{name}={value}")
    text = ",".join(kept)
    return _set(lines, lambda line: _PARAMETERS in line.keys, "SchedulerParameters", text)


def _partition(machine: Machine, name: str, key: str, value: str) -> Sequence[Line]:
    lines = machine.slurm.source.lines
    named = [line.keys["partitionname"] for line in lines if line.record == "partitionname"]
    known = [one for one in named if one.upper() != "DEFAULT"]
    if name not in known:
        raise InvalidInstance(unknown_name("partition", name, known))
    if key.lower() not in conf.PARTITION_KEYS:
        raise InvalidInstance(unknown_name("key of a partition", key, sorted(conf.PARTITION_KEYS)))
    return _set(lines, lambda line: line.keys.get("partitionname") == name, key, value)


def _set(
    lines: Iterable[Line], there: Callable[[Line], bool], key: str, value: str
) -> Sequence[Line]:
    """The lines with another value in the last that has it; without such a line one more."""
    found = list(lines)
    at = [number for number, line in enumerate(found) if there(line)]
    pair = {key.lower(): value}, {key.lower(): key}
    if not at:
        return [*found, Line(_PLACE, *pair)]
    old = found[at[-1]]
    found[at[-1]] = Line(old.place, old.keys | pair[0], old.spelled | pair[1])
    return found


def _file(machine: Machine, path: str) -> tuple[Machine, str]:
    """Another slurm.conf, with the same accounts, and what differs."""
    read = read_machine(path)
    if read is None:
        raise InvalidInstance(f"slurm.conf={shorten(path)}: expected a name that ends in .conf")
    old = machine.slurm
    kept = replace(read.slurm, accounts=old.accounts, approximate=old.approximate)
    differs = differences(old.source.lines, read.slurm.source.lines)
    said = f"differs in {'; '.join(differs)}" if differs else "no line differs"
    return replace(read, slurm=kept), said


def differences(old: Iterable[Line], new: Iterable[Line]) -> list[str]:
    """What differs between the lines of two files: ``PriorityWeightAge 1000 -> 5000``."""
    before, after = _pairs(old), _pairs(new)
    return [
        f"{name} {before.get(name, '(not set)')} -> {after.get(name, '(not set)')}"
        for name in dict.fromkeys(chain(before, after))
        if before.get(name) != after.get(name)
    ]


def _pairs(lines: Iterable[Line]) -> dict[str, str]:
    found = {}
    for line in lines:
        of = f"{line.keys[line.record]}." if line.record else ""
        for key, value in line.keys.items():
            if key != line.record:
                found[f"{of}{line.spelled[key]}"] = value
        if line.record:
            found.setdefault(f"{line.spelled[line.record]}={line.keys[line.record]}", "there")
    return found


def _with_accounts(machine: Machine, kind: str, name: str, key: str, value: str) -> Machine:
    shown: Shown | None = machine.slurm.accounts
    if shown is None:
        raise InvalidInstance(f"{kind}.{name}: expected the accounts of the machine (--accounts)")
    column = spelled(key)
    if column is None:
        raise InvalidInstance(f"unknown limit {shorten(key)}: expected one that sacctmgr shows")
    title, table = ("Name", "qos") if kind == "qos" else ("Account", "associations")
    rows: Sequence[Mapping[str, Any]] = getattr(shown, table)
    names = ["" if row.get("User") else row[title] for row in rows]
    if name not in names:
        known = filter(None, names)
        raise InvalidInstance(unknown_name(kind.replace("qos", "QOS"), name, list(known)))
    own = [{**row, column: value} if row_of == name else row
           for row_of, row in zip(names, rows, strict=True)]  # fmt: skip
    changed = replace(shown, **{table: tuple(own)})
    return replace(machine, slurm=replace(machine.slurm, accounts=changed))


def _reserved(machine: Machine, text: str, begins: datetime | None) -> Machine:
    """BEGIN/DURATION/NODES: a date and time, or seconds since the first job's time base."""
    parts = text.split("/", 2)
    if len(parts) != 3:
        raise InvalidInstance(f"reservation={shorten(text)}: expected BEGIN/DURATION/NODES")
    begin = _begin(parts[0], begins)
    unit = re.fullmatch(r"([0-9]+)([mhd])", parts[1])
    length = int(unit[1]) * _UNITS[unit[2]] if unit else seconds_of_limit(parts[1], "reservation")
    if not 0 < length < float("inf"):
        raise InvalidInstance(f"reservation={shorten(text)}: expected a duration such as 12h")
    window = (begin, begin + int(length), parts[2])
    settings = machine.slurm
    return replace(machine, slurm=replace(settings, reserved=(*settings.reserved, window)))


def _begin(text: str, begins: datetime | None) -> int:
    if re.fullmatch(r"[0-9]{1,12}", text):
        return int(text)
    try:
        date = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInstance(
            f"reservation: {shorten(text)}: expected 2026-12-01T08:00, or seconds"
        ) from None
    if begins is None:
        raise InvalidInstance("reservation: the log has no dates: expected seconds")
    aware = date if date.tzinfo or not begins.tzinfo else date.replace(tzinfo=begins.tzinfo)
    return int((aware - begins).total_seconds())


def _fewer(instance: Instance, user: str, value: str) -> tuple[Instance, str]:
    """Without some of a user's jobs, spread evenly over the log."""
    found = re.fullmatch(r"-([0-9]+(?:\.[0-9]+)?)%", value)
    share = float(found[1]) / 100 if found else 0.0
    if not 0 < share <= 1:
        raise InvalidInstance(f"users.{user}={shorten(value)}: expected fewer jobs, as -50%")
    if "user" not in instance.known:
        raise InvalidInstance("the log does not say whose jobs they are")
    users = instance.column("user").astype(str)
    own = np.flatnonzero(users == user)
    if not len(own):
        raise InvalidInstance(unknown_name("user", user, dict.fromkeys(users.tolist())))
    # Every other one of half of them: what is left is spread as all were.
    count = round(share * len(own))
    places = (np.arange(count) + 0.5) * len(own) / max(count, 1)
    gone = own[places.astype(int)]
    if len(gone) == len(instance):
        raise InvalidInstance(f"users.{user}={value}: no job is left")
    kept = np.delete(np.arange(len(instance)), gone)
    return instance.take(kept), f"{len(gone):,} jobs of {user} are left out"


#: What this storey adds to ``audit``'s changes.
CHANGES = Changes(
    r"slurm\.conf|reservation|(?:qos|account|partition|users)\.[^=,]+|[A-Z]\w+|[a-z]+_[a-z_]+",
    _applies,
    _change,
    _idle,
    _FORMS,
)
