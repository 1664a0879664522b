"""Checked conversion of what users pass into arrays and integers; sums over time.

Nothing is truncated or reinterpreted silently: text, booleans, complex numbers,
fractions where an integer is meant and ragged rows are refused in one line.
"""

import math
import operator
import sys
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosched.core.text import count_of
from cosched.errors import InvalidInstance, shorten

INT_MAX = 2**31 - 1
#: Every integer up to here is a float; beyond it, some.
EXACT = 2**53


def real_array(values: object, name: str, ndim: int) -> NDArray[np.float64]:
    """Copy of `values` as a C-contiguous float64 array with `ndim` dimensions.

    Values are not judged here (NaN passes): the C++ border checks them and names row
    and column. Raises InvalidInstance for text, booleans, complex numbers, masked entries,
    integers that no float holds, ragged rows or another number of dimensions.
    """
    raw, kinds = _raw(values, name, ndim)
    return _reals(_numbers(raw, values, kinds, name, ndim), name)


def _reals(raw: np.ndarray, name: str) -> np.ndarray:
    with np.errstate(over="ignore"):
        reals = np.array(raw, dtype=np.float64, order="C")
    if raw.dtype.kind in "iu":
        large = (raw > EXACT) | (raw < -EXACT) if raw.itemsize == 8 else np.zeros(0)
        changed = [index for index in _where(large) if int(reals[index]) != int(raw[index])]
    else:
        changed = [] if raw.itemsize <= 8 else list(_where(np.isinf(reals) & ~np.isinf(raw)))
    if changed:
        raise _inexact(f"{name}[{_place(changed[0])}]", raw[changed[0]])
    return reals


def _numbers(raw: np.ndarray, values: Any, kinds: set[type], name: str, ndim: int) -> np.ndarray:
    """Return `raw` as integers or floats, none of them changed by numpy on the way."""
    mixed = raw.dtype.kind == "f" and not isinstance(values, np.ndarray) and kinds != {float}
    if mixed and (np.isfinite(raw) & (np.abs(raw) >= np.float64(EXACT))).any():
        # Among floats, numpy has made floats of integers (pandas too, of its columns).
        frame = hasattr(values, "iloc")
        raw = values.to_numpy(dtype=object) if frame else np.asarray(values, dtype=object)
    if raw.dtype == object:
        raw = _from_objects(raw, name)
    if raw.dtype.kind not in "iuf":
        first = shorten(raw.flat[0].item()) if raw.size else ""
        raise InvalidInstance(f"{name}: expected numbers, got {raw.dtype} {first}")
    if any(issubclass(kind, (bool, np.bool_)) for kind in kinds):
        raise InvalidInstance(f"{name}: expected numbers, got True or False among them")
    if raw.ndim != ndim:
        raise InvalidInstance(
            f"{name}: expected {count_of(ndim, 'dimension')}, got shape {raw.shape}"
        )
    return raw


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
    values: object,
    name: str,
    ndim: int,
    low: int = 0,
    high: int = INT_MAX,
    dtype: type[np.signedinteger[Any]] = np.int64,
) -> NDArray[Any]:
    """Copy of `values` as an array of `dtype`, which holds `low` and `high`, with every entry in
    [low, high]."""
    raw, kinds = _raw(values, name, ndim)
    if raw.size == 0:
        return np.zeros((0,) + raw.shape[1:] if ndim > 1 else (0,), dtype=dtype)
    raw = _numbers(raw, values, kinds, name, ndim)
    is_integer = raw.dtype.kind in "iu"
    # Without an array of flags, because a schedule may have 10^7 units.
    if is_integer and low <= raw.min() and raw.max() <= high:
        return np.array(raw, dtype=dtype, order="C")
    numbers = raw if is_integer else _reals(raw, name)
    is_good = (numbers >= low) & (numbers <= high)
    if not is_integer:
        is_good &= np.floor(numbers) == numbers
    bad = ~is_good
    if bad.any():
        where = tuple(int(k) for k in np.argwhere(bad)[0])
        value = str(raw[where]) if is_integer else f"{numbers[where]:g}"
        error = InvalidInstance(
            f"{name}[{_place(where)}] = {value}: expected an integer in {low}..{high}"
        )
        error.row = where[0]
        raise error
    return np.array(numbers, dtype=dtype, order="C")


def shared_zeros(count: int) -> NDArray[np.int64]:
    """So many zeros, read-only, that all stand in the same memory.

    Examples
    --------
    >>> zeros = shared_zeros(1_000_000)
    >>> int(zeros.sum()), zeros.strides
    (0, (0,))
    """
    return np.broadcast_to(np.int64(0), (count,))


def seed_of(seed: object) -> int:
    """The seed that is used: None means 0; otherwise an integer in 0..2^64-1."""
    return 0 if seed is None else integer(seed, "seed", 0, 2**64 - 1)


def real(value: object, name: str) -> float:
    """`value` as a float (NaN and infinity pass); InvalidInstance for what is no number."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.number)):
        raise InvalidInstance(f"{name} = {shorten(value)}: expected a number")
    try:
        number = float(value)
    except (OverflowError, TypeError):  # an integer of 400 digits, a complex number
        raise InvalidInstance(f"{name} = {shorten(value)}: expected a number") from None
    if isinstance(value, (int, np.integer)) and int(number) != int(value):
        raise _inexact(name, value)
    return number


def positive(value: object, name: str, what: str = "a positive number") -> float:
    """`value` as a finite float > 0."""
    number = real(value, name)
    if not 0 < number < np.inf:
        raise InvalidInstance(f"{name} = {number:g}: expected {what}")
    return number


def nonnegative(value: object, name: str, what: str = "a number >= 0") -> float:
    """`value` as a finite float >= 0."""
    number = real(value, name)
    if not 0 <= number < np.inf:
        raise InvalidInstance(f"{name} = {number:g}: expected {what}")
    return number


def share(value: object, name: str) -> float:
    """`value` as a float in [0, 1]."""
    number = real(value, name)
    if not 0 <= number <= 1:
        raise InvalidInstance(f"{name} = {number:g}: expected a share in 0..1")
    return number


def fraction(value: object, name: str) -> float:
    """`value` as a float in (0, 1]."""
    number = real(value, name)
    if not 0 < number <= 1:
        raise InvalidInstance(f"{name} = {number:g}: expected a fraction in (0, 1]")
    return number


def ranges(numbers: NDArray[np.int64]) -> list[tuple[int, int]]:
    """(first, last) of the maximal ranges of consecutive numbers in a rising sequence."""
    if not len(numbers):
        return []
    breaks = np.flatnonzero(np.diff(numbers) != 1)
    firsts = numbers[np.concatenate([[0], breaks + 1])]
    lasts = numbers[np.concatenate([breaks, [len(numbers) - 1]])]
    return list(zip(firsts.tolist(), lasts.tolist(), strict=True))


def flag(value: object, name: str) -> bool:
    """A truth value; a text such as "maybe" is refused, not taken for true."""
    if not isinstance(value, (bool, np.bool_)):
        raise InvalidInstance(f"{name} = {shorten(value)}: expected true or false")
    return bool(value)


def time_limit_of(value: object) -> float | None:
    """A time limit: seconds >= 0, or None for none."""
    if value is None:
        return None
    seconds = real(value, "time_limit")
    if not seconds >= 0:
        raise InvalidInstance(
            f"time_limit = {seconds}: expected seconds >= 0, or None for no limit"
        )
    return seconds


#: Numbers in the largest table that a generator makes: 800 MB.
MOST_ENTRIES = 100_000_000


def checked_entries(what: str, *sizes: int) -> None:
    """InvalidInstance where a table of these sizes has more than MOST_ENTRIES numbers."""
    if math.prod(sizes) > MOST_ENTRIES:
        shape_text = " x ".join(map(str, sizes))
        raise InvalidInstance(f"{what}: {shape_text} numbers: expected at most {MOST_ENTRIES:,}")


def any_array(values: object, name: str, ndim: int) -> NDArray[Any]:
    """`values` as an array of any type and shape.

    InvalidInstance for ragged rows and masked entries; `ndim` is what the message says is
    expected.
    """
    return _raw(values, name, ndim)[0]


def _raw(values: object, name: str, ndim: int) -> tuple[np.ndarray, set[type]]:
    """Return `values` as an array, and the types that stood in its lists."""
    if isinstance(values, range) and len(values) > MOST_ENTRIES:
        raise InvalidInstance(f"{name} has {len(values)} entries: expected {MOST_ENTRIES} at most")
    try:
        kinds = _kinds(values, ndim)
        # Whoever has masked arrays has imported their module, which takes a while.
        if "numpy.ma" in sys.modules and any(issubclass(k, np.ma.MaskedArray) for k in kinds):
            masked = _first_masked(values)
            if masked is not None:
                place = f"[{_place(masked)}]" if masked else ""
                raise InvalidInstance(f"{name}{place} is masked: expected a number")
        return np.asarray(values), kinds
    except InvalidInstance:
        raise
    except (ValueError, TypeError) as error:
        raise InvalidInstance(
            f"{name}: expected {ndim}-dimensional numbers, got ragged or mixed rows"
        ) from error


def _kinds(values: object, depth: int) -> set[type]:
    """Return types of what stands in lists, nested `depth` times at most."""
    if not isinstance(values, (list, tuple)):
        return {values.dtype.type} if type(values) is np.ndarray else {type(values)}
    kinds = set(map(type, values))
    if depth > 1 and kinds <= {list, tuple}:
        return kinds | _kinds(list(chain.from_iterable(values)), depth - 1)
    if depth > 1 and kinds & {list, tuple, np.ndarray}:
        kinds = kinds.union(*(_kinds(row, depth - 1) for row in values))
    return kinds


def _first_masked(values: object) -> tuple[int, ...] | None:
    if isinstance(values, np.ma.MaskedArray):
        return next(_where(np.ma.getmaskarray(values)), None)
    if isinstance(values, (list, tuple)):
        for k, row in enumerate(values):
            if (inner_place := _first_masked(row)) is not None:
                return (k, *inner_place)
    return None


def _where(is_wrong: np.ndarray) -> Iterator[tuple[int, ...]]:
    """Return indices of the true entries, one after the other."""
    return (tuple(index) for index in np.argwhere(is_wrong).tolist())


def _place(index: tuple[int, ...]) -> str:
    return ", ".join(map(str, index))


def _inexact(name: str, value: object) -> InvalidInstance:
    what = shorten(int(value)) if isinstance(value, (int, np.integer)) else str(value)
    return InvalidInstance(f"{name} = {what}: no float is that number: expected one up to 2^53")


def _from_objects(raw: np.ndarray, name: str) -> np.ndarray:
    for index in np.ndindex(raw.shape):
        value = raw[index]
        if isinstance(value, (list, tuple, np.ndarray)):
            raise InvalidInstance(f"{name}: expected rows of equal length")
        real(value, f"{name}[{_place(index)}]" if index else name)
    return raw.astype(np.float64)


def edge_pairs(edges: object) -> NDArray[np.int64]:
    """(e, 2) integers as given, one row an edge; None and an empty one: no edges."""
    if edges is None or any_array(edges, "edges", 2).size == 0:
        return np.zeros((0, 2), dtype=np.int64)
    pairs = integer_array(edges, "edges", 2, -(2**31))
    if pairs.shape[1] != 2:
        raise InvalidInstance(f"edges: expected shape (e, 2), got {pairs.shape}")
    return pairs


#: So much more than there is, for so much of the time, is no rounding of clocks.
OVERUSE_RATIO, OVERUSE_SHARE = 1.01, 0.01


def positions_of(values: NDArray[Any], among: NDArray[Any]) -> NDArray[np.int64]:
    """Where each of `values` is in `among`, which has every one of them, and none twice."""
    order = np.argsort(among, kind="stable")
    return np.asarray(order[np.searchsorted(among, values, sorter=order)])


def step_function(
    begin: NDArray[np.float64], end: NDArray[np.float64], amount: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sum over time of `amount` on [begin, end): times, and the level from each time on."""
    times = np.concatenate([begin, end])
    order = np.argsort(times, kind="stable")
    times = times[order]
    is_first_of_instant = np.ones(len(times), dtype=bool)
    # Of unknown times, which are last, the first stands for all.
    is_first_of_instant[1:] = (times[1:] != times[:-1]) & ~np.isnan(times[:-1])
    instants = times[is_first_of_instant]
    del times
    change = np.concatenate([amount, -amount])[order]
    del order
    place = np.cumsum(is_first_of_instant) - 1
    # In the order of the arguments at each instant: sums of floats depend on it.
    level = np.cumsum(np.bincount(place, weights=change))
    return instants, np.maximum(level, 0.0)  # rounding may leave -1e-12


def means(
    times: NDArray[np.float64], level: NDArray[np.float64], edges: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Mean of the level in each slice of time between `edges`."""
    area = np.concatenate([[0.0], np.cumsum(level[:-1] * np.diff(times))])
    means: np.ndarray = np.diff(np.interp(edges, times, area)) / np.diff(edges)
    return means


def share_above(times: NDArray[np.float64], level: NDArray[np.float64], threshold: float) -> float:
    """Share of the time from the first to the last of `times` with a level above `most`."""
    span = times[-1] - times[0]
    return float(np.diff(times)[level[:-1] > threshold].sum() / span) if span > 0 else 0.0
