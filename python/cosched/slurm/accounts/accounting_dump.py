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
from cosched.notes import Note, NoteKind
from cosched.slurm.accounts.script import script_rows

_FILE = Path(__file__).with_name("columns.toml")
#: Columns and options by their meaning.
COLUMN_TABLE: dict[str, Any] = io.parse_toml(_FILE.read_text("utf-8"), str(_FILE))
_NAMES = COLUMN_TABLE["names"]
_PASSED_OVER = frozenset(COLUMN_TABLE["passed_over"])
#: Spelled as sacctmgr shows it, whatever the case in which a script sets it.
_CANONICAL_NAMES = {
    name.lower(): _NAMES.get(name, name)
    for name in (*_PASSED_OVER, *_NAMES, *_NAMES.values(), *COLUMN_TABLE["spelled"])
}
#: Files of a folder that are looked at.
FILES = ("sacctmgr_assoc.txt", "sacctmgr_qos.txt", "sacctmgr_dump.txt", "scontrol_assoc_mgr.txt",
         "sshare_long.txt", "sshare.txt")  # fmt: skip
_PARENT_SHARES = 0x7FFFFFFF  # shares: of the parent


def canonical_column(key: str) -> str | None:
    """Return a column as sacctmgr shows it, of its name in any case; None: there is none that
    counts."""
    name = _CANONICAL_NAMES.get(key.lower())
    return None if name in _PASSED_OVER and name != "FairShare" else _NAMES.get(name or "", name)


@dataclass(frozen=True)
class DefaultAccount:
    """The account of a user's jobs that name none."""

    #: Name of the account.
    name: str
    #: The first of several, since no command tells which of them is the default.
    is_assumed: bool = False


@dataclass(frozen=True)
class AccountingDump:
    """What the commands said."""

    #: By the names of ``sacctmgr show assoc``; accounts come before what belongs to them.
    associations: tuple[Mapping[str, Any], ...] = ()
    #: By the names of ``sacctmgr show qos``. ``GrpTRESMins used``, ``GrpWall used`` are minutes.
    qos: tuple[Mapping[str, Any], ...] = ()
    #: Account of jobs that name none, by user, where a command tells it.
    default_accounts: Mapping[str, str] = field(default_factory=dict)
    #: Lines of a script that are not followed or change nothing, and what is assumed.
    notes: tuple[Note, ...] = ()

    @cached_property
    def default_account_by_user(self) -> Mapping[str, DefaultAccount]:
        """Account of the jobs that name none, of each user with an association.

        Examples
        --------
        >>> rows = ({"Account": "root"}, {"Account": "a"}, {"Account": "b"},
        ...         {"Account": "a", "User": "ann"}, {"Account": "b", "User": "ann"})
        >>> AccountingDump(rows).default_account_by_user["ann"]
        DefaultAccount(name='a', is_assumed=True)
        >>> AccountingDump(rows, default_accounts={"ann": "b"}).default_account_by_user["ann"]
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


def read_accounts(path: str | PathLike[str], cluster: str = "") -> AccountingDump:
    """Return the accounts of a file (several outputs may follow each other), or of a folder's
    files.

    `cluster`: the one whose associations count where several are shown (ClusterName).
    """
    file_or_folder = Path(path)
    if not file_or_folder.is_dir():
        return parse_accounts(
            {file_or_folder.name: io.read_text(file_or_folder)}, str(path), cluster
        )
    texts = {name: io.read_text(file) for name, file in _files(file_or_folder)}
    if not texts:
        raise InvalidInstance(f"{path}: no accounts: expected {', '.join(FILES)}")
    return parse_accounts(texts, str(path), cluster)


def has_accounts(path: str | PathLike[str]) -> bool:
    """Whether the folder has such files."""
    return any(_files(Path(path)))


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files of a folder that are read, each with its name; it may be packed."""
    for name in FILES:
        file = next((p for p in (folder / name, folder / f"{name}.gz") if p.is_file()), None)
        if file is not None:
            yield name, file


def parse_accounts(texts: Mapping[str, str], name: str, cluster: str = "") -> AccountingDump:
    """Return the accounts of texts by their names; what one text says is not said again by
    another."""
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
    return AccountingDump(
        tuple(_sort_by_tree(associations)), tuple(qos.values()), default_accounts, notes
    )


#: What a row says, with the name of its text.
PlacedRows = list[tuple[str, dict[str, Any]]]


def _rows_of_cluster(
    texts: Mapping[str, str], name: str, cluster: str
) -> tuple[PlacedRows, tuple[Note, ...]]:
    """Return rows of one cluster and of all, and notes."""
    rows: PlacedRows = []
    notes: list[Note] = []
    for where, text in texts.items():
        text_rows, text_notes = _rows(text, where)
        rows += [(where, row) for row in text_rows]
        notes += text_notes
    clusters = list(dict.fromkeys(row["Cluster"] for _, row in rows if row.get("Cluster")))
    if len(clusters) < 2:
        return rows, tuple(notes)
    chosen = next(
        (
            name_of_cluster
            for name_of_cluster in clusters
            if name_of_cluster.lower() == cluster.lower()
        ),
        clusters[0],
    )
    other_count = sum(row.get("Cluster", chosen) not in ("", chosen) for _, row in rows)
    reason = "ClusterName" if chosen.lower() == cluster.lower() else "the first"
    text = (
        f"associations of cluster {chosen} ({reason}): {other_count} of other clusters "
        f"({', '.join(other for other in clusters if other != chosen)}) are left out"
    )
    note = Note(NoteKind.DROPPED, text, subject="clusters", count=other_count)
    notes.append(note.with_place(name))
    return [
        (where, row) for where, row in rows if row.get("Cluster", chosen) in ("", chosen)
    ], tuple(notes)


def _sort_by_tree(
    row_by_key: Mapping[tuple[str, str, str], Mapping[str, object]],
) -> Iterator[dict[str, Any]]:
    """Yield the root first, then each account with its users and, below it, its own accounts."""
    rows_by_parent: dict[str, list[Mapping[str, Any]]] = {}
    for (account, user, _), row in row_by_key.items():
        if (account, user) != ("root", ""):
            parent = account if user else str(row.get("ParentName") or "root").split("(")[0]
            rows_by_parent.setdefault(
                parent if parent == "root" or (parent, "", "") in row_by_key else "root", []
            ).append(row)
    yield dict(row_by_key.get(("root", "", ""), {"Account": "root"}))
    path = [iter(rows_by_parent.pop("root", ()))]
    while path:
        row_below = next(path[-1], None)
        if row_below is None:
            path.pop()
            continue
        yield {**row_below, "ParentName": str(row_below.get("ParentName") or "root").split("(")[0]}
        if not row_below.get("User"):
            path.append(iter(rows_by_parent.pop(row_below["Account"], ())))


def _rows(text: str, name: str) -> tuple[list[dict[str, Any]], list[Note]]:
    """Return rows of all outputs in a text, and notes."""
    lines = [(f"{name}:{k}", line) for k, line in enumerate(text.splitlines(), 1) if line.strip()]
    notes: list[Note] = []
    rows = [*_tables(lines, notes), *_dump(line for _, line in lines), *assoc_records(text, name)]
    script = script_rows(lines)
    rows += [
        {key: value for key, value in row.items() if key not in _PASSED_OVER} for row in script.rows
    ]
    return rows, [*notes, *script.notes]


# --- sacctmgr -P, sshare -P ---


def _tables(lines: Iterable[tuple[str, str]], notes: list[Note]) -> Iterator[dict[str, Any]]:
    """Yield rows of tables; a column that is there twice with the same values is noted."""
    header: list[str] = []
    tree = ShareTree()
    for place, line in lines:
        fields = line.rstrip("\n").split("|")
        if len(fields) < 2:
            if re.search(r"-{3,} +-{3,}", line):
                raise InvalidInstance(f"{place}: columns are cut off there: expected sacctmgr -P")
            header = []
        elif any(names <= set(fields) for names in _HEADERS):
            header, tree = (
                [_NAMES.get(column_name, column_name) for column_name in fields],
                ShareTree(),
            )
            for column in io.repeated_names(header):
                times = header.count(column)
                text = f"column {column!r} is there {times} times"
                note = Note(NoteKind.READING, text, subject=column, count=times)
                notes.append(note.with_place(place))
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
    """Return a row of sshare as one of ``sacctmgr show assoc``."""
    account, user, _, above = tree.placed(row)
    share = {key: row[key].strip() for key in ("Share", "Usage") if key in row}
    share |= {"Account": account, "User": user}
    return share if user else {**share, "ParentName": above}


# --- sacctmgr dump ---


def _dump(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield the associations of ``sacctmgr dump``."""
    parent = "root"
    for line in lines:
        match = re.fullmatch(r"(Cluster|Parent|Account|User) - '([^']*)'(.*)", line.strip())
        if not match:
            continue
        kind, name, options = match[1], match[2], match[3]
        pairs: dict[str, str] = dict(re.findall(r":([A-Za-z]+)=('[^']*'|[^:]*)", options))
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
_REQUIRED_FIELDS = ("Account", "UserName", "UsageRaw/Norm/Efctv", "SharesRaw/Norm/Level/Factor")


def assoc_records(text: str, name: str) -> Iterator[dict[str, Any]]:
    """Associations and QOS of scontrol show assoc_mgr."""
    for part in re.split(r"\n(?=ClusterName=|QOS=)", text):
        if part.startswith(("ClusterName=", "QOS=")):
            words = (word.partition("=") for word in part.split() if "=" in word)
            pairs = {key: value for key, _, value in words}
            lacking = [key for key in _REQUIRED_FIELDS if key not in pairs and "QOS" not in pairs]
            if lacking:
                raise InvalidInstance(f"{name}: {shorten(part)}: expected {lacking[0]}= there")
            yield _record(pairs)


def _record(pairs: Mapping[str, str]) -> dict[str, Any]:
    """Return the row of an association or a QOS; its values are ``limit(used)``, N: none."""
    row: dict[str, Any] = {}
    if "QOS" in pairs:
        row["Name"] = pairs["QOS"].split("(")[0]
    else:
        row |= {"Account": pairs["Account"], "User": pairs["UserName"].split("(")[0]}
        row["Usage"] = pairs["UsageRaw/Norm/Efctv"].split("/")[0]
        shares = pairs["SharesRaw/Norm/Level/Factor"].split("/")[0]
        row["Share"] = (
            "parent" if shares.isdecimal() and float(shares) >= _PARENT_SHARES else shares
        )
        if pairs.get("DefAssoc", "").lower() == "yes" and row["User"]:
            row["Def Acct"] = row["Account"]
    for key, value in pairs.items():
        name = _NAMES.get(key, key)
        if key in _PASSED_OVER or name in row or name in ("QOS", "ID") or "/" in key:
            continue
        amounts = [match.groups("") for match in map(_AMOUNT.fullmatch, value.split(",")) if match]
        if not amounts:
            row[name] = value.split("(")[0] if name == "ParentName" else value
            continue
        row[name] = ",".join(
            f"{tres}={limit}" if tres else limit for tres, limit, _ in amounts if limit != "N"
        )
        used_amounts = {tres: float(used_amount) for tres, _, used_amount in amounts}
        if name in ("GrpTRESMins", "GrpWall"):
            row[f"{name} used"] = used_amounts if amounts[0][0] else used_amounts[""]
    return row
