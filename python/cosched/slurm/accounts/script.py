"""Scripts of sacctmgr: what the accounts are when all their commands have been done."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from cosched.errors import InvalidInstance, shorten

_COMMAND = re.compile(
    r"\s*(?:sacctmgr\s+(?:-\S+\s+)*)?(add|create|modify|update|remove|delete)\s+"
    r"(account|user|qos|cluster|association)s?\b(.*)",
    re.IGNORECASE,
)
#: Options that name what a command is about, each spelled as sacctmgr takes it.
_NAMED = {"name": "name", "names": "name", "account": "account", "accounts": "account",
          "acct": "account", "user": "user", "users": "user", "cluster": "cluster",
          "clusters": "cluster", "defaultaccount": "def acct", "defaultacct": "def acct",
          "partition": "partition", "partitions": "partition"}  # fmt: skip
Row = dict[str, str]


@dataclass
class _State:
    accounts: dict[str, Row] = field(default_factory=dict)
    users: dict[tuple[str, str], Row] = field(default_factory=dict)  # by account and user
    qos: dict[str, Row] = field(default_factory=lambda: {"normal": {}})


def script_rows(lines: Iterable[tuple[str, str]]) -> Iterator[Row]:
    """Associations and QOS, options in lower case, of lines with their places; of other lines
    nothing."""
    state, found = _State(), False
    for place, line in lines:
        command = _COMMAND.fullmatch(line)
        if command:
            found = True
            _do(state, command[1].lower(), command[2].lower(), _options(command[3], place), place)
    if not found:
        return
    for name, own in state.accounts.items():
        yield {"account": name, "user": "", **own}
    for (account, user), own in state.users.items():
        yield {"account": account, "user": user, **own}
    yield from ({"name": name, **own} for name, own in state.qos.items())


def _options(text: str, place: str) -> tuple[Row, Row]:
    """What a command is about, and what it sets: before and behind ``set``, where that is there."""
    try:
        words = shlex.split(text, comments=True)
    except ValueError as error:
        raise InvalidInstance(f"{place}: {str(error).lower()}: {shorten(text)}") from None
    about: Row = {}
    sets: Row = {}
    into = about
    for word in words:
        low = word.lower()
        if low in ("where", "set"):
            into = sets if low == "set" else about
            continue
        name, given, value = word.partition("=")
        if given and (not name or not value):
            raise InvalidInstance(f"{place}: {shorten(word)}: expected Option=value")
        key = _NAMED.get(name.lower(), name.lower().rstrip("+-"))
        into[key if given else "name"] = value if given else word
    return about, sets


def _do(state: _State, verb: str, what: str, options: tuple[Row, Row], place: str) -> None:
    about, sets = options
    kinds = {"account": "account", "user": "user"}
    names = _list(about.pop("name", about.get(kinds.get(what, ""), "")))
    if not names and what not in ("cluster", "association"):
        raise InvalidInstance(f"{place}: {verb} {what}: expected Name=")
    if what == "association":
        return
    if what == "cluster":
        about.pop("cluster", None)
        if verb in ("add", "create"):
            state.accounts.setdefault("root", {}).update(about)
        elif verb in ("modify", "update"):
            state.accounts.setdefault("root", {}).update(sets)
    elif verb in ("remove", "delete"):
        _remove(state, what, names, _list(about.get("account", "")))
    elif verb in ("modify", "update"):
        for own in _meant(state, what, names, _list(about.get("account", ""))):
            own.update(sets)
    elif what == "qos":
        for name in names:
            state.qos.setdefault(name, {}).update(about)
    elif what == "account":
        about.pop("cluster", None)
        for name in names:
            state.accounts.setdefault(name, {}).update(about)
    else:
        _add_users(state, names, about, place)


def _add_users(state: _State, names: list[str], about: Row, place: str) -> None:
    """In its default account, too; in one with all QOS that are named."""
    about.pop("cluster", None)
    usual = about.get("def acct", "")
    accounts = list(dict.fromkeys(_list(usual) + _list(about.pop("account", ""))))
    if not accounts:
        raise InvalidInstance(f"{place}: add user: expected Account= or DefaultAccount=")
    about.setdefault("def acct", accounts[0])
    for account in accounts:
        if account != "root" and account not in state.accounts:
            raise InvalidInstance(f"{place}: add user: no account {shorten(account)} before it")
        for name in names:
            state.users.setdefault((account, name), {}).update(about)


def _meant(state: _State, what: str, names: list[str], accounts: list[str]) -> list[Row]:
    if what == "qos":
        return [own for name, own in state.qos.items() if name in names]
    if what == "account":
        return [own for name, own in state.accounts.items() if name in names]
    return [
        own for (account, user), own in state.users.items()
        if user in names and (not accounts or account in accounts)
    ]  # fmt: skip


def _remove(state: _State, what: str, names: list[str], accounts: list[str]) -> None:
    if what == "qos":
        state.qos = {k: own for k, own in state.qos.items() if k not in names}
    elif what == "account":
        state.accounts = {k: own for k, own in state.accounts.items() if k not in names}
        state.users = {k: own for k, own in state.users.items() if k[0] not in names}
    else:
        state.users = {
            (account, user): own for (account, user), own in state.users.items()
            if user not in names or (accounts and account not in accounts)
        }  # fmt: skip


def _list(text: str) -> list[str]:
    return [name for name in text.split(",") if name]
