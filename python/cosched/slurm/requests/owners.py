"""Whose the jobs of a log are: associations, QOS, and partitions that let them in."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from cosched.cluster.instance import Instance
from cosched.cluster.instance.usage import texts_of
from cosched.cluster.machine import Machine
from cosched.errors import InvalidInstance
from cosched.slurm.conf.settings import SlurmSettings
from cosched.slurm.requests.associations import Accounts
from cosched.slurm.requests.request import Owner


def owners_of(
    instance: Instance,
    machine: Machine | None,
    settings: SlurmSettings,
    approximate: bool,
) -> tuple[list[Owner] | None, dict[str, Any], list[str]]:
    """Whose each job is, None where shares and limits do not count; accounts and QOS as
    :class:`Requests` has them; what is to be said of it."""
    if machine is None or settings.accounts is None or not settings.of_accounts:
        return None, {}, []
    accounts = Accounts(settings.accounts, machine)
    unknown = "user" not in instance.known
    if unknown and not approximate:
        raise InvalidInstance(
            f"slurm-backfill: {settings.of_accounts[0]}: expected a log that tells its "
            "users (and accounts, QOS), or approximate=True (--approximate) to run without"
        )
    if accounts.left and not approximate:
        raise InvalidInstance(
            f"slurm-backfill does not cover {', '.join(accounts.left)}: expected accounts without, "
            "or approximate=True (--approximate) to run without them"
        )
    notes = [f"not followed: {one}: jobs that it keeps may start earlier here"
             for one in accounts.left]  # fmt: skip
    if unknown:
        return None, {}, [*notes, "not followed: accounts: the log does not tell its users"]
    names = (texts_of(instance, name).tolist() for name in ("user", "account", "qos"))
    owners = [accounts.of_log(*own) for own in zip(*names, strict=True)]
    limited = settings.limits_count
    rows = [(*row[:3], row[3] if limited else {}, *row[4:]) for row in accounts.rows]
    qos = [one if limited else {**one, "limits": []} for one in accounts.qos]
    return owners, {
        "accounts": tuple(rows), "qos": tuple(qos), "billing": accounts.billing,
        "partition_qos": accounts.partition_qos,
    }, notes + _unknown(owners)  # fmt: skip


def _unknown(owners: list[Owner]) -> list[str]:
    lost = sum(own.association < 0 for own in owners)
    no_qos = sum(own.qos < 0 for own in owners)
    said = []
    if lost:
        said.append(f"{lost} jobs of users without an association: without a share and its limits")
    if no_qos:
        said.append(f"{no_qos} jobs of a QOS that the accounts do not have: without its limits")
    return said


def let_in(
    instance: Instance,
    settings: SlurmSettings,
    names: list[str],
    of_rows: dict[int, list[int]],
    first: np.ndarray,
) -> tuple[dict[int, list[int]], list[str]]:
    """Partitions of jobs in several, without those that do not let them in; notes of the rest."""
    rules = settings.allowed
    if not any(rules.get(name) for name in names):
        return of_rows, []
    accounts, qos = (texts_of(instance, name).tolist() for name in ("account", "qos"))

    def takes(part: int, row: int) -> bool:
        own = rules.get(names[part], {})
        for key, name in (("accounts", accounts[row]), ("qos", qos[row])):
            if not name:
                continue
            if f"allow{key}" in own and name.lower() not in own[f"allow{key}"]:
                return False
            if f"allow{key}" not in own and name.lower() in own.get(f"deny{key}", ()):
                return False
        return True

    found, denied = dict(of_rows), Counter[str]()
    for row in range(len(instance)):
        parts = of_rows.get(row, [int(first[row])])
        inside = [part for part in parts if takes(part, row)]
        if not inside:
            denied[names[parts[0]]] += 1
        elif row in of_rows:
            found[row] = inside
    return found, [
        f"{count} jobs of partition {name} whose AllowAccounts, AllowQos or their likes do not let "
        "them in: they run here" for name, count in denied.items()
    ]  # fmt: skip
