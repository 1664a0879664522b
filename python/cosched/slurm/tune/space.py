"""What may be varied: keys of what-ifs, with lists or ranges of values."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from cosched.cluster.instance import Instance
from cosched.cluster.page.what_if import parts_of, what_if
from cosched.core.text import first_repeated
from cosched.errors import InvalidInstance, shorten

#: A value a dimension, as texts; an empty one, or none at all: as it is today.
Setting = tuple[str, ...]
TODAY: Setting = ()
_RANGE = re.compile(r"((?:[^,]*=)?\+?)(-?[0-9]+(?:\.[0-9]+)?)\.\.(-?[0-9]+(?:\.[0-9]+)?)")
#: Whole numbers up to it are exact as floats.
_MOST = 2**53


@dataclass(frozen=True)
class Dimension:
    """A key with its `values`; without any a range, whose numbers stand behind `prefix`."""

    key: str
    values: tuple[str, ...] = ()
    low: float = 0.0
    high: float = 0.0
    prefix: str = ""

    @classmethod
    def of(cls, key: str, given: Any) -> Dimension:
        """Of ``"30,60,120"``, ``"0..200000"``, ``"cpu=64..512"`` or a list."""
        where = f"vary {shorten(key)}={shorten(given)}"
        if isinstance(given, str):
            found = _RANGE.fullmatch(given.strip())
            if found is not None:
                low, high = float(found[2]), float(found[3])
                if not low < high:
                    raise InvalidInstance(f"{where}: expected LOW..HIGH with LOW < HIGH")
                if max(-low, high) > _MOST:
                    raise InvalidInstance(f"{where}: expected ends up to {_MOST}")
                return cls(key, (), low, high, found[1])
            given = given.split(",")
        if not isinstance(given, Sequence) or isinstance(given, bytes):
            raise InvalidInstance(f"{where}: expected A,B,C or LOW..HIGH")
        values = tuple(str(value).strip() for value in given)
        same = [re.sub(r"^0+(?=[0-9])", "", value) for value in values]
        if not all(values) or first_repeated(same) is not None:
            raise InvalidInstance(f"{where}: expected different values, as 30,60,120 or 0..1000")
        return cls(key, values)

    @property
    def whole(self) -> bool:
        """Whether a range is of whole numbers."""
        return self.low == int(self.low) and self.high == int(self.high)

    def text(self, number: float) -> str:
        """A number of a range as it is typed."""
        return f"{self.prefix}{int(number)}" if self.whole else f"{self.prefix}{number:.6g}"

    @property
    def ends(self) -> tuple[str, ...]:
        """Values that are looked at before the search: what is wrong with any is wrong there."""
        return self.values or (self.text(self.low), self.text(self.high))


def dimensions_of(instance: Instance, vary: Any) -> tuple[Dimension, ...]:
    """Checked: each end is a change that the audit's what-ifs know."""
    if not isinstance(vary, Mapping) or not vary:
        raise InvalidInstance(f"vary {shorten(vary)}: expected KEY: values, as bf_interval: 30,60")
    found = tuple(Dimension.of(str(key), given) for key, given in vary.items())
    if (twice := first_repeated(_folded(one.key) for one in found)) is not None:
        raise InvalidInstance(f"vary {shorten(twice)}: given twice")
    for dimension in found:
        several = parts_of(f"{dimension.key}={','.join(dimension.values)}")
        if len(several) > 1:
            raise InvalidInstance(f"vary {shorten(several[1])}: a key of its own (a --vary each)")
        for value in dimension.ends:
            what_if(instance, f"{dimension.key}={value}")
    return found


def _folded(key: str) -> str:
    """Keys of a slurm.conf are the same in any case; types of nodes and users are not."""
    of, dot, name = key.rpartition(".")
    return key if of.lower() in ("nodes", "users") else of + dot + name.lower()


def vary_of_texts(texts: Sequence[str]) -> dict[str, str]:
    """``KEY=VALUES``, as they are typed."""
    pairs = [text.partition("=") for text in texts]
    for text, (key, _, values) in zip(texts, pairs, strict=True):
        if not key or not values:
            raise InvalidInstance(f"--vary {shorten(text)}: expected KEY=A,B,C or KEY=LOW..HIGH")
    if (twice := first_repeated(key for key, *_ in pairs)) is not None:
        raise InvalidInstance(f"--vary {shorten(twice)}: given twice")
    return {key: values for key, _, values in pairs}


def change_of(keys: Sequence[str], setting: Setting) -> str:
    """A setting as a what-if."""
    return ",".join(f"{key}={value}" for key, value in changed(keys, setting).items())


def changed(keys: Sequence[str], setting: Setting) -> dict[str, str]:
    """What is not as it is today."""
    pairs = zip(keys, setting, strict=bool(setting))
    return {key: value for key, value in pairs if value}


def grid(dimensions: Sequence[Dimension], most: int) -> list[Setting] | None:
    """All settings, where they are lists and few."""
    size = 1
    for dimension in dimensions:
        size *= len(dimension.values)
    return list(product(*(one.values for one in dimensions))) if 0 < size <= most else None
