"""Pictures of bags: the energy-makespan front, and profit against price."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import cycle

import numpy as np

from cosched.bags.bounds import cut_bound, front
from cosched.bags.instance import Instance
from cosched.bags.result import Result
from cosched.core.drawing import MARKERS, axes_or_new, literal
from cosched.core.frames import require_columns
from cosched.errors import InvalidInstance
from cosched.lazy import pd, plt


def energy_front(
    instance: Instance, results: Iterable[Result] = (), ax: plt.Axes | None = None
) -> plt.Axes:
    """Least energy against the makespan: the relaxation's front, and plans as points above it.

    The shaded side cannot be reached. The dashed line joins the plans of equal profit rate, the
    bound's; it touches the front where the relaxation earns most.

    Parameters
    ----------
    results : iterable of Result
        Plans to show.

    Examples
    --------
    >>> etc, apc = [[10, 5], [8, 12]], [[90, 200], [80, 100]]
    >>> inst = cs.bags.Instance([4, 3], [2, 1], etc, apc, price=9000)
    >>> plans = [cs.bags.solve(inst, name) for name in ("ttb", "tms")]
    >>> ax = cs.plot.energy_front(inst, plans, ax=Figure().subplots())
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('makespan (s)', 'energy (J)')
    """
    Instance.require(instance)
    axes = axes_or_new(ax)
    found = front(instance)
    shown = list(results)
    for result in shown:
        Result.require(result)
    last = max([found.makespan[-1], *(result.makespan for result in shown)])
    right = last + 0.05 * (last - found.makespan[0])
    makespan = np.append(found.makespan, right)
    energy = np.append(found.energy, found.energy_at(right))
    axes.plot(makespan, energy, color="black", label="front of the relaxation")
    low, high = energy.min(), max([energy.max(), *(result.energy for result in shown)])
    margin = 0.05 * (high - low) or 0.05 * high
    axes.fill_between(makespan, low - margin, energy, color="0.92")
    for result, marker in zip(shown, cycle(MARKERS), strict=False):
        axes.plot(result.makespan, result.energy, marker, label=literal(result.algorithm))
    _equal_profit(axes, instance, cut_bound(instance).value, makespan)
    axes.set_xlim(found.makespan[0] - 0.03 * (right - found.makespan[0]), right)
    axes.set_ylim(low - margin, high + margin)
    axes.set_xlabel("makespan (s)")
    axes.set_ylabel("energy (J)")
    axes.legend(fontsize=8)
    return axes


def profit_against_gamma(frame: pd.DataFrame, ax: plt.Axes | None = None) -> plt.Axes:
    """Profit rate of each algorithm against gamma, and the bound (what ``gamma_sweep`` returns).

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns ``gamma, algorithm, value, bound``: a row a (gamma, algorithm).

    Examples
    --------
    >>> frame = pd.DataFrame({"gamma": [1.1, 1.5], "algorithm": "ttb", "value": [3.0, 9.0],
    ...                       "bound": [3.2, 9.1]})
    >>> ax = cs.plot.profit_against_gamma(frame, ax=Figure().subplots())
    >>> [line.get_label() for line in ax.lines]
    ['ttb', 'bound']
    """
    require_columns(frame, ("gamma", "algorithm", "value", "bound"), "frame")
    wide = frame.pivot(index="gamma", columns="algorithm", values="value")
    wide = wide[list(dict.fromkeys(frame.algorithm))]
    return profit_rates(wide.assign(bound=frame.groupby("gamma")["bound"].first()), ax)


def gap_against_gamma(frame: pd.DataFrame, ax: plt.Axes | None = None) -> plt.Axes:
    """How far below the bound each algorithm stays, against gamma, on a logarithmic scale.

    Profit rates of good algorithms lie too close together to tell apart; their distances
    from the bound do not. A plan without profit has no gap and no point.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns ``gamma, algorithm, gap``.

    Examples
    --------
    >>> frame = pd.DataFrame({"gamma": [1.1, 1.5], "algorithm": "ttb", "gap": [0.06, 0.01]})
    >>> cs.plot.gap_against_gamma(frame, ax=Figure().subplots()).get_yscale()
    'log'
    """
    require_columns(frame, ("algorithm", "gamma", "gap"), "frame")
    axes = axes_or_new(ax)
    for (name, rows), marker in zip(
        frame.groupby("algorithm", sort=False), cycle(MARKERS), strict=False
    ):
        known = rows[np.isfinite(rows.gap)]
        axes.plot(known.gamma, 100 * known.gap, marker=marker, label=literal(name))
    axes.set_yscale("log")
    axes.set_xlabel("gamma")
    axes.set_ylabel("below the bound on the profit rate (%)")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    return axes


def profit_rates(frame: pd.DataFrame, ax: plt.Axes | None = None) -> plt.Axes:
    """A line an algorithm: profit rate against the index.

    Parameters
    ----------
    frame : pandas.DataFrame
        Index gamma or q; a column an algorithm. The column ``bound`` is drawn grey and dashed.

    Examples
    --------
    >>> frame = pd.DataFrame({"ttb": [3.0, 9.0]}, index=pd.Index([1.1, 1.5], name="gamma"))
    >>> cs.plot.profit_rates(frame, ax=Figure().subplots()).get_xlabel()
    'gamma'
    """
    require_columns(frame, (), "frame")
    if frame.empty:
        raise InvalidInstance("frame: no rows, or no columns: nothing to draw")
    axes = axes_or_new(ax)
    for name, marker in zip(frame.columns, cycle(MARKERS), strict=False):
        bound = name == "bound"
        axes.plot(
            frame.index,
            frame[name],
            color="0.6" if bound else None,
            linestyle="--" if bound else "-",
            marker=None if bound else marker,
            label=literal(name),
        )
    axes.set_xlabel(str(frame.index.name))
    axes.set_ylabel("profit per unit of time")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    return axes


def advantage(frame: pd.DataFrame, ax: plt.Axes | None = None) -> plt.Axes:
    """Ratios of profit rates against q: the mean as a line, the least and greatest as bars.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns ``q, algorithm, ratio``.

    Examples
    --------
    >>> frame = pd.DataFrame({"q": [1, 1, 2, 2], "algorithm": "ttb", "ratio": [1.1, 1.3, 1.0, 1.1]})
    >>> cs.plot.advantage(frame, ax=Figure().subplots()).get_ylabel()
    'profit rate / that of tms'
    """
    require_columns(frame, ("algorithm", "q", "ratio"), "frame")
    axes = axes_or_new(ax)
    for number, ((name, rows), marker) in enumerate(
        zip(frame.groupby("algorithm", sort=False), cycle(MARKERS), strict=False)
    ):
        ratio = rows.groupby("q").ratio
        mean = ratio.mean()
        bars = np.maximum([mean - ratio.min(), ratio.max() - mean], 0)
        axes.errorbar(
            mean.index + 0.12 * (number - 1.5),  # next to each other, to tell the bars apart
            mean,
            yerr=bars,
            marker=marker,
            markersize=4,
            linewidth=1.2,
            elinewidth=0.7,
            label=literal(name),
        )
    axes.axhline(1, color="0.6", linestyle="--")
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter("{x:g}")
    axes.set_xlabel("q")
    axes.set_ylabel("profit rate / that of tms")
    axes.grid(alpha=0.3, which="both")
    axes.legend(fontsize=8)
    return axes


def _equal_profit(ax: plt.Axes, instance: Instance, rate: float, makespan: np.ndarray) -> None:
    """Where (p - c E) / makespan = rate."""
    if instance.energy_cost > 0 and rate > 0:
        energy = (instance.price - rate * makespan) / instance.energy_cost
        ax.plot(makespan, energy, "--", color="0.5", linewidth=1, label="the bound's profit rate")
