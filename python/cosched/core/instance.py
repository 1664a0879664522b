"""Base class of the five families' instances."""

from __future__ import annotations

from typing import Any, NoReturn


class Instance:
    """Immutable, validated problem data.

    A subclass sets its attributes once, with ``self._set(...)`` at the end of
    ``__init__``, and defines ``__reduce__`` (pickle goes through the constructor).
    """

    family: str

    #: The C++ instance.
    _core: Any
    _memo: dict[str, Any]

    #: Lines that a person should read once: what a reader interpolated, repaired or skipped.
    notes: tuple[str, ...] = ()

    def _set(self, **fields: Any) -> None:
        for name, value in fields.items():
            object.__setattr__(self, name, value)
        # Values that are costly and depend on nothing else, such as the default bound.
        object.__setattr__(self, "_memo", {})

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"{type(self).__qualname__} is immutable: cannot set {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__qualname__} is immutable: cannot delete {name!r}")
