"""Proofs of bounds as files: written, read, and checked.

A certificate is a JSON object with a ``kind``:

- ``windows``, ``transfers`` (dags): the fields of the class of that name; the checker shares no
  code with the solver that made it.
- ``bound``: ``method`` and ``options`` of a bound of the family, which is computed again.
- ``algorithm``: ``algorithm``, ``seed`` and ``options`` of a search that proved it, run again.
"""

from __future__ import annotations

import dataclasses
import typing
from typing import Any

import numpy as np

from cosched import dags, io
from cosched.core import Family, Instance
from cosched.errors import InvalidBound

_OF_KIND = {"windows": dags.WindowsCertificate, "transfers": dags.TransfersCertificate}


def as_json(proof: Any) -> dict[str, Any]:
    """A certificate of dags as a JSON object."""
    kind = next(kind for kind, of in _OF_KIND.items() if isinstance(proof, of))
    return {"kind": kind, **io.plain(dataclasses.asdict(proof))}


def proven(of: Family, instance: Instance, certificate: dict[str, Any]) -> float:
    """The bound that a certificate proves for an instance, checked."""
    given = dict(certificate)
    kind = given.pop("kind", None)
    try:
        if kind in _OF_KIND:
            return _built(_OF_KIND[kind], given).bound(instance)
        if kind == "bound":
            return float(of.bound(instance, given["method"], **given.get("options", {})))
        if kind == "algorithm":
            seed, options = given.get("seed"), given.get("options", {})
            found = of.solve(instance, given["algorithm"], seed=seed, **options).own_bound
            if found is not None:
                return float(found)
    except (AttributeError, KeyError, TypeError) as error:
        raise InvalidBound(f"a certificate of kind {kind!r} cannot be read: {error}") from None
    raise InvalidBound(f"a certificate of kind {kind!r} proves nothing")


def _built(of: Any, value: Any) -> Any:
    """A dataclass of arrays, numbers and tuples of dataclasses, from what `asdict` gave."""
    if dataclasses.is_dataclass(of):
        hints = typing.get_type_hints(of)
        return of(**{key: _built(hints[key], part) for key, part in value.items()})  # type: ignore[operator]
    if of is np.ndarray:
        return np.asarray(value, float)
    if typing.get_origin(of) is tuple:
        return tuple(_built(typing.get_args(of)[0], part) for part in value)
    return value
