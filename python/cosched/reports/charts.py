"""Drawings of reports: one style, colours that light and dark pages share, and SVG."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: A placeholder for the colour of text, which light and dark pages choose.
TEXT_COLOR = "#010203"
#: What was observed, or what is compared with the baseline.
OBSERVED_COLOR = "#d95f02"
#: What a simulation gives.
SIMULATED_COLOR = "#4477cc"
#: What matters less.
MUTED_COLOR = "#999999"

_STYLE: Any = {
    "font.size": 11,
    "font.family": "sans-serif",
    "text.color": TEXT_COLOR,
    "axes.edgecolor": TEXT_COLOR,
    "axes.labelcolor": TEXT_COLOR,
    "xtick.color": TEXT_COLOR,
    "ytick.color": TEXT_COLOR,
}
#: Inches: the width of a report.
_WIDTH = 11.5


@contextmanager
def drawing(height: float, panels: int = 1) -> Iterator[tuple[Figure, Any]]:
    """Yield a figure in the style of reports, and its axes, without frames at the top and right."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(_WIDTH, height), layout="constrained")
        axes = figure.subplots(panels, 1, sharex=True, squeeze=False)[:, 0]
        for ax in axes:
            ax.spines[["top", "right"]].set_visible(False)
        yield figure, axes if panels > 1 else axes[0]


def svg_of(figure: Figure) -> str:
    """Return a figure as SVG in the colours of the page that shows it."""
    import matplotlib

    text = StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "audit"}):
        figure.savefig(
            text, format="svg", transparent=True, metadata={"Date": None, "Creator": None}
        )
    svg = text.getvalue()
    return svg[svg.index("<svg") :].replace(TEXT_COLOR, "currentColor")
