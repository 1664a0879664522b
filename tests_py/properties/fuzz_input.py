"""Random and malformed input: numbers, tables, texts."""

import atexit
import random
import tempfile
from pathlib import Path

import numpy as np

rnd = random.Random()
_folder = tempfile.TemporaryDirectory(prefix="cosched-fuzz-")
atexit.register(_folder.cleanup)
NUMBERS = [
    0,
    1,
    -1,
    2,
    3,
    7,
    16,
    1.5,
    -0.0,
    1e-300,
    5e-324,
    1e300,
    1.7e308,
    float("nan"),
    float("inf"),
    -float("inf"),
    2**31 - 1,
    2**31,
    2**63 - 1,
    -(2**63),
    2**64,
    10**400,
    True,
    None,
    "",
    "1",
    "x" * 1000,
    b"1",
    1j,
    [],
    {},
    np.nan,
    np.int8(3),
    np.float32(2),
]


def number():
    return rnd.choice(NUMBERS) if rnd.random() < 0.4 else rnd.uniform(0.1, 9)


def limit():
    """Of time: a search uses all of one that is a number, so none is long."""
    value = number()
    return 0.02 if isinstance(value, (int, float)) and value > 0.02 else value


def table(depth=2):
    kind = rnd.random()
    n, p = rnd.randrange(0, 7), rnd.randrange(0, 9)
    if kind < 0.5:
        return np.sort(
            np.abs(np.random.default_rng(rnd.getrandbits(32)).normal(5, 3, (n, p))) + 0.1
        )[:, ::-1]
    if kind < 0.7:
        return [[number() for _ in range(p)] for _ in range(n)]
    if kind < 0.8:
        value = number()
        return [[value] * p for _ in range(n)]
    if kind < 0.9:
        return np.random.default_rng(0).random((n, p, 2)[: rnd.randrange(1, 4)])
    return number()


def ints(n):
    return [rnd.choice(NUMBERS) if rnd.random() < 0.1 else rnd.randrange(-1, 9) for _ in range(n)]


def numbers(n):
    return [number() for _ in range(n)]


PIECES = ["", " ", "\n", "\t", "-1", "nan", "1e999", "9" * 30, '"', "{", "]", ",", ";", "->",
          "\x00", "é", "\ufeff", "0", "1.5", "inf", "a", "null", "[]", "\r\n", "<"]  # fmt: skip


def damaged(text):
    """The text with a few places cut, doubled or replaced."""
    for _ in range(rnd.choice([0, 1, 1, 2, 5])):
        i = rnd.randrange(len(text) + 1)
        j = min(len(text), i + rnd.choice([0, 1, 1, 3, 20]))
        text = text[:i] + rnd.choice([*PIECES, text[i:j] * 2]) + text[j:]
    return text


def written(name, text):
    path = Path(_folder.name) / name
    path.write_bytes(text.encode("utf-8", "surrogatepass") if rnd.random() < 0.97 else b"\xff\xfe")
    return path
