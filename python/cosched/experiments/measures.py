"""The library of measures: what the papers' claims name, with arguments, of prepared results."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import wraps
from inspect import signature
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar

import numpy as np

from cosched.experiments.tolerances import Curve
from cosched.lazy import pd

_P = ParamSpec("_P")
_T = TypeVar("_T", covariant=True)


@dataclass(frozen=True)
class StudyMeasure(Generic[_T]):
    """A function of the library and its arguments, to be called on prepared results.

    ``a / b``, ``a - 1`` and ``100 * a`` are measures as well.
    """

    #: A function of the library.
    function: Callable[..., _T]
    #: What it is called with behind the prepared results.
    arguments: tuple[Any, ...]

    def __call__(self, prepared: object) -> _T:
        return self.function(prepared, *self.arguments)

    def __repr__(self) -> str:
        return f"{self.function.__name__}{self.arguments}"

    def __truediv__(self, below: StudyMeasure[float]) -> StudyMeasure[float]:
        return StudyMeasure(_quotient, (self, below))

    def __sub__(self, number: float) -> StudyMeasure[float]:
        return StudyMeasure(_difference, (self, number))

    def __rmul__(self, factor: float) -> StudyMeasure[float]:
        return StudyMeasure(_multiple, (factor, self))


def _quotient(prepared: object, above: StudyMeasure[float], below: StudyMeasure[float]) -> float:
    return above(prepared) / (below(prepared) or math.nan)


def _difference(prepared: object, above: StudyMeasure[float], number: float) -> float:
    return above(prepared) - number


def _multiple(prepared: object, factor: float, inner: StudyMeasure[float]) -> float:
    return factor * inner(prepared)


def measure(function: Callable[Concatenate[Any, _P], _T]) -> Callable[_P, StudyMeasure[_T]]:
    """A function of prepared results, called without them: ``mean("heft")`` is a
    ``StudyMeasure``."""
    form = signature(function)

    @wraps(function)
    def measure_of_arguments(*arguments: _P.args, **named: _P.kwargs) -> StudyMeasure[_T]:
        form.bind(None, *arguments, **named)  # TypeError at the row, not when it is evaluated
        assert not named, "rows give arguments by place"
        return StudyMeasure(function, arguments)

    return measure_of_arguments


def listed(items: Iterable[tuple[object, ...]], form: str, by: str = ", ") -> str:
    """Items in a line: ``listed(curve.items(), "{}: {:.3f}")``."""
    return by.join(form.format(*item) for item in items)


class Curves(Protocol):
    """Prepared results that are curves, by key: a ``pandas.Series``, or an array without places."""

    def curve(self, *key: object) -> Any: ...


@dataclass(frozen=True)
class CurveTable:
    """Curves of a table: its columns, without the points that some have and others have not."""

    #: One column per curve, by the points of its axis.
    wide: pd.DataFrame

    def curve(self, *key: object) -> pd.Series:
        """A column."""
        return self.wide[key if len(key) > 1 else key[0]].dropna()


def _outliers(curve: pd.Series) -> int:
    """Return points that a box plot draws alone: beyond 1.5 quartile ranges of the box."""
    low, high = curve.quantile([0.25, 0.75])
    reach = 1.5 * (high - low)
    return int(((curve < low - reach) | (curve > high + reach)).sum())


#: What a row may ask of a curve.
NUMBERS: dict[str, Callable[[Any], float]] = {
    "mean": lambda curve: curve.mean(),
    "least": lambda curve: curve.min(),
    "greatest": lambda curve: curve.max(),
    "median": lambda curve: curve.median(),
    "sum": lambda curve: curve.sum(),
    "count": lambda curve: curve.size,
    "place of the least": lambda curve: float(curve.index.to_numpy()[curve.to_numpy().argmin()]),
    "last": lambda curve: curve.iloc[-1],
    "last over first": lambda curve: curve.iloc[-1] / curve.iloc[0],
    "greatest over least": lambda curve: curve.max() / curve.min(),
    "outliers": _outliers,
    "share of falls": lambda curve: float((curve.diff().dropna() < 0).mean()),
    "95th percentile": lambda curve: float(curve.quantile(0.95)),
}


@measure
def of(curves: Curves, number: str, *key: object) -> float:
    """A number of a curve."""
    return float(NUMBERS[number](curves.curve(*key)))


@measure
def at(curves: Curves, point: object, *key: object) -> float:
    """A point of a curve."""
    return float(curves.curve(*key).loc[point])


@measure
def among(prepared: object, number: str, *measures: StudyMeasure[float]) -> float:
    """A number of what several measures give: the least, the mean, the sum of them."""
    return float(NUMBERS[number](np.array([measure(prepared) for measure in measures])))


@measure
def over(
    curves: Curves, number: str, above: tuple[object, ...], *below: tuple[object, ...]
) -> float:
    """A number of a curve over the greatest such number of others."""
    rest = among("greatest", *(of(number, *key) for key in below))
    return (of(number, *above) / rest)(curves)


@measure
def of_ratio(
    curves: Curves, number: str, above: tuple[object, ...], below: tuple[object, ...]
) -> float:
    """A number of the ratio of two curves, point by point."""
    return float(NUMBERS[number](curves.curve(*above) / curves.curve(*below)))


@measure
def places(
    curves: Curves,
    key: tuple[object, ...],
    lower: tuple[tuple[object, ...], ...] = (),
    upper: tuple[tuple[object, ...], ...] = (),
    strict: bool = False,
) -> tuple[float, int, int]:
    """At which of its points a curve is between others: the share, how many, of how many."""
    curve = curves.curve(*key)
    holds = np.full(len(curve), True)
    for other in lower:
        holds &= curve >= curves.curve(*other)
    for other in upper:
        below = curves.curve(*other)
        holds &= (curve < below) if strict else (curve <= below)
    return float(holds.mean()), int(holds.sum()), len(holds)


@measure
def exceeding(curves: Curves, limit: float, *key: object) -> tuple[float, int, int]:
    """How many of a curve's points are above a limit: the share, how many, of how many."""
    holds = curves.curve(*key) > limit
    return float(holds.mean()), int(holds.sum()), len(holds)


@measure
def share(prepared: object, points: StudyMeasure[tuple[float, int, int]]) -> float:
    """The share alone."""
    return points(prepared)[0]


@measure
def points(curves: Curves, form: str, *key: object) -> str:
    """The points of a curve in words."""
    return listed(curves.curve(*key).items(), form)


@measure
def tabled(curves: Curves, by: str, form: str, *keys: tuple[object, ...]) -> str:
    """The points of several curves side by side, in words."""
    values = [curves.curve(*key) for key in keys]
    return listed(zip(values[0].index, *values, strict=True), form, by)


@measure
def box(curves: Curves, *key: object) -> str:
    """What a box plot of a curve's points shows, in words."""
    curve = curves.curve(*key)
    return f"{curve.mean():.3f} ({curve.min():.3f} to {curve.max():.3f})"


@measure
def sentence_of_values(prepared: object, form: str, *measures: StudyMeasure[Any]) -> str:
    """What measures give, in words."""
    return form.format(*(measure(prepared) for measure in measures))


@measure
def several(prepared: object, *measures: StudyMeasure[float]) -> tuple[float, ...]:
    """Several numbers for a picture's words, the first of which counts."""
    return tuple(measure(prepared) for measure in measures)


@measure
def picture(
    prepared: object,
    values: StudyMeasure[str],
    order: StudyMeasure[Any],
    interval: tuple[float, float],
    says: str,
) -> Curve:
    """What is drawn, and a number of it that the text tells of, which is to lie in an interval.

    ``says`` shows the number, or the numbers if there are several, of which the first counts.
    """
    seen = order(prepared)
    first, *rest = seen if isinstance(seen, tuple) else (seen,)
    return Curve(values(prepared), float(first), interval, says.format(first, *rest))
