"""The library of measures: what the papers' claims name, with arguments, of prepared results."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar

import numpy as np

from cosched.experiments.tolerances import Curve

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


@dataclass(frozen=True)
class Table:
    """Curves of a table: its columns, without the points that some have and others have not."""

    wide: pd.DataFrame

    def curve(self, *key: Any) -> pd.Series:
        """A column."""
        return self.wide[key if len(key) > 1 else key[0]].dropna()


#: What a row may ask of a curve.
NUMBERS: dict[str, Callable[[pd.Series], float]] = {
    "mean": lambda curve: curve.mean(),
    "least": lambda curve: curve.min(),
    "greatest": lambda curve: curve.max(),
    "median": lambda curve: curve.median(),
    "sum": lambda curve: curve.sum(),
    "last": lambda curve: curve.iloc[-1],
    "last over first": lambda curve: curve.iloc[-1] / curve.iloc[0],
    "greatest over least": lambda curve: curve.max() / curve.min(),
    "95th percentile": lambda curve: float(curve.quantile(0.95)),
}


@measure
def of(curves: Curves, number: str, *key: Any) -> float:
    """A number of a curve."""
    return float(NUMBERS[number](curves.curve(*key)))


@measure
def over(curves: Curves, number: str, above: tuple[Any, ...], *below: tuple[Any, ...]) -> float:
    """A number of a curve over the greatest such number of others."""
    top, *rest = (NUMBERS[number](curves.curve(*key)) for key in (above, *below))
    return float(top / np.nanmax(rest))


@measure
def less_one(prepared: Any, ratio: Measure[float]) -> float:
    """By how much a ratio is above one."""
    return ratio(prepared) - 1


# --- pictures -----------------------------------------------------------------------------


@measure
def points(curves: Curves, form: str, *key: Any) -> str:
    """The points of a curve in words."""
    return listed(curves.curve(*key).items(), form)


@measure
def box(curves: Curves, *key: Any) -> str:
    """What a box plot of a curve's points shows, in words."""
    curve = curves.curve(*key)
    return f"{curve.mean():.3f} ({curve.min():.3f} to {curve.max():.3f})"


@measure
def share_at_least(curves: Curves, limit: float, *key: Any) -> tuple[float, int, int]:
    """The share of a curve's points that are not below a limit; how many, of how many."""
    holds = curves.curve(*key) >= limit
    return holds.mean(), holds.sum(), len(holds)


@measure
def picture(
    prepared: Any,
    values: Measure[str],
    order: Measure[Any],
    interval: tuple[float, float],
    says: str,
) -> Curve:
    """What is drawn, and whether a number of it that the text tells of lies in an interval.

    ``says`` shows the number, or the numbers if the measure gives several, of which the first counts.
    """
    seen = order(prepared)
    first, *rest = seen if isinstance(seen, tuple) else (seen,)
    holds = interval[0] <= first <= interval[1]
    return Curve(values(prepared), bool(holds), says.format(first, *rest))
