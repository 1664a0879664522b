"""Proofs of bounds as files: written, read, and checked.

A certificate is a JSON object with a ``kind``:

- ``windows``, ``transfers`` (dags): the fields of a ``dags.Certificate`` of that kind; the checker
  shares no code with the solver that made it.
- ``bound``: ``method`` and ``options`` of a bound of the family, which is computed again.
- ``algorithm``: ``algorithm``, ``seed`` and ``options`` of a search that proved it, run again.
"""

from __future__ import annotations

from typing import Any

from cosched import dags, io
from cosched.core import Family, Instance
from cosched.errors import InvalidBound, InvalidInstance


def as_json(proof: dags.Certificate) -> dict[str, Any]:
    """A certificate of dags as a JSON object."""
    return {"kind": proof.kind, **io.plain(proof.fields)}


def proven(of: Family, instance: Instance, certificate: dict[str, Any]) -> float:
    """The bound that a certificate proves for an instance, checked."""
    given = dict(certificate)
    kind = given.pop("kind", None)
    try:
        if kind in ("windows", "transfers"):
            return dags.Certificate(kind, given).bound(instance)  # type: ignore[arg-type]
        if kind == "bound":
            return float(of.bound(instance, given["method"], **given.get("options", {})))
        if kind == "algorithm":
            seed, options = given.get("seed"), given.get("options", {})
            found = of.solve(instance, given["algorithm"], seed=seed, **options).own_bound
            if found is not None:
                return float(found)
    except (AttributeError, InvalidInstance, KeyError, TypeError) as error:
        raise InvalidBound(f"a certificate of kind {kind!r} cannot be read: {error}") from None
    raise InvalidBound(f"a certificate of kind {kind!r} proves nothing")
