"""The picture of dags: ratios as in Figures 3 to 7 of Amaris et al. 2017, of any makespans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from cosched.core.drawing import axes_or_new, literal
from cosched.core.text import require_columns, texts
from cosched.errors import InvalidInstance
from cosched.lazy import pd

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def ratios(
    frame: pd.DataFrame,
    pairs: Mapping[str, tuple[str, str]] | Sequence[str],
    *,
    group: str = "application",
    reference: str = "lp",
    ax: Axes | None = None,
) -> Axes:
    """A dot an instance, grouped by application, with the mean of each group: Figures 3 to 7.

    Parameters
    ----------
    frame : pandas.DataFrame
        A row an instance: columns with makespans, one with LP*, one with the group.
    pairs : mapping or sequence
        Label -> (numerator, denominator), columns of the frame; or columns, divided by
        `reference`.
    group, reference : str
        Columns.

    Examples
    --------
    >>> frame = pd.DataFrame({"application": ["potrf", "getrf"], "lp": [4.0, 5.0],
    ...                       "heft": [5.0, 6.0], "hlp-ols": [4.4, 5.5]})
    >>> ax = cs.plot.ratios(frame, {"HEFT / HLP-OLS": ("heft", "hlp-ols")}, ax=Figure().subplots())
    >>> ax.get_ylabel()
    'makespan / hlp-ols'
    """
    require_columns(frame, (), "frame")
    columns = (
        pairs
        if isinstance(pairs, Mapping)
        else {name: (name, reference) for name in texts(pairs, "pairs")}
    )
    missing = {c for pair in columns.values() for c in pair} - set(frame.columns)
    if missing or group not in frame.columns or not len(frame) or not columns:
        raise InvalidInstance(f"ratios: no rows, or no column {sorted(missing) or group!r}")
    ax = axes_or_new(ax, (9, 4))
    groups = list(dict.fromkeys(frame[group]))
    width = 0.8 / len(columns)
    spread = np.random.default_rng(0)  # of the dots, so that they do not hide each other
    for k, (label, (above, below)) in enumerate(columns.items()):
        ratio = (frame[above] / frame[below]).to_numpy()
        centre = np.array([groups.index(g) for g in frame[group]]) + (k + 0.5) * width - 0.4
        dots = ax.plot(
            centre + spread.uniform(-0.3, 0.3, len(ratio)) * width,
            ratio,
            ".",
            markersize=2,
            alpha=0.5,
            label=literal(label),
            rasterized=True,
        )
        for number in range(len(groups)):
            ratios = ratio[(frame[group] == groups[number]).to_numpy()]
            ax.plot(
                number + (k + 0.5) * width - 0.4,
                np.nanmean(ratios),
                "o",
                color=dots[0].get_color(),
                markeredgecolor="red",
                markersize=6,
            )
    ax.axhline(1, color="grey", linewidth=0.8)
    ax.set_xticks(range(len(groups)), [literal(name) for name in groups])
    only = {below for _, below in columns.values()}
    ax.set_ylabel(f"makespan / {only.pop() if len(only) == 1 else 'other'}")
    ax.legend(markerscale=5, fontsize=8)
    return ax
