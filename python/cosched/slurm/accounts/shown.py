"""Associations and QOS as sacctmgr, sshare and scontrol print them, or as a script makes them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

from cosched import io
from cosched.errors import InvalidInstance, shorten
from cosched.slurm.accounts.script import script_rows

_FILE = Path(__file__).with_name("columns.toml")
#: Columns and options by their meaning.
KNOWN: dict[str, Any] = io.parse_toml(io.read_text(_FILE), str(_FILE))
_NAMES = KNOWN["names"]
_PASSED_OVER = frozenset(KNOWN["passed_over"])
#: Spelled as sacctmgr shows it, whatever the case in which a script sets it.
_SPELLED = {
    name.lower(): _NAMES.get(name, name)
    for name in (*_PASSED_OVER, *_NAMES, *_NAMES.values(), *KNOWN["spelled"])
}
#: Files of a folder that are looked at.
FILES = ("sacctmgr_assoc.txt", "sacctmgr_qos.txt", "sacctmgr_dump.txt", "scontrol_assoc_mgr.txt",
         "sshare_long.txt", "sshare.txt")  # fmt: skip
_LARGEST = 0x7FFFFFFF  # shares: of the parent


def spelled(key: str) -> str | None:
    """A column as sacctmgr shows it, of its name in any case; None: there is none that counts."""
    name = _SPELLED.get(key.lower())
    return None if name in _PASSED_OVER and name != "FairShare" else _NAMES.get(name or "", name)


@dataclass(frozen=True)
class DefaultAccount:
    """The account of a user's jobs that name none."""

    name: str
    #: The first of several, since no command tells which of them is the default.
    is_assumed: bool = False


@dataclass(frozen=True)
class Shown:
    """What the commands said."""

    #: By the names of ``sacctmgr show assoc``; accounts come before what belongs to them.
    associations: tuple[Mapping[str, Any], ...] = ()
    #: By the names of ``sacctmgr show qos``. ``GrpTRESMins used``, ``GrpWall used`` are minutes.
    qos: tuple[Mapping[str, Any], ...] = ()
    #: Account of jobs that name none, by user, where a command tells it.
    default_accounts: Mapping[str, str] = field(default_factory=dict)
    #: Lines of a script that are not followed or change nothing, and what is assumed.
    notes: tuple[str, ...] = ()

    @cached_property
    def default_account_by_user(self) -> Mapping[str, DefaultAccount]:
        """Account of the jobs that name none, of each user with an association.

        Examples
        --------
        >>> rows = ({"Account": "root"}, {"Account": "a"}, {"Account": "b"},
        ...         {"Account": "a", "User": "ann"}, {"Account": "b", "User": "ann"})
        >>> Shown(rows).default_account_by_user["ann"]
        DefaultAccount(name='a', is_assumed=True)
        >>> Shown(rows, default_accounts={"ann": "b"}).default_account_by_user["ann"]
        DefaultAccount(name='b', is_assumed=False)
        """
        accounts: dict[str, list[str]] = {}
        defaults: dict[str, str] = {}
        for row in self.associations:
            if user := str(row.get("User", "")):
                accounts.setdefault(user, []).append(str(row["Account"]))
                if row.get("Def Acct"):
                    defaults[user] = str(row["Def Acct"])
        defaults |= self.default_accounts
        return {
            user: DefaultAccount(defaults[user])
            if defaults.get(user) in names
            else DefaultAccount(names[0], len(set(names)) > 1)
            for user, names in accounts.items()
        }


def read_accounts(path: str | PathLike[str], cluster: str = "") -> Shown:
    """Of a file (several outputs may follow each other), or of a folder's files.

    `cluster`: the one whose associations count where several are shown (ClusterName).
    """
    given = Path(path)
    if not given.is_dir():
        return accounts_shown({given.name: io.read_text(given)}, str(path), cluster)
    texts = {name: io.read_text(file) for name, file in _files(given)}
    if not texts:
        raise InvalidInstance(f"{path}: no accounts: expected {', '.join(FILES)}")
    return accounts_shown(texts, str(path), cluster)


def accounts_there(path: str | PathLike[str]) -> bool:
    """Whether the folder has such files."""
    return any(_files(Path(path)))


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    for name in FILES:
        one = next((p for p in (folder / name, folder / f"{name}.gz") if p.is_file()), None)
        if one is not None:
            yield name, one


def accounts_shown(texts: Mapping[str, str], name: str, cluster: str = "") -> Shown:
    """The same of texts by their names; what one says is not said again by another."""
    associations: dict[tuple[str, str, str], dict[str, Any]] = {}
    qos: dict[str, dict[str, Any]] = {}
    default_accounts: dict[str, str] = {}
    rows, notes = _rows_of_cluster(texts, name, cluster)
    for place, row in rows:
        if row.get("User") and row.get("Def Acct"):
            default_accounts.setdefault(row["User"], row["Def Acct"])
        if "Account" not in row and "User" in row:  # of sacctmgr show user
            continue
        if not row.get("Account", row.get("Name")):
            raise InvalidInstance(f"{place}: an account or a QOS without a name")
        if "Account" in row:
            key = (row["Account"], row.get("User", ""), row.get("Partition", ""))
            merged = associations.setdefault(key, {})
        else:
            merged = qos.setdefault(row["Name"], {})
        merged |= {k: v for k, v in row.items() if k not in merged and v != ""}
    for account in dict.fromkeys(account for account, _, _ in associations):
        associations.setdefault((account, "", ""), {"Account": account})
    if not (associations or qos):
        raise InvalidInstance(
            f"{name}: no accounts: expected what sacctmgr -P show assoc, sacctmgr -P show qos, "
            "sacctmgr dump, sshare -a -l -P or scontrol show assoc_mgr prints, or a script of "
            "sacctmgr (add user ...)"
        )
    return Shown(tuple(_in_order(associations)), tuple(qos.values()), default_accounts, notes)


#: What a row says, with the name of its text.
PlacedRows = list[tuple[str, dict[str, Any]]]


def _rows_of_cluster(
    texts: Mapping[str, str], name: str, cluster: str
) -> tuple[PlacedRows, tuple[str, ...]]:
    """Rows of one cluster and of all, and notes."""
    rows: PlacedRows = []
    notes: list[str] = []
    for where, text in texts.items():
        of_text, said = _rows(text, where)
        rows += [(where, row) for row in of_text]
        notes += said
    clusters = list(dict.fromkeys(row["Cluster"] for _, row in rows if row.get("Cluster")))
    if len(clusters) < 2:
        return rows, tuple(notes)
    chosen = next((one for one in clusters if one.lower() == cluster.lower()), clusters[0])
    others = sum(row.get("Cluster", chosen) not in ("", chosen) for _, row in rows)
    reason = "ClusterName" if chosen.lower() == cluster.lower() else "the first"
    notes.append(
        f"{name}: associations of cluster {chosen} ({reason}): {others} of other clusters "
        f"({', '.join(one for one in clusters if one != chosen)}) are left out"
    )
    return [
        (where, row) for where, row in rows if row.get("Cluster", chosen) in ("", chosen)
    ], tuple(notes)


def _in_order(found: Mapping[tuple[str, str, str], Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """The root first, then each account with its users and, below it, its own accounts."""
    below: dict[str, list[Mapping[str, Any]]] = {}
    for (account, user, _), row in found.items():
        if (account, user) != ("root", ""):
            above = account if user else str(row.get("ParentName") or "root").split("(")[0]
            below.setdefault(
                above if above == "root" or (above, "", "") in found else "root", []
            ).append(row)
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


def _rows(text: str, name: str) -> tuple[list[dict[str, Any]], list[str]]:
    """Rows of all outputs in a text, and notes."""
    lines = [(f"{name}:{k}", line) for k, line in enumerate(text.splitlines(), 1) if line.strip()]
    notes: list[str] = []
    rows = [*_tables(lines, notes), *_dump(line for _, line in lines), *assoc_records(text, name)]
    script = script_rows(lines)
    rows += [
        {key: value for key, value in row.items() if key not in _PASSED_OVER} for row in script.rows
    ]
    return rows, [*notes, *script.notes]


# --- sacctmgr -P, sshare -P ---


def _tables(lines: Iterable[tuple[str, str]], notes: list[str]) -> Iterator[dict[str, Any]]:
    """Rows of tables; a column that is there twice with the same values is noted."""
    header: list[str] = []
    tree = ShareTree()
    for place, line in lines:
        fields = line.rstrip("\n").split("|")
        if len(fields) < 2:
            if re.search(r"-{3,} +-{3,}", line):
                raise InvalidInstance(f"{place}: columns are cut off there: expected sacctmgr -P")
            header = []
        elif any(names <= set(fields) for names in _HEADERS):
            header, tree = [_NAMES.get(one, one) for one in fields], ShareTree()
            for column in io.repeated_names(header):
                notes.append(f"{place}: column {column!r} is there {header.count(column)} times")
        elif header:
            if len(fields) != len(header):
                raise InvalidInstance(
                    f"{place}: {len(fields)} fields: expected the first line's {len(header)}"
                )
            cells = io.unique_cells(header, fields, place)
            row = {k: v for k, v in cells.items() if k not in _PASSED_OVER}
            yield _share(row, tree) if "RawUsage" in header or "Usage" in header else row


#: Columns by which the first line of a table is known: associations, QOS, users.
_HEADERS = ({"Account", "User"}, {"Name", "Priority"}, {"User", "Def Acct"})


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
        if kind == "User" and pairs.get("DefaultAccount"):
            row["Def Acct"] = pairs["DefaultAccount"].strip("'")
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
        if pairs.get("DefAssoc", "").lower() == "yes" and row["User"]:
            row["Def Acct"] = row["Account"]
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
