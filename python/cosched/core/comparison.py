"""Rows and tables of ``compare``: one algorithm's outcome beside the others'."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from cosched import _core
from cosched.core.result import Bound, Result
from cosched.errors import InfeasibleError, InvalidBound, InvalidInstance, TimeLimit
from cosched.lazy import pd

COLUMNS = ("algorithm", "status", "value", "bound", "gap", "seconds")
#: Keys of a row that no table has: its bound, and whether no schedule of the instance exists.
NO_COLUMNS = ("proof", "infeasible")


def rows_to_frame(rows: list[dict[str, Any]], first: Iterable[str] = ()) -> pd.DataFrame:
    """Rows as a table: columns `first`, then ``COLUMNS``, the metrics, ``message``.

    ``attrs["bounds"]`` lists the methods of the bounds, and ``attrs["bound_cut"]`` says whether a
    limit cut one of them short, ``attrs["bound_notes"]`` what failed on the way to them.
    """
    other_columns = {*first, *COLUMNS, "message", *NO_COLUMNS}
    metrics = [key for row in rows for key in row if key not in other_columns]
    columns = list(dict.fromkeys([*first, *COLUMNS, *metrics, "message"]))
    frame = pd.DataFrame(
        [{c: v for c, v in row.items() if c not in NO_COLUMNS} for row in rows], columns=columns
    )
    proofs = [row["proof"] for row in rows if row.get("proof") is not None]
    frame.attrs["bounds"] = list(dict.fromkeys(proof.method for proof in proofs))
    frame.attrs["bound_notes"] = list(dict.fromkeys(proof.note for proof in proofs if proof.note))
    frame.attrs["bound_cut"] = any(proof.status != "ok" for proof in proofs)
    return frame


def apply_best_bound(rows: Sequence[tuple[dict[str, Any], Result | None]]) -> list[dict[str, Any]]:
    """Rows of one instance, each beside the best bound that any of them knows.

    A row whose value passes that bound becomes an error. A result with a bound that holds for its
    own measure only (:attr:`Result.own_measure`) keeps that one.
    """
    proofs = [  # those that hold for all rows
        row["proof"]
        for row, result in rows
        if row.get("proof") is not None and not (result is not None and result.own_measure)
    ]
    if not proofs:
        return [row for row, _ in rows]
    maximise = any(result is not None and result.maximise for _, result in rows)
    best = (min if maximise else max)(proofs, key=float)
    return [_with_best_bound(row, result, best) for row, result in rows]


def _with_best_bound(row: dict[str, Any], result: Result | None, best: Bound) -> dict[str, Any]:
    if row["status"] == "error" and row.get("proof") is None:
        return row
    if result is None:
        return {**row, "bound": best.value, "proof": best}
    if result.own_measure:
        return row
    try:
        gap = result.gap_to(best)
    except InvalidBound as error:
        message = f"{type(error).__name__}: {error}"
        seconds = {"seconds": row["seconds"]}
        return {**_row_without_result(row["algorithm"], "error", message, None), **seconds}
    return {**row, "bound": best.value, "gap": gap, "proof": best}


def row_of_run(
    name: str,
    run: Callable[[], Result],
    limit: float | None,
    patience: float | None,
    bound: Bound | None,
) -> tuple[dict[str, Any], Result | None]:
    """The row of an algorithm, and its result; `limit` ends the run, `patience` the check too."""
    seconds = None
    begin = time.perf_counter()
    result: Result | None = None
    try:
        with _core.time_limit(limit):
            result = run()
        _core.forget_stop()  # it has ended the run: what follows has its own limits
        seconds = time.perf_counter() - begin
        check_limit = None  # for the check of its schedule: a row may be a second or a tenth late
        if patience is not None:
            check_limit = max(0.0, patience - seconds) + max(1.0, 0.1 * patience)
        with _core.time_limit(check_limit):
            result.schedule.validate()
            row = _row_of_result(name, result, bound)
    except TimeLimit as error:
        result = None  # it may be there, and its schedule not be checked
        row = _row_without_result(name, "time_limit", str(error), bound)
    except InfeasibleError as error:
        row = _row_without_result(name, "not_applicable", str(error), bound)
        row["infeasible"] = True
    except InvalidInstance as error:
        # InvalidSchedule is not caught here: a wrong schedule is an error, not a refusal.
        row = _row_without_result(name, "not_applicable", str(error), bound)
    except Exception as error:  # a defect in one algorithm must not lose the others
        result = None
        message = f"{type(error).__name__}: {error}".replace("\n", " ").removesuffix(": ")
        row = _row_without_result(name, "error", message, bound)
    row["seconds"] = time.perf_counter() - begin if seconds is None else seconds
    return row, result


def _row_of_result(name: str, result: Result, bound: Bound | None) -> dict[str, Any]:
    """Return the row of an algorithm that has a result; its own bound counts before `bound`."""
    best = result.bound if result.own_measure else result.own_bound or bound
    return {
        "algorithm": name,
        "status": result.status,
        "message": "",
        "value": result.value,
        "bound": float("nan") if best is None else best.value,
        "gap": result.gap_to(best),
        "proof": best,
        **result.metrics(),
    }


def _row_without_result(
    name: str, status: str, message: str, bound: Bound | None
) -> dict[str, Any]:
    """Return the row of an algorithm that was stopped, refused the instance, or failed."""
    row = {"algorithm": name, "status": status, "message": message}
    return row if bound is None else {**row, "bound": bound.value, "proof": bound}
