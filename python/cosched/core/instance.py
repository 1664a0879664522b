"""Base class of the five families' instances."""

from collections.abc import Callable
from typing import Any, ClassVar, NoReturn, TypeVar

from cosched.core.text import labels
from cosched.errors import InvalidInstance
from cosched.notes import Note

MadeT = TypeVar("MadeT")


class Instance:
    """Immutable, validated problem data.

    A subclass sets its attributes once, with ``self._set(...)`` at the end of
    ``__init__``, and defines ``__reduce__`` (pickle goes through the constructor).

    Examples
    --------
    >>> inst = cs.packs.Instance([[4.0, 2.0], [3.0, 2.0]])
    >>> isinstance(inst, cs.core.Instance), inst.family
    (True, 'packs')
    >>> inst.max_tasks = 1
    Traceback (most recent call last):
        ...
    AttributeError: Instance is immutable: cannot set 'max_tasks'
    """

    family: str = "core"
    #: Whether placements alone (core.Schedule) say all of a schedule of this family.
    plain_schedules: ClassVar[bool] = True

    #: Labels of the tasks, given or made of `label` and a number; empty where a family has none.
    names: tuple[str, ...] = ()
    #: What stands before the number of a task that was given no label.
    label: ClassVar[str] = "task"

    #: The C++ instance.
    _core: Any
    _memo: dict[str, Any]

    #: What a person should read once: what a reader interpolated, repaired or skipped.
    notes: tuple[Note, ...] = ()

    def _set(self, **fields: object) -> None:
        for name, value in fields.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "_memo", {})

    def once(self, key: str, make: Callable[[], MadeT]) -> MadeT:
        """What `make` returns, computed when it is first asked for under `key`, and kept.

        For values that are costly and depend on nothing else, such as the default bound.

        Parameters
        ----------
        make : callable
            Without arguments.
        """
        if key not in self._memo:
            self._memo[key] = make()
        value: MadeT = self._memo[key]
        return value

    def cached(self, key: str) -> Any:
        """What :meth:`once` keeps under `key`; None where nobody has asked for it."""
        return self._memo.get(key)

    @property
    def given_names(self) -> tuple[str, ...] | None:
        """The labels of the tasks where they say more than numbers; None where nobody gave any."""
        return self.once("given names", self._given_names)

    def _given_names(self) -> tuple[str, ...] | None:
        return None if self.names == labels(None, len(self.names), self.label) else self.names

    def facts(self) -> dict[str, Any]:
        """What a schedule file says of its instance, so that it can be run by itself.

        Plain data that running needs beside the placements: ``procs, times`` or ``edges``.
        """
        return {}

    @classmethod
    def require(cls, value: object) -> None:
        """Refuse what is no instance of this family."""
        if not isinstance(value, cls):
            raise InvalidInstance(
                f"expected a cosched.{cls.family}.Instance, got {type(value).__name__}"
            )

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__qualname__} is immutable: cannot set {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__qualname__} is immutable: cannot delete {name!r}")
