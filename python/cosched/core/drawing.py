"""What the families' pictures share."""

from __future__ import annotations

from cosched.errors import InvalidInstance, printable
from cosched.lazy import plt

#: Markers of lines, in the order in which they are taken; longer tables begin again.
MARKERS = "os^vD*PX<>"


def axes_or_new(ax: plt.Axes | None, size: tuple[float, float] = (7, 4.5)) -> plt.Axes:
    """`ax`, or the axes of a new figure of `size` inches."""
    if ax is not None and not isinstance(ax, plt.Axes):
        raise InvalidInstance(f"ax: expected axes of matplotlib, got {type(ax).__name__}")
    return ax if ax is not None else plt.subplots(figsize=size, layout="constrained")[1]


def literal(name: object) -> str:
    """A name as matplotlib shows it letter by letter: no formulas, and no label left out."""
    text = printable(name).replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text
