"""Box plots for reports: quartiles and the farthest points, so that pages stay small."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cosched.errors import optional

if TYPE_CHECKING:
    import pandas as pd
    from plotly.graph_objects import Figure as Chart

#: The most points that a box shows beyond its whiskers: those farthest away.
_MOST_POINTS = 20
_DIGITS = 6


def boxes(
    frame: pd.DataFrame,
    by: str | None,
    value: str,
    color: str | None = None,
    *,
    says: Sequence[str] = (),
    flat: bool = False,
    log: bool = False,
    title: str | None = None,
) -> Chart:
    """Distributions of a column: a box a group, a colour a second group."""
    go = optional("plotly.graph_objects", extra="studies")

    chart = go.Figure()
    along, across = ("x", "y") if flat else ("y", "x")
    for name, rows in frame.groupby(color, sort=False) if color else [("", frame)]:
        places = list(rows.groupby(by, sort=False)) if by else [("", rows)]
        found = [_box(some[value], some, says) for _, some in places]
        chart.add_box(
            **{key: [box[key] for box in found] for key in _STATISTICS},
            **{along: [box["points"] for box in found], across: [str(key) for key, _ in places]},
            customdata=[box["says"] for box in found],
            hovertemplate="%{" + along + "}<br>%{customdata}" if says else None,
            name=str(name),
            orientation="h" if flat else "v",
            boxpoints="outliers",
            showlegend=bool(color),
        )
    axes = {f"{along}axis_title": value, f"{across}axis_title": by, "title": title}
    chart.update_layout(boxmode="group" if color else "overlay", legend_title=color, **axes)
    if log:
        chart.update_layout({f"{along}axis_type": "log"})
    return chart


_STATISTICS = ("q1", "median", "q3", "lowerfence", "upperfence", "mean")


def _box(values: pd.Series, rows: pd.DataFrame, says: Sequence[str]) -> dict[str, Any]:
    """Quartiles, whiskers at the last values within 1.5 quartile ranges, points beyond."""
    q1, median, q3 = values.quantile([0.25, 0.5, 0.75])
    reach = 1.5 * (q3 - q1)
    inside = values[(values >= q1 - reach) & (values <= q3 + reach)]
    far = (values - median).abs()[values.index.difference(inside.index)]
    beyond = far.nlargest(_MOST_POINTS).index
    columns = (rows.loc[beyond, name] for name in says)
    said = [
        "; ".join(f"{name} {cell}" for name, cell in zip(says, cells, strict=True))
        for cells in zip(*columns, strict=True)
    ]
    numbers = (q1, median, q3, inside.min(), inside.max(), values.mean())
    box: dict[str, Any] = dict(zip(_STATISTICS, map(_short, numbers), strict=True))
    # A box whose list is empty would not be drawn at all; the median is no point beyond.
    points = [_short(value) for value in values[beyond]] or [_short(median)]
    return {**box, "points": points, "says": said or [""] * len(points)}


def _short(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
