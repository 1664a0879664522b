"""Models of a code's time on q processors, fitted to measured counts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Model = Callable[[np.ndarray], np.ndarray]


def _amdahl(q: np.ndarray, t: np.ndarray) -> Model:
    # With two counts the overhead cannot be told from the serial part: leave it out.
    terms = 2 if len(q) == 2 else 3
    weights = _least_squares(_amdahl_basis(q)[:, :terms], t)
    return lambda wanted: _amdahl_basis(wanted)[:, :terms] @ weights


def _amdahl_basis(q: np.ndarray) -> np.ndarray:
    return np.column_stack([np.ones(len(q)), 1 / q, np.log2(q)])


def _power_law(q: np.ndarray, t: np.ndarray) -> Model:
    from scipy.optimize import minimize_scalar

    def basis(alpha: float, counts: np.ndarray) -> np.ndarray:
        columns = [counts**-alpha] if len(q) == 2 else [counts**-alpha, counts - 1.0]
        return np.column_stack(columns)

    def misfit(alpha: float) -> float:
        columns = basis(alpha, q)
        return float(np.sum((columns @ _least_squares(columns, t) / t - 1) ** 2))

    # The misfit may have several minima in alpha: a grid first, then a refinement.
    grid = np.linspace(0, 1, 101)
    best = grid[np.argmin([misfit(alpha) for alpha in grid])]
    bracket = (max(best - 0.01, 0.0), min(best + 0.01, 1.0))
    refined = minimize_scalar(misfit, bounds=bracket, method="bounded").x
    alpha = min((best, refined), key=misfit)
    weights = _least_squares(basis(alpha, q), t)
    return lambda wanted: basis(alpha, wanted) @ weights


def _interpolation(q: np.ndarray, t: np.ndarray) -> Model:
    def model(wanted: np.ndarray) -> np.ndarray:
        inside = np.exp(np.interp(np.log(wanted), np.log(q), np.log(t)))
        # Between its neighbours also in the last digit.
        after = np.clip(np.searchsorted(q, wanted), 1, len(q) - 1)
        low, high = np.minimum(t[after - 1], t[after]), np.maximum(t[after - 1], t[after])
        inside = np.clip(inside, low, high)
        outside = (wanted < q[0]) | (wanted > q[-1])
        if not outside.any():
            return inside
        fitted = _amdahl(q, t)
        ends = np.where(wanted < q[0], q[0], q[-1])
        at_ends = np.where(wanted < q[0], t[0], t[-1])
        return np.where(outside, fitted(wanted) * at_ends / fitted(ends), inside)

    return model


MODELS: dict[str, Callable[[np.ndarray, np.ndarray], Model]] = {
    "interpolation": _interpolation,
    "amdahl": _amdahl,
    "power-law": _power_law,
}


def _least_squares(columns: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Weights >= 0 that minimise the squared relative errors of columns @ weights."""
    from scipy.optimize import nnls

    return nnls(columns / t[:, None], np.ones(len(t)))[0]
