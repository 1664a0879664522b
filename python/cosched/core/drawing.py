"""What the families' pictures share."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np

from cosched.core.text import require_columns
from cosched.errors import InvalidInstance, printable
from cosched.lazy import pd, plt

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Markers of lines, in the order in which they are taken; longer tables begin again.
MARKERS = "os^vD*PX<>"


def axes_or_new(ax: Axes | None, size: tuple[float, float] = (7, 4.5)) -> Axes:
    """`ax`, or the axes of a new figure of `size` inches."""
    from matplotlib.axes import Axes

    if ax is not None and not isinstance(ax, Axes):
        raise InvalidInstance(f"ax: expected axes of matplotlib, got {type(ax).__name__}")
    return ax if ax is not None else plt.subplots(figsize=size, layout="constrained")[1]


def literal(name: object) -> str:
    """A name as matplotlib shows it letter by letter: no formulas, and no label left out."""
    text = printable(name).replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text


def lines(
    frame: pd.DataFrame,
    x: str,
    y: str | tuple[str, str, str],
    *,
    by: str = "algorithm",
    bars: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """A line an algorithm: the mean of a column against another, as the papers' figures have it.

    Parameters
    ----------
    frame : pandas.DataFrame
        A row a measurement.
    x : str
        A column of numbers.
    y : str or three of str
        A column, whose mean over the rows of each x is drawn; or columns with the mean, the least
        and the greatest, a row an x.
    by : str
        The column whose values are the lines; one called ``bound`` is grey and dashed.
    bars : bool
        The least and the greatest as bars, next to each other, so that they can be told apart.

    Raises
    ------
    InvalidInstance
        A column is missing, or there are no rows.

    Examples
    --------
    >>> frame = pd.DataFrame({"load": [0.5, 0.5, 0.9], "algorithm": "EASY", "stretch": [4, 6, 90]})
    >>> ax = cs.plot.lines(frame, "load", "stretch", ax=Figure().subplots())
    >>> ax.get_xlabel(), ax.lines[0].get_ydata().tolist()
    ('load', [5.0, 90.0])
    """
    columns = (y,) * 3 if isinstance(y, str) else y
    require_columns(frame, (x, by, *columns), "frame")
    if frame.empty:
        raise InvalidInstance("frame: no rows: nothing to draw")
    ax = axes_or_new(ax)
    groups = list(frame.groupby(by, sort=False))
    for k, ((name, rows), marker) in enumerate(zip(groups, cycle(MARKERS), strict=False)):
        points = rows.groupby(x)
        mean, least, greatest = (
            getattr(points[column], how)()
            for column, how in zip(columns, ("mean", "min", "max"), strict=True)
        )
        apart = 1 + 0.015 * (k - len(groups) / 2) if bars else 1
        bound = name == "bound"
        ax.errorbar(
            mean.index * apart,
            mean,
            yerr=np.maximum([mean - least, greatest - mean], 0) if bars else None,
            color="0.6" if bound else f"C{k % 10}",
            linestyle="--" if bound or k >= 10 else "-",
            marker=None if bound else marker,
            markersize=4,
            linewidth=1.2,
            elinewidth=0.7,
            capsize=2,
            label=literal(name),
        )
    ax.set_xlabel(x)
    ax.set_ylabel(columns[0])
    ax.grid(alpha=0.3)
    ax.legend(fontsize=8)
    return ax
