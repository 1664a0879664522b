"""Old names of attributes and methods, which warn and lead to the new ones."""

import warnings
from typing import Any


class DeprecatedAttribute:
    """An old name of an attribute or method of a class.

    Parameters
    ----------
    new_name : str
        The attribute that has replaced it.

    Examples
    --------
    >>> class Square:
    ...     side_length = 2.0
    ...     side = DeprecatedAttribute("side_length")
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     Square().side, str(caught[0].message)
    (2.0, 'Square.side is now Square.side_length')
    """

    def __init__(self, new_name: str) -> None:
        self._new_name = new_name
        self._old_name = ""
        self._owner_name = ""
        self.__doc__ = f"Deprecated name of :attr:`{new_name}`."

    def __set_name__(self, owner: type, name: str) -> None:
        self._old_name = name
        self._owner_name = owner.__name__

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        if instance is None:
            return self
        warnings.warn(
            f"{self._owner_name}.{self._old_name} is now {self._owner_name}.{self._new_name}",
            DeprecationWarning,
            stacklevel=2,
        )
        return getattr(instance, self._new_name)
