"""Accounts of jobs that name none: the default account of their user, as Slurm takes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cosched.core.text import listed
from cosched.lazy import pd
from cosched.notes import Note, NoteKind

if TYPE_CHECKING:
    from cosched.cluster.machine import Machine


def with_default_accounts(jobs: Any, machine: Machine | None) -> tuple[Any, list[Note]]:
    """Jobs whose empty accounts are filled in where the machine's accounts tell them, and notes.

    Parameters
    ----------
    jobs : DataFrame or dict of str to list
        Columns of an instance; the same kind comes back.
    machine : Machine, optional
        Of a slurm.conf with accounts (``--accounts``); without, nothing changes.
    """
    settings = machine.slurm if machine is not None else None
    if settings is None or settings.accounts is None or "user" not in jobs:
        return jobs, []
    defaults = settings.accounts.default_account_by_user
    users = ["" if user is None else str(user) for user in list(jobs["user"])]
    accounts_of_jobs = list(jobs["account"]) if "account" in jobs else [""] * len(users)
    account_names = [
        "" if account is None or pd.isna(account) else str(account) for account in accounts_of_jobs
    ]
    rows = [
        row
        for row, (user, account) in enumerate(zip(users, account_names, strict=True))
        if not account and user in defaults
    ]
    if not rows:
        return jobs, []
    accounts = np.array(account_names, dtype=object)
    for row in rows:
        accounts[row] = defaults[users[row]].name
    assumed = [row for row in rows if defaults[users[row]].is_assumed]
    text = f"assumed: {len(rows)} jobs name no account: the default account of their user"
    notes = [Note(NoteKind.ASSUMED, text, subject="accounts", count=len(rows))]
    if assumed:
        names = listed(list(dict.fromkeys(users[row] for row in assumed)))
        text = (
            f"assumed: {len(assumed)} of them are of users with several accounts and no known "
            f"default ({names}): the first account of each (sacctmgr -P show user tells the "
            "default)"
        )
        notes.append(Note(NoteKind.ASSUMED, text, subject="default accounts", count=len(assumed)))
    if isinstance(jobs, pd.DataFrame):
        return jobs.assign(account=accounts), notes
    return {**jobs, "account": accounts.tolist()}, notes
