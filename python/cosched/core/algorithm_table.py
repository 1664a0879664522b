"""The algorithms of a family by name: of the package, registered, and of installed packages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cosched.core import installed

if TYPE_CHECKING:
    from cosched.core.result import Result
    from cosched.core.schedule import Schedule

Algorithm = Callable[..., "Result | Schedule"]


@dataclass(frozen=True)
class OfferedAlgorithm:
    """An algorithm of an installed package, which is imported by the first call."""

    #: The public name.
    name: str
    #: Imports and registers the algorithm of a name.
    load: Callable[[str], Algorithm | None]

    def __call__(self, instance: Any, **options: Any) -> Result | Schedule:
        function = self.load(self.name)
        if function is None:
            raise KeyError(self.name)
        return function(instance, **options)


class AlgorithmTable(MutableMapping[str, Algorithm]):
    """Public name -> ``algorithm(instance, *, seed, **options) -> Result or Schedule``.

    The names come in this order: built in, registered, offered by installed packages (entry points
    ``cosched.algorithms`` and ``cosched.policies``). Nothing of another package is imported before
    its algorithm is called.

    Parameters
    ----------
    family : str
        Name of the family, which begins the names of its entry points.
    of_family : mapping
        The algorithms of the family's own package. Entry points of cosched itself are built in,
        too: a package above the family offers them, and each is imported when it is asked for.

    Examples
    --------
    >>> table = AlgorithmTable("bags", {"nothing": lambda instance: None})
    >>> list(table.of_family), "nothing" in table, table.registered
    (['nothing'], True, frozenset())
    """

    def __init__(self, family: str, of_family: Mapping[str, Algorithm]) -> None:
        self._family = family
        self._functions = dict(of_family)
        self._family_names = tuple(of_family)
        self._has_policies = False
        self._load_offered: Callable[[str], Algorithm | None] = lambda name: None

    @cached_property
    def _package_names(self) -> tuple[str, ...]:
        """The algorithms that other layers of cosched offer; the metadata are read when a name is
        looked up first, not when the family is imported."""
        return tuple(installed.package_algorithms(self._family))

    def set_loader(self, load: Callable[[str], Algorithm | None], *, has_policies: bool) -> None:
        """Say how an offered algorithm is imported and registered.

        Parameters
        ----------
        load : callable
            ``load(name)`` registers what an installed package offers, and returns it.
        has_policies : bool
            Whether ``cosched.policies`` are offered to this family.
        """
        self._load_offered, self._has_policies = load, has_policies

    @property
    def of_family(self) -> dict[str, Algorithm]:
        """The algorithms of the family's own package, by name."""
        return {name: self._functions[name] for name in self._family_names}

    @property
    def registered(self) -> frozenset[str]:
        """Names that the user registered, and those of installed packages that were used."""
        return frozenset(self._functions).difference(self._family_names, self._package_names)

    def is_built_in(self, name: str) -> bool:
        """Whether a name belongs to cosched: nobody else can take it."""
        return name in self._family_names or name in self._package_names

    def of_installed_packages(self) -> list[str]:
        """Names that installed packages offer, used or not; none of them is imported."""
        names: Iterable[str] = installed.installed_algorithms(self._family)
        if self._has_policies:
            names = (*names, *installed.installed_policies())
        return [name for name in names if not self.is_built_in(name)]

    def offered(self) -> list[str]:
        """Names of installed packages that were not used so far; none of them is imported."""
        return [name for name in self.of_installed_packages() if name not in self._functions]

    def find(self, name: str) -> Algorithm | None:
        """The built-in or registered algorithm of a name; None where there is no such one."""
        if name not in self._functions and name in self._package_names:
            self._functions[name] = installed.load_package_algorithm(self._family, name)
        return self._functions.get(name)

    def __getitem__(self, name: str) -> Algorithm:
        function = self.find(name)
        if function is not None:
            return function
        if name in self.offered():
            return OfferedAlgorithm(name, self._load_offered)
        raise KeyError(name)

    def __setitem__(self, name: str, function: Algorithm) -> None:
        self._functions[name] = function

    def __delitem__(self, name: str) -> None:
        if self.is_built_in(name):
            raise KeyError(f"{name}: a built-in algorithm stays")
        del self._functions[name]

    def clear(self) -> None:
        """Forget what was registered; built-in algorithms stay."""
        for name in self.registered:
            del self._functions[name]

    def __iter__(self) -> Iterator[str]:
        yield from self._family_names
        yield from self._package_names
        yield from [name for name in self._functions if not self.is_built_in(name)]
        yield from self.offered()

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return name in self._functions or name in self._package_names or name in self.offered()

    def __repr__(self) -> str:
        return f"AlgorithmTable({self._family!r}: {', '.join(self)})"
