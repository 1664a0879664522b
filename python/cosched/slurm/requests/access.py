"""Which jobs a partition lets in: AllowAccounts, DenyAccounts, AllowQos, DenyQos."""

from collections.abc import Mapping


def lets_in(rules: Mapping[str, frozenset[str]], account: str, qos: str) -> bool:
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
