"""Rows and tables of ``compare``: one algorithm's outcome beside the others'."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from cosched.core.result import Bound, Result, relative_gap

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("algorithm", "status", "value", "bound", "gap", "seconds")


def in_order(rows: list[dict[str, Any]], first: Iterable[str] = ()) -> pd.DataFrame:
    """Rows as a table: columns `first`, then ``COLUMNS``, the metrics, ``message``."""
    import pandas as pd

    known = {*first, *COLUMNS, "message"}
    metrics = [key for row in rows for key in row if key not in known]
    return pd.DataFrame(rows, columns=list(dict.fromkeys([*first, *COLUMNS, *metrics, "message"])))


def row_of_result(name: str, result: Result, bound: Bound | None) -> dict[str, Any]:
    """The row of an algorithm that has a result; its own bound counts before `bound`."""
    best = result.own_bound or bound
    return {
        "algorithm": name,
        "status": result.status,
        "message": "",
        "value": result.value,
        "bound": float("nan") if best is None else best.value,
        "gap": relative_gap(result.value, best, result.maximise),
        **result.metrics(),
    }


def row_without_result(name: str, status: str, message: str, bound: Bound | None) -> dict[str, Any]:
    """The row of an algorithm that was stopped, refused the instance, or failed."""
    row = {"algorithm": name, "status": status, "message": message}
    return row if bound is None else {**row, "bound": bound.value}
