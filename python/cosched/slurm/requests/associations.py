"""Associations and QOS in the core's form: shares, usage, limits; whose the jobs of a log are."""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from cosched import io
from cosched.cluster.instance import Instance
from cosched.cluster.instance.usage import texts_of
from cosched.cluster.machine import Machine
from cosched.core.text import listed
from cosched.errors import InvalidInstance, shorten
from cosched.slurm.accounts.shown import KNOWN, Shown
from cosched.slurm.conf.lines import seconds_of_limit
from cosched.slurm.conf.settings import SlurmSettings, preempt_mode
from cosched.slurm.requests.access import accounts_of_jobs, lets_in, rules_by_partition
from cosched.slurm.requests.request import Owner, gpu_types_of

#: Limits by their names in sacctmgr: numbers of jobs, times, amounts of TRES; and other columns.
_JOBS, _TIMES, _TRES, _OTHERS = (
    frozenset(KNOWN[kind]) for kind in ("jobs", "times", "tres", "beside")
)
_ACCRUE, _FLAGS = KNOWN["accrue"], KNOWN["flags"]
#: Those that lift MinNodes and MaxNodes of a partition: followed where both are there.
_BOUNDS = {"partitionmaxnodes", "partitionminnodes"}
_MOST = 2**31 - 1
#: Who submits where a job tells no user.
_ROOT = "root"
_PLAIN_TRES = ("cpu", "mem", "node", "billing", "gres/gpu")
_SCALES = {"": 1.0, "K": 1 / 1024, "M": 1.0, "G": 1024.0, "T": 1024.0**2, "P": 1024.0**3}


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
        self.left: list[str] = []

    def of(self, row: Mapping[str, Any], whose: str) -> dict[str, Any]:
        """Of an association or a QOS. Values are ``3``, ``3(2 used)`` or ``cpu=8,node=2``."""
        found: dict[str, Any] = {"limits": []}
        for key, text in row.items():
            value = str(text).strip()
            if value in ("", "-1", "N", "NONE") or key in _OTHERS:
                continue
            if key in _ACCRUE:
                found[_ACCRUE[key]] = min(int(_number(key, value)), _MOST)
            elif key in _JOBS:
                found["limits"].append((key, -1, _number(key, value), 0.0))
            elif key in _TIMES:
                minutes = seconds_of_limit(value, key) / 60
                found["limits"].append((key, -1, minutes, float(row.get(f"{key} used", 0.0))))
            elif key in _TRES:
                found["limits"] += self._of_tres(key, value, row.get(f"{key} used", {}), whose)
            elif not key.endswith(" used"):
                self.left.append(f"{key}={value} of {whose}")
        return found

    def _of_tres(
        self, key: str, text: str, used: Mapping[str, float], whose: str
    ) -> list[tuple[str, int, float, float]]:
        found = []
        for part in text.split(","):
            name, _, value = part.partition("=")
            if name not in self._tres:
                self.left.append(f"{key}={part} of {whose}")
                continue
            scale = 1 / self.cpus_per_core if name == "cpu" else 1.0
            found.append(
                (key, self._tres[name], _number(key, value) * scale, used.get(name, 0.0) * scale)
            )
        return found

    def _preemption(self, row: Mapping[str, Any], own: dict[str, Any]) -> None:
        for key, name in (("GraceTime", "grace"), ("PreemptExemptTime", "exempt_time")):
            if row.get(key):
                own[name] = int(min(seconds_of_limit(str(row[key]), key), _MOST))
        text = str(row.get("PreemptMode") or "cluster")
        if text.lower() != "cluster":
            mode = preempt_mode(text)
            if mode is None:
                self.left.append(f"PreemptMode={text} of QOS {row.get('Name', '')}")
            own["preempt_mode"] = mode or 0

    def weights(self, text: str) -> list[float]:
        """Numbers by TRES of ``CPU=1000,Mem=2000``."""
        low = {name.lower(): k for name, k in self._tres.items()}
        found = [0.0] * len(low)
        for part in filter(None, text.split(",")):
            name, _, value = part.partition("=")
            if name.strip().lower() in low:
                found[low[name.strip().lower()]] = _number("PriorityWeightTRES", value.strip())
        return found

    def billing(self, text: str, memory: bool) -> list[float]:
        """TRESBillingWeights by TRES; `memory`: it is handed out, so that it has a price."""
        weights = [0.0] * len(self._tres)
        low = {name.lower(): k for name, k in self._tres.items()}
        for part in filter(None, text.split(",")):
            name, _, value = part.partition("=")
            found = re.fullmatch(r"([0-9.]+)([KMGTP]?)", value.strip(), re.IGNORECASE)
            at = low.get(name.strip().lower())
            if at is None or not found:
                self.left.append(f"TRESBillingWeights={part}")
                continue
            scale = 1 / _SCALES[found[2].upper()]
            if at == low["cpu"]:
                scale = self.cpus_per_core
            weights[at] = float(found[1]) * scale * (memory or at != low["mem"])
        return weights

    def qos(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Of a QOS, with its factors and flags."""
        whose = f"QOS {row.get('Name', '')}"
        own = self.of(row, whose)
        own["usage_factor"] = _real(row, "UsageFactor", 1.0, whose)
        own["priority"] = _real(row, "Priority", 0.0, whose)
        self._preemption(row, own)
        if row.get("LimitFactor"):
            own["limit_factor"] = _real(row, "LimitFactor", 1.0, whose)
        flags = list(filter(None, str(row.get("Flags", "")).split(",")))
        if {flag.lower() for flag in flags} >= _BOUNDS:
            own["any_nodes"] = True
        for flag in flags:
            if flag.lower() in _FLAGS:
                own[_FLAGS[flag.lower()]] = True
            elif "any_nodes" not in own or flag.lower() not in _BOUNDS:
                self.left.append(f"Flags={flag} of QOS {row.get('Name', '')}")
        return own


def priority_weights(text: str, machine: Machine) -> list[float]:
    """PriorityWeightTRES by TRES; what the machine does not count has none."""
    limits = Limits(machine)
    return limits.weights(text) if text else []


def unweighed(text: str, machine: Machine) -> list[str]:
    """What is said of the parts of PriorityWeightTRES that the machine does not count."""
    known = {name.lower() for name in Limits(machine).names}
    parts = [part.strip() for part in text.split(",") if part.strip()]
    return [
        f"not followed: PriorityWeightTRES={part}: priorities lack it"
        for part in parts if part.partition("=")[0].strip().lower() not in known
    ]  # fmt: skip


def _real(row: Mapping[str, Any], key: str, usual: float, whose: str) -> float:
    """A finite number; `usual` where there is none."""
    given = row.get(key)
    return usual if given in (None, "") else io.parse_number(str(given), f"{whose}: {key}")


def _number(key: str, value: str) -> float:
    found = re.fullmatch(r"([0-9]{1,30}(?:\.[0-9]*)?|\.[0-9]+)([KMGTP]?)", value)
    if not found:
        raise InvalidInstance(f"limits {key}={shorten(value)}: expected node=3, or a number")
    return float(found[1]) * _SCALES[found[2]]


class Accounts:
    """Associations and QOS of a slurmdbd, as ``sacctmgr`` shows them; the root comes first.

    An association has ``Account, User``, and ``parent`` (a row) or ``ParentName``; its ``Usage`` is
    in CPU seconds, its ``Factor`` what fair-share made of it last, if that is known.
    """

    def __init__(self, shown: Shown, machine: Machine | None = None) -> None:
        limits = Limits(machine)
        self.qos = [limits.qos(row) for row in shown.qos]
        self._users: dict[str, int] = {}
        self._default_accounts = shown.default_account_by_user
        #: By account and user, where they are told.
        self._default_qos: dict[tuple[str, str], str] = {}
        self._numbers: dict[tuple[str, str], int] = {}
        self.rows: list[tuple[int, float, bool, dict[str, Any], float, float]] = []
        for row in shown.associations:
            account, user = row["Account"], row.get("User", "")
            if row.get("Partition"):
                limits.left.append(f"Partition={row['Partition']} of user {user}")
                continue
            whose = f"user {user}" if user else f"account {account}"
            parent = row["parent"] if "parent" in row else self._parent(row)
            self._numbers[account, user] = len(self.rows)
            own = {key: value for key, value in row.items() if key != "parent"}
            self.rows.append((
                parent, -1.0 if row.get("Share") == "parent" else _real(row, "Share", 1.0, whose),
                bool(user), limits.of(own, whose),
                _real(row, "Usage", 0.0, whose) / limits.cpus_per_core,
                _real(row, "Factor", -1.0, whose),
            ))  # fmt: skip
            if row.get("Def QOS"):
                self._default_qos[account, user] = str(row["Def QOS"])
        self._priorities = {
            row["Name"]: own["priority"] for row, own in zip(shown.qos, self.qos, strict=True)
        }
        for own, row in zip(self.qos, shown.qos, strict=True):
            listed = filter(None, str(row.get("Preempt") or "").split(","))
            own["preempts"] = [n for n in map(self.qos_of, listed) if n >= 0]
        self._usual = next(iter(self._priorities), "")
        self.partition_qos: dict[str, int] = {}
        self.billing: dict[str, list[float]] = {}
        settings = machine.slurm if machine is not None else None
        if settings is not None:
            named = {name: self.qos_of(qos) for name, qos in settings.partition_qos.items()}
            self.partition_qos = {name: number for name, number in named.items() if number >= 0}
            limits.left += [
                f"QoS={settings.partition_qos[name]} (partition {name})"
                for name, number in named.items() if number < 0
            ]  # fmt: skip
            self.billing = {
                name: limits.billing(text, settings.memory_counts)
                for name, text in settings.billing.items()
            }
        #: What is set and not followed, by name.
        self.left = list(dict.fromkeys(limits.left))

    def _parent(self, row: Mapping[str, Any]) -> int:
        """Accounts come before their users; one that names no parent is below the root."""
        account, user = row["Account"], row.get("User", "")
        if (account, user) == ("root", ""):
            return -1
        above = account if user else row.get("ParentName") or "root"
        if (above, "") not in self._numbers:
            raise InvalidInstance(
                f"account {shorten(above)} is not shown: {shorten(user or account)}"
            )
        return self._numbers[above, ""]

    def association_of(self, account: str, user: str) -> int:
        """Its row; -1: there is none."""
        return self._numbers.get((account, user), -1)

    def qos_of(self, name: str) -> int:
        """Its number; -1: there is none of that name."""
        return list(self._priorities).index(name) if name in self._priorities else -1

    def account_of(self, user: str, account: str) -> str:
        """The account of a job: the one it names, else its user's default account.

        Empty where the user has no association.
        """
        default = self._default_accounts.get(user)
        return account or ("" if default is None else default.name)

    def assumes_account_of(self, user: str) -> bool:
        """Whether no command tells which of the user's accounts is the default one."""
        default = self._default_accounts.get(user)
        return default is not None and default.is_assumed

    def has_association(self, job: Mapping[str, Any]) -> bool:
        """Whether the user of a job has an association with its account."""
        return self.association_of(*self._names_of(job)) >= 0

    def _names_of(self, job: Mapping[str, Any]) -> tuple[str, str]:
        """Account and user of a job; one without a user is the root's, or of the account alone."""
        user, account = str(job.get("user") or ""), str(job.get("account") or "")
        if user:
            return self.account_of(user, account), user
        account = self.account_of(_ROOT, account)
        return account, _ROOT if self.association_of(account, _ROOT) >= 0 else ""

    def of(self, job: Mapping[str, Any]) -> Owner:
        """Whose job it is, by the names that it says; without a user it is the root's.

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
        return self._known(account, user, name)

    def _lacks_association(self, user: str, account: str) -> str:
        """The message of a job whose owner is not known."""
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

    def of_log(self, user: str, account: str, qos: str) -> Owner:
        """The same, as far as names of a log are known here: empty ones are the user's usual."""
        account = self.account_of(user, account)
        return self._known(
            account, user, qos or self._default_qos.get((account, user)) or self._usual
        )

    def _known(self, account: str, user: str, qos: str) -> Owner:
        most = max(self._priorities.values(), default=0.0)
        return Owner(
            self.association_of(account, user), self.qos_of(qos),
            self._priorities.get(qos, 0.0) / most if most else 0.0,
            self._users.setdefault(user, len(self._users)),
        )  # fmt: skip


def owners_of(
    instance: Instance, machine: Machine | None, settings: SlurmSettings, approximate: bool
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
    notes += _assumed_accounts(instance, accounts)
    limited = settings.limits_count
    rows = [(*row[:3], row[3] if limited else {}, *row[4:]) for row in accounts.rows]
    qos = [one if limited else {**one, "limits": []} for one in accounts.qos]
    return owners, {
        "accounts": tuple(rows), "qos": tuple(qos), "billing": accounts.billing,
        "partition_qos": accounts.partition_qos,
    }, notes + _unknown(owners)  # fmt: skip


def _assumed_accounts(instance: Instance, accounts: Accounts) -> list[str]:
    """A note of jobs whose account is the first of several, since none is known as the default."""
    users, named = (texts_of(instance, name).tolist() for name in ("user", "account"))
    assumed = [
        user for user, account in zip(users, named, strict=True)
        if not account and accounts.assumes_account_of(user)
    ]  # fmt: skip
    if not assumed:
        return []
    return [
        f"assumed: {len(assumed)} jobs that name no account, of users with several and no known "
        f"default account ({listed(list(dict.fromkeys(assumed)))}): the first account of each "
        "(sacctmgr -P show user tells the default)"
    ]


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
    rules = rules_by_partition(settings)
    if not any(rules.get(name) for name in names):
        return of_rows, []
    accounts, qos = accounts_of_jobs(instance, settings), texts_of(instance, "qos").tolist()

    def takes(part: int, row: int) -> bool:
        return lets_in(rules.get(names[part], {}), accounts[row], qos[row])

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
