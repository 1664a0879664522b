"""The instance of bags: task types, machine types, times, powers, prices."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosched import _core, core, io
from cosched.bags import files
from cosched.core.arrays import any_array, integer_array, nonnegative, real, real_array
from cosched.core.text import columns_named, labels, require_same_labels, rows_named
from cosched.errors import InvalidInstance
from cosched.notes import as_notes


def flags(allowed: object, shape: tuple[int, ...]) -> NDArray[np.int64]:
    """0 and 1 for each pair, flat; empty where all are allowed."""
    if allowed is None:
        return np.zeros(0, dtype=np.int64)
    allowed_array = any_array(allowed, "allowed", 2)
    if allowed_array.dtype != bool and not (
        allowed_array.dtype.kind in "iuf" and np.isin(allowed_array, (0, 1)).all()
    ):
        raise InvalidInstance("allowed: expected a table of True and False")
    if allowed_array.shape != shape:
        raise InvalidInstance(f"allowed has shape {allowed_array.shape}, etc has {shape}")
    return allowed_array.astype(np.int64).ravel()


def parse_watts(text: str) -> list[float] | float:
    """``"60"`` as one number, ``"60,45"`` as a number a machine type."""
    watts = [io.parse_nonnegative(part, "idle_power", "watts, >= 0") for part in text.split(",")]
    return watts[0] if len(watts) == 1 else watts


def idle_watts(idle_power: object, machine_types: int) -> NDArray[np.float64]:
    """Watts of each machine type: one number stands for all."""
    if idle_power is None:
        return np.zeros(machine_types)
    if any_array(idle_power, "idle_power", 1).ndim == 0:
        return np.full(machine_types, real(idle_power, "idle_power"))
    return real_array(idle_power, "idle_power", 1)


#: Most tasks of an instance: every number of tasks is exact as a float.
MOST_TASKS = 2**53
_MACHINE = "machine type"


class Instance(core.Instance):
    """A bag of identical tasks of few types, machines of few types, and what they cost.

    Parameters
    ----------
    counts : array_like of int, shape (T,)
        T_i >= 0 tasks of each task type, not all 0.
    machines : array_like of int, shape (M,)
        M_j >= 0 machines of each machine type, not all 0.
    etc : array_like, shape (T, M)
        Estimated time to compute: seconds of a task of type i on a machine of type j. A DataFrame's
        index and columns name the types; those of `apc` are then the same.
    apc : array_like, shape (T, M)
        Average power consumption (W) of that machine meanwhile.
    price : float, optional
        p >= 0: what the bag earns. Give either `price` or `gamma`.
    energy_cost : float
        c >= 0: price of a joule.
    gamma : float, optional
        The price as a multiple of the least cost of energy: p = gamma c E_min.
    idle_power : float or array_like, shape (M,), optional
        Watts of a machine that runs nothing, until the bag ends; at most the power of any task
        there. None: machines are off when they run nothing, as in the paper.
    power_cap : float, optional
        Most watts of all machines together, averaged over the makespan. A plan that draws more
        has to wait, so a cap lengthens makespans; it must exceed the idle power.
    allowed : array_like of bool, shape (T, M), optional
        Which task types run on which machine types. None: all. Times and powers of the
        other pairs are not looked at, and read infinity afterwards.
    names, machine_names : sequence of str, optional
        Labels of task types and machine types, for tables and pictures.
    notes : sequence of str, optional
        What a reader did to the data, a line each.

    Raises
    ------
    InvalidInstance
        An entry that is negative, zero, missing (NaN) or infinite (named by row and column),
        no task or no machine type, shapes that do not fit, sums that overflow.

    Warns
    -----
    UserWarning
        Once, where the price does not pay for the least energy: such a bag is a loss
        however it is run (``profit_rate < 0``, bound 0).

    Examples
    --------
    >>> inst = Instance([4, 3], [2, 1], [[10, 5], [8, 12]], [[90, 200], [80, 100]], price=9000)
    >>> inst.least_energy, round(inst.gamma, 3)
    (5520.0, 1.63)
    """

    family = "bags"
    label = "task type"
    plain_schedules = False  # they count identical tasks

    counts: NDArray[np.int64]
    machines: NDArray[np.int64]
    price: float
    energy_cost: float
    idle_power: NDArray[np.float64]
    power_cap: float
    names: tuple[str, ...]
    machine_names: tuple[str, ...]
    _parts: tuple[Any, ...]

    def __init__(
        self,
        counts: object,
        machines: object,
        etc: object,
        apc: object,
        price: float | None = None,
        energy_cost: float = 1.0,
        *,
        gamma: float | None = None,
        idle_power: object = None,
        power_cap: float | None = None,
        allowed: object = None,
        names: Sequence[str] | None = None,
        machine_names: Sequence[str] | None = None,
        notes: Iterable[str] = (),
    ) -> None:
        tasks = integer_array(counts, "counts", 1, 0, MOST_TASKS)
        units = integer_array(machines, "machines", 1, 0)
        seconds = real_array(etc, "etc", 2)
        parts = (
            tasks,
            units,
            seconds,
            real_array(apc, "apc", 2),
            flags(allowed, seconds.shape),
            idle_watts(idle_power, len(units)),
            math.inf if power_cap is None else real(power_cap, "power_cap"),
        )
        cost = real(energy_cost, "energy_cost")
        require_same_labels(etc, apc, "etc", "apc")
        names_of = (
            labels(rows_named(etc, names), len(tasks), self.label),
            labels(columns_named(etc, machine_names), len(units), _MACHINE, "machine_names"),
        )
        self._build(parts, _price(parts, price, cost, gamma), cost, names_of, as_notes(notes))
        if self.price < cost * self.least_energy * (1 - 1e-12):
            warnings.warn(
                f"price = {self.price:g} does not pay for the least energy, "
                f"{cost * self.least_energy:g}: every plan is a loss",
                UserWarning,
                stacklevel=2,
            )

    def _build(
        self,
        parts: tuple[Any, ...],
        price: float,
        cost: float,
        names: tuple[Any, ...],
        notes: tuple[Any, ...],
    ) -> None:
        counts, machines, _, _, _, idle, cap = parts
        inner = _inner(parts, price, cost)
        for array in (counts, machines, idle):
            array.flags.writeable = False
        self._set(
            _core=inner,
            _parts=parts,
            counts=counts,
            machines=machines,
            price=price,
            energy_cost=cost,
            idle_power=idle,
            power_cap=cap,
            names=names[0],
            machine_names=names[1],
            notes=notes,
        )

    @property
    def given_machine_names(self) -> tuple[str, ...] | None:
        """The machine types' labels; None where nobody gave any."""
        has_machine_names = self.machine_names != labels(None, len(self.machines), _MACHINE)
        return self.machine_names if has_machine_names else None

    @property
    def etc(self) -> NDArray[np.float64]:
        """Read-only (T, M) table of seconds; infinity where a type may not run."""
        times: np.ndarray = self._core.etc
        return times

    @property
    def apc(self) -> NDArray[np.float64]:
        """Read-only (T, M) table of watts; infinity where a type may not run."""
        watts: np.ndarray = self._core.apc
        return watts

    @property
    def joules(self) -> NDArray[np.float64]:
        """Read-only (T, M) table: energy of one task, above idling (J)."""
        joules: np.ndarray = self._core.joules
        return joules

    @property
    def allowed(self) -> NDArray[np.bool_]:
        """(T, M) table of bool: which task types run on which machine types."""
        runs: np.ndarray = np.isfinite(self.etc)
        return runs

    @property
    def tasks(self) -> int:
        """Number of tasks."""
        return int(self.counts.sum())

    @property
    def least_energy(self) -> float:
        """E_min (J): every task on the machine type of its least energy; above idling."""
        return float(self._core.least_joules)

    @property
    def gamma(self) -> float:
        """p / (c E_min): below 1 no plan is profitable; infinity where energy is free."""
        least_cost = self.energy_cost * self.least_energy
        return self.price / least_cost if least_cost > 0 else math.inf

    # What pictures of schedules ask for: lanes and their labels.
    @property
    def unit_counts(self) -> tuple[int, ...]:
        """Machines of each machine type."""
        return tuple(self.machines.tolist())

    @property
    def kind_names(self) -> tuple[str, ...]:
        """The machine types' names."""
        return self.machine_names

    def with_price(self, price: float | None = None, *, gamma: float | None = None) -> Instance:
        """The same bag and machines at another price (or gamma).

        Parameters
        ----------
        price : float, optional
            What the bag earns. Give either `price` or `gamma`.
        gamma : float, optional
            The price as a multiple of the least cost of energy.

        Raises
        ------
        InvalidInstance
            Both or neither given, or one outside its range.

        Examples
        --------
        >>> inst = Instance([4], [2], [[10.0]], [[100.0]], price=9000)
        >>> inst.with_price(gamma=1.5).price
        6000.0
        """
        counts, machines, etc, apc, allowed, idle, cap = self._parts
        return Instance(
            counts,
            machines,
            etc,
            apc,
            price,
            self.energy_cost,
            gamma=gamma,
            idle_power=idle,
            power_cap=None if cap == math.inf else cap,
            allowed=allowed.reshape(etc.shape) if allowed.size else None,
            names=self.names,
            machine_names=self.machine_names,
            notes=self.notes,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        names = (self.names, self.machine_names)
        return _rebuild, (self._parts, self.price, self.energy_cost, names, self.notes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Instance) and (
            (self.price, self.energy_cost, self.power_cap, self.names, self.machine_names)
            == (other.price, other.energy_cost, other.power_cap, other.names, other.machine_names)
            and np.array_equal(self.counts, other.counts)
            and np.array_equal(self.machines, other.machines)
            and np.array_equal(self.idle_power, other.idle_power)
            and np.array_equal(self.etc, other.etc)
            and np.array_equal(self.apc, other.apc)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return (
            f"<bags.Instance: {self.tasks} tasks of {len(self.counts)} types, "
            f"{self.machines.sum()} machines of {len(self.machines)} types, "
            f"gamma = {self.gamma:.6g}>"
        )

    @classmethod
    def read(
        cls,
        path: str | PathLike[str],
        price: float | None = None,
        energy_cost: float | None = None,
        *,
        gamma: float | None = None,
        idle_power: Any = None,
        power_cap: float | None = None,
        missing: str = "refuse",
        counts: object = None,
        machines: object = None,
    ) -> Instance:
        r"""Read a bag from a folder or a file.

        * A folder with ``ETC.csv`` (seconds) and ``EPC.csv`` (watts), a row a task type and a
          column a machine type; ``MPT.csv`` and ``TPT.csv``, machines and tasks of each type, a
          number a line; where they are there, ``IDLE.csv`` (idle watts of each machine type) and
          ``CAP.csv`` (watts of all machines together). Plain numbers, or with a column and a line
          of labels, as pandas writes them: they become names, and have to agree.
        * A ``.csv`` table that openbenchmarking.org exports: results and mean watts of each
          test on each system. A result in seconds is a time; for one in MIPS or FPS a task is
          10^6 million instructions, 10^5 or 10^4 frames (Warsow, Unigine Heaven), as in the data
          of Tarplee et al.
        * ``.json``: what :meth:`write` wrote.

        Parameters
        ----------
        price, energy_cost, gamma, power_cap : float, optional
            As in :class:`Instance`. None: what the file or folder says; else an energy cost of 1,
            no cap, and one of price and gamma is needed.
        idle_power : float or array_like, shape (M,), optional
            As in :class:`Instance`. None: what the file or folder says, else 0.
        missing : {"refuse", "drop", "drop-tasks", "drop-machines"}
            What to do where a time or power is missing: refuse the file; drop the pair (the
            task type may not run on that machine type); drop the task type; drop the machine
            type. ``notes`` says what was dropped.
        counts, machines : array_like of int or int, optional
            For openbenchmarking: tasks and machines of each type; one number of tasks is
            split evenly. None: the paper's 12,000 tasks, and 40 machines of each type.

        Examples
        --------
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> for name, text in {"ETC": "10,5\n8,12\n", "EPC": "90,200\n80,100\n",
        ...                    "MPT": "2\n1\n", "TPT": "4\n3\n"}.items():
        ...     _ = (folder / f"{name}.csv").write_text(text)
        >>> Instance.read(folder, price=9000)
        <bags.Instance: 7 tasks of 2 types, 3 machines of 2 types, gamma = 1.63043>
        """
        fields = files.read(path, missing=missing, counts=counts, machines=machines)
        cost_options = {"price": price, "energy_cost": energy_cost, "power_cap": power_cap}
        cost_options["idle_power"] = idle_power
        if gamma is not None:
            fields.pop("price", None)
        fields.update({key: value for key, value in cost_options.items() if value is not None})
        with io.naming(path):
            return cls(gamma=gamma, **fields)

    def write(self, path: str | PathLike[str]) -> None:
        """Write everything to a ``.json`` file, or a folder of CSV files without the prices.

        Parameters
        ----------
        path : str or path-like
            Ends in .json; a name without suffix is the folder's.
        """
        fields = (
            "counts",
            "machines",
            "etc",
            "apc",
            "price",
            "energy_cost",
            "idle_power",
            "power_cap",
            "names",
            "machine_names",
        )
        labelled = self.given_names is not None or self.given_machine_names is not None
        files.write(path, {name: getattr(self, name) for name in fields}, labelled)


def _rebuild(
    parts: tuple[Any, ...],
    price: float,
    cost: float,
    names: tuple[Any, ...],
    notes: tuple[Any, ...],
) -> Instance:
    """Unpickle: without the warning, which was given once."""
    instance = Instance.__new__(Instance)
    instance._build(parts, price, cost, names, notes)  # noqa: SLF001
    return instance


def _inner(parts: tuple[Any, ...], price: float, cost: float) -> Any:
    counts, machines, etc, apc, allowed, idle, cap = parts
    return _core.bags.Instance(counts, machines, etc, apc, price, cost, allowed, idle, cap)


def _price(parts: tuple[Any, ...], price: float | None, cost: float, gamma: float | None) -> float:
    if (price is None) == (gamma is None):
        state = "are both given" if price is not None else "are both missing"
        raise InvalidInstance(f"price and gamma {state}: expected one of them")
    if price is not None:
        return real(price, "price")
    factor = nonnegative(gamma, "gamma", "a finite number >= 0")
    if cost == 0:
        raise InvalidInstance("gamma: expected energy_cost > 0 (price = gamma c E_min)")
    return float(factor * cost * _inner(parts, 0.0, cost).least_joules)
