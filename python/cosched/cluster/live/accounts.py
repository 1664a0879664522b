"""Shares, usage and limits of users, accounts and QOS, as Slurm's commands show them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from cosched.cluster.live.outputs import rows

#: What a limit is of: jobs, nodes, CPUs at once.
_KINDS = ("jobs", "nodes", "cpus")


def shares(texts: Mapping[str, str]) -> list[dict[str, Any]]:
    """Associations in the order of the tree: ``account, user, parent`` (row, -1 of the root),
    ``shares`` (None: of its parent), ``usage, factor``."""
    name = next((n for n in ("sshare_long.txt", "sshare.txt") if n in texts), None)
    if name is None:
        return []
    exact = _exact_usage(texts.get("scontrol_assoc_mgr.txt", ""))
    found: list[dict[str, Any]] = []
    path: list[int] = []  # rows of the accounts above, by depth
    for row in rows(texts[name], name):
        account, user = row["Account"], row["User"].strip()
        depth = len(account) - len(account.lstrip())
        del path[depth:]
        raw = row["RawShares"].strip()
        key = (account.strip(), user)
        found.append({
            "account": key[0], "user": user, "parent": path[-1] if path else -1,
            "shares": None if raw == "parent" else _float(raw, 1.0),
            "usage": exact.get(key, _float(row.get("RawUsage", ""), 0.0)),
            "factor": _float(row.get("FairShare", ""), 0.0),
        })  # fmt: skip
        if not user:
            path.append(len(found) - 1)
    return found if found and found[0]["parent"] < 0 and not found[0]["user"] else []


def _float(text: str, usual: float) -> float:
    try:
        return float(text)
    except ValueError:
        return usual


def _exact_usage(text: str) -> dict[tuple[str, str], float]:
    """Usage with its decimals, which sshare leaves out."""
    found = re.findall(
        r"Account=(\S*) UserName=([^\s(]*).*?UsageRaw/Norm/Efctv=([0-9.]+)", text, re.DOTALL
    )
    return {(account, user): float(usage) for account, user, usage in found}


def limits(texts: Mapping[str, str]) -> dict[str, Any]:
    """``qos`` and ``associations``: limits by their names in sacctmgr; empty where not shown."""
    qos = {
        row["Name"]: {key: value for key, value in row.items() if value}
        for row in rows(texts.get("sacctmgr_qos.txt", ""), "sacctmgr_qos.txt")
    }
    associations = [
        {key: value for key, value in row.items() if value}
        for row in rows(texts.get("sacctmgr_assoc.txt", ""), "sacctmgr_assoc.txt")
    ]
    return {"qos": qos, "associations": associations}


class Groups:
    """Limits that jobs share, each with a number, and those of a job."""

    def __init__(self, known: Mapping[str, Any], partition_qos: Mapping[str, str]) -> None:
        self._qos = known.get("qos", {})
        self._partition_qos = partition_qos
        self._own = {}
        for one in known.get("associations", ()):
            key = (one.get("Account", ""), one.get("User", ""))
            if not one.get("Partition"):
                self._own[key] = one
        self._numbers: dict[tuple, int] = {}
        self.names: list[str] = []
        self.limits: list[tuple[float, float, float]] = []

    def of(self, job: Mapping[str, Any]) -> list[int]:
        """Numbers of the groups whose limits hold for the job."""
        user, account = job.get("user", ""), job.get("account", "")
        wanted: list[tuple[tuple, dict[str, float]]] = []
        sets: set[str] = set()
        part = str(job.get("partition", "")).split(",")[0]
        names = [self._partition_qos.get(part, ""), job.get("qos", "")]
        for name in filter(None, names):
            qos = self._qos.get(name, {})
            levels = {
                "": ("Grp", name),
                "PU": ("Max", name, user),
                "PA": ("Max", name, "", account),
            }
            for suffix, key in levels.items():
                own = _limits_of(qos, "Grp" if not suffix else "Max", suffix)
                own = {k: v for k, v in own.items() if f"{suffix}{k}" not in sets}
                sets |= {f"{suffix}{k}" for k in own}
                wanted.append((("QOS", *key), own))
            if "MaxTRES" not in sets and (size := _tres(qos.get("MaxTRES", ""))):
                sets.add("MaxTRES")
                wanted += self._too_large(job, size, f"QOS {name}")
        wanted += self._of_associations(job, user, account, sets)
        return [self._number(key, own) for key, own in wanted if own]

    def _of_associations(
        self, job: Mapping[str, Any], user: str, account: str, sets: set[str]
    ) -> list[tuple[tuple, dict[str, float]]]:
        wanted: list[tuple[tuple, dict[str, float]]] = []
        own = self._own.get((account, user), {})
        above = self._own.get((account, ""), {})
        jobs = own.get("MaxJobs", above.get("MaxJobs", ""))
        if jobs and not sets & {"PUjobs", "PAjobs"}:
            wanted.append((("user", "MaxJobs", account, user), {"jobs": float(jobs)}))
        size = _tres(own.get("MaxTRES", above.get("MaxTRES", "")))
        if size and "MaxTRES" not in sets:
            wanted += self._too_large(job, size, f"user {user}")
        for level, known in (((account, user), own), ((account, ""), above), (("root", ""), None)):
            known = self._own.get(level, {}) if known is None else known
            grp = {k: v for k, v in _limits_of(known, "Grp", "").items() if k not in sets}
            wanted.append((("association", *level), grp))
        return wanted

    @staticmethod
    def _too_large(
        job: Mapping[str, Any], size: Mapping[str, float], whose: str
    ) -> list[tuple[tuple, dict[str, float]]]:
        asks = {"nodes": job.get("nodes") or 1, "cpus": job.get("cpus") or 1}
        if all(asks[kind] <= size.get(kind, math.inf) for kind in asks):
            return []
        return [((whose, "MaxTRES"), {"jobs": 0.0})]

    def _number(self, key: tuple, own: Mapping[str, float]) -> int:
        if key not in self._numbers:
            self._numbers[key] = len(self.limits)
            told = ", ".join(f"{kind} {own[kind]:g}" for kind in _KINDS if kind in own)
            self.names.append(f"{' '.join(filter(None, map(str, key)))} ({told})")
            jobs, nodes, cpus = (own.get(kind, math.inf) for kind in _KINDS)
            self.limits.append((jobs, nodes, cpus))
        return self._numbers[key]


def _limits_of(given: Mapping[str, str], prefix: str, suffix: str) -> dict[str, float]:
    """Limits of jobs, nodes and CPUs; sacctmgr calls them GrpJobs, MaxTRESPU, ..."""
    found = _tres(given.get(f"{prefix}TRES{suffix}", ""))
    jobs = given.get(f"{prefix}Jobs{suffix}", "")
    return {**({"jobs": float(jobs)} if jobs.isdigit() else {}), **found}


def _tres(text: str) -> dict[str, float]:
    pairs = dict(re.findall(r"(node|cpu)=([0-9]+)", text))
    names = {"node": "nodes", "cpu": "cpus"}
    return {names[key]: float(value) for key, value in pairs.items()}
