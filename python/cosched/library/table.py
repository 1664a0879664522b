"""The library as a table, its best schedules, and whether all that it says holds.

A certificate, the proof of a bound, is a JSON object with a ``kind``:

- ``windows``, ``transfers`` (dags): the fields of a ``dags.Certificate`` of that kind; the checker
  shares no code with the solver that made it.
- ``bound``: ``method`` and ``options`` of a bound of the family, which is computed again.
- ``algorithm``: ``algorithm``, ``seed`` and ``options`` of a search that proved it, run again.
"""

from __future__ import annotations

import builtins
from dataclasses import replace
from math import nan
from os import PathLike
from pathlib import Path
from typing import Any

from cosched import dags
from cosched.core import Bound, Family, Instance, Result
from cosched.errors import CoschedError, InvalidBound, InvalidSchedule
from cosched.lazy import pd
from cosched.library.records import (
    FOLDER,
    Record,
    entries,
    entry_of,
    family_of,
    gap_of,
    is_better,
    load,
    names_in,
    record_of,
)


def proven(of: Family, instance: Instance, certificate: dict[str, Any]) -> float:
    """The bound that a certificate proves for an instance, checked."""
    certificate_fields = dict(certificate)
    kind = certificate_fields.pop("kind", None)
    try:
        if kind in ("windows", "transfers"):
            return dags.Certificate(kind, certificate_fields).bound(instance)  # type: ignore[arg-type]
        if kind == "bound":
            return float(
                of.bound(
                    instance, certificate_fields["method"], **certificate_fields.get("options", {})
                )
            )
        if kind == "algorithm":
            seed, options = certificate_fields.get("seed"), certificate_fields.get("options", {})
            proven_bound = of.solve(
                instance, certificate_fields["algorithm"], seed=seed, **options
            ).own_bound
            if proven_bound is not None:
                return float(proven_bound)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise InvalidBound(f"a certificate of kind {kind!r} cannot be read: {error}") from None
    raise InvalidBound(f"a certificate of kind {kind!r} proves nothing")


#: How far a value that is computed again may lie from what the record says, relative.
_SAME = 1e-9
#: The same for a bound that column generation computes: it ends within this part of the value of
#: the relaxation, and where exactly depends on rounding, so on the compiler and the processor.
_SAME_COLUMNS = 1e-5
#: Names of proofs that take longer than the rest together: they are checked when asked for.
_LONG = ("algorithm",)


def list() -> pd.DataFrame:
    """The instances of the library and what is known of each.

    ``name, family, size, value, bound, gap, by, algorithm, since``: a row an instance; the last
    three tell of the value. `size` counts tasks, jobs, or types of tasks (bags).

    Examples
    --------
    >>> table = cs.library.list()
    >>> table.family.unique().tolist()
    ['packs', 'dags', 'cluster', 'moldable', 'bags']
    """
    return pd.DataFrame([_row(record_of(name)) for name in entries()])


def _row(record: Record) -> dict[str, Any]:
    best = record.best
    return {
        "name": record.name,
        "family": record.name.partition("/")[0],
        "size": record.size,
        "value": best.value,
        "bound": record.bound.value,
        "gap": gap_of(record),
        "by": best.by,
        "algorithm": best.algorithm,
        "since": best.since,
    }


def best(name: str) -> Result:
    """The best schedule that is known of an instance, with the best bound.

    Parameters
    ----------
    name : str
        As for :func:`cosched.library.load`.

    Examples
    --------
    >>> cs.library.best("moldable/cirne-6-m4-s1").gap < 0.05
    True
    """
    return result_of(record_of(name))


def result_of(record: Record) -> Result:
    """A record's schedule as a Result, read again and validated."""
    of, instance = family_of(record.name), load(record.name)
    if "placements" in record.schedule:
        schedule = of.schedule_type.from_dict(instance, record.schedule)
    else:  # too long to be kept: what made it has no chance but its seed
        solved = of.solve(instance, record.schedule["algorithm"], seed=record.schedule["seed"])
        schedule = solved.schedule
    schedule.validate()
    result = of.result_of(instance, schedule)
    bound = Bound(record.bound.value, record.bound.algorithm)
    best_result: Result = replace(result, algorithm=record.best.algorithm, own_bound=bound)
    return best_result


#: Relative gap of a record up to which no search can beat it.
CLOSED_GAP = 1e-6
#: The search of each family that a user takes first; the policies of clusters search nothing.
DEFAULT_SEARCHES = {
    "packs": "local-search",
    "dags": "hlp-best",
    "moldable": "local-search",
    "bags": "ttb-best",
}


def verify(
    name: str | None = None,
    *,
    thorough: bool = False,
    folder: str | PathLike[str] | None = None,
) -> pd.DataFrame:
    """Check that each schedule is valid and worth what is said, and each bound by its certificate.

    ``name, value, bound, status, message``: `status` is ``"ok"``; ``"value"``, where the proof is a
    search and was not run; ``"beaten"``, where the default search of the family finds a better
    schedule; or ``"wrong"``. The message says why.

    Parameters
    ----------
    name : str, optional
        One instance; None: all.
    thorough : bool
        Also run the proofs that are searches, and against each record with a gap the default search
        of its family; always where `name` is given.
    folder : path, optional
        Records that :func:`cosched.library.submit` wrote there; None: those of the package.

    Raises
    ------
    ValueError
        No such name; or `folder` has no record, or one of an unknown instance.

    Examples
    --------
    >>> cs.library.verify("moldable/cirne-6-m4-s1").status.tolist()
    ['ok']
    """
    where = FOLDER if folder is None else Path(folder)
    if name is not None:
        names = [name]
    else:
        names = builtins.list(entries()) if folder is None else names_in(where)
    deep = thorough or name is not None
    return pd.DataFrame([_verified(each, deep, where) for each in names])


def _verified(name: str, deep: bool, folder: Path) -> dict[str, Any]:
    entry_of(name)
    row = {"name": name, "value": nan, "bound": nan, "status": "wrong", "message": ""}
    try:
        record = record_of(name, folder)
        row |= {"value": record.best.value, "bound": record.bound.value}
        row["status"] = "ok" if _checked(record, deep) else "value"
        if deep and (better := _better_search(record)):
            row |= {"status": "beaten", "message": better}
    except (CoschedError, LookupError, OSError, TypeError, ValueError) as error:
        return row | {"status": "wrong", "message": str(error)}
    return row


def _better_search(record: Record) -> str:
    """Return what the default search finds, where it beats the record; else nothing."""
    of = family_of(record.name)
    algorithm = DEFAULT_SEARCHES.get(of.name)
    if algorithm is None or gap_of(record) <= CLOSED_GAP:
        return ""
    result = of.solve(load(record.name), algorithm, seed=0)
    if not is_better(record, float(result.value)):
        return ""
    result.schedule.validate()
    return (
        f"{algorithm} finds {result.value:.9g}, the record of {record.best.by} is "
        f"{record.best.value:.9g}"
    )


def _checked(record: Record, deep: bool) -> bool:
    """Return whether the proof was checked too; raises where the record does not hold."""
    of, value = family_of(record.name), result_of(record).value
    if abs(value - record.best.value) > _SAME * abs(value):
        raise InvalidSchedule(f"its schedule is worth {value:.12g}, not {record.best.value:.12g}")
    gap_of(record)
    if record.certificate.get("kind") in _LONG and not deep:
        return False
    proof = proven(of, load(record.name), record.certificate)
    short = record.bound.value - proof if not of.maximise else proof - record.bound.value
    tolerance = _SAME_COLUMNS if record.certificate.get("method") == "columns" else _SAME
    if short > tolerance * abs(proof):
        raise InvalidBound(f"its certificate proves {proof:.12g}, not {record.bound.value:.12g}")
    return True
