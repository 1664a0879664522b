"""Modules that take long to import, imported when something of them is asked for first.

``from cosched.lazy import pd`` at the top of a module costs nothing: ``import cosched``, and a
short command, load neither pandas nor matplotlib.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any


class Lazy(ModuleType):
    """Stands for the module of its name.

    Examples
    --------
    >>> Lazy("fractions").Fraction(1, 2)
    Fraction(1, 2)
    """

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.__name__), name)


if TYPE_CHECKING:
    import matplotlib.pyplot as plt
    import pandas as pd
else:
    pd, plt = Lazy("pandas"), Lazy("matplotlib.pyplot")
