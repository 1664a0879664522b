"""Columns of texts, of which a log repeats few."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cosched.lazy import pd


def each(texts: pd.Series, reads: Callable[[pd.Series], Any]) -> np.ndarray:
    """`reads` of the distinct texts, by row: a log repeats few."""
    if isinstance(texts.dtype, pd.CategoricalDtype):
        codes, distinct = texts.cat.codes.to_numpy(), texts.cat.categories
    else:
        codes, distinct = pd.factorize(texts)
    return np.asarray(reads(pd.Series(distinct, dtype=str)))[codes]
