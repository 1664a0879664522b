"""Associations and QOS in the core's form: shares, usage, limits; whose the jobs of a log are."""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosched import _core, io
from cosched.cluster.instance import Instance
from cosched.cluster.instance.usage import texts_of
from cosched.cluster.machine import Machine
from cosched.core.text import listed
from cosched.errors import InvalidInstance, shorten
from cosched.notes import Note, NoteKind, not_followed
from cosched.slurm.accounts.accounting_dump import COLUMN_TABLE, AccountingDump
from cosched.slurm.conf.lines import seconds_of_limit
from cosched.slurm.conf.settings import SlurmSettings, preempt_mode
from cosched.slurm.requests.access import accounts_of_jobs, lets_in, rules_by_partition
from cosched.slurm.requests.node_sets import gpu_types_of
from cosched.slurm.requests.request import Owner
from cosched.units import BYTES_OF_UNIT, MEGABYTE

#: Limits by their names in sacctmgr: numbers of jobs, times, amounts of TRES; and other columns.
_JOBS, _TIMES, _TRES, _OTHER_COLUMNS = (
    frozenset(COLUMN_TABLE[kind]) for kind in ("jobs", "times", "tres", "beside")
)
_ACCRUE, _FLAGS = COLUMN_TABLE["accrue"], COLUMN_TABLE["flags"]
#: Flags that lift MinNodes and MaxNodes of a partition: followed where both are set.
_BOUND_FLAGS = {"partitionmaxnodes", "partitionminnodes"}
_MAX_INT32 = 2**31 - 1
#: The user of a job that tells none.
_ROOT = "root"
_PLAIN_TRES = ("cpu", "mem", "node", "billing", "gres/gpu")
_SCALES = {unit: size / MEGABYTE for unit, size in BYTES_OF_UNIT.items()} | {"": 1.0}


class Limits:
    """Reads limits of one machine: in its cores, and with its types of GPUs."""

    def __init__(self, machine: Machine | None) -> None:
        types = [] if machine is None else gpu_types_of(machine)
        names = [*_PLAIN_TRES, *(f"gres/gpu:{name}" for name in types)]
        self.names = names
        self._tres = {name: k for k, name in enumerate(names)}
        per_core = {1.0} if machine is None else {kind.cpus_per_core for kind in machine.nodes}
        self.cpus_per_core = max(per_core)
        #: What is set and not followed.
        self.unsupported: list[str] = []

    def of(self, row: Mapping[str, Any], whose: str) -> _core.slurm.Limits:
        """Return the limits of an association or a QOS, and what of its row limits accrual.

        Values are ``3``, ``3(2 used)`` or ``cpu=8,node=2``.
        """
        limits: list[_core.slurm.Limit] = []
        accrual_limits: dict[str, int] = {}
        for key, text in row.items():
            value = str(text).strip()
            if value in ("", "-1", "N", "NONE") or key in _OTHER_COLUMNS:
                continue
            if key in _ACCRUE:
                accrual_limits[_ACCRUE[key]] = min(int(_number(key, value)), _MAX_INT32)
            elif key in _JOBS:
                limits.append(_core.slurm.Limit(name=key, value=_number(key, value)))
            elif key in _TIMES:
                minutes = seconds_of_limit(value, key) / 60
                used_minutes = float(row.get(f"{key} used", 0.0))
                limits.append(_core.slurm.Limit(name=key, value=minutes, used_before=used_minutes))
            elif key in _TRES:
                limits += self._of_tres(key, value, row.get(f"{key} used", {}), whose)
            elif not key.endswith(" used"):
                self.unsupported.append(f"{key}={value} of {whose}")
        return _core.slurm.Limits(limits=limits, **accrual_limits)

    def _of_tres(
        self, key: str, text: str, used_amounts: Mapping[str, float], whose: str
    ) -> list[_core.slurm.Limit]:
        """Return a limit for each TRES of a text as ``cpu=8,node=2``."""
        limits_of_tres = []
        for part in text.split(","):
            name, _, value = part.partition("=")
            if name not in self._tres:
                self.unsupported.append(f"{key}={part} of {whose}")
                continue
            scale = 1 / self.cpus_per_core if name == "cpu" else 1.0
            limits_of_tres.append(
                _core.slurm.Limit(
                    name=key,
                    tres=self._tres[name],
                    value=_number(key, value) * scale,
                    used_before=used_amounts.get(name, 0.0) * scale,
                )
            )
        return limits_of_tres

    def _preemption(self, row: Mapping[str, object], fields: dict[str, Any]) -> None:
        """Add what a QOS says of preemption to its fields."""
        for key, name in (
            ("GraceTime", "grace_time"),
            ("PreemptExemptTime", "preempt_exempt_time"),
        ):
            if row.get(key):
                fields[name] = int(min(seconds_of_limit(str(row[key]), key), _MAX_INT32))
        text = str(row.get("PreemptMode") or "cluster")
        if text.lower() != "cluster":
            mode = preempt_mode(text)
            if mode is None:
                self.unsupported.append(f"PreemptMode={text} of QOS {row.get('Name', '')}")
            fields["preempt_mode"] = mode or 0

    def weights(self, text: str) -> list[float]:
        """Return the numbers by TRES of ``CPU=1000,Mem=2000``."""
        place_by_name = {name.lower(): k for name, k in self._tres.items()}
        weights = [0.0] * len(place_by_name)
        for part in filter(None, text.split(",")):
            name, _, value = part.partition("=")
            if name.strip().lower() in place_by_name:
                weights[place_by_name[name.strip().lower()]] = _number(
                    "PriorityWeightTRES", value.strip()
                )
        return weights

    def billing(self, text: str, memory: bool) -> list[float]:
        """Return TRESBillingWeights by TRES; `memory`: it is handed out, so that it has a price."""
        weights = [0.0] * len(self._tres)
        place_by_name = {name.lower(): k for name, k in self._tres.items()}
        for part in filter(None, text.split(",")):
            name, _, value = part.partition("=")
            match = re.fullmatch(r"([0-9.]+)([KMGTP]?)", value.strip(), re.IGNORECASE)
            place = place_by_name.get(name.strip().lower())
            if place is None or not match:
                self.unsupported.append(f"TRESBillingWeights={part}")
                continue
            scale = 1 / _SCALES[match[2].upper()]
            if place == place_by_name["cpu"]:
                scale = self.cpus_per_core
            weights[place] = float(match[1]) * scale * (memory or place != place_by_name["mem"])
        return weights

    def qos(self, row: Mapping[str, object]) -> _core.slurm.Qos:
        """Return the limits of a QOS, with its factors and flags."""
        whose = f"QOS {row.get('Name', '')}"
        fields: dict[str, Any] = {"limits": self.of(row, whose)}
        fields["usage_factor"] = _real(row, "UsageFactor", 1.0, whose)
        fields["priority"] = _real(row, "Priority", 0.0, whose)
        self._preemption(row, fields)
        if row.get("LimitFactor"):
            fields["limit_factor"] = _real(row, "LimitFactor", 1.0, whose)
        flags = list(filter(None, str(row.get("Flags", "")).split(",")))
        if {flag.lower() for flag in flags} >= _BOUND_FLAGS:
            fields["ignores_partition_nodes"] = True
        for flag in flags:
            if flag.lower() in _FLAGS:
                fields[_FLAGS[flag.lower()]] = True
            elif "ignores_partition_nodes" not in fields or flag.lower() not in _BOUND_FLAGS:
                self.unsupported.append(f"Flags={flag} of QOS {row.get('Name', '')}")
        return _core.slurm.Qos(**fields)


def priority_weights(text: str, machine: Machine) -> list[float]:
    """Return PriorityWeightTRES by TRES; what the machine does not count has none."""
    limits = Limits(machine)
    return limits.weights(text) if text else []


def ignored_tres_notes(text: str, machine: Machine) -> list[Note]:
    """Return a note for each part of PriorityWeightTRES that the machine does not count."""
    tres_names = {name.lower() for name in Limits(machine).names}
    parts = [part.strip() for part in text.split(",") if part.strip()]
    return [
        not_followed(
            f"PriorityWeightTRES={part}: priorities lack it", subject=f"PriorityWeightTRES={part}"
        )
        for part in parts
        if part.partition("=")[0].strip().lower() not in tres_names
    ]


def _real(row: Mapping[str, object], key: str, usual: float, whose: str) -> float:
    """Return a finite number of a row; `usual` where there is none."""
    text = row.get(key)
    return usual if text in (None, "") else io.parse_number(str(text), f"{whose}: {key}")


def _number(key: str, value: str) -> float:
    """Return the number of a limit, in MB where it has a unit."""
    match = re.fullmatch(r"([0-9]{1,30}(?:\.[0-9]*)?|\.[0-9]+)([KMGTP]?)", value)
    if not match:
        raise InvalidInstance(f"limits {key}={shorten(value)}: expected node=3, or a number")
    return float(match[1]) * _SCALES[match[2]]


class Accounts:
    """Associations and QOS of a slurmdbd, as ``sacctmgr`` shows them; the root comes first.

    An association has ``Account, User``, and ``parent`` (a row) or ``ParentName``; its ``Usage`` is
    in CPU seconds, its ``Factor`` what fair-share made of it last, if that is known.
    """

    def __init__(self, dump: AccountingDump, machine: Machine | None = None) -> None:
        limits = Limits(machine)
        qos_without_preemption = [limits.qos(row) for row in dump.qos]
        self._users: dict[str, int] = {}
        self._default_accounts = dump.default_account_by_user
        #: By account and user, where they are told.
        self._default_qos: dict[tuple[str, str], str] = {}
        self._numbers: dict[tuple[str, str], int] = {}
        self.rows: list[_core.slurm.Association] = []
        for row in dump.associations:
            account, user = row["Account"], row.get("User", "")
            if row.get("Partition"):
                limits.unsupported.append(f"Partition={row['Partition']} of user {user}")
                continue
            whose = f"user {user}" if user else f"account {account}"
            parent = row["parent"] if "parent" in row else self._parent(row)
            self._numbers[account, user] = len(self.rows)
            fields = {key: value for key, value in row.items() if key != "parent"}
            self.rows.append(
                _core.slurm.Association(
                    parent=parent,
                    shares=(
                        -1.0 if row.get("Share") == "parent" else _real(row, "Share", 1.0, whose)
                    ),
                    is_user=bool(user),
                    limits=limits.of(fields, whose),
                    initial_usage=_real(row, "Usage", 0.0, whose) / limits.cpus_per_core,
                    initial_factor=_real(row, "Factor", -1.0, whose),
                )
            )
            if row.get("Def QOS"):
                self._default_qos[account, user] = str(row["Def QOS"])
        self._priorities = {
            row["Name"]: qos.priority
            for row, qos in zip(dump.qos, qos_without_preemption, strict=True)
        }
        self.qos: list[_core.slurm.Qos] = []
        for qos, row in zip(qos_without_preemption, dump.qos, strict=True):
            preempted_names = filter(None, str(row.get("Preempt") or "").split(","))
            numbers = [number for number in map(self.qos_of, preempted_names) if number >= 0]
            self.qos.append(qos.replace(preempts=numbers))
        self._usual = next(iter(self._priorities), "")
        self.partition_qos: dict[str, int] = {}
        self.billing: dict[str, list[float]] = {}
        settings = machine.slurm if machine is not None else None
        if settings is not None:
            named = {name: self.qos_of(qos) for name, qos in settings.partition_qos.items()}
            self.partition_qos = {name: number for name, number in named.items() if number >= 0}
            limits.unsupported += [
                f"QoS={settings.partition_qos[name]} (partition {name})"
                for name, number in named.items()
                if number < 0
            ]
            self.billing = {
                name: limits.billing(text, settings.memory_counts)
                for name, text in settings.billing.items()
            }
        #: What is set and not followed, by name.
        self.unsupported = list(dict.fromkeys(limits.unsupported))

    def _parent(self, row: Mapping[str, Any]) -> int:
        """Return the row of the parent, which comes before; without a name it is the root."""
        account, user = row["Account"], row.get("User", "")
        if (account, user) == ("root", ""):
            return -1
        parent_account = account if user else row.get("ParentName") or "root"
        if (parent_account, "") not in self._numbers:
            raise InvalidInstance(
                f"account {shorten(parent_account)} is not shown: {shorten(user or account)}"
            )
        return self._numbers[parent_account, ""]

    def association_of(self, account: str, user: str) -> int:
        """Return the row of an association; -1: there is none."""
        return self._numbers.get((account, user), -1)

    def qos_of(self, name: str) -> int:
        """Return the number of a QOS; -1: there is none of that name."""
        return list(self._priorities).index(name) if name in self._priorities else -1

    def account_of(self, user: str, account: str) -> str:
        """Return the account of a job: the one it names, else its user's default account.

        Empty where the user has no association.
        """
        default = self._default_accounts.get(user)
        return account or ("" if default is None else default.name)

    def assumes_account_of(self, user: str) -> bool:
        """Whether no command tells which of the user's accounts is the default one."""
        default = self._default_accounts.get(user)
        return default is not None and default.is_assumed

    def has_association(self, job: Mapping[str, object]) -> bool:
        """Whether the user of a job has an association with its account."""
        return self.association_of(*self._names_of(job)) >= 0

    def _names_of(self, job: Mapping[str, object]) -> tuple[str, str]:
        """Return account and user of a job; without a user it is the root's, or of the account
        alone."""
        user, account = str(job.get("user") or ""), str(job.get("account") or "")
        if user:
            return self.account_of(user, account), user
        account = self.account_of(_ROOT, account)
        return account, _ROOT if self.association_of(account, _ROOT) >= 0 else ""

    def require_owner(self, job: Mapping[str, object]) -> Owner:
        """Return whose job it is, by the names that it says; without a user it is the root's.

        Raises
        ------
        InvalidInstance
            The user has no association with the account, or there is no such QOS.
        """
        account, user = self._names_of(job)
        if self.association_of(account, user) < 0:
            raise InvalidInstance(self._lacks_association(user, account))
        name = str(job.get("qos") or self._default_qos.get((account, user)) or self._usual)
        if name not in self._priorities:
            raise InvalidInstance(
                f"no QOS {shorten(name)}: expected one of {', '.join(self._priorities)}"
            )
        return self._make_owner(account, user, name)

    def _lacks_association(self, user: str, account: str) -> str:
        """Return the message about a job whose owner is not known."""
        accounts = [account for account, other in self._numbers if other == user]
        if user and accounts:
            return (
                f"user {shorten(user)} has no association with account {shorten(account)}: "
                f"expected one of {listed(accounts)}"
            )
        if not user:
            return (
                f"no user, and no account {shorten(account)}: expected a user with an association"
            )
        users = list(dict.fromkeys(other for _, other in self._numbers if other))
        return (
            f"user {shorten(user)} has no association, thus no default account: expected one of "
            f"{listed(users) or 'the users'}, or sacctmgr add user {user} Account=..."
        )

    def owner_in_log(self, user: str, account: str, qos: str) -> Owner:
        """Return whose a job of a log is; empty names are the user's default account and QOS."""
        account = self.account_of(user, account)
        return self._make_owner(
            account, user, qos or self._default_qos.get((account, user)) or self._usual
        )

    def _make_owner(self, account: str, user: str, qos: str) -> Owner:
        """Return the numbers of an account, a user and a QOS, and its share of the priorities."""
        max_priority = max(self._priorities.values(), default=0.0)
        return Owner(
            self.association_of(account, user),
            self.qos_of(qos),
            self._priorities.get(qos, 0.0) / max_priority if max_priority else 0.0,
            self._users.setdefault(user, len(self._users)),
        )


def resolve_owners(
    instance: Instance, machine: Machine | None, settings: SlurmSettings, approximate: bool
) -> tuple[list[Owner] | None, dict[str, Any], list[Note]]:
    """Return whose each job is (None where shares and limits do not count), accounts and QOS as
    :class:`Requests` has them, and notes."""
    if machine is None or settings.accounts is None or not settings.needs_accounting:
        return None, {}, []
    accounts = Accounts(settings.accounts, machine)
    lacks_users = "user" not in instance.column_names
    if lacks_users and not approximate:
        raise InvalidInstance(
            f"slurm-backfill: {settings.needs_accounting[0]}: expected a log that tells its "
            "users (and accounts, QOS), or approximate=True (--approximate) to run without"
        )
    if accounts.unsupported and not approximate:
        raise InvalidInstance(
            f"slurm-backfill does not cover {', '.join(accounts.unsupported)}: expected accounts "
            "without, or approximate=True (--approximate) to run without them"
        )
    notes = [
        not_followed(f"{setting}: jobs that it keeps may start earlier here", subject=setting)
        for setting in accounts.unsupported
    ]
    if lacks_users:
        note = not_followed("accounts: the log does not tell its users", subject="accounts")
        return None, {}, [*notes, note]
    names = (texts_of(instance, name).tolist() for name in ("user", "account", "qos"))
    owners = [accounts.owner_in_log(*names_of_job) for names_of_job in zip(*names, strict=True)]
    notes += _assumed_accounts(instance, accounts)
    has_limits = settings.limits_count
    associations, all_qos = accounts.rows, accounts.qos
    if not has_limits:
        associations = [row.replace(limits=_core.slurm.Limits()) for row in associations]
        all_qos = [qos.replace(limits=qos.limits.replace(limits=[])) for qos in all_qos]
    return (
        owners,
        {
            "associations": tuple(associations),
            "qos": tuple(all_qos),
            "billing": accounts.billing,
            "partition_qos": accounts.partition_qos,
        },
        notes + _missing_owner_notes(owners),
    )


def _assumed_accounts(instance: Instance, accounts: Accounts) -> list[Note]:
    """Return a note of jobs whose account is the first of several: no default is known."""
    users, named = (texts_of(instance, name).tolist() for name in ("user", "account"))
    assumed = [
        user
        for user, account in zip(users, named, strict=True)
        if not account and accounts.assumes_account_of(user)
    ]
    if not assumed:
        return []
    text = (
        f"assumed: {len(assumed)} jobs that name no account, of users with several and no known "
        f"default account ({listed(list(dict.fromkeys(assumed)))}): the first account of each "
        "(sacctmgr -P show user tells the default)"
    )
    return [Note(NoteKind.ASSUMED, text, subject="default accounts", count=len(assumed))]


def _missing_owner_notes(owners: list[Owner]) -> list[Note]:
    """Return notes of jobs whose association or QOS the accounts do not have."""
    without_association = sum(owner.association < 0 for owner in owners)
    without_qos = sum(owner.qos < 0 for owner in owners)
    notes = []
    if without_association:
        text = (
            f"{without_association} jobs of users without an association: without a share and its "
            "limits"
        )
        notes.append(Note(NoteKind.UNKNOWN, text, subject="association", count=without_association))
    if without_qos:
        text = f"{without_qos} jobs of a QOS that the accounts do not have: without its limits"
        notes.append(Note(NoteKind.UNKNOWN, text, subject="QOS", count=without_qos))
    return notes


def filter_by_partition_acl(
    instance: Instance,
    settings: SlurmSettings,
    names: list[str],
    parts_by_row: dict[int, list[int]],
    first_part: NDArray[np.int64],
) -> tuple[dict[int, list[int]], list[Note]]:
    """Return the partitions of jobs in several, without those whose AllowAccounts and the like
    refuse them, and notes of jobs that no partition lets in."""
    rules = rules_by_partition(settings)
    if not any(rules.get(name) for name in names):
        return parts_by_row, []
    accounts, qos = accounts_of_jobs(instance, settings), texts_of(instance, "qos").tolist()

    def takes(part: int, row: int) -> bool:
        return lets_in(rules.get(names[part], {}), accounts[row], qos[row])

    admitted_parts, denied_counts = dict(parts_by_row), Counter[str]()
    for row in range(len(instance)):
        parts = parts_by_row.get(row, [int(first_part[row])])
        open_parts = [part for part in parts if takes(part, row)]
        if not open_parts:
            denied_counts[names[parts[0]]] += 1
        elif row in parts_by_row:
            admitted_parts[row] = open_parts
    return admitted_parts, [
        Note(
            NoteKind.DENIED_JOBS,
            f"{count} jobs of partition {name} whose AllowAccounts, AllowQos or their likes do not "
            "let them in: they run here",
            subject=name,
            count=count,
        )
        for name, count in denied_counts.items()
    ]
