"""What the families' pictures share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Markers of lines, in the order in which they are taken; longer tables begin again.
MARKERS = "os^vD*PX<>"


def axes_or_new(ax: Axes | None, size: tuple[float, float] = (7, 4.5)) -> Axes:
    """`ax`, or the axes of a new figure of `size` inches."""
    import matplotlib.pyplot as plt

    return ax if ax is not None else plt.subplots(figsize=size, layout="constrained")[1]
