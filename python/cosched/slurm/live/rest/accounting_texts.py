"""Associations, QOS, shares and ended jobs of slurmrestd, as sacctmgr, sshare and sacct print them.

The paths are those of the parsers ASSOC, QOS and ASSOC_SHARES_OBJ_WRAP in Slurm's sources, 0.0.37
to 0.0.43; jobs of slurmdbd are read by the reader of ``sacct --json``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from cosched.cluster.files.batch_systems.json_stream import Member
from cosched.cluster.files.batch_systems.sacct_json import COLUMNS, SacctRow, sacct_rows
from cosched.slurm.live.job_records import as_text, number
from cosched.slurm.live.rest.fields import (
    cell,
    count_text,
    date_text,
    decimal_text,
    duration_text,
    first_value,
    limit_text,
    texts_of,
    tres_text,
    value_at,
)

Record = Mapping[str, Any]

#: A share of this number is the parent's (SLURMDB_FS_USE_PARENT).
_PARENT_SHARE = 0x7FFFFFFF
#: Flags of QOS by the words of sacctmgr, which are not in all cases alike.
_QOS_FLAGS = {
    "PARTITION_MINIMUM_NODE": "PartitionMinNodes",
    "PARTITION_MAXIMUM_NODE": "PartitionMaxNodes",
    "PARTITION_TIME_LIMIT": "PartitionTimeLimit",
    "ENFORCE_USAGE_THRESHOLD": "EnforceUsageThreshold",
    "NO_RESERVE": "NoReserve",
    "REQUIRED_RESERVATION": "RequiresReservation",
    "DENY_LIMIT": "DenyOnLimit",
    "OVERRIDE_PARTITION_QOS": "OverPartQOS",
    "PARTITION_QOS": "PartitionQOS",
    "NO_DECAY": "NoDecay",
    "USAGE_FACTOR_SAFE": "UsageFactorSafe",
    "RELATIVE": "Relative",
}
#: Limits of a QOS that versions before 0.0.42 do not have.
QOS_LIMITS_SINCE_42 = ("GrpSubmit", "GrpTRESMins")


def qos_text(records: Iterable[Record]) -> str:
    """The table of ``sacctmgr -P show qos``.

    Examples
    --------
    >>> print(qos_text([{"name": "normal", "priority": 0, "limits": {"grace_time": 30}}])[:33])
    Name|Priority|GraceTime|Preempt|P
    """
    return _table(_qos_cells(record) for record in records)


def _qos_cells(qos: Record) -> dict[str, str]:
    def tres(path: str) -> str:
        return tres_text(value_at(qos, f"limits/{path}"))

    def count(path: str) -> str:
        return limit_text(value_at(qos, f"limits/{path}"))

    flags = [_QOS_FLAGS.get(flag, flag) for flag in texts_of(qos.get("flags"))]
    modes = [mode.lower() for mode in texts_of(value_at(qos, "preempt/mode"))]
    return {
        "Name": as_text(qos.get("name")),
        "Priority": limit_text(qos.get("priority")),
        "GraceTime": duration_text(value_at(qos, "limits/grace_time"), 1) or "00:00:00",
        "Preempt": ",".join(_names(value_at(qos, "preempt/list"))),
        "PreemptExemptTime": duration_text(value_at(qos, "preempt/exempt_time"), 1),
        "PreemptMode": ",".join(mode for mode in modes if mode != "disabled") or "cluster",
        "Flags": ",".join(sorted(flags)),
        "UsageThres": decimal_text(qos.get("usage_threshold")),
        "UsageFactor": decimal_text(qos.get("usage_factor")),
        "GrpTRES": tres("max/tres/total"),
        "GrpTRESMins": tres("max/tres/minutes/total"),
        "GrpTRESRunMins": tres("max/tres/minutes/per/qos"),
        "GrpJobs": count("max/active_jobs/count"),
        "GrpSubmit": count("max/jobs/count"),
        "GrpWall": duration_text(value_at(qos, "limits/max/wall_clock/per/qos")),
        "MaxTRES": tres("max/tres/per/job"),
        "MaxTRESPerNode": tres("max/tres/per/node"),
        "MaxTRESMins": tres("max/tres/minutes/per/job"),
        "MaxWall": duration_text(value_at(qos, "limits/max/wall_clock/per/job")),
        "MaxTRESPU": tres("max/tres/per/user"),
        "MaxJobsPU": count("max/jobs/active_jobs/per/user"),
        "MaxSubmitPU": count("max/jobs/per/user"),
        "MaxTRESPA": tres("max/tres/per/account"),
        "MaxJobsPA": count("max/jobs/active_jobs/per/account"),
        "MaxSubmitPA": count("max/jobs/per/account"),
        "MinTRES": tres("min/tres/per/job"),
    }


def _names(value: object) -> list[str]:
    """Names of a list of texts, or of objects with a name."""
    if isinstance(value, list) and any(isinstance(entry, Mapping) for entry in value):
        return [as_text(value_at(entry, "name")) for entry in value]
    return texts_of(value)


def associations_text(records: Iterable[Record], qos: Iterable[Record] = ()) -> str:
    """The table of ``sacctmgr -P show assoc``.

    Parameters
    ----------
    qos : iterable of mapping
        All QOS: 0.0.37 has their numbers in place of their names.
    """
    names = {count_text(record.get("id")): as_text(record.get("name")) for record in qos}
    return _table(_association_cells(record, names) for record in records)


def _association_cells(association: Record, qos_names: Mapping[str, str]) -> dict[str, str]:
    def tres(path: str) -> str:
        return tres_text(value_at(association, path))

    def count(path: str) -> str:
        return limit_text(value_at(association, path))

    return {
        "Cluster": as_text(association.get("cluster")),
        "Account": as_text(association.get("account")),
        "User": as_text(association.get("user")),
        "Partition": as_text(association.get("partition")),
        "Share": _share_text(association.get("shares_raw")),
        "Priority": count("priority"),
        "GrpJobs": count("max/jobs/per/count"),
        "GrpTRES": tres("max/tres/total"),
        "GrpSubmit": count("max/jobs/per/submitted"),
        "GrpWall": duration_text(value_at(association, "max/per/account/wall_clock")),
        "GrpTRESMins": tres("max/tres/group/minutes"),
        "MaxJobs": count("max/jobs/active"),
        "MaxTRES": tres("max/tres/per/job"),
        "MaxTRESPerNode": tres("max/tres/per/node"),
        "MaxSubmit": count("max/jobs/total"),
        "MaxWall": duration_text(value_at(association, "max/jobs/per/wall_clock")),
        "MaxTRESMins": tres("max/tres/minutes/per/job"),
        "QOS": ",".join(sorted(qos_names.get(k, k) for k in texts_of(association.get("qos")))),
        "Def QOS": as_text(value_at(association, "default/qos")),
        "GrpTRESRunMins": tres("max/tres/group/active"),
    }


def _share_text(value: object) -> str:
    parsed = number(value)
    return "parent" if parsed == _PARENT_SHARE else limit_text(value)


def shares_text(records: Iterable[Record]) -> str:
    """The table of ``sshare -a -l -P``, in which accounts are indented by their depth."""
    depths: dict[str, int] = {}
    return _table(_share_cells(record, depths) for record in records)


def _share_cells(record: Record, depths: dict[str, int]) -> dict[str, str]:
    """The cells of an account or a user; the depth of an account is kept."""
    name, parent = as_text(record.get("name")), as_text(record.get("parent"))
    is_user = "USER" in texts_of(record.get("type"))
    depth = depths.get(parent, -1) + 1
    if not is_user:
        depths[name] = depth
    return {
        "Account": " " * depth + (parent if is_user else name),
        "User": name if is_user else "",
        "RawShares": _share_text(record.get("shares")) if depth else "",
        "NormShares": decimal_text(record.get("shares_normalized")),
        "RawUsage": count_text(record.get("usage")),
        "NormUsage": decimal_text(record.get("usage_normalized")),
        "EffectvUsage": decimal_text(record.get("effective_usage")),
        "FairShare": decimal_text(value_at(record, "fairshare/factor")),
    }


class HistoryTable(NamedTuple):
    """The table of sacct that a history is read from.

    Attributes
    ----------
    text : str
    repaired_starts : int
        Jobs whose start is computed from their end: see :func:`start_of_end`.
    """

    text: str
    repaired_starts: int


def history_of(jobs: Iterable[Record], offset: float) -> HistoryTable:
    """Ended jobs of slurmdbd; `offset`: as of :func:`date_text`."""
    rows = [
        row
        for row in sacct_rows(Member(k, "", job) for k, job in enumerate(jobs, 1))
        if not isinstance(row, int)
    ]
    repaired_starts = sum(row.has_repaired_start for row in rows)
    return HistoryTable(_table(_history_cells(rows, offset)), repaired_starts)


def _history_cells(rows: Iterable[SacctRow], offset: float) -> Iterator[dict[str, str]]:
    for row in rows:
        texts = dict(zip(COLUMNS, row.texts, strict=True))
        if "." in texts["JobID"]:
            continue
        dates = {
            name: date_text(_seconds(texts[name]), offset)
            for name in ("Submit", "Eligible", "Start", "End")
        }
        yield {
            **{name: texts[name] for name in ("JobID", "User", "Account", "QOS", "Partition")},
            "State": texts["State"],
            **dates,
            "ElapsedRaw": texts["ElapsedRaw"],
            "TimelimitRaw": texts["TimelimitRaw"],
            "NNodes": texts["NNodes"],
            "NCPUS": texts["AllocCPUS"] or texts["ReqCPUS"],
            "ReqTRES": texts["ReqTRES"],
            "NodeList": texts["NodeList"],
        }


def _seconds(text: str) -> int | None:
    return int(text) if text.isdecimal() else None


def _table(rows: Iterable[Mapping[str, str]]) -> str:
    """A header and rows whose columns are parted by bars; empty where there is no row."""
    lines: list[str] = []
    for cells in rows:
        if not lines:
            lines.append("|".join(cells))
        first_name, first_text = next(iter(cells.items()))
        indent = first_text[: len(first_text) - len(first_text.lstrip())]
        other_cells = [cell(text) for name, text in cells.items() if name != first_name]
        lines.append("|".join([indent + cell(first_text), *other_cells]))
    return "".join(f"{line}\n" for line in lines)


def list_at(answer: Record, names: Iterable[str]) -> list[Record]:
    """The records of an answer by the names of its versions; an empty list where there are none."""
    value = first_value(answer, names)
    return (
        [record for record in value if isinstance(record, Mapping)]
        if isinstance(value, list)
        else []
    )
