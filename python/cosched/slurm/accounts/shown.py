"""Associations and QOS as sacctmgr, sshare and scontrol print them, or as a script makes them."""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from cosched import io
from cosched.errors import InvalidInstance, shorten

_COMMAND = re.compile(
    r"\s*(?:sacctmgr\s+(?:-\S+\s+)*)?(add|create|modify|update|remove|delete)\s+"
    r"(account|user|qos|cluster|association)s?\b(.*)",
    re.IGNORECASE,
)
_FILE = Path(__file__).with_name("columns.toml")
#: Columns and options by their meaning.
KNOWN: dict[str, Any] = io.parse_toml(io.read_text(_FILE), str(_FILE))
_NAMED, _NAMES = KNOWN["options"], KNOWN["names"]
_PASSED_OVER = frozenset(KNOWN["passed_over"])
#: Spelled as sacctmgr shows it, whatever the case in which a script sets it.
_SPELLED = {
    name.lower(): _NAMES.get(name, name)
    for name in (*_PASSED_OVER, *_NAMES, *_NAMES.values(), *KNOWN["spelled"])
}
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
    gone = verb in ("remove", "delete")
    if what != "qos":
        about.pop("cluster", None)
    if what == "cluster":  # its options are those of the root
        own = about if verb in ("add", "create") else sets
        if not gone:
            state.accounts.setdefault("root", {}).update(own)
        return
    table: dict[Any, Row] = {"qos": state.qos, "account": state.accounts}.get(what, state.users)
    if gone or verb in ("modify", "update"):
        accounts = _list(about.get("account", ""))
        for key in list(table):
            name, account = key[::-1] if what == "user" else (key, "")
            if name not in names or (account and accounts and account not in accounts):
                continue
            if gone:
                del table[key]
            else:
                table[key].update(sets)
        if gone and what == "account":
            state.users = {k: own for k, own in state.users.items() if k[0] not in names}
    elif what == "user":
        _add_users(state, names, about, place)
    else:
        for name in names:
            table.setdefault(name, {}).update(about)


def _add_users(state: _State, names: list[str], about: Row, place: str) -> None:
    """In its default account, too; in one with all QOS that are named."""
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


def _list(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


#: Files of a folder that are looked at.
FILES = ("sacctmgr_assoc.txt", "sacctmgr_qos.txt", "sacctmgr_dump.txt", "scontrol_assoc_mgr.txt",
         "sshare_long.txt", "sshare.txt")  # fmt: skip
_LARGEST = 0x7FFFFFFF  # shares: of the parent


def spelled(key: str) -> str | None:
    """A column as sacctmgr shows it, of its name in any case; None: there is none that counts."""
    name = _SPELLED.get(key.lower())
    return None if name in _PASSED_OVER and name != "FairShare" else _NAMES.get(name or "", name)


@dataclass(frozen=True)
class Shown:
    """What the commands said."""

    #: By the names of ``sacctmgr show assoc``; accounts come before what belongs to them.
    associations: tuple[Mapping[str, Any], ...] = ()
    #: By the names of ``sacctmgr show qos``. ``GrpTRESMins used``, ``GrpWall used`` are minutes.
    qos: tuple[Mapping[str, Any], ...] = ()


def read_accounts(path: str | PathLike[str]) -> Shown:
    """Of a file (several outputs may follow each other), or of a folder's files."""
    given = Path(path)
    if not given.is_dir():
        return accounts_shown({given.name: io.read_text(given)}, str(path))
    found = {name: io.read_text(one) for name, one in _files(given)}
    if not found:
        raise InvalidInstance(f"{path}: no accounts: expected {', '.join(FILES)}")
    return accounts_shown(found, str(path))


def accounts_there(path: str | PathLike[str]) -> bool:
    """Whether the folder has such files."""
    return any(_files(Path(path)))


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    for name in FILES:
        one = next((p for p in (folder / name, folder / f"{name}.gz") if p.is_file()), None)
        if one is not None:
            yield name, one


def accounts_shown(texts: Mapping[str, str], name: str) -> Shown:
    """The same of texts by their names; what one says is not said again by another."""
    associations: dict[tuple[str, str, str], dict[str, Any]] = {}
    qos: dict[str, dict[str, Any]] = {}
    for where, text in texts.items():
        for row in _rows(text, where):
            if not row.get("Account", row.get("Name")):
                raise InvalidInstance(f"{where}: an account or a QOS without a name")
            if "Account" in row:
                key = (row["Account"], row.get("User", ""), row.get("Partition", ""))
                own = associations.setdefault(key, {})
            else:
                own = qos.setdefault(row["Name"], {})
            own |= {k: v for k, v in row.items() if k not in own and v != ""}
    for account in dict.fromkeys(account for account, _, _ in associations):
        associations.setdefault((account, "", ""), {"Account": account})
    if not (associations or qos):
        raise InvalidInstance(
            f"{name}: no accounts: expected what sacctmgr -P show assoc, sacctmgr -P show qos, "
            "sacctmgr dump, sshare -a -l -P or scontrol show assoc_mgr prints, or a script of "
            "sacctmgr (add user ...)"
        )
    return Shown(tuple(_in_order(associations)), tuple(qos.values()))


def _in_order(found: Mapping[tuple[str, str, str], Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """The root first, then each account with its users and, below it, its own accounts."""
    below: dict[str, list[Mapping[str, Any]]] = {}
    for (account, user, _), row in found.items():
        if (account, user) != ("root", ""):
            above = account if user else str(row.get("ParentName") or "root").split("(")[0]
            below.setdefault(above if above == "root" or (above, "", "") in found else "root",
                             []).append(row)  # fmt: skip
    yield dict(found.get(("root", "", ""), {"Account": "root"}))
    path = [iter(below.pop("root", ()))]
    while path:
        own = next(path[-1], None)
        if own is None:
            path.pop()
            continue
        yield {**own, "ParentName": str(own.get("ParentName") or "root").split("(")[0]}
        if not own.get("User"):
            path.append(iter(below.pop(own["Account"], ())))


def _rows(text: str, name: str) -> Iterator[dict[str, Any]]:
    lines = [(f"{name}:{k}", line) for k, line in enumerate(text.splitlines(), 1) if line.strip()]
    yield from _tables(lines)
    yield from _dump(line for _, line in lines)
    yield from assoc_records(text, name)
    for row in script_rows(lines):
        spelled = {_SPELLED.get(key, key): value for key, value in row.items()}
        yield {key: value for key, value in spelled.items() if key not in _PASSED_OVER}


# --- sacctmgr -P, sshare -P ---


def _tables(lines: Iterable[tuple[str, str]]) -> Iterator[dict[str, Any]]:
    header: list[str] = []
    tree = ShareTree()
    for place, line in lines:
        fields = line.rstrip("\n").split("|")
        if len(fields) < 2:
            if re.search(r"-{3,} +-{3,}", line):
                raise InvalidInstance(f"{place}: columns are cut off there: expected sacctmgr -P")
            header = []
        elif {"Account", "User"} <= set(fields) or {"Name", "Priority"} <= set(fields):
            header, tree = [_NAMES.get(one, one) for one in fields], ShareTree()
        elif header:
            if len(fields) != len(header):
                raise InvalidInstance(
                    f"{place}: {len(fields)} fields: expected the first line's {len(header)}"
                )
            row = {k: v for k, v in zip(header, fields, strict=True) if k not in _PASSED_OVER}
            yield _share(row, tree) if "RawUsage" in header or "Usage" in header else row


class ShareTree:
    """Rows of sshare, one after another, whose accounts are indented by their depth."""

    def __init__(self) -> None:
        self._above: list[tuple[int, str]] = []  # rows and names of accounts, by depth
        self._count = 0

    def placed(self, row: Mapping[str, str]) -> tuple[str, str, int, str]:
        """Account and user of the next row; row and name of the account above (-1: none)."""
        text, user = row["Account"], row["User"].strip()
        account = text.strip()
        del self._above[len(text) - len(text.lstrip()) :]
        above = self._above[-1] if self._above else (-1, "")
        if not user:
            self._above.append((self._count, account))
        self._count += 1
        return account, user, *above


def _share(row: Mapping[str, str], tree: ShareTree) -> dict[str, Any]:
    account, user, _, above = tree.placed(row)
    found = {key: row[key].strip() for key in ("Share", "Usage") if key in row}
    found |= {"Account": account, "User": user}
    return found if user else {**found, "ParentName": above}


# --- sacctmgr dump ---


def _dump(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    parent = "root"
    for line in lines:
        found = re.fullmatch(r"(Cluster|Parent|Account|User) - '([^']*)'(.*)", line.strip())
        if not found:
            continue
        kind, name, rest = found[1], found[2], found[3]
        pairs: dict[str, str] = dict(re.findall(r":([A-Za-z]+)=('[^']*'|[^:]*)", rest))
        row = {_NAMES.get(k, k): v.strip("'") for k, v in pairs.items() if k not in _PASSED_OVER}
        if kind == "Parent":
            parent = name
        elif kind == "Cluster":
            yield {"Account": "root", "User": "", **row}
        elif kind == "Account":
            yield {"Account": name, "User": "", "ParentName": parent, **row}
        else:
            yield {"Account": parent, "User": name, **row}


# --- scontrol show assoc_mgr ---


_AMOUNT = re.compile(r"(?:([^=]+)=)?([0-9]+(?:\.[0-9]+)?|N)\(([0-9]+(?:\.[0-9]+)?)\)")
#: What each association says.
_SAID = ("Account", "UserName", "UsageRaw/Norm/Efctv", "SharesRaw/Norm/Level/Factor")


def assoc_records(text: str, name: str) -> Iterator[dict[str, Any]]:
    """Associations and QOS of scontrol show assoc_mgr."""
    for part in re.split(r"\n(?=ClusterName=|QOS=)", text):
        if part.startswith(("ClusterName=", "QOS=")):
            found = (word.partition("=") for word in part.split() if "=" in word)
            pairs = {key: value for key, _, value in found}
            lacking = [key for key in _SAID if key not in pairs and "QOS" not in pairs]
            if lacking:
                raise InvalidInstance(f"{name}: {shorten(part)}: expected {lacking[0]}= there")
            yield _record(pairs)


def _record(pairs: Mapping[str, str]) -> dict[str, Any]:
    """Values are ``limit(used)``, N: none."""
    row: dict[str, Any] = {}
    if "QOS" in pairs:
        row["Name"] = pairs["QOS"].split("(")[0]
    else:
        row |= {"Account": pairs["Account"], "User": pairs["UserName"].split("(")[0]}
        row["Usage"] = pairs["UsageRaw/Norm/Efctv"].split("/")[0]
        shares = pairs["SharesRaw/Norm/Level/Factor"].split("/")[0]
        row["Share"] = "parent" if shares.isdecimal() and float(shares) >= _LARGEST else shares
    for key, value in pairs.items():
        name = _NAMES.get(key, key)
        if key in _PASSED_OVER or name in row or name in ("QOS", "ID") or "/" in key:
            continue
        amounts = [found.groups("") for found in map(_AMOUNT.fullmatch, value.split(",")) if found]
        if not amounts:
            row[name] = value.split("(")[0] if name == "ParentName" else value
            continue
        row[name] = ",".join(
            f"{tres}={most}" if tres else most for tres, most, _ in amounts if most != "N"
        )
        used = {tres: float(now) for tres, _, now in amounts}
        if name in ("GrpTRESMins", "GrpWall"):
            row[f"{name} used"] = used if amounts[0][0] else used[""]
    return row
