"""Modules that take long to import, imported when something of them is asked for first.

``from cosched.lazy import pd`` at the top of a module costs nothing: ``import cosched``, and a
short command, load neither pandas nor matplotlib.
"""

import re
import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from cosched.described import described

__all__ = ["Lazy", "deprecated_names", "of_stub", "on_first_use", "pd", "plt"]


class Lazy(ModuleType):
    """Stands for the module of its name.

    Examples
    --------
    >>> Lazy("fractions").Fraction(1, 2)
    Fraction(1, 2)
    """

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.__name__), name)


def on_first_use(
    package: str,
    places: Mapping[str, str],
    prepare: Callable[[dict[str, Any]], None] | None = None,
    renamed: Mapping[str, str] | None = None,
) -> Callable[[str], Any]:
    """``__getattr__`` of a package: names -> modules, imported when one is asked for.

    `prepare` is given a table of the name and what it stands for, and may put another thing there.
    `renamed` has older names, which warn, and the names of today.
    """

    def __getattr__(name: str) -> Any:  # noqa: N807
        if renamed is not None and name in renamed:
            new_name = renamed[name]
            warnings.warn(
                f"{package}.{name} is now {package}.{new_name}", DeprecationWarning, stacklevel=2
            )
            return __getattr__(new_name)
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        exported = {name: getattr(import_module(places[name]), name)}
        described(exported)
        if prepare is not None:
            prepare(exported)
        return exported[name]

    return __getattr__


def deprecated_names(package: str, places: Mapping[str, str]) -> Callable[[str], Any]:
    """``__getattr__`` of a package: names that moved, each with a warning that names the new place.

    Parameters
    ----------
    package : str
        Name of the package, for messages.
    places : mapping
        The old name -> ``module:name``.

    Examples
    --------
    >>> import warnings
    >>> old_name = deprecated_names("cosched.old", {"shape": "numpy:shape"})
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     _ = old_name("shape")
    >>> str(caught[0].message)
    'cosched.old.shape is now numpy.shape'
    """

    def __getattr__(name: str) -> Any:  # noqa: N807
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, _, new_name = places[name].partition(":")
        warnings.warn(
            f"{package}.{name} is now {module}.{new_name}", DeprecationWarning, stacklevel=2
        )
        return getattr(import_module(module), new_name)

    return __getattr__


def of_stub(file: str) -> dict[str, str]:
    """The same names and modules: what the stub beside a package's file imports ``as`` itself."""
    stub = Path(file).with_suffix(".pyi").read_text("utf-8")
    imports = re.findall(r"^from (\S+) import (\([^)]*\)|.*)$", stub, re.MULTILINE)
    return {name: module for module, names in imports for name in re.findall(r"as (\w+)", names)}


if TYPE_CHECKING:
    import matplotlib.pyplot as plt
    import pandas as pd
else:
    pd, plt = Lazy("pandas"), Lazy("matplotlib.pyplot")
