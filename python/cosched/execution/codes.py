"""Codes that can be run, by name."""

from __future__ import annotations

import graphlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from types import MappingProxyType
from typing import Any

from cosched import io
from cosched.core.precedence import require_order
from cosched.core.text import unknown_name
from cosched.errors import InvalidInstance
from cosched.execution.code import Code
from cosched.execution.codes_file import read_codes

#: Pairs of tasks that wait for each other, in all.
_MOST_EDGES = 10_000_000


@dataclass(frozen=True, kw_only=True)
class Codes(Mapping[str, Code]):
    """Codes by name, and the machine that they are meant for.

    Attributes
    ----------
    procs : int
        p: the largest count that is measured.
    codes : mapping
        Name -> :class:`Code`, in the order of the file.
    capacity : mapping
        What the machine has of what codes need: ``memory`` (GB), ``gpus``, ``licences.NAME`` (or
        ``licences``, a table of names). Of what is not there, there is enough.

    Examples
    --------
    >>> codes = Codes(procs=4, codes={"fem": Code(name="fem", command="./fem {procs}")})
    >>> list(codes), codes["fem"].timeout
    (['fem'], None)
    """

    procs: int
    codes: Mapping[str, Code]
    capacity: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        amounts = dict(self.capacity)
        licences = amounts.pop("licences", {})
        amounts |= {f"licences.{name}": count for name, count in licences.items()}
        object.__setattr__(self, "capacity", MappingProxyType(amounts))
        if any(code.after for code in self.codes.values()):
            require_order(self._waits())

    def _waits(self) -> dict[str, Sequence[str]]:
        """Name -> those that it waits for; a sweep, by its own name, for its tasks."""
        swept = {
            name: tuple(code.name for code in codes_of_profile)
            for name, codes_of_profile in self.profiles().items()
            if name not in self.codes
        }
        return {**swept, **{name: code.after for name, code in self.codes.items()}}

    def levels(self) -> dict[str, int]:
        """Of each profile, how many others stand before it at least, one after the other."""
        waits = self._waits()
        level: dict[str, int] = {}
        for name in graphlib.TopologicalSorter(waits).static_order():
            own_level = 1 if name in self.codes else 0  # a sweep is no more than its tasks
            level[name] = max(
                (own_level + level[awaited_name] for awaited_name in waits[name]), default=0
            )
        return {name: level[name] for name in self.profiles()}

    def edges(self, names: Sequence[str]) -> list[tuple[int, int]]:
        """Which of some tasks wait for which.

        Places in `names`: the first has to complete before the second starts. What a task waits for
        beside these is not among them.

        Parameters
        ----------
        names : sequence of str
            Of tasks.

        Examples
        --------
        >>> given = [Code(name="mesh", command="./mesh"),
        ...          Code(name="fem", command="./fem", after="mesh")]
        >>> Codes(procs=4, codes={code.name: code for code in given}).edges(["fem", "mesh"])
        [(1, 0)]
        """
        places: dict[str, list[int]] = {}
        for place, name in enumerate(names):
            for name_of_code in {name, self[name].profile_name}:
                places.setdefault(name_of_code, []).append(place)
        waits = [[w for w in self[name].after if w in places] for name in names]
        if (
            sum(len(places[wanted]) for awaited_names in waits for wanted in awaited_names)
            > _MOST_EDGES
        ):
            raise InvalidInstance(f"after: more than {_MOST_EDGES:,} pairs of tasks")
        return [
            (before, place)
            for place, awaited_names in enumerate(waits)
            for before in sorted(
                {awaited_place for wanted in awaited_names for awaited_place in places[wanted]}
            )
        ]

    def __getitem__(self, name: str) -> Code:
        if name not in self.codes:
            raise InvalidInstance(unknown_name("task", name, self.codes))
        return self.codes[name]

    def __contains__(self, name: object) -> bool:
        return name in self.codes

    def __iter__(self):
        return iter(self.codes)

    def __len__(self) -> int:
        return len(self.codes)

    def profiles(self) -> dict[str, list[Code]]:
        """What is measured: each profile with its codes, which are several in a sweep."""
        codes_by_profile: dict[str, list[Code]] = {}
        for code in self.codes.values():
            codes_by_profile.setdefault(code.profile_name, []).append(code)
        return codes_by_profile

    def counts_of(self, name: str) -> tuple[int, ...]:
        """Counts on which a code is measured: its own, or the powers of two and p.

        They increase.

        Parameters
        ----------
        name : str
            Of a task, or of a profile.
        """
        code = self.codes.get(name) or self.profiles().get(name, [None])[0]
        counts = (code or self[name]).counts
        if counts is not None:
            return counts
        powers = [2**k for k in range(self.procs.bit_length()) if 2**k <= self.procs]
        return tuple(sorted({*powers, self.procs}))

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Codes:
        r"""Read a TOML file: ``procs`` and a table ``[task.NAME]`` a code.

        Keys of a task: ``command`` (a text for the shell, or a list), and where wanted
        ``counts`` (a list of integers), ``directory`` (relative to the file), ``environment``
        (a table of texts), ``timeout`` (s), ``weight`` (1), ``ranks`` ("one" or "procs"),
        ``launch`` ("mpirun" or "srun", with options), ``memory`` (GB, or a table count = GB),
        ``gpus``, ``licences`` (a table name = number), ``parameters`` (a table of lists, or
        of file patterns such as "inputs/\*.nc": a task a combination) and ``after`` (a name or a
        list of names of tasks that have to complete before; of a sweep: all of them, or with
        ``{ task = "mesh", same = ["case"] }`` those with the same values). At the
        top a table ``[capacity]`` has ``memory``, ``gpus`` and ``licences`` of the machine.

        Examples
        --------
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "codes.toml"
        >>> _ = path.write_text('procs = 4\n[task.fem]\ncommand = "./fem {procs}"\n')
        >>> codes = Codes.read(path)
        >>> codes.procs, codes["fem"].command
        (4, './fem {procs}')
        """
        io.refuse_foreign_file(path)
        procs, codes, capacity = read_codes(str(path), io.read_text(path))
        return cls(procs=procs, codes={code.name: code for code in codes}, capacity=capacity)
