"""Base class of the five families' instances."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NoReturn, TypeVar

from cosched.errors import InvalidInstance

Kept = TypeVar("Kept")


class Instance:
    """Immutable, validated problem data.

    A subclass sets its attributes once, with ``self._set(...)`` at the end of
    ``__init__``, and defines ``__reduce__`` (pickle goes through the constructor).
    """

    family: str
    #: Whether placements alone (core.Schedule) say all of a schedule of this family.
    plain_schedules: ClassVar[bool] = True

    #: The C++ instance.
    _core: Any
    _memo: dict[str, Any]

    #: Lines that a person should read once: what a reader interpolated, repaired or skipped.
    notes: tuple[str, ...] = ()

    def _set(self, **fields: Any) -> None:
        for name, value in fields.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "_memo", {})

    def once(self, key: str, make: Callable[[], Kept]) -> Kept:
        """What `make` returns, computed when it is first asked for under `key`, and kept.

        For values that are costly and depend on nothing else, such as the default bound.
        """
        if key not in self._memo:
            self._memo[key] = make()
        return self._memo[key]

    def kept(self, key: str) -> Any:
        """What :meth:`once` keeps under `key`; None where nobody has asked for it."""
        return self._memo.get(key)

    @classmethod
    def require(cls, value: Any) -> None:
        """InvalidInstance unless `value` is an instance of this family."""
        if not isinstance(value, cls):
            raise InvalidInstance(
                f"expected a cosched.{cls.family}.Instance, got {type(value).__name__}"
            )

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"{type(self).__qualname__} is immutable: cannot set {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__qualname__} is immutable: cannot delete {name!r}")
