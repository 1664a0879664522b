"""One shape for all families: ``solve``, ``bound`` and ``compare`` are written here once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NoReturn

from cosched import _core
from cosched.core import installed
from cosched.core.algorithm_table import Algorithm, AlgorithmTable
from cosched.core.arrays import nonnegative, seed_of, time_limit_of
from cosched.core.comparison import apply_best_bound, row_of_run, rows_to_frame
from cosched.core.instance import Instance
from cosched.core.limits import PATIENCE, Patience
from cosched.core.options import accepted_options
from cosched.core.result import Bound, Result
from cosched.core.schedule import Schedule
from cosched.core.text import texts, unknown_name
from cosched.errors import InvalidInstance, SolverError, TimeLimit, shorten
from cosched.lazy import pd


@dataclass(frozen=True, kw_only=True, eq=False)
class Family:
    """What solves one kind of instance: its classes, algorithms and bounds.

    How a family looks on the command line is its :class:`Presentation`.

    Attributes
    ----------
    name : str
    instance_type, schedule_type, result_type : type
        The family's classes.
    result_of : callable
        Makes a Result of a schedule that a registered algorithm or a file gives.
    algorithms : AlgorithmTable or dict
        Public name -> ``algorithm(instance, *, seed, **options) -> Result or Schedule``. A dict
        becomes an AlgorithmTable.
    bounds : dict
        Public name -> ``bound(instance, **options) -> Bound``.
    default_bound : str
        A key of `bounds`.
    bound_name : callable, optional
        The default bound of an instance, where not all have the same.
    default_names : callable, optional
        Names that ``compare`` takes by default for an instance.
    under_noise : callable, optional
        What a result is worth where its times are noisy: ``f(result, noise, seed)`` -> further
        columns of ``compare``.
    resolve : callable, optional
        What a name that is not in the table means (cluster: the policy grammar); None = nothing.
    register_policy : callable, optional
        Where policies are another kind of algorithm: ``f(name, policy)`` registers one.

    Examples
    --------
    >>> inst = cs.packs.Instance([[8, 4.4, 3.1], [6, 3.2, 2.5], [2, 1.2, 0.9]], max_tasks=2)
    >>> packs = cs.packs.FAMILY
    >>> packs.solve(inst, "pack-by-pack-9").value
    6.5
    >>> packs.bound(inst), packs.bound(inst, "longest")
    (Bound(6.29994054, 'columns'), Bound(4, 'longest'))
    >>> table = packs.compare(inst, ["sequential", "optimal"])
    >>> table[["algorithm", "status", "value"]].to_numpy().tolist()
    [['sequential', 'ok', 6.5], ['optimal', 'ok', 6.300000000000001]]
    >>> packs.algorithm("pears")
    Traceback (most recent call last):
        ...
    cosched.errors.InvalidInstance: unknown packs algorithm 'pears' (near: pairs)
    >>> packs.register("alone", lambda instance: cs.packs.sequential(instance).schedule)
    >>> packs.solve(inst, "alone").algorithm, sorted(packs.registered)
    ('alone', ['alone'])
    """

    name: str
    instance_type: type[Instance]
    result_type: type[Result]
    result_of: Callable[..., Result]
    algorithms: AlgorithmTable
    bounds: dict[str, Callable[..., Bound]]
    default_bound: str
    schedule_type: type[Schedule] = Schedule
    bound_name: Callable[[Any], str] | None = None
    default_names: Callable[[Any], Sequence[str]] | None = None
    under_noise: Callable[[Any, float, int], dict[str, float]] | None = None
    resolve: Callable[[str], Algorithm | None] | None = None
    register_policy: Callable[[str, Any], None] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.algorithms, AlgorithmTable):
            object.__setattr__(self, "algorithms", AlgorithmTable(self.name, self.algorithms))
        has_policies = self.register_policy is not None
        self.algorithms.set_loader(self._load_offered, has_policies=has_policies)

    @property
    def maximise(self) -> bool:
        """Whether greater values are better."""
        return self.result_type.maximise

    @property
    def registered(self) -> frozenset[str]:
        """Names that the user registered."""
        return self.algorithms.registered

    def algorithm(self, name: str) -> Algorithm:
        """The function of a public name.

        Parameters
        ----------
        name : str
            A key of ``ALGORITHMS``, a name that the family's grammar resolves, or one that an
            installed package offers (entry points ``cosched.algorithms``, ``cosched.policies``).

        Returns
        -------
        callable
            ``function(instance, **options)``.
        """
        function = None
        if isinstance(name, str):
            function = self.algorithms.find(name)
            if function is None and self.resolve is not None:
                function = self.resolve(name)
            if function is None:
                function = self._load_offered(name)
        if function is None:
            self._unknown("algorithm", name, self.algorithms)
        return function

    def options_of(self, name: str) -> set[str] | None:
        """The options that an algorithm takes; None: any.

        Parameters
        ----------
        name : str
            A public name; what an installed package offers under it, and cannot be used, takes
            none.
        """
        try:
            return accepted_options(self.algorithm(name))
        except installed.UnusableOffer:
            return set()

    def offered(self) -> list[str]:
        """Names of installed packages that were not used so far; none of them is imported."""
        return self.algorithms.offered()

    def _load_offered(self, name: str) -> Algorithm | None:
        """Return what an installed package offers under this name, registered; None where none
        does."""
        installed.register_offer(
            installed.ALGORITHMS, f"{self.name}.{name}", partial(self.register, name)
        )
        if self.algorithms.find(name) is None and self.register_policy is not None:
            installed.register_offer(installed.POLICIES, name, partial(self.register_policy, name))
        return self.algorithms.find(name)

    def solve(
        self, instance: object, name: str, *, seed: int | None = None, **options: object
    ) -> Result:
        """Run one algorithm by its public name.

        Parameters
        ----------
        name : str
            A key of ``ALGORITHMS``.
        seed : int, optional
            Where there is chance; None means 0. ``result.seed`` says what was used.
        **options
            The algorithm's own options.

        Raises
        ------
        InvalidInstance
            The algorithm does not apply to this instance, or an option's value is bad.
        """
        self.instance_type.require(instance)
        function = self.algorithm(name)
        used_seed = seed_of(seed)
        accepted = accepted_options(function)
        _require_known(f"{self.name} {name}", options, accepted and accepted - {"seed"})
        if accepted is None or "seed" in accepted:
            options["seed"] = used_seed  # functions without chance do not take one
        outcome = function(instance, **options)
        if isinstance(outcome, Schedule):
            outcome = self.result_of(instance, outcome)
        if not isinstance(outcome, Result):
            raise TypeError(
                f"{self.name} {name} returned {type(outcome).__name__}: expected Result or Schedule"
            )
        return replace(outcome, algorithm=name, seed=used_seed)

    def bound(self, instance: object, name: str | None = None, **options: object) -> Bound:
        """A proven bound on the optimum by its public name.

        Parameters
        ----------
        name : str, optional
            A key of ``BOUNDS``; None: the default of the family, or of the instance.
        **options
            The bound's own options.
        """
        self.instance_type.require(instance)
        method = name
        if method is None:
            method = self.bound_name(instance) if self.bound_name else self.default_bound
        if not isinstance(method, str) or method not in self.bounds:
            self._unknown("bound", method, self.bounds)
        function = self.bounds[method]
        _require_known(f"{self.name} bound {method}", options, accepted_options(function))
        return function(instance, **options)

    def compare(
        self,
        instance: object,
        names: Iterable[str] | None = None,
        *,
        seed: int | None = 0,
        time_limit: float | None = PATIENCE,
        options: Mapping[str, Mapping[str, object]] | None = None,
        noise: float | None = None,
    ) -> pd.DataFrame:
        """Run several algorithms; one's failure never loses the others.

        A row a name: ``algorithm, status (ok | time_limit | not_applicable | error), value, bound,
        gap, seconds``, then the metrics, then ``message`` (why a row has no value). The bound is
        the best that any row knows.

        Parameters
        ----------
        names : iterable of str, optional
            Keys of ``ALGORITHMS``; by default those of ``DEFAULT_COMPARE`` that suit the size, and
            those of installed packages.
        seed : int
            Given to each algorithm.
        time_limit : float or None
            Seconds for each algorithm: a search uses them, an algorithm that takes longer is ended.
            By default 10 s, which a search does not use but for its fixed work. None: no limit.
        options : mapping, optional
            Algorithm name -> its options.
        noise : float, optional
            Of dags: columns ``value_p50, value_p95``, median and 95th percentile of 1,000 replays
            of each schedule with times times a lognormal factor of this coefficient of variation,
            the same factors for all (:func:`cosched.dags.replay`).

        Raises
        ------
        ValueError
            An unknown name, or options for a name that is not compared: before anything runs.
        """
        rows = list(self.compare_rows(instance, names, seed, time_limit, options, noise))
        return rows_to_frame(apply_best_bound(rows))

    def compare_rows(
        self,
        instance: object,
        names: Iterable[str] | None = None,
        seed: int | None = 0,
        time_limit: float | None = PATIENCE,
        options: Mapping[str, Mapping[str, object]] | None = None,
        noise: float | None = None,
    ) -> Iterator[tuple[dict[str, Any], Result | None]]:
        """The rows of :meth:`compare` one by one, as each algorithm ends: for tables with progress.

        Parameters
        ----------
        names, time_limit, options, noise
            As for :meth:`compare`.

        Yields
        ------
        (dict, Result or None)
            The row, with its own bound or the one beside it, and the result where there is one.
        """
        self.instance_type.require(instance)
        if not isinstance(time_limit, Patience):
            time_limit = time_limit_of(time_limit)
        chosen = self.names_of(instance, names)
        measure = self._measure_of(noise, seed)
        if options is not None and not isinstance(options, Mapping):
            raise InvalidInstance(f"options = {shorten(options)}: expected options by algorithm")
        options_by_name = dict(options or {})
        for name in options_by_name:
            if name not in chosen:
                raise InvalidInstance(f"options for {shorten(name)}, which is not compared")
        bound = self.bound_within(instance, time_limit)
        for name in chosen:
            row, result = self._row(
                instance, name, seed, time_limit, dict(options_by_name.get(name, {})), bound
            )
            yield (row if result is None else row | measure(result)), result

    def _measure_of(
        self, noise: float | None, seed: int | None
    ) -> Callable[[Result], dict[str, float]]:
        """Return the columns that `noise` adds to the row of a result."""
        if noise is None:
            return lambda result: {}
        if self.under_noise is None:
            raise InvalidInstance(
                f"noise = {shorten(noise)}: {self.name} has no replay under noise"
            )
        replayed, spread, used_seed = self.under_noise, nonnegative(noise, "noise"), seed_of(seed)
        return lambda result: replayed(result, spread, used_seed)

    def names_of(self, instance: object, names: Iterable[str] | None) -> list[str]:
        """The names to compare, checked before anything runs.

        Parameters
        ----------
        names : str or iterable of str, optional
            None: the default names for this instance.
        """
        if names is None:
            suitable = self.default_names or (lambda instance: list(self.algorithms.of_family))
            return [*suitable(instance), *self.algorithms.of_installed_packages()]
        chosen = texts(names, "names")
        for name in chosen:
            with suppress(installed.UnusableOffer):  # the row of that name says so
                self.algorithm(name)
        return chosen

    def bound_within(self, instance: Any, time_limit: float | None) -> Bound | None:
        """The bound beside the results; a weaker one, or none, where it takes too long."""
        stops_itself = "time_limit" in (accepted_options(self.bounds[self.default_bound]) or ())
        try:
            with _core.time_limit(time_limit):
                self.result_type.prepare(instance)
            if stops_itself and time_limit is not None:
                try:
                    return self.bound(instance, time_limit=time_limit)
                except SolverError:
                    pass  # a weaker one, whose note says so
            with _core.time_limit(time_limit):
                return self.result_type.bound_beside(instance)
        except (InvalidInstance, TimeLimit):  # it does not apply here, or takes too long
            return None

    def _row(
        self,
        instance: object,
        name: str,
        seed: int | None,
        time_limit: float | None,
        options: dict[str, Any],
        bound: Bound | None,
    ) -> tuple[dict[str, Any], Result | None]:
        stops_itself = "time_limit" in (self.options_of(name) or ())
        has_limit = time_limit is not None and not isinstance(time_limit, Patience)
        if stops_itself and has_limit:
            options.setdefault("time_limit", time_limit)
        run = partial(self.solve, instance, name, seed=seed, **options)
        # An algorithm with a time limit of its own gets time to return what it has.
        limit = None if "time_limit" in options else time_limit
        return row_of_run(name, run, limit, time_limit, bound)

    def register(self, name: str, function: Algorithm) -> None:
        """Add one's own algorithm; see :func:`cosched.register`.

        Raises
        ------
        ValueError
            An empty name, or the name of a built-in algorithm.
        """
        if not isinstance(name, str) or not name.strip():
            raise InvalidInstance(f"algorithm name {shorten(name)}: expected a non-empty text")
        if self.algorithms.is_built_in(name):
            raise InvalidInstance(
                f"{self.name} has a built-in algorithm {name!r}: choose another name"
            )
        if not callable(function):
            raise TypeError(f"{name}: expected a function, got {type(function).__name__}")
        self.algorithms[name] = function

    def _unknown(self, what: str, name: object, valid_names: Iterable[str]) -> NoReturn:
        raise InvalidInstance(unknown_name(f"{self.name} {what}", name, valid_names))


def _require_known(what: str, options: Iterable[str], accepted: set[str] | None) -> None:
    for option in options:
        if accepted is not None and option not in accepted:
            accepted_names = ", ".join(sorted(accepted)) or "none"
            raise TypeError(f"{what}: unknown option {option!r} (options: {accepted_names})")
