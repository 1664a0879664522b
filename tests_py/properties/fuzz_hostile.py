"""Values that no function expects: wrong types and shapes, nan, huge, masked, empty, strings."""

import datetime
import decimal
import fractions
import types
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from fuzz_input import NUMBERS, ints, number, numbers, rnd, table

import cosched as cs

TEXTS = ["", " ", "\n", "a\nb", "nan", "1_0", "\u0661", "\x1b[31m", "\x00", "../x", "x" * 5000,
         "[bold]", "{}", "%s", "-1", "task 0", "\ud800"]  # fmt: skip


class Odd:
    """Answers whatever is asked, and none of it helps."""

    def __len__(self):
        return -1

    def __iter__(self):
        raise TypeError("odd")

    def __float__(self):
        return float("nan")

    def __repr__(self):
        return "odd\nlines"


class NoArray:
    def __array__(self, dtype=None, copy=None):
        return np.array(["a", None], dtype=object)


def arrays():
    """An array that is none of what is asked for."""
    n, m = rnd.randrange(0, 4), rnd.randrange(0, 4)
    random = np.random.default_rng(rnd.getrandbits(32))
    return rnd.choice(
        [
            lambda: np.ma.masked_array(random.random((n, m)), mask=random.random((n, m)) < 0.5),
            lambda: np.ma.masked_all(n),
            lambda: np.full((n, m), rnd.choice([np.nan, np.inf, -np.inf, -1.0, 0.0, 1e308])),
            lambda: np.zeros((n, m), dtype=rnd.choice(["i1", "u8", "f2", "c16", "?", "O", "S3"])),
            lambda: np.array(["a", "1", "nan"][:n]),
            lambda: np.array([None] * n, dtype=object),
            lambda: np.zeros((1,) * rnd.randrange(0, 9)),
            lambda: np.array([2**63, 2**64 - 1], dtype="u8"),
            lambda: np.array(["2026-11-22"] * n, dtype="M8[D]"),
            lambda: np.zeros(n, dtype=[("a", "f8"), ("b", "i4")]),
            lambda: np.arange(n * m).reshape(n, m)[::-1, ::-1],
            lambda: np.broadcast_to(1.5, (n, m)),
            lambda: random.random((n, m)).astype("f4"),
            lambda: np.array(rnd.choice(NUMBERS), dtype=object),
        ]
    )()


def others():
    """What is neither a number nor an array."""
    return rnd.choice(
        [
            lambda: rnd.choice(TEXTS),
            lambda: rnd.choice(TEXTS).encode("utf-8", "replace"),
            lambda: Path(rnd.choice(["nothing.csv", "no/where.json", "."])),
            lambda: {rnd.choice(TEXTS): number()},
            lambda: {1, 2, 3},
            lambda: (k for k in range(3)),
            lambda: range(rnd.choice([0, 3, 2**62])),
            lambda: slice(1, 2),
            lambda: decimal.Decimal("nan"),
            lambda: fractions.Fraction(1, 3),
            lambda: datetime.datetime(2026, 1, 1),
            lambda: lambda *arguments, **named: number(),
            lambda: Odd(),
            lambda: NoArray(),
            lambda: Odd,
            lambda: types.SimpleNamespace(times=[[1.0]], value=1),
            lambda: cs.packs,
            lambda: pd.DataFrame({"a": [1, 2], "task": [0, 0]}),
            lambda: pd.Series(numbers(2), dtype=object),
            lambda: pd.DataFrame(),
            lambda: [[[]]],
            lambda: [[1, 2], [3]],
            lambda: [None, [1.0]],
            lambda: Ellipsis,
        ]
    )()


def hostile():
    """One value; made anew each time, since some are used up."""
    makers: list[Callable] = [arrays, others, table, lambda: ints(rnd.randrange(4))]
    makers += [lambda: numbers(rnd.randrange(4)), lambda: rnd.choice(NUMBERS), number]
    return rnd.choice(makers)()
