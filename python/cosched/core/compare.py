"""``compare``: several algorithms on one instance, one table."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from cosched import _core
from cosched.core.family import Family, _accepted_options
from cosched.core.result import Bound, Result, relative_gap
from cosched.errors import InfeasibleError, InvalidInstance, TimeLimit, shorten

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("algorithm", "status", "value", "bound", "gap", "seconds")


def compare(
    family: Family,
    instance: Any,
    names: Iterable[str] | None,
    seed: int | None,
    time_limit: float | None,
    options: Mapping[str, Mapping[str, Any]] | None,
) -> pd.DataFrame:
    """See :meth:`cosched.core.Family.compare`."""
    rows = compare_rows(family, instance, names, seed, time_limit, options)
    return in_order([row for row, _ in rows])


def in_order(rows: list[dict[str, Any]], first: Iterable[str] = ()) -> pd.DataFrame:
    """Rows as a table: columns `first`, then ``COLUMNS``, the metrics, ``message``."""
    import pandas as pd

    known = {*first, *COLUMNS, "message"}
    metrics = [key for row in rows for key in row if key not in known]
    return pd.DataFrame(rows, columns=list(dict.fromkeys([*first, *COLUMNS, *metrics, "message"])))


def compare_rows(
    family: Family,
    instance: Any,
    names: Iterable[str] | None = None,
    seed: int | None = 0,
    time_limit: float | None = 10.0,
    options: Mapping[str, Mapping[str, Any]] | None = None,
):
    """Yield (row, Result or None) as each algorithm ends: for tables with progress."""
    family._require_instance(instance)
    chosen = names_of(family, instance, names)
    given = dict(options or {})
    for name in given:
        if name not in chosen:
            raise ValueError(f"options for {shorten(name)}, which is not compared")
    bound = _bound(family, instance, time_limit)
    for name in chosen:
        yield _run(family, instance, name, seed, time_limit, dict(given.get(name, {})), bound)


def names_of(family: Family, instance: Any, names: Iterable[str] | None) -> list[str]:
    """The names to compare; ValueError on an unknown one, before anything runs."""
    if names is None:
        defaults = family.default_names
        return list(defaults(instance) if defaults else family.algorithms)
    chosen = [names] if isinstance(names, str) else list(names)
    for name in chosen:
        family.algorithm(name)
    return chosen


def _bound(family: Family, instance: Any, time_limit: float | None) -> Bound | None:
    """The bound beside the results; a weaker one, or none, where it takes too long."""
    try:
        with _core.time_limit(time_limit):
            return family.bound_beside(instance)
    except InvalidInstance:  # it needs a monotone table, say
        return None
    except TimeLimit:
        stops_itself = "time_limit" in (
            _accepted_options(family.bounds[family.default_bound]) or ()
        )
        return family.bound(instance, time_limit=time_limit) if stops_itself else None


def _run(
    family: Family,
    instance: Any,
    name: str,
    seed: int | None,
    time_limit: float | None,
    options: dict[str, Any],
    bound: Bound | None,
) -> tuple[dict[str, Any], Result | None]:
    accepted = _accepted_options(family.algorithm(name)) or set()
    stops_itself = "time_limit" in accepted
    if stops_itself and time_limit is not None:
        options.setdefault("time_limit", time_limit)
    # An algorithm with a time limit of its own gets time to return what it has.
    hard_limit = None if stops_itself else time_limit
    row: dict[str, Any] = {"algorithm": name, "status": "ok", "message": ""}
    result = None
    begin = time.perf_counter()
    try:
        with _core.time_limit(hard_limit):
            result = family.solve(instance, name, seed=seed, **options)
        row["seconds"] = time.perf_counter() - begin
        result.schedule.validate()
        own = result.own_bound or bound
        row["status"] = result.status
        row["value"] = result.value
        row["bound"] = float("nan") if own is None else own.value
        row["gap"] = relative_gap(result.value, own, family.maximise)
        row.update(result.metrics())
    except TimeLimit as error:
        row.update(status="time_limit", message=str(error))
    except (InvalidInstance, InfeasibleError) as error:
        # InvalidSchedule is not caught here: a wrong schedule is an error, not a refusal.
        row.update(status="not_applicable", message=str(error))
    except Exception as error:  # a defect in one algorithm must not lose the others
        result = None
        row = {"algorithm": name, "status": "error"}
        row["message"] = f"{type(error).__name__}: {error}".replace("\n", " ")
    row.setdefault("seconds", time.perf_counter() - begin)
    if "bound" not in row and bound is not None:
        row["bound"] = bound.value
    return row, result
