"""Associations and QOS as a script of sacctmgr leaves them in a new slurmdbd."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from cosched.errors import InvalidInstance, shorten
from cosched.notes import Note, NoteKind
from cosched.slurm.accounts.script_commands import (
    WORDS,
    CommandOption,
    SacctmgrCommand,
    command_option,
    read_script,
)
from cosched.slurm.accounts.script_values import (
    changed_flags,
    changed_names,
    merged_tres,
    names_of,
    printed_value,
    tres_of,
)

_CONDITIONS, _SETTINGS, _INHERITED = WORDS["conditions"], WORDS["settings"], WORDS["inherited"]
_TRES_KINDS = ("tres", "cpu", "mem", "node")
#: Entities that say nothing about starts.
_UNUSED_ENTITIES = ("coordinator", "federation", "job", "resource")
Row = dict[str, Any]
#: Account, user (empty: the account's own) and partition (empty: all).
Key = tuple[str, str, str]


@dataclass
class _Cluster:
    """Associations of one cluster."""

    #: By account; the root's is always there.
    accounts: dict[str, Row] = field(default_factory=lambda: {"root": {}})
    #: By account, user and partition (empty: all).
    users: dict[Key, Row] = field(default_factory=lambda: {("root", "root", ""): {}})
    #: Account of jobs that name none, by user.
    default_accounts: dict[str, str] = field(default_factory=lambda: {"root": "root"})

    def draft(self) -> "_Cluster":
        """Return a copy whose rows may be replaced, but not changed: it shares them with this
        cluster."""
        return _Cluster(dict(self.accounts), dict(self.users), dict(self.default_accounts))

    def row_of(self, key: Key) -> Row:
        """Return the association of a key: of its user, or of the account itself."""
        return self.users[key] if key[1] else self.accounts[key[0]]

    def put_row(self, key: Key, row: Row) -> None:
        """Replace the association of a key."""
        if key[1]:
            self.users[key] = row
        else:
            self.accounts[key[0]] = row


@dataclass(frozen=True)
class ScriptRows:
    """What a script leaves, by the names of ``sacctmgr show``."""

    #: Associations (``Account`` and ``User``) and then QOS (``Name``).
    rows: tuple[Row, ...]
    #: What is not followed or changes nothing, with its line.
    notes: tuple[Note, ...]


def script_rows(lines: Iterable[tuple[str, str]]) -> ScriptRows:
    """Associations and QOS of lines that come with their places; other text has none.

    Limits that users and accounts inherit are filled in, as ``sacctmgr show assoc`` does.

    Raises
    ------
    InvalidInstance
        A command that sacctmgr refuses: its line, and what was expected.

    Examples
    --------
    >>> script = [("a.sh:1", "sacctmgr -i add account physics MaxJobs=4"),
    ...           ("a.sh:2", "sacctmgr -i add user ann account=physics")]
    >>> [(row["Account"], row["User"], row["MaxJobs"]) for row in script_rows(script).rows[2:4]
    ...  if "MaxJobs" in row]
    [('physics', 'ann', '4')]
    """
    script = read_script(lines)
    database = _Database(script.notes)
    for command in script.commands:
        database.apply(command)
    rows = tuple(database.rows()) if script.commands else ()
    return ScriptRows(rows, tuple(dict.fromkeys(database.notes)))


class _Database:
    """A slurmdbd that has been told nothing but its cluster."""

    def __init__(self, notes: Sequence[Note]) -> None:
        self.notes = list(notes)
        self.qos: dict[str, Row] = {"normal": {}}
        #: By name; the empty name is of a script that names no cluster.
        self.clusters: dict[str, _Cluster] = {"": _Cluster()}

    def apply(self, command: SacctmgrCommand) -> None:
        """Change what one command changes; one that is refused raises and changes nothing."""
        if command.entity in _UNUSED_ENTITIES:
            if command.entity == "resource":
                self._note(command, "licences of a slurmdbd are not read: give them in slurm.conf")
            return
        actions = {
            ("add", "account"): self._add_accounts,
            ("add", "cluster"): self._add_clusters,
            ("add", "qos"): self._add_qos,
            ("add", "user"): self._add_users,
            ("modify", "qos"): self._modify_qos,
            ("modify", "account"): self._modify_accounts,
            ("modify", "cluster"): self._modify_clusters,
            ("modify", "user"): self._modify_users,
            ("delete", "qos"): self._delete_qos,
            ("delete", "account"): self._delete_accounts,
            ("delete", "cluster"): self._delete_clusters,
            ("delete", "user"): self._delete_users,
        }
        actions[command.verb, command.entity](command)

    def _note(self, command: SacctmgrCommand, text: str) -> None:
        subject = _named(command)
        note = Note(NoteKind.READING, f"{subject}: {text}", subject=subject)
        self.notes.append(note.with_place(command.place))

    # --- words ---

    def _added(
        self, command: SacctmgrCommand, table: str
    ) -> tuple[dict[str, list[str]], list[CommandOption]]:
        """Return names by column, and settings, of a command that adds; words without ``=`` are
        names."""
        column = {"qos": "Name", "new_user": "User", "cluster": "Cluster"}.get(table, "Account")
        tables = [_SETTINGS[table]] + ([_SETTINGS["association"]] if table != "qos" else [])
        names: dict[str, list[str]] = {column: []}
        settings: list[CommandOption] = []
        words = list(command.words)
        if words and words[0].lower() in ("set", "where"):
            words = words[1:]
        for word in words:
            if "=" not in word:
                if word.lower() == "where" or (word.lower() == "set" and table != "new_user"):
                    continue
                names[column] += names_of(word)
                continue
            option = _required_option(word, tables, command)
            if option.kind == "names":
                names.setdefault(option.column, []).extend(names_of(option.value))
            else:
                settings.append(option)
        if not names[column]:
            raise InvalidInstance(f"{command.place}: {_named(command)}: expected Name=")
        return names, settings

    def _modified(
        self, command: SacctmgrCommand, table: str
    ) -> tuple[dict[str, list[str]], list[CommandOption]]:
        """Return conditions by column, and settings, of a command that modifies."""
        settings: list[CommandOption] = []
        conditions: dict[str, list[str]] = {}
        tables = [_SETTINGS[table]] + ([_SETTINGS["association"]] if table != "qos" else [])
        bare_words: list[str] = []
        is_setting = False
        for word in command.words:
            if word.lower() in ("set", "where"):
                is_setting = word.lower() == "set"
            elif not is_setting:
                self._condition(word, table, conditions, command)
            elif "=" in word:
                settings.append(_required_option(word, tables, command))
            elif table in ("qos", "cluster"):
                bare_words.append(word)
            else:
                raise InvalidInstance(
                    f"{command.place}: {shorten(word)}: expected Option=value behind set"
                )
        names = [option for option in settings if option.kind == "names"]
        if names and table == "account":
            raise InvalidInstance(
                f"{command.place}: {shorten(names[0].word)}: the name of an account cannot be set"
            )
        settings = [option for option in settings if option.kind != "names"]
        if not settings:
            raise InvalidInstance(f"{command.place}: {_named(command)}: expected set Option=value")
        if bare_words:
            self._note(
                command,
                f"{shorten(' '.join(bare_words))} behind set is passed over, as sacctmgr does",
            )
        return conditions, settings

    def _condition(
        self, word: str, table: str, conditions: dict[str, list[str]], command: SacctmgrCommand
    ) -> None:
        """Add what a word behind ``where`` asks for."""
        column = {"account": "Account", "user": "User", "qos": "Name", "cluster": "Cluster"}[table]
        if "=" not in word:
            if not word.lower().startswith(("witha", "withc", "withd", "withr", "wopl", "woli")):
                conditions.setdefault(column, []).extend(names_of(word))
            return
        tables = [_CONDITIONS[table]]
        tables += [_CONDITIONS["association"]] if table in ("account", "user") else []
        option = command_option(word, tables)
        if option is None or option.operator:
            raise InvalidInstance(
                f"{command.place}: {shorten(word)}: no condition of sacctmgr: expected set before "
                "what is set"
            )
        if option.kind == "unused":
            raise InvalidInstance(
                f"{command.place}: {shorten(word)}: expected conditions on names, accounts, "
                "parents, partitions, QOS or clusters"
            )
        conditions.setdefault(option.column, []).extend(names_of(option.value))

    def _clusters_of(self, names: Sequence[str]) -> dict[str, _Cluster]:
        """Return clusters of these names, all where there is none; nothing is changed.

        The first name that a script tells is that of the nameless cluster.
        """
        clusters = self.clusters
        if names and list(clusters) == [""]:
            clusters = {names[0]: clusters[""]}
        if not names:
            return dict(clusters)
        return {name: clusters.get(name) or _Cluster() for name in names}

    def _commit(self, clusters: Mapping[str, _Cluster]) -> None:
        """Keep clusters of :meth:`_clusters_of`, once nothing of the command can be refused."""
        if list(self.clusters) == [""] and "" not in clusters and clusters:
            self.clusters = {}
        self.clusters |= clusters

    # --- QOS ---

    def _add_qos(self, command: SacctmgrCommand) -> None:
        names, settings = self._added(command, "qos")
        row: Row = {}
        self._set(row, settings, command)
        new_names = [name for name in names["Name"] if name not in self.qos]
        for name in new_names:
            self.qos[name] = deepcopy(row)
        if not new_names:
            self._note(command, "nothing new: a QOS that is there keeps its settings")

    def _modify_qos(self, command: SacctmgrCommand) -> None:
        conditions, settings = self._modified(command, "qos")
        chosen = self._chosen_qos(conditions)
        changed = deepcopy(self.qos)
        for name in chosen:
            self._set(changed[name], settings, command)
        self._require_no_loop(changed, command)
        self.qos = changed
        if not chosen:
            self._note(command, "there is none of that name: nothing is modified")
        elif not conditions:
            self._note(command, f"no condition (where): all {len(chosen)} QOS are modified")

    @staticmethod
    def _require_no_loop(qos: Mapping[str, Row], command: SacctmgrCommand) -> None:
        """Check that no QOS may preempt itself, directly or by way of others."""
        for name in qos:
            reached: set[str] = set()
            waiting = list(qos[name].get("Preempt") or [])
            while waiting:
                other = waiting.pop()
                if other not in reached and other in qos:
                    reached.add(other)
                    waiting += qos[other].get("Preempt") or []
            if name in reached:
                raise InvalidInstance(
                    f"{command.place}: {_named(command)}: QOS {name} may preempt itself: expected "
                    "no loop of Preempt"
                )

    def _delete_qos(self, command: SacctmgrCommand) -> None:
        conditions = self._deleted(command, "qos")
        chosen = self._chosen_qos(conditions)
        for cluster in self.clusters.values():
            for row in [*cluster.accounts.values(), *cluster.users.values()]:
                if row.get("Def QOS") in chosen:
                    raise InvalidInstance(
                        f"{command.place}: {_named(command)}: QOS {row['Def QOS']} is the default "
                        "QOS of an association: expected another default before"
                    )
        for name in chosen:
            del self.qos[name]
            for row in self._rows_with_qos():
                for column in ("QOS", "Preempt"):
                    if row.get(column) is not None:
                        row[column] = [other for other in row[column] if other != name]
        if not chosen:
            self._note(command, "there is none of that name: nothing is deleted")

    def _rows_with_qos(self) -> Iterator[Row]:
        yield from self.qos.values()
        for cluster in self.clusters.values():
            yield from cluster.accounts.values()
            yield from cluster.users.values()

    def _chosen_qos(self, conditions: Mapping[str, Sequence[str]]) -> list[str]:
        return [
            name
            for name, row in self.qos.items()
            if _is_among(name, conditions.get("Name"))
            and _is_among(row.get("PreemptMode", "cluster"), conditions.get("PreemptMode"))
        ]

    # --- clusters ---

    def _add_clusters(self, command: SacctmgrCommand) -> None:
        names, settings = self._added(command, "cluster")
        self._set_roots(self._clusters_of(names["Cluster"]), settings, command)

    def _modify_clusters(self, command: SacctmgrCommand) -> None:
        conditions, settings = self._modified(command, "cluster")
        self._set_roots(self._clusters_of(conditions.get("Cluster", [])), settings, command)

    def _set_roots(
        self,
        clusters: Mapping[str, _Cluster],
        settings: Sequence[CommandOption],
        command: SacctmgrCommand,
    ) -> None:
        """Set options of the root association of each cluster."""
        root_rows: list[Row] = []
        for cluster in clusters.values():
            root_row = deepcopy(cluster.accounts["root"])
            self._set(root_row, settings, command)
            root_rows.append(root_row)
        self._commit(clusters)
        for cluster, root_row in zip(clusters.values(), root_rows, strict=True):
            cluster.accounts["root"] = root_row

    def _delete_clusters(self, command: SacctmgrCommand) -> None:
        for name in self._deleted(command, "cluster").get("Cluster", []):
            self.clusters.pop(name, None)
        if not self.clusters:
            self.clusters = {"": _Cluster()}

    # --- accounts ---

    def _add_accounts(self, command: SacctmgrCommand) -> None:
        names, settings = self._added(command, "account")
        row: Row = {}
        self._set(row, settings, command)
        added = 0
        clusters = self._clusters_of(names.get("Cluster", []))
        for cluster in clusters.values():
            self._require_account(row.get("ParentName", "root"), cluster, command)
        self._commit(clusters)
        for cluster in clusters.values():
            for name in names["Account"]:
                if name not in cluster.accounts:
                    cluster.accounts[name] = {"ParentName": "root", **deepcopy(row)}
                    added += 1
        if not added:
            self._note(command, "nothing new: an account that is there keeps its settings")

    def _modify_accounts(self, command: SacctmgrCommand) -> None:
        conditions, settings = self._modified(command, "account")
        modified = 0
        drafts: dict[str, _Cluster] = {}
        for name, cluster in self._clusters_of(conditions.get("Cluster", [])).items():
            draft = cluster.draft()
            chosen: Sequence[tuple[Key, Row]] = self._chosen(
                draft, conditions, is_of_users="User" in conditions
            )
            for option in settings:
                if option.column == "ParentName":
                    parent = printed_value(option, command.place)
                    self._require_account(parent, draft, command)
                    chosen = self._without_own_parent(chosen, parent, command)
                    for key, _ in chosen:
                        _move_above(draft, parent, key[0])
            if not self._change(draft, [key for key, _ in chosen], settings, command):
                return
            drafts[name] = draft
            modified += len(chosen)
        self._commit(drafts)
        self._note_modified(command, conditions, modified, "accounts")

    def _without_own_parent(
        self, chosen: Sequence[tuple[Key, Row]], parent: str, command: SacctmgrCommand
    ) -> Sequence[tuple[Key, Row]]:
        """Return the accounts but the parent itself and the root, which slurmdbd leaves as they
        are."""
        other_rows = [(key, row) for key, row in chosen if key[0] not in (parent, "root")]
        if any(key[0] == parent for key, _ in chosen):
            self._note(command, f"account {parent} stays as it is: it cannot be its own parent")
        return other_rows

    def _change(
        self,
        draft: _Cluster,
        keys: Sequence[Key],
        settings: Sequence[CommandOption],
        command: SacctmgrCommand,
    ) -> bool:
        """Set options of associations in a draft; False: sacctmgr discards them, which is noted.

        A default QOS has to be one that the association may use.
        """
        changed_rows = []
        for key in keys:
            changed = deepcopy(draft.row_of(key))
            self._set(changed, settings, command)
            effective = self._effective(draft, key, changed)
            default_qos = changed.get("Def QOS")
            if default_qos and default_qos not in effective["QOS"]:
                self._note(
                    command,
                    f"discarded, as sacctmgr does: {key[1] or key[0]} has no access to the default "
                    f"QOS {default_qos}",
                )
                return False
            changed_rows.append(changed)
        for key, changed in zip(keys, changed_rows, strict=True):
            draft.put_row(key, changed)
        return True

    def _require_account(self, name: str, cluster: _Cluster, command: SacctmgrCommand) -> None:
        if name not in cluster.accounts:
            raise InvalidInstance(
                f"{command.place}: {_named(command)}: no account {shorten(name)} before it"
            )

    def _delete_accounts(self, command: SacctmgrCommand) -> None:
        conditions = self._deleted(command, "account")
        if "root" in conditions.get("Account", []):
            raise InvalidInstance(
                f"{command.place}: {_named(command)}: the root account cannot be deleted"
            )
        deleted = 0
        clusters = self._clusters_of(conditions.get("Cluster", []))
        self._commit(clusters)
        for cluster in clusters.values():
            chosen = {key[0] for key, _ in self._chosen(cluster, conditions, is_of_users=False)} - {
                "root"
            }
            while below := {
                name
                for name, row in cluster.accounts.items()
                if row.get("ParentName") in chosen and name not in chosen
            }:
                chosen |= below
            deleted += len(chosen)
            for name in chosen:
                del cluster.accounts[name]
            self._delete_associations(
                cluster, [key for key in cluster.users if key[0] in chosen], command
            )
        if not deleted:
            self._note(command, "there is none of that name: nothing is deleted")

    # --- users ---

    def _add_users(self, command: SacctmgrCommand) -> None:
        names, settings = self._added(command, "new_user")
        defaults = [printed_value(o, command.place) for o in settings if o.column == "Def Acct"]
        accounts = list(dict.fromkeys([*names.get("Account", []), *defaults]))
        if not accounts:
            raise InvalidInstance(
                f"{command.place}: add user: expected Account= or DefaultAccount="
            )
        row: Row = {}
        self._set(row, [o for o in settings if o.column not in ("Def Acct", "User")], command)
        partitions = names.get("Partition", [""])
        added = 0
        clusters = self._clusters_of(names.get("Cluster", []))
        accounts_by_cluster = {
            name: self._known_accounts(accounts, defaults, cluster, command)
            for name, cluster in clusters.items()
        }
        self._commit(clusters)
        for cluster_name, cluster in clusters.items():
            known_accounts = accounts_by_cluster[cluster_name]
            keys = [
                (account, user, partition)
                for user in names["User"]
                for account in known_accounts
                for partition in partitions
            ]
            new_keys = [key for key in keys if key not in cluster.users]
            new_users = {key[1] for key in new_keys} - cluster.default_accounts.keys()
            for key in new_keys:
                cluster.users[key] = deepcopy(row)
                if defaults and key[0] == defaults[0]:
                    cluster.default_accounts[key[1]] = key[0]
                cluster.default_accounts.setdefault(key[1], (defaults or known_accounts)[0])
            if new_users and len(known_accounts) > 1 and not defaults:
                self._note(
                    command,
                    f"no DefaultAccount: {known_accounts[0]}, the first, as since Slurm 24.11 "
                    "(22.05 may take another)",
                )
            added += len(new_keys)
        if not added:
            self._note(command, "nothing new: a user who is there keeps the settings")

    def _known_accounts(
        self,
        accounts: Sequence[str],
        defaults: Sequence[str],
        cluster: _Cluster,
        command: SacctmgrCommand,
    ) -> list[str]:
        """Return accounts that are there; others are skipped with a note, as sacctmgr does.

        The default account has to be there, or one of several.
        """
        known_accounts = [name for name in accounts if name in cluster.accounts]
        for name in defaults or ([] if known_accounts else accounts[:1]):
            self._require_account(name, cluster, command)
        unknown_accounts = [name for name in accounts if name not in cluster.accounts]
        if unknown_accounts:
            self._note(command, f"no account {', '.join(unknown_accounts)} before it: skipped")
        return known_accounts

    def _modify_users(self, command: SacctmgrCommand) -> None:
        conditions, settings = self._modified(command, "user")
        of_users = [option for option in settings if option.column in ("Def Acct", "User")]
        of_associations = [option for option in settings if option not in of_users]
        modified = 0
        drafts: dict[str, _Cluster] = {}
        for name, cluster in self._clusters_of(conditions.get("Cluster", [])).items():
            draft = cluster.draft()
            keys = [key for key, _ in self._chosen(draft, conditions, is_of_users=True)]
            if not self._change(draft, keys, of_associations, command):
                return
            for option in of_users:
                self._set_of_users(option, draft, keys, command)
            drafts[name] = draft
            modified += len(keys)
        self._commit(drafts)
        self._note_modified(command, conditions, modified, "users")

    def _set_of_users(
        self,
        option: CommandOption,
        cluster: _Cluster,
        keys: Sequence[Key],
        command: SacctmgrCommand,
    ) -> None:
        """Set the default account of users, or the new name of one."""
        value = printed_value(option, command.place)
        users = list(dict.fromkeys(user for _, user, _ in keys))
        if option.column == "Def Acct":
            for user in users:
                accounts = {account for account, name, _ in cluster.users if name == user}
                if value not in accounts:
                    raise InvalidInstance(
                        f"{command.place}: {shorten(option.word)}: user {user} has no association "
                        f"with account {shorten(value)}: expected one of {', '.join(accounts)}"
                    )
                cluster.default_accounts[user] = value
            return
        if len(users) > 1:
            raise InvalidInstance(f"{command.place}: {shorten(option.word)}: expected one user")
        for user in users:
            if value != user and any(name == value for _, name, _ in cluster.users):
                raise InvalidInstance(
                    f"{command.place}: {shorten(option.word)}: there is a user {shorten(value)} "
                    "already: slurmdbd keeps one of each name"
                )
            cluster.users = {
                (account, value if name == user else name, partition): row
                for (account, name, partition), row in cluster.users.items()
            }
            cluster.default_accounts[value] = cluster.default_accounts.pop(user, "")

    def _delete_users(self, command: SacctmgrCommand) -> None:
        conditions = self._deleted(command, "user")
        deleted = 0
        clusters = self._clusters_of(conditions.get("Cluster", []))
        self._commit(clusters)
        for cluster in clusters.values():
            keys = [key for key, _ in self._chosen(cluster, conditions, is_of_users=True)]
            self._delete_associations(cluster, keys, command)
            deleted += len(keys)
        if not deleted:
            self._note(command, "there is none of that name: nothing is deleted")

    def _delete_associations(
        self, cluster: _Cluster, keys: Sequence[Key], command: SacctmgrCommand
    ) -> None:
        """Delete associations; who has lost the default account and keeps another is noted."""
        for key in keys:
            del cluster.users[key]
        for user in dict.fromkeys(user for _, user, _ in keys):
            accounts = {account for account, name, _ in cluster.users if name == user}
            if not accounts:
                cluster.default_accounts.pop(user, None)
            elif cluster.default_accounts.get(user) not in accounts:
                cluster.default_accounts[user] = ""
                self._note(command, f"user {user} is left without a default account")

    # --- rows ---

    def _deleted(self, command: SacctmgrCommand, table: str) -> dict[str, list[str]]:
        """Return conditions of a command that deletes; it needs one."""
        conditions: dict[str, list[str]] = {}
        for word in command.words:
            if word.lower() not in ("set", "where"):
                self._condition(word, table, conditions, command)
        if not conditions:
            raise InvalidInstance(f"{command.place}: {_named(command)}: expected Name=")
        return conditions

    def _chosen(
        self, cluster: _Cluster, conditions: Mapping[str, Sequence[str]], *, is_of_users: bool
    ) -> list[tuple[Key, Row]]:
        """Return associations that meet all conditions, by account, user and partition."""
        table = (
            cluster.users
            if is_of_users
            else {(name, "", ""): row for name, row in cluster.accounts.items()}
        )
        return [
            (key, row)
            for key, row in table.items()
            if _is_among(key[0], conditions.get("Account"))
            and (not is_of_users or _is_among(key[1], conditions.get("User")))
            and _is_among(key[2], conditions.get("Partition"))
            and _is_among(cluster.default_accounts.get(key[1], ""), conditions.get("Def Acct"))
            and _is_among(row.get("ParentName", ""), conditions.get("ParentName"))
            and _is_among(
                self._effective(cluster, key).get("Def QOS", ""), conditions.get("Def QOS")
            )
            and (
                "QOS" not in conditions
                or set(conditions["QOS"]) & set(self._effective(cluster, key)["QOS"])
            )
        ]

    def _note_modified(
        self, command: SacctmgrCommand, conditions: Mapping[str, object], modified: int, what: str
    ) -> None:
        if not modified:
            self._note(command, "nothing meets the conditions: nothing is modified")
        elif not conditions:
            self._note(command, f"no condition (where): all {what} are modified")

    def _set(self, row: Row, settings: Sequence[CommandOption], command: SacctmgrCommand) -> None:
        """Put settings into a row; of several Flags the last one counts."""
        place = command.place
        flags = [option for option in settings if option.kind == "flags"]
        for option in settings:
            if option.kind == "unused" or option in flags[:-1]:
                continue
            if option.operator and option.kind not in ("qos_list", "flags"):
                raise InvalidInstance(f"{place}: {shorten(option.word)}: expected = alone")
            if not option.value and option.kind not in ("qos_list", "flags", "qos"):
                raise InvalidInstance(f"{place}: {shorten(option.word)}: expected Option=value")
            self._set_option(row, option, place)

    def _set_option(self, row: Row, option: CommandOption, place: str) -> None:
        column = option.column
        if option.kind in _TRES_KINDS:
            amounts = {**row.get(column, {}), **tres_of(option, place)}
            row[column] = {name: amount for name, amount in amounts.items() if amount}
        elif option.kind == "flags":
            row[column] = changed_flags(row.get(column, []), option, place)
        elif option.kind == "qos_list":
            self._set_qos_list(row, option, place)
        elif option.kind == "qos":
            is_cleared = option.value.strip("\"'") in ("", "-1")
            names = [] if is_cleared else changed_names([], option, list(self.qos), place)
            row[column] = "".join(names[:1])
        else:
            row[column] = printed_value(option, place)

    def _set_qos_list(self, row: Row, option: CommandOption, place: str) -> None:
        """Change lists of QOS; an association without one changes that of the account above it."""
        known_names = list(self.qos)
        column = option.column
        value = option.value.strip("\"'")
        is_change = bool(option.operator) or value.startswith(("+", "-"))
        if not value:
            row.pop(column, None)
            row.pop("QOS changes", None)
        elif is_change and column == "QOS" and row.get(column) is None:
            changed_names([], option, known_names, place)
            row.setdefault("QOS changes", []).append(option)
        else:
            row[column] = changed_names(row.get(column) or [], option, known_names, place)
            row.pop("QOS changes", None)

    def _effective(self, cluster: _Cluster, key: Key, row: Row | None = None) -> Row:
        """Return a row with what it inherits: of the account, and of those above that."""
        account, user, _ = key
        chain: list[Row] = []
        if user:
            chain.append(cluster.users[key] if row is None else row)
            row = None
        above = account
        while True:
            chain.append(cluster.accounts[above] if row is None else row)
            row = None
            if above == "root":
                break
            above = cluster.accounts[above].get("ParentName", "root")
        effective: Row = dict(chain[0])
        names = ["normal"] if "normal" in self.qos else []
        for outer in reversed(chain):
            names = outer["QOS"] if outer.get("QOS") is not None else names
            for option in outer.get("QOS changes", []):
                known_names = [*self.qos, *names_of(option.value.replace("+", "").replace("-", ""))]
                names = changed_names(names, option, known_names, "")
        effective["QOS"] = [name for name in names if name in self.qos]
        for outer in chain[1:]:
            for column in _INHERITED["plain"]:
                if not effective.get(column) and outer.get(column):
                    effective[column] = outer[column]
            for column in _INHERITED["tres"]:
                if outer.get(column):
                    effective[column] = merged_tres(outer[column], effective.get(column, {}))
        effective.pop("QOS changes", None)
        return effective

    def rows(self) -> Iterator[Row]:
        """Yield rows as ``sacctmgr show`` has them: associations by cluster, then QOS."""
        for name, cluster in self.clusters.items():
            of_cluster = {"Cluster": name} if name else {}
            for account in cluster.accounts:
                row = self._effective(cluster, (account, "", ""))
                yield _printed({"Account": account, "User": "", **of_cluster, **row})
            for account, user, partition in cluster.users:
                row = self._effective(cluster, (account, user, partition))
                default = cluster.default_accounts.get(user, "")
                yield _printed(
                    {
                        "Account": account,
                        "User": user,
                        "Partition": partition,
                        **of_cluster,
                        "Def Acct": default,
                        **row,
                    }
                )
        for name, row in self.qos.items():
            yield _printed({"Name": name, **row})


def _required_option(
    word: str, tables: Sequence[Sequence[Sequence[object]]], command: SacctmgrCommand
) -> CommandOption:
    option = command_option(word, tables)
    if option is None:
        raise InvalidInstance(
            f"{command.place}: {shorten(word)}: no option of {command.verb} {command.entity}"
        )
    return option


def _move_above(draft: _Cluster, parent: str, account: str) -> None:
    """Put an account's own descendant in its place before the account goes below it."""
    above = parent
    while above not in ("root", account):
        above = draft.accounts[above]["ParentName"]
    if above == account and account != parent and account != "root":
        grandparent = draft.accounts[account]["ParentName"]
        draft.accounts[parent] = {**draft.accounts[parent], "ParentName": grandparent}


def _is_among(name: str, names: Sequence[str] | None) -> bool:
    return names is None or name in names


def _named(command: SacctmgrCommand) -> str:
    return f"{command.verb} {command.entity}"


def _printed(row: Row) -> Row:
    """Return values as text; what is empty is left out, but for the user of an account."""
    printed: Row = {}
    for column, value in row.items():
        if isinstance(value, dict):
            text = ",".join(f"{name}={amount}" for name, amount in value.items())
        elif isinstance(value, list):
            text = ",".join(value)
        else:
            text = value
        if text or column == "User":
            printed[column] = text
    return printed
