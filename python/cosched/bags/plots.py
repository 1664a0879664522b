"""The picture of bags: the energy-makespan front."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np

from cosched.bags.bounds import cut_bound, front
from cosched.bags.instance import Instance
from cosched.bags.result import Result
from cosched.core.drawing import MARKERS, axes_or_new, literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def energy_front(
    instance: Instance, results: Iterable[Result] = (), ax: Axes | None = None
) -> Axes:
    """Least energy against the makespan: the relaxation's front, and plans as points above it.

    The shaded side cannot be reached. The dashed line joins the plans of equal profit rate, the
    bound's; it touches the front where the relaxation earns most.

    Parameters
    ----------
    results : iterable of Result
        Plans to show.

    Examples
    --------
    >>> inst = cs.bags.Instance([4, 3], [2, 1], [[10, 5], [8, 12]], [[90, 200], [80, 100]], 9000)
    >>> plans = [cs.bags.solve(inst, name) for name in ("ttb", "tms")]
    >>> ax = cs.plot.energy_front(inst, plans, ax=Figure().subplots())
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('makespan (s)', 'energy (J)')
    """
    Instance.require(instance)
    axes = axes_or_new(ax)
    energy_front = front(instance)
    result_list = list(results)
    for result in result_list:
        Result.require(result)
    last = max([energy_front.makespan[-1], *(result.makespan for result in result_list)])
    right_limit = last + 0.05 * (last - energy_front.makespan[0])
    makespan = np.append(energy_front.makespan, right_limit)
    energy = np.append(energy_front.energy, energy_front.energy_at(right_limit))
    axes.plot(makespan, energy, color="black", label="front of the relaxation")
    low, high = energy.min(), max([energy.max(), *(result.energy for result in result_list)])
    margin = 0.05 * (high - low) or 0.05 * high
    axes.fill_between(makespan, low - margin, energy, color="0.92")
    for result, marker in zip(result_list, cycle(MARKERS), strict=False):
        axes.plot(result.makespan, result.energy, marker, label=literal(result.algorithm))
    rate = cut_bound(instance).value
    if instance.energy_cost > 0 and rate > 0:  # where (p - c E) / makespan = rate
        energy = (instance.price - rate * makespan) / instance.energy_cost
        axes.plot(makespan, energy, "--", color="0.5", linewidth=1, label="the bound's profit rate")
    axes.set_xlim(
        energy_front.makespan[0] - 0.03 * (right_limit - energy_front.makespan[0]), right_limit
    )
    axes.set_ylim(low - margin, high + margin)
    axes.set_xlabel("makespan (s)")
    axes.set_ylabel("energy (J)")
    axes.legend(fontsize=8)
    return axes
