"""Which jobs a partition lets in: AllowAccounts, DenyAccounts, AllowQos, DenyQos."""

from collections.abc import Mapping

from cosched.cluster.instance import Instance
from cosched.cluster.instance.usage import texts_of
from cosched.slurm.accounts.accounting_dump import AccountingDump
from cosched.slurm.conf.settings import SlurmSettings, months_of

#: From this version on a list of accounts includes their subaccounts (slurm.conf(5)).
SUBACCOUNTS_SINCE = "23.02"
Rules = Mapping[str, frozenset[str]]


def rules_by_partition(settings: SlurmSettings) -> dict[str, Rules]:
    """Return the rules of each partition that has some, with the subaccounts that the version
    includes."""
    dump = settings.accounts
    is_hierarchical = (
        dump is not None
        and settings.version != ""
        and months_of(settings.version) >= months_of(SUBACCOUNTS_SINCE)
    )
    rules_of: dict[str, Rules] = {}
    for partition, rules in settings.allowed.items():
        if rules:
            rules_of[partition] = {
                kind: _with_subaccounts(names, dump)
                if dump is not None and is_hierarchical and kind.endswith("accounts")
                else names
                for kind, names in rules.items()
            }
    return rules_of


def _with_subaccounts(names: frozenset[str], dump: AccountingDump) -> frozenset[str]:
    """Accounts, and those below them; rows of accounts come before what belongs to them."""
    accounts = set(names)
    for row in dump.associations:
        is_account = not row.get("User")
        if is_account and str(row.get("ParentName") or "").lower() in accounts:
            accounts.add(str(row["Account"]).lower())
    return frozenset(accounts)


def accounts_of_jobs(instance: Instance, settings: SlurmSettings) -> list[str]:
    """Return the account of each job; of one that names none the default account of its user."""
    accounts, users = (texts_of(instance, name).tolist() for name in ("account", "user"))
    if settings.accounts is None:
        return list(accounts)
    defaults = settings.accounts.default_account_by_user
    return [
        account or (defaults[user].name if user in defaults else "")
        for account, user in zip(accounts, users, strict=True)
    ]


def lets_in(rules: Rules, account: str, qos: str) -> bool:
    """Whether a partition with these rules takes a job.

    Parameters
    ----------
    rules : mapping
        Names in lower case by ``allowaccounts``, ``denyaccounts``, ``allowqos``, ``denyqos``. An
        allowing rule makes the denying one of its kind ineffective, as in ``partition_mgr.c``.
    account, qos : str
        Of the job; an empty one is not known and passes.

    Examples
    --------
    >>> rules = {"denyaccounts": frozenset({"physics"})}
    >>> lets_in(rules, "Physics", ""), lets_in(rules, "biology", "")
    (False, True)
    """
    for kind, name in (("accounts", account), ("qos", qos)):
        if not name:
            continue
        if f"allow{kind}" in rules:
            if name.lower() not in rules[f"allow{kind}"]:
                return False
        elif name.lower() in rules.get(f"deny{kind}", ()):
            return False
    return True
