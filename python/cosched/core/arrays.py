"""Checked conversion of what users pass into arrays and integers.

Nothing is truncated or reinterpreted silently: text, booleans, complex numbers,
fractions where an integer is meant and ragged rows are refused in one line.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from cosched.errors import InvalidInstance, shorten

INT_MAX = 2**31 - 1


def real_array(values: Any, name: str, ndim: int) -> np.ndarray:
    """Copy of `values` as a C-contiguous float64 array with `ndim` dimensions.

    Values are not judged here (NaN passes): the C++ border checks them and names row
    and column. Raises InvalidInstance for text, booleans, complex numbers, ragged
    rows or another number of dimensions.
    """
    raw = any_array(values, name, ndim)
    if raw.dtype == object:
        raw = _from_objects(raw, name)
    if raw.dtype.kind not in "iuf":
        raise InvalidInstance(f"{name}: expected numbers, got {raw.dtype} {_first(raw)}")
    if raw.ndim != ndim:
        raise InvalidInstance(
            f"{name}: expected {ndim} dimension{'s' * (ndim != 1)}, got shape {raw.shape}"
        )
    return np.array(raw, dtype=np.float64, order="C")


def integer(value: Any, name: str, low: int = 0, high: int = INT_MAX) -> int:
    """`value` as an int within [low, high]; raises InvalidInstance otherwise."""
    if isinstance(value, (bool, np.bool_)):
        raise InvalidInstance(f"{name} = {value}: expected an integer")
    try:
        number = operator.index(value)
    except TypeError:
        if isinstance(value, (float, np.floating)) and float(value).is_integer():
            number = int(value)
        else:
            raise InvalidInstance(f"{name} = {shorten(value)}: expected an integer") from None
    if not low <= number <= high:
        expected = f"at least {low}" if number < low else f"at most {high}"
        raise InvalidInstance(f"{name} = {shorten(number)}: expected {expected}")
    return number


def integer_array(
    values: Any, name: str, ndim: int, low: int = 0, high: int = INT_MAX
) -> np.ndarray:
    """Copy of `values` as an int64 array with every entry in [low, high]."""
    raw = any_array(values, name, ndim)
    if raw.size == 0:
        return np.zeros((0,) + raw.shape[1:] if ndim > 1 else (0,), dtype=np.int64)
    reals = real_array(raw, name, ndim)
    bad = ~((reals >= low) & (reals <= high) & (np.floor(reals) == reals))
    if bad.any():
        where = tuple(int(k) for k in np.argwhere(bad)[0])
        place = ", ".join(map(str, where))
        error = InvalidInstance(
            f"{name}[{place}] = {reals[where]:g}: expected an integer in {low}..{high}"
        )
        error.row = where[0]
        raise error
    return reals.astype(np.int64)


def seed_of(seed: Any) -> int:
    """The seed that is used: None means 0; otherwise an integer in 0..2^64-1."""
    return 0 if seed is None else integer(seed, "seed", 0, 2**64 - 1)


def real(value: Any, name: str) -> float:
    """`value` as a float (NaN and infinity pass); InvalidInstance for what is no number."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.number)):
        raise InvalidInstance(f"{name} = {shorten(value)}: expected a number")
    try:
        return float(value)
    except (OverflowError, TypeError):  # an integer of 400 digits, a complex number
        raise InvalidInstance(f"{name} = {shorten(value)}: expected a number") from None


def positive(value: Any, name: str, what: str = "a positive number") -> float:
    """`value` as a finite float > 0."""
    number = real(value, name)
    if not 0 < number < np.inf:
        raise InvalidInstance(f"{name} = {number:g}: expected {what}")
    return number


def nonnegative(value: Any, name: str, what: str = "a number >= 0") -> float:
    """`value` as a finite float >= 0."""
    number = real(value, name)
    if not 0 <= number < np.inf:
        raise InvalidInstance(f"{name} = {number:g}: expected {what}")
    return number


def share(value: Any, name: str) -> float:
    """`value` as a float in [0, 1]."""
    number = real(value, name)
    if not 0 <= number <= 1:
        raise InvalidInstance(f"{name} = {number:g}: expected a share in 0..1")
    return number


def fraction(value: Any, name: str) -> float:
    """`value` as a float in (0, 1]."""
    number = real(value, name)
    if not 0 < number <= 1:
        raise InvalidInstance(f"{name} = {number:g}: expected a fraction in (0, 1]")
    return number


def ranges(numbers: np.ndarray) -> list[tuple[int, int]]:
    """(first, last) of the maximal ranges of consecutive numbers in a rising sequence."""
    breaks = np.flatnonzero(np.diff(numbers) != 1)
    firsts = numbers[np.concatenate([[0], breaks + 1])]
    lasts = numbers[np.concatenate([breaks, [len(numbers) - 1]])]
    return list(zip(firsts.tolist(), lasts.tolist(), strict=True))


def flag(value: Any, name: str) -> bool:
    """A truth value; a text such as "maybe" is refused, not taken for true."""
    if not isinstance(value, (bool, np.bool_)):
        raise InvalidInstance(f"{name} = {shorten(value)}: expected true or false")
    return bool(value)


def time_limit_of(value: Any) -> float | None:
    """A time limit: seconds >= 0, or None for none."""
    if value is None:
        return None
    seconds = real(value, "time_limit")
    if not seconds >= 0:
        raise InvalidInstance(
            f"time_limit = {seconds}: expected seconds >= 0, or None for no limit"
        )
    return seconds


def any_array(values: Any, name: str, ndim: int) -> np.ndarray:
    """`values` as an array of any type and shape; InvalidInstance for ragged rows.

    `ndim` is what the message says is expected.
    """
    try:
        return np.asarray(values)
    except (ValueError, TypeError) as error:
        raise InvalidInstance(
            f"{name}: expected {ndim}-dimensional numbers, got ragged or mixed rows"
        ) from error


def _from_objects(raw: np.ndarray, name: str) -> np.ndarray:
    for index in np.ndindex(raw.shape):
        value = raw[index]
        if isinstance(value, (list, tuple, np.ndarray)):
            raise InvalidInstance(f"{name}: expected rows of equal length")
        place = ", ".join(map(str, index))
        if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
            raise InvalidInstance(f"{name}[{place}] = {shorten(value)}: expected a number")
        try:
            float(value)
        except OverflowError:
            raise InvalidInstance(
                f"{name}[{place}] = {shorten(value)}: too large for a number"
            ) from None
    return raw.astype(np.float64)


def _first(raw: np.ndarray) -> str:
    return shorten(raw.flat[0].item()) if raw.size else ""
