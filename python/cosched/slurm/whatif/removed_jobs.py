"""The jobs of a user that a what-if leaves out: ``users.ada=-50%``."""

import re

import numpy as np
from numpy.typing import NDArray

from cosched.cluster.instance import Instance
from cosched.core.text import unknown_name
from cosched.errors import InvalidInstance, shorten


def removed_rows_of_user(instance: Instance, user: str, value: str) -> NDArray[np.intp]:
    """Return rows of the jobs that go, spread evenly over the user's jobs; none of a share below
    half of a job.

    Raises
    ------
    InvalidInstance
        A value other than ``-50%``, an unknown user, or a log without users.
    """
    percent = re.fullmatch(r"-([0-9]+(?:\.[0-9]+)?)%", value)
    share = float(percent[1]) / 100 if percent else 0.0
    if not 0 < share <= 1:
        raise InvalidInstance(f"users.{user}={shorten(value)}: expected fewer jobs, as -50%")
    if "user" not in instance.column_names:
        raise InvalidInstance("the log does not say whose jobs they are")
    users = instance.column("user").astype(str)
    rows = np.flatnonzero(users == user)
    if not len(rows):
        raise InvalidInstance(unknown_name("user", user, dict.fromkeys(users.tolist())))
    # Every other one of half of them: what is left is spread as all were.
    count = round(share * len(rows))
    places = (np.arange(count) + 0.5) * len(rows) / max(count, 1)
    removed_rows: np.ndarray = rows[places.astype(int)]
    return removed_rows
