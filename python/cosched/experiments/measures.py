"""The library of measures: what the papers' claims name, with arguments, of prepared results."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

P = ParamSpec("P")
T = TypeVar("T", covariant=True)


@dataclass(frozen=True)
class Measure(Generic[T]):
    """A function of the library and its arguments, to be called on prepared results."""

    function: Callable[..., T]
    arguments: tuple[Any, ...]

    def __call__(self, prepared: Any) -> T:
        return self.function(prepared, *self.arguments)

    def __repr__(self) -> str:
        return f"{self.function.__name__}{self.arguments}"


def measure(function: Callable[Concatenate[Any, P], T]) -> Callable[P, Measure[T]]:
    """A function of prepared results, called without them: ``mean("heft")`` is a ``Measure``."""

    @wraps(function)
    def given(*arguments: P.args, **named: P.kwargs) -> Measure[T]:
        assert not named, "rows give arguments by place"
        return Measure(function, arguments)

    return given


def listed(items: Iterable[tuple[Any, ...]], form: str, by: str = ", ") -> str:
    """Items in a line: ``listed(curve.items(), "{}: {:.3f}")``."""
    return by.join(form.format(*item) for item in items)


# --- curves -------------------------------------------------------------------------------


class Curves(Protocol):
    """Prepared results that are curves: a series of numbers by its key."""

    def curve(self, *key: Any) -> pd.Series: ...


#: What a row may ask of a curve; ``growth`` is the last over the first.
NUMBERS: dict[str, Callable[[pd.Series], float]] = {
    "mean": lambda curve: curve.mean(),
    "least": lambda curve: curve.min(),
    "greatest": lambda curve: curve.max(),
    "95%": lambda curve: float(curve.quantile(0.95)),
    "growth": lambda curve: curve.iloc[-1] / curve.iloc[0],
    "spread": lambda curve: curve.max() / curve.min(),
}


@measure
def of(curves: Curves, number: str, *key: Any) -> float:
    """A number of a curve."""
    return float(NUMBERS[number](curves.curve(*key)))


@measure
def less_one(prepared: Any, ratio: Measure[float]) -> float:
    """By how much a ratio is above one."""
    return ratio(prepared) - 1


@measure
def over(curves: Curves, number: str, above: tuple[Any, ...], *below: tuple[Any, ...]) -> float:
    """A number of a curve over the greatest such number of others."""
    top, *rest = (NUMBERS[number](curves.curve(*key)) for key in (above, *below))
    return float(top / np.nanmax(rest))
