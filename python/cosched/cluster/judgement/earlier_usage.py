"""Fair-share usage from before a log: sacct does not print it, so simulations draw it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from cosched.cluster.instance import Instance
from cosched.cluster.instance.usage import texts_of

#: The jobs from before the log used between so many times and so many times what the jobs of the
#: log use.
MIN_USAGE_RATIO, MAX_USAGE_RATIO = 0.1, 10.0
#: How near the drawn shares of users lie to their shares of the log's usage and to equal ones: the
#: sum of the Dirichlet distribution's parameters, for each user.
CONCENTRATION = 4.0
#: Seconds in which usage halves where a slurm.conf does not say (PriorityDecayHalfLife).
USUAL_HALF_LIFE = 7 * 86400.0

#: An account and a user; no user where it is the account itself.
Association = tuple[str, str]


def is_earlier_usage_unknown(instance: Instance) -> bool:
    """Whether priorities depend on usage, and neither log nor accounts tell what it was before."""
    settings = instance.machine.slurm if instance.machine is not None else None
    if settings is None or settings.accounts is None or "account" not in instance.column_names:
        return False
    if not settings.parameters.get("PriorityWeightFairshare"):
        return False
    rows = settings.accounts.associations
    return any(row.get("User") for row in rows) and not any(row.get("Usage") for row in rows)


def draw_earlier_usage(instance: Instance, rng: np.random.Generator) -> Instance:
    """The same jobs on a machine whose users have a random usage when the log begins.

    Parameters
    ----------
    instance : Instance
        A log of which :func:`is_earlier_usage_unknown` holds.
    rng : numpy.random.Generator

    Returns
    -------
    Instance
        Its machine's associations have a ``Usage`` (CPU seconds). Users used between
        :data:`MIN_USAGE_RATIO` and :data:`MAX_USAGE_RATIO` times what the log
        uses, no more than usage that decays can add up to; their shares are drawn around those of
        the log and equal ones.
    """
    machine = instance.machine
    assert machine is not None
    settings = machine.slurm
    assert settings is not None
    assert settings.accounts is not None
    rows = settings.accounts.associations
    rows_by_user = Counter(
        (str(row["Account"]), str(row["User"])) for row in rows if row.get("User")
    )
    users = list(rows_by_user)  # of one with rows for several partitions there is one draw
    logged = logged_usage(instance)
    total = sum(logged.values())
    log_shares = np.array([logged.get(user, 0.0) for user in users]) / total
    shares = rng.dirichlet(CONCENTRATION * (log_shares * len(users) + 1) / 2)
    usage_ratio = math.exp(rng.uniform(math.log(MIN_USAGE_RATIO), math.log(MAX_USAGE_RATIO)))
    usage_of_users = dict(
        zip(users, (_decayed(instance, total, usage_ratio) * shares), strict=True)
    )
    usage = usage_of_users | _usage_of_accounts(usage_of_users, rows)
    new_rows = []
    for row in rows:
        association = (str(row["Account"]), str(row.get("User", "")))
        equal_part = usage.get(association, 0.0) / rows_by_user.get(association, 1)
        new_rows.append({**row, "Usage": equal_part})
    accounts = replace(settings.accounts, associations=tuple(new_rows))
    new_machine = replace(machine, slurm=replace(settings, accounts=accounts))
    return instance.with_jobs({"id": instance.ids, **instance.raw_columns}, machine=new_machine)


def logged_usage(instance: Instance) -> dict[Association, float]:
    """CPU seconds of the log's jobs by account and user; a job that names no account counts for the
    default account of its user."""
    usage: dict[Association, float] = {}
    accounts, users = texts_of(instance, "account"), texts_of(instance, "user")
    settings = instance.machine.slurm if instance.machine is not None else None
    known_accounts = settings.accounts if settings is not None else None
    defaults = {} if known_accounts is None else known_accounts.default_account_by_user
    seconds = (instance.column("runtime") * instance.column("tasks")).tolist()
    for account, user, job_seconds in zip(accounts, users, seconds, strict=True):
        default = defaults[user].name if user in defaults else ""
        association = (str(account) or default, str(user))
        usage[association] = usage.get(association, 0.0) + job_seconds
    return usage


def _decayed(instance: Instance, total: float, usage_ratio: float) -> float:
    """Return what is left, when the log begins, of usage that came as in the log for `usage_ratio`
    times its length.

    `total`: CPU seconds of the log's jobs.
    """
    assert instance.machine is not None
    assert instance.machine.slurm is not None
    half_life = instance.machine.slurm.parameters.get("PriorityDecayHalfLife", USUAL_HALF_LIFE)
    if half_life <= 0:  # usage does not decay
        return total * usage_ratio
    eligible = instance.column("eligible")
    length = max(float((eligible + instance.column("runtime")).max() - eligible.min()), 1.0)
    mean_life = half_life / math.log(2)
    return total / length * mean_life * -math.expm1(-usage_ratio * length / mean_life)


def _usage_of_accounts(
    usage_of_users: Mapping[Association, float], rows: Sequence[Mapping[str, object]]
) -> dict[Association, float]:
    """Return the usage of each account: that of all users below it."""
    parents = {
        str(row["Account"]): str(row.get("ParentName") or "root")
        for row in rows
        if not row.get("User")
    }
    usage: dict[Association, float] = {}
    for (account, _), user_usage in usage_of_users.items():
        for name in _account_and_ancestors(account, parents):
            usage[name, ""] = usage.get((name, ""), 0.0) + user_usage
    return usage


def _account_and_ancestors(account: str, parents: Mapping[str, str]) -> Iterator[str]:
    yield account
    while account != "root" and account in parents:
        account = parents[account]
        yield account
