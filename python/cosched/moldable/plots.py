"""The picture of the moldable family: two criteria at once."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from typing import TYPE_CHECKING

from cosched.core.drawing import MARKERS, axes_or_new, literal
from cosched.errors import InvalidInstance
from cosched.moldable.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def pareto(
    result: Result, ax: Axes | None = None, *, others: Mapping[str, Result] | None = None
) -> Axes:
    """The front of makespan and minsum that ``demt-best`` saw, its choice, and the bounds.

    Parameters
    ----------
    result : Result
        Of ``demt-best`` (on an instance without release dates).
    others : mapping of str to Result, optional
        Further schedules of the same instance, by label.

    Raises
    ------
    InvalidInstance
        The result has no front.

    Examples
    --------
    >>> inst = cs.moldable.Instance([[8, 4.4, 3.1], [6, 3.2, 2.5], [2, 1.2, 0.9]], [1, 2, 4])
    >>> best = cs.moldable.demt_best(inst, work=10_000)
    >>> ax = cs.plot.pareto(best, ax=Figure().subplots(), others={"gang": cs.moldable.gang(inst)})
    >>> ax.get_xlabel()
    'makespan (s)'
    """
    Result.require(result)
    front = result.pareto_front
    if front is None:
        raise InvalidInstance(f"{result.algorithm}: no Pareto front; only demt-best returns one")
    ax = axes_or_new(ax)
    # What the front dominates lies above the steps.
    ax.step(front[:, 0], front[:, 1], where="post", color="tab:blue", linewidth=1)
    ax.plot(front[:, 0], front[:, 1], "o", color="tab:blue", markersize=4, label="Pareto front")
    ax.plot(
        result.makespan,
        result.weighted_completion,
        "*",
        color="tab:red",
        markersize=14,
        label=literal(result.algorithm),
    )
    for (name, other), marker in zip((others or {}).items(), cycle(MARKERS), strict=False):
        ax.plot(
            other.makespan, other.weighted_completion, marker, markersize=7, label=literal(name)
        )
    if result.bound is not None:
        ax.axvline(result.bound.value, color="gray", linestyle=":", label="lower bounds")
    ax.axhline(float(result.minsum_bound), color="gray", linestyle=":")
    ax.set_xlabel("makespan (s)")
    ax.set_ylabel("minsum, sum of weight x completion (s)")
    ax.legend(fontsize=8)
    return ax
