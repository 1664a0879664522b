"""``compare --grid``: algorithms under many values of their options, and what is only noise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from cosched.cli import report
from cosched.cli.stopping import best_so_far
from cosched.cli.values import parse_options
from cosched.core import Family, Presentation, Result
from cosched.errors import InvalidInstance, shorten

if TYPE_CHECKING:
    import pandas as pd

#: What a grid's table shows of each row with draws.
_MEASURES = ("value", "mean_wait", "p95_wait")
_NOISE = "within the noise"


def parse_grid(given: Sequence[str] | None) -> dict[str, list[Any]]:
    """``["a=1,2", "b=3"]`` as ``{"a": [1, 2], "b": [3]}``."""
    grid: dict[str, list[Any]] = {}
    for text in given or ():
        key, equals, values = text.partition("=")
        if not equals or not key or not values:
            raise InvalidInstance(f"--grid {shorten(text)}: expected KEY=VALUE,VALUE,...")
        name = key.replace("-", "_")
        grid[name] = [parse_options([f"{key}={one}"])[name] for one in values.split(",")]
    return grid


def compare_grid(
    of: Family,
    instance: Any,
    names: Sequence[str] | None,
    seed: int,
    limit: float | None,
    options: dict[str, Any],
    grid: dict[str, list[Any]],
) -> tuple[pd.DataFrame, KeyboardInterrupt | None]:
    """A row for each algorithm and each combination of the values that it takes; and what ended it
    after the first: it says what did not run.

    Rows with draws have the spread of their measures, and against the first row of their algorithm
    the change of the mean wait, draw by draw on the same clocks: within the noise where zero lies
    between its 5% and 95% quantiles.
    """
    import pandas as pd

    chosen = of.names_of(instance, names)
    accepted = {name: of.options_of(name) for name in chosen}
    for key in (*grid, *options):
        if not any(taken is None or key in taken for taken in accepted.values()):
            raise TypeError(f"--grid, --option {key}: none of the algorithms takes it")
    rows: list[dict[str, Any]] = []
    first: dict[str, Any] = {}
    stopped = None
    points = list(_points(chosen, accepted, grid))
    for name, point in points:
        taken = accepted[name]
        own = {key: v for key, v in options.items() if taken is None or key in taken}
        found = of.compare_rows(instance, [name], seed, limit, {name: {**own, **point}})
        try:
            with report.working(_label(name, point)), best_so_far() as stop:
                for row, result in stop.rows(found):
                    change = _change(first, name, result)
                    rows.append({**dict.fromkeys(grid), **point, **row, **change})
        except KeyboardInterrupt as ending:
            if not rows:
                raise
            stopped = type(ending)(", ".join(_label(*left) for left in points[len(rows) :]))
            break
    frame = pd.DataFrame(rows)
    for key in grid:  # whole numbers stay whole beside rows without the option
        frame[key] = pd.Series([row[key] for row in rows], dtype=object)
    return frame, stopped


def _label(name: str, point: Mapping[str, Any]) -> str:
    return " ".join((name, *(f"{key}={value}" for key, value in point.items())))


def _points(
    names: Sequence[str], accepted: dict[str, set[str] | None], grid: dict[str, list[Any]]
) -> Iterator[tuple[str, dict[str, Any]]]:
    for name in names:
        taken = accepted[name]
        mine = {key: values for key, values in grid.items() if taken is None or key in taken}
        for values in product(*mine.values()):
            yield name, dict(zip(mine, values, strict=True))


def _change(first: dict[str, Any], name: str, result: Result | None) -> dict[str, Any]:
    """The change of the mean wait against the algorithm's first row."""
    draws = getattr(result, "draws", None)
    if draws is None:
        return {}
    waits = draws.measures["mean_wait"].to_numpy()
    if name not in first:
        first[name] = waits
        return {"wait_change": 0.0, "says": "first"}
    apart = waits - first[name]
    low, high = np.percentile(apart, [5, 95])
    return {
        "wait_change": float(np.median(apart)),
        "wait_change_p05": float(low),
        "wait_change_p95": float(high),
        "says": _NOISE if low <= 0 <= high else "",
    }


def show_grid(of: Presentation, frame: pd.DataFrame, grid: dict[str, list[Any]]) -> None:
    """The table on the screen: medians with their spreads."""
    import pandas as pd

    shown: dict[str, list[Any]] = {"algorithm": frame["algorithm"].tolist()}
    for key in grid:
        shown[key] = ["" if value is None else str(value) for value in frame[key]]
    for name in _MEASURES:
        title = of.objective if name == "value" else name.replace("_", " ")
        shown[title] = [_spread(row, name) for row in frame.to_dict("records")]
    if "wait_change" in frame:
        shown["wait against the first row"] = [
            "" if pd.isna(row["wait_change"]) else f"{row['wait_change']:+.5g} s"
            for row in frame.to_dict("records")
        ]
        shown["says"] = frame["says"].fillna("").tolist()
    report.show_frame("median (5% to 95%)", pd.DataFrame(shown))
    for row in frame.to_dict("records"):
        if row["status"] != "ok":
            report.complain(f"{row['algorithm']}: {row['message']}")


def _spread(row: Mapping[Any, Any], name: str) -> str:
    median = row.get(f"{name}_median")
    if median is None or np.isnan(median):
        value = row.get(name)
        return "" if value is None or np.isnan(value) else f"{value:.5g}"
    return f"{median:.5g} ({row[f'{name}_p05']:.5g} to {row[f'{name}_p95']:.5g})"
