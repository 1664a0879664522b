"""Shares, usage and limits of users, accounts and QOS, as Slurm's commands show them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from cosched.cluster.machine import Machine
from cosched.errors import InvalidInstance, shorten
from cosched.slurm.accounts.shown import ShareTree, Shown, assoc_records
from cosched.slurm.live.model import Share, made
from cosched.slurm.live.outputs import rows
from cosched.slurm.requests.associations import Accounts


def shares(texts: Mapping[str, str]) -> list[Share]:
    """Associations in the order of the tree."""
    name = next((n for n in ("sshare_long.txt", "sshare.txt") if n in texts), None)
    if name is None:
        return []
    shown = assoc_records(texts.get("scontrol_assoc_mgr.txt", ""), "scontrol_assoc_mgr.txt")
    # With decimals, which sshare leaves out.
    exact = {(one["Account"], one["User"]): one["Usage"] for one in shown if "Usage" in one}
    tree = ShareTree()
    found: list[Share] = []
    for row in rows(texts[name], name, ("Account", "User", "RawShares")):
        account, user, parent, _ = tree.placed(row)
        if found and parent < 0:
            raise InvalidInstance(
                f"{name}: {shorten(account)} is not below {found[0].account}: expected "
                "one root, and accounts indented by blanks, as sshare -P prints them"
            )
        raw = row["RawShares"].strip()
        usage = exact.get((account, user), row.get("RawUsage", ""))
        own = {
            "account": account, "user": user, "parent": parent,
            "shares": None if raw == "parent" else _float(raw, 1.0), "usage": _float(usage, 0.0),
            "factor": _float(row.get("FairShare", ""), 0.0),
        }  # fmt: skip
        found.append(made(Share, own, f"{name}: {shorten(account)} {shorten(user)}".rstrip()))
    return found if found and found[0].parent < 0 and not found[0].user else []


def _float(text: str, usual: float) -> float:
    try:
        found = float(text)
    except ValueError:
        return usual
    return found if math.isfinite(found) else usual


def limits(texts: Mapping[str, str]) -> dict[str, Any]:
    """``qos`` and ``associations``: limits by their names in sacctmgr; empty where not shown."""
    qos = {
        row["Name"]: {key: value for key, value in row.items() if value}
        for row in rows(texts.get("sacctmgr_qos.txt", ""), "sacctmgr_qos.txt", ("Name",))
    }
    associations = [
        {key: value for key, value in row.items() if value}
        for row in rows(
            texts.get("sacctmgr_assoc.txt", ""), "sacctmgr_assoc.txt", ("Account", "User")
        )
    ]
    return {"qos": qos, "associations": associations}


def accounts_of(
    shares_shown: Sequence[Share], known: Mapping[str, Any], machine: Machine
) -> Accounts:
    """Shares and limits together, in the core's form."""
    own = {
        (one.get("Account", ""), one.get("User", "")): one
        for one in known.get("associations", ()) if not one.get("Partition")
    }  # fmt: skip
    rows = [
        {
            **own.get((one.account, one.user), {}), "Account": one.account,
            "User": one.user, "parent": one.parent, "Usage": one.usage or 0.0,
            "Share": "parent" if one.shares is None else one.shares,
            "Factor": one.factor or 0.0,
        } for one in shares_shown
    ] or list(own.values())  # fmt: skip
    qos = [{"Name": name, **one} for name, one in known.get("qos", {}).items()]
    return Accounts(Shown(tuple(rows), tuple(qos)), machine)
