"""One change of a Slurm in one line of text, and the same jobs under it."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np

from cosched.cluster.analysis.what_if import ChangeProvider, on_machine
from cosched.cluster.instance import Instance
from cosched.cluster.machine import Machine
from cosched.cluster.machine.node_types import host_list, hosts
from cosched.core.text import count_of, unknown_name
from cosched.errors import InvalidInstance, shorten
from cosched.slurm.accounts.accounting_dump import canonical_column
from cosched.slurm.conf.known_keys import OPTIONS, Option, keys_of, option_of
from cosched.slurm.conf.lines import Line, seconds_of_limit, seconds_of_minutes
from cosched.slurm.conf.settings import settings_of, source_of
from cosched.slurm.conf.values import canonical_value, value_by_word
from cosched.slurm.machines import read_machine, with_lines
from cosched.slurm.whatif.account_values import checked_account_value
from cosched.slurm.whatif.classes import is_judged_by_log, judge
from cosched.slurm.whatif.differences import Difference, current_value, differences_of
from cosched.slurm.whatif.refusals import ChangeRefusals, KeyChange, refusals_of
from cosched.slurm.whatif.removed_jobs import removed_rows_of_user
from cosched.units import parse_duration

_PLACE = "what-if"
_PARAMETERS = "schedulerparameters"
#: Keys of a partition that the batch policies have words of their own for.
_BATCH_KEYS = ("max_time", "priority", "nodes")
_FORMS = (
    "with a slurm.conf also slurm.conf=new.conf, PriorityWeightAge=5000, bf_interval=60, "
    "qos.high.MaxTRESPU=cpu=512, account.physics.Fairshare=200, partition.gpu.MaxTime=60, "
    "reservation=2026-12-01T08:00/12h/ALL, users.ada=-50%"
)


def _has_key(instance: Instance, key: str) -> bool:
    """Return whether a key changes users, or a slurm.conf: all but nodes, where the machine is a
    Slurm."""
    if key.startswith("users."):
        return True
    settings = instance.machine.slurm if instance.machine is not None else None
    if settings is None or settings.source is None or re.fullmatch(r"nodes(\..+)?", key):
        return False
    return not (
        key.startswith("partition.") and key.endswith(tuple(f".{name}" for name in _BATCH_KEYS))
    )


def _apply_change(instance: Instance, key: str, value: str) -> tuple[Instance, str]:
    kind, _, rest = key.partition(".")
    if kind == "users" and rest:
        return _without_jobs_of_user(instance, rest, value)
    machine = instance.machine
    if machine is None:
        raise InvalidInstance(
            f"what-if {shorten(f'{key}={value}')}: expected users.NAME=-50%, or a log with a "
            "slurm.conf (--machine)"
        )
    name, _, target_key = rest.rpartition(".")
    remark = ""
    differences: list[Difference] = []
    if key == "slurm.conf":
        changed, differences = _machine_of_file(machine, value)
        texts = [str(difference) for difference in differences]
        remark = f"differs in {'; '.join(texts)}" if texts else "no line differs"
    elif key == "reservation":
        changed = _with_reservation(machine, value, instance.begins)
    elif kind == "partition" and name:
        lines = _lines_with_partition_key(machine, name, target_key, value)
        changed = with_lines(machine, lines)
        current = current_value(machine, name, target_key)
        differences = [Difference("PartitionName", name, target_key, current, value)]
        remark = _about_minutes(target_key, value)
    elif kind in ("qos", "account") and name:
        changed = _with_accounts(machine, kind, name, target_key, value)
    elif "." in key:
        raise InvalidInstance(f"expected {_FORMS}")
    else:
        changed = with_lines(machine, _lines_with_parameter(machine, key, value))
        differences = [Difference("", "", key, current_value(machine, "", key), value)]
    startable, refusal_remarks = _without_refused(instance, changed, differences)
    moved, limit_remark = on_machine(startable, changed)
    return moved, "; ".join(filter(None, [remark, *refusal_remarks, limit_remark]))


def _about_minutes(key: str, value: str) -> str:
    """Return what a time limit of a partition means to Slurm, where its text does not say it;
    else empty."""
    option = option_of("PartitionName", key)
    if option is None or option.takes.partition(":")[0] != "minutes":
        return ""
    seconds = seconds_of_minutes(value, key)
    if not math.isfinite(seconds):
        return ""
    minutes = count_of(int(seconds / 60), "minute")
    if re.fullmatch(r"[0-9]+", value.strip()):
        return f"{key}={value} is {minutes} (max_time={value} would be seconds)"
    is_rounded = seconds != seconds_of_limit(value, key)
    return f"Slurm rounds {key}={value} up to {minutes}" if is_rounded else ""


def _without_refused(
    instance: Instance, changed: Machine, differences: Sequence[Difference]
) -> tuple[Instance, list[str]]:
    """Return the jobs without those that Slurm would refuse or never start, and a remark per
    key; a job that two keys refuse is counted under the first."""
    is_refused = np.zeros(len(instance), dtype=bool)
    remarks: list[str] = []
    for difference in differences:
        refusals = refusals_under(instance, changed, difference)
        if refusals is None:
            continue
        newly_refused = refusals.rows[~is_refused[refusals.rows]]
        if len(newly_refused):
            is_refused[newly_refused] = True
            remarks.append(
                f"left out, since Slurm refuses them or never lets them start: "
                f"{count_of(len(newly_refused), 'job')} "
                f"({_name_of_key(difference)}={difference.new or 'not set'})"
            )
    if is_refused.all():  # the row is not modelled, as `judge` says
        return instance, []
    if not is_refused.any():
        return instance, remarks
    return instance.take(np.flatnonzero(~is_refused)), remarks


def _name_of_key(difference: Difference) -> str:
    """Return a key as a what-if names it."""
    if not difference.name:
        return difference.key
    return f"partition.{difference.name}.{difference.key}"


def refusals_under(
    instance: Instance, changed: Machine, difference: Difference
) -> ChangeRefusals | None:
    """Return the jobs that a key keeps out; None: it keeps none out by its own."""
    if not is_judged_by_log(difference) or instance.machine is None:
        return None
    change = KeyChange(
        difference.key,
        difference.name,
        difference.new or "",
        difference.old or "",
        instance.machine,
        changed,
    )
    return refusals_of(instance, change)


def _lines_with_parameter(machine: Machine, key: str, value: str) -> Sequence[Line]:
    """Return the lines of slurm.conf with another value of a key, or of a word of
    SchedulerParameters."""
    lines = source_of(machine).lines
    option = option_of("", key)
    if option is not None and option.takes != "record":
        return set_value(
            lines,
            lambda line: not line.record and option.key.lower() in line.keys,
            option.key,
            canonical_value(option, value),
        )
    if option is not None:
        raise InvalidInstance(
            f"{option.key} is a line with several keys: expected nodes=+4, nodes.g[1-4]=+4, "
            "partition.NAME.KEY=VALUE, or slurm.conf=new.conf with the line in it"
        )
    word = option_of("SchedulerParameters", key)
    if word is None:
        keys = [
            option.key
            for option in OPTIONS
            if option.record in ("", "SchedulerParameters") and option.takes != "record"
        ]
        raise InvalidInstance(unknown_name("parameter of slurm.conf", key, dict.fromkeys(keys)))
    return _lines_with_scheduler_parameter(lines, word, canonical_value(word, value))


def _lines_with_scheduler_parameter(
    lines: Sequence[Line], option: Option, value: str
) -> Sequence[Line]:
    """Return a part of SchedulerParameters; a word without a value is set by yes and removed by
    no."""
    texts = [line.keys[_PARAMETERS] for line in lines if _PARAMETERS in line.keys]
    parts = texts[-1].split(",") if texts else []
    name = option.key.lower()
    words = [part for part in parts if part and name not in value_by_word(part)]
    if option.takes != "flag":
        words.append(f"{option.key}={value}")
    elif value.lower() in ("yes", "1"):
        words.append(option.key)
    text = ",".join(words)
    return set_value(lines, lambda line: _PARAMETERS in line.keys, "SchedulerParameters", text)


def _lines_with_partition_key(machine: Machine, name: str, key: str, value: str) -> Sequence[Line]:
    """Return the lines of slurm.conf with another value of a key of a partition."""
    lines = source_of(machine).lines
    names = [line.keys["partitionname"] for line in lines if line.record == "partitionname"]
    partitions = [partition for partition in names if partition.upper() != "DEFAULT"]
    if name not in partitions:
        raise InvalidInstance(unknown_name("partition", name, partitions))
    option = option_of("PartitionName", key)
    if option is None:
        keys = sorted(option.key for option in OPTIONS if option.record == "PartitionName")
        raise InvalidInstance(unknown_name("key of a partition", key, keys))
    return set_value(
        lines,
        lambda line: line.keys.get("partitionname") == name,
        option.key,
        canonical_value(option, value),
    )


def set_value(
    lines: Iterable[Line], is_line: Callable[[Line], bool], key: str, value: str
) -> Sequence[Line]:
    """Return the lines with another value in the last that has it; without such a line one more."""
    changed_lines = list(lines)
    places = [number for number, line in enumerate(changed_lines) if is_line(line)]
    values, spellings = {key.lower(): value}, {key.lower(): key}
    if not places:
        return [*changed_lines, Line(_PLACE, values, spellings)]
    old = changed_lines[places[-1]]
    changed_lines[places[-1]] = Line(old.place, old.keys | values, old.spellings | spellings)
    return changed_lines


def _machine_of_file(machine: Machine, path: str) -> tuple[Machine, list[Difference]]:
    """Return another slurm.conf, with the same accounts, and what differs."""
    read = read_machine(path)
    if read is None:
        raise InvalidInstance(f"slurm.conf={shorten(path)}: expected a name that ends in .conf")
    old = settings_of(machine)
    settings = replace(settings_of(read), accounts=old.accounts, approximate=old.approximate)
    differences = differences_of(source_of(machine).lines, source_of(read).lines)
    for difference in differences:
        option = option_of(difference.record, difference.key)
        if option is not None and difference.new is not None:
            canonical_value(option, difference.new)
    return replace(read, slurm=settings), differences


def _with_accounts(machine: Machine, kind: str, name: str, key: str, value: str) -> Machine:
    """Return the machine with another value of an account or a QOS."""
    dump = settings_of(machine).accounts
    if dump is None:
        raise InvalidInstance(f"{kind}.{name}: expected the accounts of the machine (--accounts)")
    column = canonical_column(key)
    if column is None:
        raise InvalidInstance(f"unknown limit {shorten(key)}: expected one that sacctmgr shows")
    title, table = ("Name", "qos") if kind == "qos" else ("Account", "associations")
    rows: Sequence[Mapping[str, Any]] = getattr(dump, table)
    names = ["" if row.get("User") else row[title] for row in rows]
    if name not in names:
        known_names = list(filter(None, names))
        noun = kind.replace("qos", "QOS")
        if not known_names:
            raise InvalidInstance(
                f"unknown {noun} {shorten(name)}: --accounts shows no {noun} at all: expected what "
                f"sacctmgr -P show {'qos' if kind == 'qos' else 'assoc'} prints, too"
            )
        raise InvalidInstance(unknown_name(noun, name, known_names))
    value = checked_account_value(kind, key, value, [str(row["Name"]) for row in dump.qos])
    changed_rows = tuple(
        {**row, column: value} if name_of_row == name else row
        for name_of_row, row in zip(names, rows, strict=True)
    )
    changed_table: dict[str, Any] = {table: changed_rows}
    changed = replace(dump, **changed_table)
    return replace(machine, slurm=replace(settings_of(machine), accounts=changed))


def _with_reservation(machine: Machine, text: str, begins: datetime | None) -> Machine:
    """Add a reservation BEGIN/DURATION/NODES: a date and time, or seconds since the first job's
    time base."""
    parts = text.split("/", 2)
    if len(parts) != 3:
        raise InvalidInstance(f"reservation={shorten(text)}: expected BEGIN/DURATION/NODES")
    begin = _begin(parts[0], begins)
    length = parse_duration(parts[1])
    if length is None:
        length = seconds_of_limit(parts[1], "reservation")
    if not 0 < length < float("inf"):
        raise InvalidInstance(f"reservation={shorten(text)}: expected a duration such as 12h")
    window = (begin, begin + int(length), parts[2])
    settings = settings_of(machine)
    _require_hosts(settings.names, parts[2])
    return replace(machine, slurm=replace(settings, reserved=(*settings.reserved, window)))


def _require_hosts(names: Sequence[str], text: str) -> None:
    """Raise InvalidInstance where a reservation names nodes that the machine does not have."""
    if text.upper() == "ALL":
        return
    lacking = next((host for host in hosts(text, "reservation") if host not in names), None)
    if lacking is not None:
        raise InvalidInstance(
            f"reservation: no node {shorten(lacking)}: the machine has {host_list(names)}"
        )


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


def _without_jobs_of_user(instance: Instance, user: str, value: str) -> tuple[Instance, str]:
    """Return the instance without some of a user's jobs, spread evenly over the log."""
    removed_rows = removed_rows_of_user(instance, user, value)
    if not len(removed_rows):
        return instance, ""  # the class of the key has the reason
    if len(removed_rows) == len(instance):
        raise InvalidInstance(f"users.{user}={value}: no job is left")
    remaining_rows = np.delete(np.arange(len(instance)), removed_rows)
    jobs = count_of(len(removed_rows), "job")
    verb = "is" if len(removed_rows) == 1 else "are"
    return instance.take(remaining_rows), f"{jobs} of {user} {verb} left out"


#: Names of TRES, and words of PreemptParameters, which stand in values behind a comma:
#: ``PriorityWeightTRES=CPU=1000,Mem=2000``.
_INSIDE_VALUES = (
    "cpu", "mem", "node", "billing", "energy", "fs", "vmem", "pages", "bb", "ic", "license",
    *keys_of("PreemptParameters"),
)  # fmt: skip
#: Keys in lower case that do not look like one: others have a capital or an underscore.
_LOWER_CASE_KEYS = sorted(
    key for key in keys_of("") | keys_of("SchedulerParameters") if re.fullmatch("[a-z]+", key)
)
_KEY_PATTERN = (
    r"slurm\.conf|reservation|(?:qos|account|partition|users)\.[^=,]+"
    rf"|(?!(?i:{'|'.join(_INSIDE_VALUES)})[=/])(?:[A-Z]\w+|[a-z]+_[a-z_]+|{'|'.join(_LOWER_CASE_KEYS)})"
)
#: The changes of a slurm.conf: an entry point of cosched offers them to the what-if scenarios of
#: :mod:`cosched.cluster`.
CHANGE_PROVIDER = ChangeProvider(
    key_pattern=_KEY_PATTERN,
    has_key=_has_key,
    apply=_apply_change,
    judge=judge,
    forms=_FORMS,
)
