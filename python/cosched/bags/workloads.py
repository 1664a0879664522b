"""The random bags of Li et al. 2016, figure 3."""

import numpy as np

from cosched.bags.instance import Instance
from cosched.core.arrays import checked_entries, integer, seed_of


def bags_random(
    q: int = 1,
    *,
    gamma: float = 1.2,
    energy_cost: float = 1.0,
    task_types: int = 30,
    tasks_per_type: int = 5,
    machine_types: int = 9,
    machines_per_type: int = 40,
    seed: int | None = None,
) -> Instance:
    """Random times and powers: the q-th experiment of the paper's figure 3.

    ETC (s) and APC (W) are uniform in (0, 1], independent for every pair of types; 150 q tasks,
    shared evenly by 30 types; 9 machine types of 40 machines.

    Parameters
    ----------
    q : int
        1..25 in the paper.
    gamma : float
        Price over the least cost of energy.
    energy_cost : float
        Price of a joule.
    task_types, tasks_per_type, machine_types, machines_per_type : int
        The paper's sizes; a type has ``q tasks_per_type`` tasks.

    Examples
    --------
    >>> bags_random(4, seed=1)
    <bags.Instance: 600 tasks of 30 types, 360 machines of 9 types, gamma = 1.2>
    """
    shape = (integer(task_types, "task_types", 1), integer(machine_types, "machine_types", 1))
    checked_entries("task types x machine types", *shape)
    count = integer(q, "q", 1, 2**40) * integer(tasks_per_type, "tasks_per_type", 1)
    random = np.random.default_rng(seed_of(seed))
    etc, apc = 1 - random.random(shape), 1 - random.random(shape)
    machines = [integer(machines_per_type, "machines_per_type", 1)] * shape[1]
    return Instance([count] * shape[0], machines, etc, apc, None, energy_cost, gamma=gamma)
